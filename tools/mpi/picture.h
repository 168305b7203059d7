// A coded picture as it travels and as the journal keeps it: a head, then the access unit, or, of a
// first pass, its lines of the log.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_PICTURE_H
#define TOOLS_MPI_PICTURE_H

#include <string.h>

#include "motus/encoder.h"

typedef struct MotusPictureHead {
    int64_t number, pts, duration, size;
    int32_t is_idr, type;
    double mean_qp, ssim;
    MotusPictureStats stats;
} MotusPictureHead;

static inline MotusPictureHead motus_picture_head(const MotusPacket *p, double ssim) {
    MotusPictureHead head;
    memset(&head, 0, sizeof head); // its padding is checksummed too
    head.number = p->number, head.pts = p->pts, head.duration = p->duration,
    head.size = (int64_t)p->size;
    head.is_idr = p->is_idr, head.type = (unsigned char)p->type, head.mean_qp = p->mean_qp,
    head.ssim = ssim, head.stats = p->stats;
    return head;
}

// The packet again, but for what does not travel. It points to `data`.
static inline MotusPacket motus_picture_packet(const MotusPictureHead *head, const uint8_t *data) {
    return (MotusPacket){.data = data,
                         .size = (size_t)head->size,
                         .number = head->number,
                         .pts = head->pts,
                         .duration = head->duration,
                         .is_idr = head->is_idr,
                         .type = (char)head->type,
                         .stats = head->stats,
                         .mean_qp = head->mean_qp,
                         .vbv_fullness = INT64_MAX};
}

#endif
