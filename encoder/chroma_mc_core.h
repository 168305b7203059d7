// Arithmetic of chroma inter prediction (8.4.2.2.2).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CHROMA_MC_CORE_H
#define ENCODER_CHROMA_MC_CORE_H

#include "common/int_core.h"

// Weights of the four samples around a position at (fx, fy) eighths, 0..7; they add up to 64.
typedef struct MotusChromaWeights {
    int a, b, c, d; // here, to the right, below, below to the right
} MotusChromaWeights;

MOTUS_HD MotusChromaWeights motus_chroma_weights(int fx, int fy) {
    MotusChromaWeights w = {(8 - fx) * (8 - fy), fx * (8 - fy), (8 - fx) * fy, fx * fy};
    return w;
}

MOTUS_HD uint8_t motus_chroma_sample(const uint8_t *row, const uint8_t *below, MotusChromaWeights w) {
    return (uint8_t)((w.a * row[0] + w.b * row[1] + w.c * below[0] + w.d * below[1] + 32) >> 6);
}

#endif
