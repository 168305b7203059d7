// A picture on its way through the passes of docs/design.md. Passes over MBs that do not depend on one another run on OpenMP threads.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_H
#define ENCODER_PICTURE_H

#include "encoder/inter.h"
#include "encoder/trial.h"

typedef struct MotusWork {
    int mb_width, mb_height, n_mb, threads;
    const MotusFrame *src; // whole MBs
    MotusFrame *rec;       // the same size; reconstruction
    MotusMb *mb;           // what was decided, raster order
    MotusMbCoef *coef;
    MotusMb *mb_intra;                 // how each MB would be coded as intra
    uint64_t *inter_cost, *intra_cost; // motus_rd_cost of both ways; UINT64_MAX where intra was not tried
    uint16_t *changed_at, *seen_at;    // pass in which the decision last changed for its neighbours; and was last worked out
} MotusWork;

MotusStatus motus_work_alloc(MotusWork *work, int mb_width, int mb_height, int threads);
void motus_work_free(MotusWork *work); // accepts a zeroed one

// Codes all MBs as intra.
void motus_code_i_picture(MotusWork *work, const MotusCoding *coding);

// Decides in `rounds` rounds (at least 2), then codes. inter->field must be filled.
void motus_code_p_picture(MotusWork *work, const MotusInter *inter, int rounds);

#endif
