// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/half_weights_core.h"

void motus_half_measure(const MotusHalfStats *stats, const MotusHalfPicture *half, int threads) {
    const int width = 2 * half->mb_width, n = 4 * half->mb_width * half->mb_height;
    uint64_t sum = 0, squares = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum, squares)
    for (int i = 0; i < n; i++) {
        const uint8_t *at = half->plane[0] + 4 * (i / width * half->stride + i % width);
        uint32_t block_sum = 0;
        for (int k = 0; k < 16; k++) {
            const uint32_t sample = at[k / 4 * half->stride + k % 4];
            block_sum += sample, squares += sample * sample;
        }
        stats->small[i] = (int16_t)block_sum;
        sum += block_sum;
    }
    *stats->sums = (MotusHalfSums){sum, squares};
}

MotusHalfWeight motus_half_find_weight(const MotusHalfStats *cur, const MotusHalfStats *ref,
                                       int mb_width, int mb_height) {
    const MotusHalfPair pair = {cur->small, ref->small, mb_width, mb_height};
    const int n_mb = mb_width * mb_height, step = motus_half_row_step(n_mb);
    MotusHalfWeight suggestion[MOTUS_HALF_SUGGESTIONS];
    MotusHalfTrial trial = {{0}, {0}, {0}};
    if (!motus_half_suggest(suggestion, cur->sums, ref->sums, 64 * (uint64_t)n_mb))
        return motus_half_no_weight();
    for (int y = 0; y < mb_height; y += step)
        for (int x = 0; x < mb_width; x++) motus_half_try(&trial, &pair, x, y, suggestion);
    return motus_half_choose(&trial, suggestion);
}
