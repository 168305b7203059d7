// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/aq.h"

#include "encoder/rate/aq_core.h"

// ---- Variance -----------------------------------------------------------------------------------

static int octaves_of(const MotusPlane *luma, int x, int y) {
    const int width = motus_min(16, luma->width - 16 * x),
              height = motus_min(16, luma->height - 16 * y);
    const uint8_t *at = luma->data + 16 * y * luma->stride + 16 * x;
    uint32_t sum = 0, squares = 0;
    for (int row = 0; row < height; row++, at += luma->stride)
        for (int i = 0; i < width; i++) {
            sum += at[i];
            squares += (uint32_t)(at[i] * at[i]);
        }
    return motus_aq_octaves(sum, squares, (uint32_t)(width * height));
}

void motus_aq_variance(int16_t *offset, const MotusPlane *luma, int mb_width, int mb_height,
                       MotusAqMode mode, int strength_q8, int threads) {
    const int n_mb = mb_width * mb_height;
    int64_t sum = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int i = 0; i < n_mb; i++) {
        const int octaves = octaves_of(luma, i % mb_width, i / mb_width);
        offset[i] = (int16_t)octaves;
        sum += octaves;
    }
    const int middle = mode == MOTUS_AQ_AUTO ? (int)(sum / n_mb) : MOTUS_AQ_MIDDLE;
    for (int i = 0; i < n_mb; i++) offset[i] = motus_aq_moved(offset[i], middle, strength_q8);
}

// ---- Propagation --------------------------------------------------------------------------------

static void add(uint32_t *to, uint64_t amount) {
    const uint64_t sum = *to + amount;
    *to = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

// Adds `amount` to the MBs under the 16x16 samples at (x, y), by their shares.
static void spread(uint32_t *before, uint64_t amount, int x, int y, int mb_width, int mb_height) {
    for (int k = 0; k < 4; k++) {
        uint32_t share;
        const int at = motus_aq_under(&share, k, x, y, mb_width, mb_height);
        if (at >= 0) add(&before[at], amount * share >> 8);
    }
}

void motus_aq_pass_back(uint32_t *before, const uint32_t *passed, const MotusMbCosts *costs,
                        const int16_t *aq, int mb_width, int mb_height) {
    for (int i = 0; i < mb_width * mb_height; i++) {
        const uint32_t intra = costs->intra[i], inter = costs->inter[i];
        if (inter >= intra) continue;
        spread(before,
               motus_aq_owed(intra, inter, aq ? motus_aq_worth(intra, aq[i]) : intra, passed[i]),
               i % mb_width * 16 + costs->mv[i].x, i / mb_width * 16 + costs->mv[i].y, mb_width,
               mb_height);
    }
}

void motus_aq_propagated(int16_t *offset, const uint32_t *passed, const MotusMbCosts *costs,
                         int n_mb, int strength_q8) {
    for (int i = 0; i < n_mb; i++)
        offset[i] = motus_aq_lowered(offset[i], costs->intra[i], passed[i], strength_q8);
}
