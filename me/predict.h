// Pictures scaled down 4:1 and what a search in them finds.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PREDICT_H
#define ME_PREDICT_H

#include "motus/me.h"

typedef struct MotusCoarse {
    MotusPlane cur, ref; // one sample per 4x4 samples, with a border of repeated samples
    MotusMv *mv;         // per MB, quarter samples of the full picture, multiples of 16
    MotusMv *sorted;     // room for a median over the picture
    uint8_t *memory;
} MotusCoarse;

MotusStatus motus_coarse_alloc(MotusCoarse *coarse, int mb_width, int mb_height);
void motus_coarse_free(MotusCoarse *coarse); // accepts a zeroed one

#endif
