// Adaptive quantization and mb-tree of one MB (lookahead_passes.h). Integers only: qp_offsets.c and
// qp_offsets.cu give the same offsets.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_QP_OFFSETS_CORE_H
#define ENCODER_LOOKAHEAD_QP_OFFSETS_CORE_H

#include "common/log2_core.h"
#include "encoder/lookahead/lookahead_passes.h"

#define MOTUS_AQ_MAX_OFFSET (20 * MOTUS_QP_UNIT)

// Returns cost * 2^(-offset / 6) * 65,536: the cost at the quantizer step that the offset makes.
MOTUS_HD uint64_t motus_weighted_cost(uint32_t cost, int offset) {
    return cost * motus_exp2_q16(-motus_qp_octaves(offset));
}

// ---- AQ -----------------------------------------------------------------------------------------

// Log2 energy that keeps its QP in mode 1: 2^14.4, a standard deviation of about 9.
#define MOTUS_AQ_MIDDLE (59000 / 16)
// Mean log2 energies in mode 2: of a picture of full strength, 2^14, and where strength would be 0.
#define MOTUS_AQ_FULL (14 * 256)
#define MOTUS_AQ_NONE (6 * 256)
// QPs per octave of energy at strength 1, about 1.04.
#define MOTUS_AQ_QP_PER_OCTAVE_Q8 266

// Returns log2 of an MB's AC energy, in 1/256, scaled to 256 samples. sum and squares: of its n
// samples, 1..256, and of their squares.
MOTUS_HD int motus_aq_log2_energy(uint32_t sum, uint32_t squares, uint32_t n) {
    const uint32_t energy = squares - (uint32_t)((uint64_t)sum * sum / n); // at most 256 * 127.5^2
    const uint32_t scaled = n == 256 ? energy : (uint32_t)((uint64_t)energy * 256 / n);
    return motus_log2_q12((uint64_t)scaled + 256) / 16;
}

// Log2 energy with offset 0, and strength.
typedef struct MotusAqScale {
    int middle, strength_q8;
} MotusAqScale;

// Returns the scale of a picture whose MBs' log2 energies have this mean, at least 8 * 256 each:
// where most of a picture is flat, its few MBs with detail would get far too large QPs in mode 2.
MOTUS_HD MotusAqScale motus_aq_scale(int is_auto, int mean, int strength_q8) {
    MotusAqScale scale;
    scale.middle = is_auto ? mean : MOTUS_AQ_MIDDLE;
    scale.strength_q8 = strength_q8;
    if (is_auto && mean < MOTUS_AQ_FULL)
        scale.strength_q8 = strength_q8 * (mean - MOTUS_AQ_NONE) / (MOTUS_AQ_FULL - MOTUS_AQ_NONE);
    return scale;
}

// Returns the offset of an MB whose log2 energy is `energy`.
MOTUS_HD int16_t motus_aq_offset(int energy, MotusAqScale scale) {
    const int64_t moved =
        (int64_t)(energy - scale.middle) * scale.strength_q8 * MOTUS_AQ_QP_PER_OCTAVE_Q8 >> 16;
    return (int16_t)motus_clip(-MOTUS_AQ_MAX_OFFSET, MOTUS_AQ_MAX_OFFSET, (int)moved);
}

// ---- mb-tree ------------------------------------------------------------------------------------

// Returns an MB's intra cost at its own quantizer step.
MOTUS_HD uint32_t motus_mb_tree_own_cost(uint32_t intra, int offset) {
    return (uint32_t)(motus_weighted_cost(intra, offset) >> 16);
}

// Returns the sum of amounts as it counts: 32 bits, saturated.
MOTUS_HD uint32_t motus_mb_tree_saturate(uint64_t sum) {
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

// Returns the amount, below 2^33, that MB i passes to each reference that it uses: the share of its
// own cost and of what was propagated to it that inter prediction saves. *lists: which ones, a
// mask.
MOTUS_HD uint64_t motus_mb_tree_amounts(int *lists, const MotusTreePicture *p, int i,
                                        uint32_t propagated) {
    const uint32_t intra = p->intra[i];
    uint32_t inter = p->cost[0][i];
    *lists = 1;
    if (p->both && p->cost[1][i] < inter) inter = p->cost[1][i], *lists = 2;
    if (p->both && p->both[i] < inter) inter = p->both[i], *lists = 3;
    if (inter >= intra) return 0;
    const uint32_t own = p->aq ? motus_mb_tree_own_cost(intra, p->aq[i]) : intra;
    return ((uint64_t)own + propagated) * (intra - inter) / intra >> (*lists == 3);
}

// Returns the index of the k-th (0..3) MB under the 16x16 samples at (x, y), or -1 if there is
// none. *share: the samples under it, 0..256.
MOTUS_HD int motus_mb_tree_target(uint32_t *share, int k, int x, int y, int mb_width,
                                  int mb_height) {
    const int column = (x >> 4) + (k & 1), row = (y >> 4) + (k >> 1), fx = x & 15, fy = y & 15;
    *share = (uint32_t)((k & 1 ? fx : 16 - fx) * (k >> 1 ? fy : 16 - fy));
    const int is_there = *share && column >= 0 && row >= 0 && column < mb_width && row < mb_height;
    return is_there ? row * mb_width + column : -1;
}

// Returns the offset lowered by strength * log2((own cost + propagated) / own cost).
MOTUS_HD int16_t motus_mb_tree_offset(int offset, uint32_t intra, uint32_t propagated,
                                      int strength_q8) {
    const uint32_t own = (uint32_t)motus_max(1, (int)motus_mb_tree_own_cost(intra, offset));
    const int octaves = motus_log2_q12((uint64_t)own + propagated) - motus_log2_q12(own);
    return (int16_t)motus_clip(-MOTUS_AQ_MAX_OFFSET, MOTUS_AQ_MAX_OFFSET,
                               offset - (octaves * strength_q8 >> 12));
}

#endif
