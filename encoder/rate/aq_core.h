// The arithmetic of adaptive quantization (aq.h) for one MB, which CPU and GPU share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_AQ_CORE_H
#define ENCODER_RATE_AQ_CORE_H

#include "encoder/rate/log2_core.h"

#define MOTUS_AQ_MOST (20 * MOTUS_QP_UNIT) // of an offset

// ---- Variance -----------------------------------------------------------------------------------

// log2, in 1/256, of the energy of an MB without its mean, from the sums of its n samples (up to
// 256) and of their squares; scaled to 256 samples.
MOTUS_HD int motus_aq_octaves(uint32_t sum, uint32_t squares, uint32_t n) {
    const uint32_t energy = squares - (uint32_t)((uint64_t)sum * sum / n); // at most 256 * 127.5^2
    const uint32_t scaled = n == 256 ? energy : (uint32_t)((uint64_t)energy * 256 / n);
    return motus_log2_q12((uint64_t)scaled + 256) / 16;
}

// Of AQ 1: QP stays where the energy is 2^14.4, about that of a standard deviation of 9.
#define MOTUS_AQ_MIDDLE (59000 / 16)
#define MOTUS_AQ_QP_PER_OCTAVE_Q8 266 // at strength 1

// The offset of an MB of that energy where one of `middle` keeps its QP.
MOTUS_HD int16_t motus_aq_moved(int octaves, int middle, int strength_q8) {
    const int64_t moved =
        (int64_t)(octaves - middle) * strength_q8 * MOTUS_AQ_QP_PER_OCTAVE_Q8 >> 16;
    return (int16_t)motus_clip(-MOTUS_AQ_MOST, MOTUS_AQ_MOST, (int)moved);
}

// ---- Propagation --------------------------------------------------------------------------------

// A cost at the MB's own step, times 65,536: more where it is quantized finer.
MOTUS_HD uint64_t motus_aq_weighted(uint32_t cost, int offset) {
    return cost * motus_exp2_q16(-motus_qp_octaves(offset));
}

// What an MB is worth by itself: its cost as intra, at its own step.
MOTUS_HD uint32_t motus_aq_worth(uint32_t intra, int offset) {
    return (uint32_t)(motus_aq_weighted(intra, offset) >> 16);
}

// What an MB owes to the picture before: the share of its worth and of what has been passed to it
// that prediction saves. Below 2^33.
MOTUS_HD uint64_t motus_aq_owed(uint32_t intra, uint32_t inter, uint32_t worth, uint32_t passed) {
    return inter < intra ? ((uint64_t)worth + passed) * (intra - inter) / intra : 0;
}

// The k-th, k 0..3, of the MBs under the 16x16 samples at (x, y), and its share of them in 1/256;
// -1: it has none.
MOTUS_HD int motus_aq_under(uint32_t *share, int k, int x, int y, int mb_width, int mb_height) {
    const int column = (x >> 4) + (k & 1), row = (y >> 4) + (k >> 1), fx = x & 15, fy = y & 15;
    *share = (uint32_t)((k & 1 ? fx : 16 - fx) * (k >> 1 ? fy : 16 - fy));
    const int is_there = *share && column >= 0 && row >= 0 && column < mb_width && row < mb_height;
    return is_there ? row * mb_width + column : -1;
}

// An offset lowered by strength * log2((own + passed) / own).
MOTUS_HD int16_t motus_aq_lowered(int offset, uint32_t intra, uint32_t passed, int strength_q8) {
    const uint32_t own = (uint32_t)motus_max(1, (int)motus_aq_worth(intra, offset));
    const int octaves = motus_log2_q12((uint64_t)own + passed) - motus_log2_q12(own);
    return (int16_t)motus_clip(-MOTUS_AQ_MOST, MOTUS_AQ_MOST,
                               offset - (octaves * strength_q8 >> 12));
}

#endif
