// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/aq.h"

#include "encoder/log2_core.h"

#define MOST_OFFSET (20 * MOTUS_QP_UNIT)

// ---- Variance -------------------------------------------------------------------------------------------------------------------------------

// Energy of an MB without its mean, scaled to 256 samples.
static uint32_t energy_of(const MotusPlane *luma, int x, int y) {
    const int width = motus_min(16, luma->width - 16 * x), height = motus_min(16, luma->height - 16 * y);
    const uint32_t n = (uint32_t)(width * height);
    const uint8_t *at = luma->data + 16 * y * luma->stride + 16 * x;
    uint32_t sum = 0, squares = 0;
    for (int row = 0; row < height; row++, at += luma->stride)
        for (int i = 0; i < width; i++) {
            sum += at[i];
            squares += (uint32_t)(at[i] * at[i]);
        }
    const uint32_t energy = squares - (uint32_t)((uint64_t)sum * sum / n); // at most 256 * 127.5^2
    return n == 256 ? energy : (uint32_t)((uint64_t)energy * 256 / n);
}

// Of AQ 1: QP stays where the energy is 2^14.4, about that of a standard deviation of 9.
#define MIDDLE_Q12 (59000)
#define QP_PER_OCTAVE_Q8 266 // at strength 1

void motus_aq_variance(int16_t *offset, const MotusPlane *luma, int mb_width, int mb_height, MotusAqMode mode, int strength_q8,
                       int threads) {
    const int n_mb = mb_width * mb_height;
    int64_t sum = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int i = 0; i < n_mb; i++) {
        const int octaves = motus_log2_q12((uint64_t)energy_of(luma, i % mb_width, i / mb_width) + 256) / 16; // 1/256
        offset[i] = (int16_t)octaves;
        sum += octaves;
    }
    const int middle = mode == MOTUS_AQ_AUTO ? (int)(sum / n_mb) : MIDDLE_Q12 / 16;
    for (int i = 0; i < n_mb; i++) {
        const int64_t moved = (int64_t)(offset[i] - middle) * strength_q8 * QP_PER_OCTAVE_Q8 >> 16;
        offset[i] = (int16_t)motus_clip(-MOST_OFFSET, MOST_OFFSET, (int)moved);
    }
}

// ---- Propagation ----------------------------------------------------------------------------------------------------------------------------

static void add(uint32_t *to, uint64_t amount) {
    const uint64_t sum = *to + amount;
    *to = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

// What an MB is worth by itself: its cost as intra, more where it is quantized finer.
static uint32_t worth(uint32_t intra, const int16_t *aq, int i) {
    if (!aq) return intra;
    return (uint32_t)(intra * motus_exp2_q16(-motus_qp_octaves(aq[i])) >> 16);
}

// Adds `amount` to the MBs under the 16x16 samples at (x, y), by their shares.
static void spread(uint32_t *before, uint64_t amount, int x, int y, int mb_width, int mb_height) {
    const int left = x >> 4, top = y >> 4, fx = x & 15, fy = y & 15;
    for (int k = 0; k < 4; k++) {
        const int column = left + (k & 1), row = top + (k >> 1);
        const uint32_t share = (uint32_t)((k & 1 ? fx : 16 - fx) * (k >> 1 ? fy : 16 - fy));
        if (!share || column < 0 || row < 0 || column >= mb_width || row >= mb_height) continue;
        add(&before[row * mb_width + column], amount * share >> 8);
    }
}

void motus_aq_pass_back(uint32_t *before, const uint32_t *passed, const MotusMbCosts *costs, const int16_t *aq, int mb_width,
                        int mb_height) {
    for (int i = 0; i < mb_width * mb_height; i++) {
        const uint32_t intra = costs->intra[i], inter = costs->inter[i];
        if (inter >= intra) continue;
        const uint64_t all = (uint64_t)worth(intra, aq, i) + passed[i];
        spread(before, all * (intra - inter) / intra, i % mb_width * 16 + costs->mv[i].x, i / mb_width * 16 + costs->mv[i].y,
               mb_width, mb_height);
    }
}

void motus_aq_propagated(int16_t *offset, const uint32_t *passed, const MotusMbCosts *costs, int n_mb, int strength_q8) {
    for (int i = 0; i < n_mb; i++) {
        const uint32_t own = (uint32_t)motus_max(1, (int)worth(costs->intra[i], offset, i));
        const int octaves = motus_log2_q12((uint64_t)own + passed[i]) - motus_log2_q12(own);
        offset[i] = (int16_t)motus_clip(-MOST_OFFSET, MOST_OFFSET, offset[i] - (octaves * strength_q8 >> 12));
    }
}
