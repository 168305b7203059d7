// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/pending.h"

#include <assert.h>

#include "common/alloc.h"

MotusStatus motus_pending_alloc(MotusPendingPicture **picture, const MotusStream *stream,
                                const MotusFrameParams *params) {
    MotusPendingPicture *p = *picture = motus_alloc(1, sizeof *p);
    if (!p) return MOTUS_ERR_MEMORY;
    p->force_idr = params->force_idr != 0;
    p->pts = params->pts;
    p->duration = params->duration;
    p->opaque = params->opaque;
    MotusStatus status = motus_picture_plan_alloc(&p->plan, stream, params, &p->params.external);
    if (!status) return MOTUS_OK;
    motus_free(p);
    *picture = NULL;
    return status;
}

void motus_pending_free(MotusPendingPicture *p) {
    if (!p) return;
    motus_frame_unref(&p->whole);
    motus_frame_unref(&p->visible);
    motus_packet_unref(&p->packet);
    motus_free(p->plan);
    motus_free(p);
}

void motus_pending_append(MotusPendingQueue *q, MotusPendingPicture *p) {
    p->index = q->n_queued++;
    if (q->last)
        q->last->next = p;
    else
        q->first = p;
    q->last = p;
    for (int s = p->state; s < MOTUS_PENDING_DONE; s++)
        if (!q->oldest[s]) q->oldest[s] = p;
}

void motus_pending_advance(MotusPendingQueue *q, MotusPendingPicture *p, MotusPendingState state) {
    assert(state > p->state);
    const int from = p->state;
    p->state = state;
    for (int s = from; s < (int)state && s < MOTUS_PENDING_DONE; s++)
        while (q->oldest[s] && (int)q->oldest[s]->state > s) q->oldest[s] = q->oldest[s]->next;
}
