// Inter MBs: what they may use, their prediction, and a trial of one choice of partitions and vectors.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTER_H
#define ENCODER_INTER_H

#include "encoder/parts.h"
#include "encoder/trial.h"
#include "me/ref_luma.h"

// What inter MBs of a picture refer to and may choose from.
typedef struct MotusInter {
    const MotusCoding *coding;
    const MotusRefLuma *ref_luma;
    const MotusFrame *ref; // chroma planes of the reference
    const MotusField *field;
    const MotusMv *predictor; // per MB, what the field's costs are relative to
    MotusSubpel subpel;
    uint32_t partitions; // mask of 1 << MotusMode
    int max_mvs;         // vectors an MB may have
    int max_mv_y;        // vertical range [-max_mv_y, max_mv_y - 1], quarter samples
} MotusInter;

// An MB of such a picture.
typedef struct MotusInterMb {
    const MotusInter *inter;
    MotusMbSource src;
    MotusMbAround around; // as the round before left them
    int mb_x, mb_y, index;
} MotusInterMb;

// Fills trial->luma and trial->chroma with the prediction of trial->mb's vectors.
void motus_inter_predict(const MotusInterMb *in, MotusTrial *trial);

// Works out trial->mb (type, sub types and vectors set) as an inter MB: residual, bits, cost. A 16x16 MB with the skip vector and no residual
// becomes P_Skip.
void motus_inter_trial(const MotusInterMb *in, MotusTrial *trial);

// Works out P_Skip.
void motus_skip_trial(const MotusInterMb *in, MotusTrial *trial);

#endif
