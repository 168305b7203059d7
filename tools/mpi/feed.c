// Frames that rank 0 reads for the others: of a pipe, or of a container whose audio goes along.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/error.h"
#include "tools/cli/signals.h"
#include "tools/mpi/master.h"

int motus_feed_idle(void *master) {
    MotusMaster *m = master;
    int heard, idle = 30;
    if (motus_signal_caught() || m->feed.error.status) return -1;
    if (motus_master_hear(m, &heard, &m->feed.error)) return -1;
    if (!heard) motus_link_nap(m->link, &idle);
    return 1;
}

// The input's next frame, its even-sized part. MOTUS_END after the last one that is wanted.
static MotusStatus read_frame(MotusMaster *m, MotusFrame **out, MotusError *error) {
    const MotusEncoderConfig *c = &m->setup.config;
    MotusFrame *whole = NULL;
    MotusError cause = {0};
    MotusStatus status = motus_reader_next(m->reader, &whole, &cause);
    if (m->feed.error.status) {
        motus_frame_unref(&whole);
        *error = m->feed.error;
        return error->status;
    }
    if (status == MOTUS_ERR_TRUNCATED && m->next_first + m->feed.count > 0) {
        m->cut = cause;
        return MOTUS_END;
    }
    if (status < 0) *error = cause;
    if (status) return status;
    m->feed.time = motus_reader_time(m->reader, whole->number);
    status = motus_frame_crop(out, whole, c->width, c->height);
    motus_frame_unref(&whole);
    return status ? motus_fail(error, status, "out of memory") : MOTUS_OK;
}

// The journal has the part: its frames are read for the sake of what goes along with them.
static MotusStatus pass_over(MotusMaster *m, MotusStreamPart *part, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int64_t n = 0; n < part->count && !status; n++) {
        if (!m->feed.frame) status = read_frame(m, &m->feed.frame, error);
        motus_frame_unref(&m->feed.frame);
    }
    if (status == MOTUS_END)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "the input is shorter than it was");
    return status ? status
                  : motus_master_end_part(m, part, part->count, part->gops, part->at_end, error);
}

static MotusStatus end_part(MotusMaster *m, int64_t gops, int at_end, MotusError *error) {
    MotusFeed *f = &m->feed;
    MotusStreamPart *part = f->part;
    MotusMessage *message = motus_message(MOTUS_SAYS_FRAMES, NULL, 0);
    if (!message) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    message->gops = gops;
    f->part = NULL;
    MotusStatus status = motus_master_end_part(m, part, f->count, gops, at_end, error);
    f->count = 0;
    motus_link_tell(m->link, part->rank, message);
    return status;
}

static MotusStatus send_frame(MotusMaster *m, MotusError *error) {
    MotusFeed *f = &m->feed;
    const MotusEncoderConfig *c = &m->setup.config;
    MotusMessage *message =
        motus_message(MOTUS_SAYS_FRAME, NULL, (size_t)c->width * (size_t)c->height * 3 / 2);
    if (!message) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    uint8_t *to = message->data;
    for (int i = 0; i < 3; i++) {
        const MotusPlane *p = &f->frame->plane[i];
        for (int y = 0; y < p->height; y++, to += p->width)
            memcpy(to, p->data + y * p->stride, (size_t)p->width);
    }
    message->number = f->time.at;
    message->count = f->time.duration;
    m->credit[f->part->rank]--;
    motus_link_tell(m->link, f->part->rank, message);
    motus_frame_unref(&f->frame);
    f->count++;
    return MOTUS_OK;
}

static MotusStatus open_part(MotusMaster *m, int *fed, MotusError *error) {
    MotusFeed *f = &m->feed;
    MotusStreamPart *part = motus_master_open_part(m, error);
    f->count = 0;
    if (!part) return error->status;
    *fed = 1;
    if (part->rank < 0) return pass_over(m, part, error);
    f->part = part;
    return motus_gops_begin(&m->gops, error);
}

MotusStatus motus_feed(MotusMaster *m, int *fed, MotusError *error) {
    MotusFeed *f = &m->feed;
    MotusStatus status = MOTUS_OK;
    if (m->ended) return MOTUS_OK;
    if (!f->part) return open_part(m, fed, error);
    if (!m->credit[f->part->rank]) return MOTUS_OK;
    *fed = 1;
    if (f->part->first + f->count >= m->limit) return end_part(m, m->gops.gops, 1, error);
    if (!f->frame) status = read_frame(m, &f->frame, error);
    if (status == MOTUS_END) return end_part(m, m->gops.gops, 1, error);
    if (status) return status;
    int begins;
    if ((status = motus_gops_put(&m->gops, f->frame, &begins, error))) return status;
    if (begins && m->gops.gops > m->setup.gops) return end_part(m, m->gops.gops - 1, 0, error);
    return send_frame(m, error);
}
