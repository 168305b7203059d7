// A picture between its frame and its coding: what look-ahead knows of it, and the QPs that rate
// control gives it when its turn comes.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_PICTURE_PLAN_H
#define ENCODER_GOP_PICTURE_PLAN_H

#include "encoder/rate/rate.h"
#include "encoder/settings/stream.h"

// Another rate, from a picture on.
typedef struct MotusRateChange {
    int wanted;
    int64_t bitrate, vbv_rate, vbv_size;
} MotusRateChange;

typedef struct MotusPicturePlan {
    int known; // look-ahead has seen enough: the picture may be coded
    MotusLookaheadPlan plan;
    int64_t duration;
    int16_t *offset; // n_mb, 1/256 QP; NULL where QP is fixed
    int8_t *extra;   // n_mb, the caller's; NULL: none
    int8_t *map;     // n_mb, becomes place->qp_offset; NULL: without offsets
    uint64_t *cost;  // of n_ahead pictures that follow, and their types
    uint8_t *idr;
    int n_ahead, ended;
    MotusRateChange change;
    int qp_q8, mean_q8, again; // what it was coded with
    int64_t held, filler_bytes;
} MotusPicturePlan;

// Room for a picture of the stream; the parameters' offsets of QP and their field (checked) are
// copied, *given gets the latter. MOTUS_ERR_MEMORY. Goes with motus_free.
MotusStatus motus_picture_plan_alloc(MotusPicturePlan **planned, const MotusStream *stream,
                                     const MotusFrameParams *params, MotusExternalMvs *given);

// Fills in what look-ahead says of its next picture, and of those behind it. MOTUS_AGAIN where it
// has to see more; else as motus_lookahead_get.
MotusStatus motus_picture_plan_get(MotusPicturePlan *planned, MotusLookahead *look,
                                   MotusError *error);

// The picture's turn: chooses place->qp, qp_offset and what the HRD says. rate is the lane's.
void motus_picture_plan_begin(MotusPicturePlan *p, MotusRate *rate, const MotusStream *s,
                              MotusPictureParams *place);

// The access unit has so many bytes. 1: it has to be coded again, with what is now in *place.
int motus_picture_plan_coded(MotusPicturePlan *p, MotusRate *rate, const MotusStream *s,
                             MotusPictureParams *place, size_t bytes);

// The picture's lines of the first pass's log. NULL without memory; goes with motus_free.
char *motus_picture_plan_log(const MotusPicturePlan *p, const MotusStream *s, size_t bytes);

#endif
