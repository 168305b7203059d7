// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/segments.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"

MotusPictureHeader motus_picture_header(const MotusPacket *p, double ssim) {
    MotusPictureHeader header;
    memset(&header, 0, sizeof header); // checksums cover the padding
    header.number = p->number, header.duration = p->duration;
    header.pts = p->pts, header.dts = p->dts;
    header.size = (int64_t)p->size;
    header.is_idr = p->is_idr, header.type = (unsigned char)p->type;
    header.mean_qp = p->mean_qp, header.ssim = ssim, header.stats = p->stats;
    return header;
}

MotusPacket motus_picture_packet(const MotusPictureHeader *header, const uint8_t *data) {
    return (MotusPacket){.data = data,
                         .size = (size_t)header->size,
                         .number = header->number,
                         .pts = header->pts,
                         .dts = header->dts,
                         .duration = header->duration,
                         .is_idr = header->is_idr,
                         .type = (char)header->type,
                         .stats = header->stats,
                         .mean_qp = header->mean_qp,
                         .vbv_fullness = INT64_MAX};
}

MotusSegment *motus_segments_add(MotusSegments *segments, int64_t first, int64_t gop, int rank) {
    MotusSegment *s = motus_alloc(1, sizeof *s);
    if (!s) return NULL;
    s->first = first, s->gop = gop, s->rank = rank, s->count = -1;
    if (segments->tail)
        segments->tail->next = s;
    else
        segments->head = s;
    segments->tail = s;
    segments->in_progress += rank >= 0;
    return s;
}

MotusSegment *motus_segments_find(const MotusSegments *segments, int rank, int64_t first) {
    for (MotusSegment *s = segments->head; s; s = s->next)
        if (s->first == first) return s->rank == rank && !s->done ? s : NULL;
    return NULL;
}

int motus_segment_add_pictures(MotusSegment *s, MotusMessage *pictures) {
    int64_t at = 0, n = 0;
    for (MotusPictureHeader header; pictures->size - at >= (int64_t)sizeof header; n++) {
        memcpy(&header, pictures->data + at, sizeof header);
        if (header.size < 0 || header.size > pictures->size - at - (int64_t)sizeof header) break;
        at += (int64_t)sizeof header + header.size;
    }
    const int complete = at == pictures->size;
    pictures->next = NULL;
    if (s->last)
        s->last->next = pictures;
    else
        s->pictures = pictures;
    s->last = pictures;
    if (!s->unwritten) s->unwritten = pictures;
    s->arrived += n;
    s->bytes += pictures->size;
    return complete;
}

MotusStatus motus_segment_save(const MotusSegment *s, MotusJournal *journal, MotusError *error) {
    const MotusRecord record = {.first = s->first,
                                .count = s->count,
                                .gops = s->gops,
                                .at_end = s->at_end,
                                .size = s->bytes};
    const MotusMessage *only = s->pictures;
    if (only == s->last) return motus_journal_add(journal, record, only->data, error);
    uint8_t *data = malloc((size_t)s->bytes);
    if (!data) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    int64_t at = 0;
    for (const MotusMessage *m = s->pictures; m; at += m->size, m = m->next)
        memcpy(data + at, m->data, (size_t)m->size);
    MotusStatus status = motus_journal_add(journal, record, data, error);
    free(data);
    return status;
}

void motus_segments_drop_first(MotusSegments *segments) {
    MotusSegment *s = segments->head;
    segments->head = s->next;
    if (!segments->head) segments->tail = NULL;
    segments->in_progress -= s->rank >= 0;
    for (MotusMessage *m = s->pictures, *next; m; m = next) {
        next = m->next;
        motus_message_free(&m);
    }
    motus_free(s);
}

void motus_segments_close(MotusSegments *segments) {
    while (segments->head) motus_segments_drop_first(segments);
}
