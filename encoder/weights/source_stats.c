// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/weights/source_stats.h"

size_t motus_source_stats_bytes(int mb_width, int mb_height) {
    return sizeof(MotusSourceStats) + 4 * sizeof(int16_t) * (size_t)mb_width * (size_t)mb_height;
}

static void measure_plane(MotusSourceStats *stats, int p, const MotusPlane *plane, int threads) {
    uint64_t sum = 0, squares = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum, squares)
    for (int y = 0; y < plane->height; y++) {
        const uint8_t *row = plane->data + y * plane->stride;
        uint32_t row_sum = 0, row_squares = 0; // a row has at most 2^16 samples
        for (int x = 0; x < plane->width; x++) {
            row_sum += row[x];
            row_squares += (uint32_t)(row[x] * row[x]);
        }
        sum += row_sum, squares += row_squares;
    }
    stats->sum[p] = sum, stats->squares[p] = squares;
}

// Downscales a row of 8x8 blocks.
static void downscale_row(int16_t *small, const uint8_t *from, ptrdiff_t stride, int n) {
    for (int i = 0; i < n; i++, from += 8) {
        uint32_t sum = 0;
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++) sum += from[y * stride + x];
        small[i] = motus_small_sample(sum);
    }
}

void motus_source_stats_measure(MotusSourceStats *stats, const MotusFrame *frame, int threads) {
    const MotusPlane *luma = &frame->plane[0];
    const int n = luma->width / 8;
    for (int p = 0; p < 3; p++) measure_plane(stats, p, &frame->plane[p], threads);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < luma->height / 8; y++)
        downscale_row(stats->small + y * n, luma->data + 8 * y * luma->stride, luma->stride, n);
}
