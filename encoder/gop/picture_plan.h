// The plan of one pending picture: what the lookahead knows of it, and the QPs that rate control
// gives it when it is coded.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_PICTURE_PLAN_H
#define ENCODER_GOP_PICTURE_PLAN_H

#include "encoder/rate/rate.h"
#include "encoder/settings/stream.h"

// New rates, from a picture on (motus_encoder_set_rate).
typedef struct MotusRateChange {
    int wanted;
    int64_t bitrate, vbv_rate, vbv_size;
} MotusRateChange;

typedef struct MotusPicturePlan {
    int64_t duration; // in 1 / fps
    MotusRateChange change;
    int8_t *extra; // n_mb, QP offsets of the caller and of intra refresh; NULL: none
    // From the lookahead; not used with fixed QP.
    MotusLookaheadPlan lookahead;
    int16_t *offset; // n_mb, 1/256 QP
    // For a B picture AQ's alone: b_offset, or `offset` without mb-tree, or none without AQ.
    int16_t *b_offset;
    MotusLookaheadPlan b_lookahead;
    uint64_t *future_cost;            // of the n_future pictures that are shown next, nearest first
    uint8_t *future_flags;            // of motus_lookahead_costs
    int n_future, most_future, ended; // ended: the stream ends behind them
    // In its mini-GOP: B picture that is coded next, NULL: none; pictures that are shown later.
    struct MotusPicturePlan *next_b;
    int is_reference; // of a B picture
    int mini_gop_left;
    // Results of rate control.
    int8_t *map; // n_mb, becomes params->qp_offset; NULL: every MB has the slice's QP
    int qp_q8, mean_q8, again;
    int64_t held, filler_bytes;
} MotusPicturePlan;

// Allocates a plan and copies the caller's QP offsets and external MVs (checked) into it; *external
// refers to the latter. Free with motus_free. MOTUS_ERR_MEMORY.
MotusStatus motus_picture_plan_alloc(MotusPicturePlan **plan, const MotusStream *stream,
                                     const MotusFrameParams *params, MotusExternalMvs *external);

// Fills in what the lookahead knows of its next picture and of those that follow. MOTUS_AGAIN: it
// needs more pictures. Otherwise like motus_lookahead_get.
MotusStatus motus_picture_plan_get(MotusPicturePlan *plan, MotusLookahead *look, MotusError *error);

// Chooses params->qp, qp_offset and the HRD's times. `rate` belongs to the picture's GOP coder.
void motus_picture_plan_begin(MotusPicturePlan *plan, MotusRate *rate, const MotusStream *stream,
                              MotusPictureParams *params);

// Takes the size of the access unit. Returns 1 if the picture has to be coded again, with the QPs
// that are now in *params.
int motus_picture_plan_coded(MotusPicturePlan *plan, MotusRate *rate, const MotusStream *stream,
                             MotusPictureParams *params, size_t bytes);

// Returns the picture's lines of the pass log, to be freed with motus_free. NULL: no memory.
char *motus_picture_plan_log(const MotusPicturePlan *plan, const MotusStream *stream, size_t bytes);

#endif
