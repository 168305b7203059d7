// Vectors that the caller gives in place of the search's: what they cost, measured as the search measures its own.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GIVEN_CORE_H
#define ENCODER_GIVEN_CORE_H

#include "encoder/predict_core.h"

// SAD of one of the 41 blocks of the MB at (x, y) against its prediction: at most 65,280. For whole samples what the search finds there.
MOTUS_HD uint32_t motus_sad_at(const MotusBlock *block, const uint8_t *src, ptrdiff_t src_stride, const MotusReference *ref,
                               int x, int y, MotusMv mv) {
    const uint8_t *tap[2];
    uint32_t sum = 0;
    motus_luma_taps(ref, x, y, mv, tap);
    for (int row = block->y; row < block->y + block->height; row++)
        for (int column = block->x; column < block->x + block->width; column++) {
            const ptrdiff_t at = row * ref->luma_stride + column;
            sum += (uint32_t)motus_abs(src[row * src_stride + column] - ((tap[0][at] + tap[1][at] + 1) >> 1));
        }
    return sum;
}

// Whether a vector may be refined: those with a fraction stand where they are.
MOTUS_HD int motus_mv_is_whole(MotusMv mv) { return !((mv.x | mv.y) & 3); }

#endif
