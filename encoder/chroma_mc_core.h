// Arithmetic of chroma inter prediction (8.4.2.2.2).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CHROMA_MC_CORE_H
#define ENCODER_CHROMA_MC_CORE_H

#include "common/int_core.h"

// Weights of the four samples around a position at (fx, fy) eighths, 0..7. They add up to 64, so that 16 bits hold the sum of the products
// (at most 64 * 255 + 32).
typedef struct MotusChromaWeights {
    uint16_t a, b, c, d; // here, to the right, below, below to the right
} MotusChromaWeights;

MOTUS_HD MotusChromaWeights motus_chroma_weights(int fx, int fy) {
    const MotusChromaWeights w = {(uint16_t)((8 - fx) * (8 - fy)), (uint16_t)(fx * (8 - fy)), (uint16_t)((8 - fx) * fy),
                                  (uint16_t)(fx * fy)};
    return w;
}

MOTUS_HD uint8_t motus_chroma_sample(const uint8_t *row, const uint8_t *below, MotusChromaWeights w) {
    const uint16_t sum = (uint16_t)(w.a * row[0] + w.b * row[1] + w.c * below[0] + w.d * below[1] + 32);
    return (uint8_t)(sum >> 6);
}

#endif
