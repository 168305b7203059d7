// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/parts.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"

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

MotusStreamPart *motus_parts_of(const MotusParts *parts, int rank) {
    for (MotusStreamPart *p = parts->head; p; p = p->next)
        if (p->rank == rank && !p->done) return p;
    return NULL;
}

void motus_part_take(MotusStreamPart *p, MotusMessage *picture) {
    picture->next = NULL;
    if (p->last)
        p->last->next = picture;
    else
        p->pictures = picture;
    p->last = picture;
    if (!p->unwritten) p->unwritten = picture;
    p->came++;
}

MotusStatus motus_part_keep(const MotusStreamPart *p, MotusJournal *journal, MotusError *error) {
    MotusRecord record = {.first = p->first, .count = p->count, .gops = p->gops, .at_end = p->at_end};
    const uint8_t **piece = malloc((size_t)p->came * sizeof *piece);
    size_t *size = malloc((size_t)p->came * sizeof *size);
    MotusStatus status = MOTUS_OK;
    int n = 0;
    if (piece && size)
        for (const MotusMessage *m = p->pictures; m; m = m->next, n++) {
            piece[n] = m->data;
            size[n] = (size_t)m->size;
            record.size += m->size;
        }
    status = piece && size ? motus_journal_add(journal, record, piece, size, n, error)
                           : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    free(piece);
    free(size);
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
