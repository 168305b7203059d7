// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead_passes.h"
#include "encoder/lookahead/qp_offsets_core.h"

// ---- AQ -----------------------------------------------------------------------------------------

static int log2_energy(const MotusPlane *luma, int x, int y) {
    const int width = motus_min(16, luma->width - 16 * x),
              height = motus_min(16, luma->height - 16 * y);
    const uint8_t *at = luma->data + 16 * y * luma->stride + 16 * x;
    uint32_t sum = 0, squares = 0;
    for (int row = 0; row < height; row++, at += luma->stride)
        for (int i = 0; i < width; i++) {
            sum += at[i];
            squares += (uint32_t)(at[i] * at[i]);
        }
    return motus_aq_log2_energy(sum, squares, (uint32_t)(width * height));
}

void motus_aq_offsets(int16_t *offset, const MotusPlane *luma, int mb_width, int mb_height,
                      MotusAqMode mode, int strength_q8, int threads) {
    const int n_mb = mb_width * mb_height;
    int64_t sum = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int i = 0; i < n_mb; i++) {
        const int energy = log2_energy(luma, i % mb_width, i / mb_width);
        offset[i] = (int16_t)energy;
        sum += energy;
    }
    const MotusAqScale scale =
        motus_aq_scale(mode == MOTUS_AQ_AUTO, (int)(sum / n_mb), strength_q8);
    for (int i = 0; i < n_mb; i++) offset[i] = motus_aq_offset(offset[i], scale);
}

// ---- mb-tree ------------------------------------------------------------------------------------

static void add_saturated(uint32_t *to, uint64_t amount) {
    const uint64_t sum = *to + amount;
    *to = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

// Spreads an amount over the MBs under the 16x16 samples at (x, y).
static void spread(uint32_t *to, uint64_t amount, int x, int y, int mb_width, int mb_height) {
    for (int k = 0; k < 4; k++) {
        uint32_t share;
        const int at = motus_mb_tree_target(&share, k, x, y, mb_width, mb_height);
        if (at >= 0) add_saturated(&to[at], amount * share >> 8);
    }
}

void motus_mb_tree_propagate(uint32_t *const references[2], const uint32_t *propagated,
                             const MotusTreePicture *p, int mb_width, int mb_height) {
    for (int i = 0; i < mb_width * mb_height; i++) {
        int lists;
        const uint64_t amount = motus_mb_tree_amounts(&lists, p, i, propagated[i]);
        for (int list = 0; list < 2 && amount; list++)
            if (lists >> list & 1 && references[list])
                spread(references[list], amount, i % mb_width * 16 + p->mv[list][i].x,
                       i / mb_width * 16 + p->mv[list][i].y, mb_width, mb_height);
    }
}

void motus_mb_tree_offsets(int16_t *offset, const uint32_t *propagated, const MotusMbCosts *costs,
                           int n_mb, int strength_q8) {
    for (int i = 0; i < n_mb; i++)
        offset[i] = motus_mb_tree_offset(offset[i], costs->intra[i], propagated[i], strength_q8);
}
