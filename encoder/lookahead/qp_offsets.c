// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead_passes.h"
#include "encoder/lookahead/qp_offsets_core.h"

// ---- AQ -----------------------------------------------------------------------------------------

void motus_aq_offsets(int16_t *offset, const MotusPlane *luma, int mb_width, int mb_height,
                      MotusAqMode mode, int strength_q8, int threads) {
    const int n_mb = mb_width * mb_height;
    int64_t sum = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int i = 0; i < n_mb; i++) {
        const int x = 16 * (i % mb_width), y = 16 * (i / mb_width);
        const int width = motus_min(16, luma->width - x), height = motus_min(16, luma->height - y);
        const uint8_t *at = luma->data + y * luma->stride + x;
        uint32_t samples = 0, squares = 0;
        for (int row = 0; row < height; row++, at += luma->stride)
            for (int k = 0; k < width; k++) {
                samples += at[k];
                squares += (uint32_t)(at[k] * at[k]);
            }
        const int energy = motus_aq_log2_energy(samples, squares, (uint32_t)(width * height));
        offset[i] = (int16_t)energy;
        sum += energy;
    }
    const MotusAqScale scale =
        motus_aq_scale(mode == MOTUS_AQ_AUTO, (int)(sum / n_mb), strength_q8);
    for (int i = 0; i < n_mb; i++) offset[i] = motus_aq_offset(offset[i], scale);
}

// ---- mb-tree ------------------------------------------------------------------------------------

void motus_mb_tree_propagate(uint64_t *const references[2], const uint64_t *propagated,
                             const MotusTreePicture *p, int mb_width, int mb_height) {
    for (int i = 0; i < mb_width * mb_height; i++) {
        int lists;
        const uint64_t amount =
            motus_mb_tree_amounts(&lists, p, i, motus_mb_tree_saturate(propagated[i]));
        for (int list = 0; list < 2 && amount; list++) {
            uint64_t *to = references[list];
            if (!(lists >> list & 1) || !to) continue;
            const int x = i % mb_width * 16 + p->mv[list][i].x,
                      y = i / mb_width * 16 + p->mv[list][i].y;
            for (int k = 0; k < 4; k++) {
                uint32_t share;
                const int at = motus_mb_tree_target(&share, k, x, y, mb_width, mb_height);
                // No overflow: at most 2^20 MBs of some pictures add less than 2^33 each.
                if (at >= 0) to[at] += amount * share >> 8;
            }
        }
    }
}

void motus_mb_tree_offsets(int16_t *offset, const uint64_t *propagated, const MotusMbCosts *costs,
                           int n_mb, int strength_q8) {
    for (int i = 0; i < n_mb; i++)
        offset[i] = motus_mb_tree_offset(offset[i], costs->intra[i],
                                         motus_mb_tree_saturate(propagated[i]), strength_q8);
}
