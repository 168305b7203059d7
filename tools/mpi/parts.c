// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/parts.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/mpi/picture.h"

MotusStreamPart *motus_parts_add(MotusParts *parts, int64_t first, int64_t gop, int rank) {
    MotusStreamPart *p = motus_alloc(1, sizeof *p);
    if (!p) return NULL;
    p->first = first, p->gop = gop, p->rank = rank, p->count = -1;
    if (parts->tail)
        parts->tail->next = p;
    else
        parts->head = p;
    parts->tail = p;
    parts->under_way += rank >= 0;
    return p;
}

MotusStreamPart *motus_parts_of(const MotusParts *parts, int rank, int64_t first) {
    for (MotusStreamPart *p = parts->head; p; p = p->next)
        if (p->first == first) return p->rank == rank && !p->done ? p : NULL;
    return NULL;
}

int motus_part_take(MotusStreamPart *p, MotusMessage *pictures) {
    int64_t at = 0, n = 0;
    for (MotusPictureHead head; pictures->size - at >= (int64_t)sizeof head; n++) {
        memcpy(&head, pictures->data + at, sizeof head);
        if (head.size < 0 || head.size > pictures->size - at - (int64_t)sizeof head) break;
        at += (int64_t)sizeof head + head.size;
    }
    const int whole = at == pictures->size;
    pictures->next = NULL;
    if (p->last)
        p->last->next = pictures;
    else
        p->pictures = pictures;
    p->last = pictures;
    if (!p->unwritten) p->unwritten = pictures;
    p->came += n;
    p->bytes += pictures->size;
    return whole;
}

MotusStatus motus_part_keep(const MotusStreamPart *p, MotusJournal *journal, MotusError *error) {
    const MotusRecord record = {.first = p->first,
                                .count = p->count,
                                .gops = p->gops,
                                .at_end = p->at_end,
                                .size = p->bytes};
    const MotusMessage *only = p->pictures;
    if (only == p->last) return motus_journal_add(journal, record, only->data, error);
    uint8_t *data = malloc((size_t)p->bytes);
    if (!data) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    int64_t at = 0;
    for (const MotusMessage *m = p->pictures; m; at += m->size, m = m->next)
        memcpy(data + at, m->data, (size_t)m->size);
    MotusStatus status = motus_journal_add(journal, record, data, error);
    free(data);
    return status;
}

void motus_parts_drop(MotusParts *parts) {
    MotusStreamPart *p = parts->head;
    parts->head = p->next;
    if (!parts->head) parts->tail = NULL;
    parts->under_way -= p->rank >= 0;
    for (MotusMessage *m = p->pictures, *next; m; m = next) {
        next = m->next;
        motus_message_free(&m);
    }
    motus_free(p);
}

void motus_parts_close(MotusParts *parts) {
    while (parts->head) motus_parts_drop(parts);
}
