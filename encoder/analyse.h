// Choice of vectors for each partition mode of an inter MB by SATD + vector cost, with the predictors that the neighbours' vectors give.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_H
#define ENCODER_ANALYSE_H

#include "encoder/inter.h"

// The MB coded in each of the four types P_16x16, P_16x8, P_8x16, P_8x8 with its best vectors (P_8x8: and sub types).
// cost UINT32_MAX: the type is not allowed.
typedef struct MotusAnalysis {
    MotusMb mb[4];
    uint32_t cost[4]; // SATD + lambda * bits of types and vectors
    int best;
} MotusAnalysis;

void motus_analyse_inter(const MotusInterMb *in, MotusAnalysis *analysis);

#endif
