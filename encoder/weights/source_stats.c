// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/weights/source_stats.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

size_t motus_source_stats_bytes(int mb_width, int mb_height) {
    return sizeof(MotusSourceStats) + 4 * sizeof(int16_t) * (size_t)mb_width * (size_t)mb_height;
}

#ifdef __SSE2__
static __m128i load8(const uint8_t *p) { return _mm_loadl_epi64((const __m128i *)p); }

// Adds the sums of eight samples, in the low lane.
static __m128i add_sums(__m128i sums, __m128i samples) {
    return _mm_add_epi64(sums, _mm_sad_epu8(samples, _mm_setzero_si128()));
}
#endif

// Adds n samples of a row, a multiple of 8 up to MOTUS_MAX_SIZE, and their squares.
static void measure_row(const uint8_t *row, int n, uint64_t *sum, uint64_t *squares) {
#ifdef __SSE2__
    const __m128i zero = _mm_setzero_si128();
    __m128i sums = zero, squared = zero; // below 2^30 in a lane
    for (int x = 0; x < n; x += 8) {
        const __m128i samples = load8(row + x), wide = _mm_unpacklo_epi8(samples, zero);
        sums = add_sums(sums, samples);
        squared = _mm_add_epi32(squared, _mm_madd_epi16(wide, wide));
    }
    squared = _mm_add_epi64(_mm_unpacklo_epi32(squared, zero), _mm_unpackhi_epi32(squared, zero));
    *sum += (uint64_t)_mm_cvtsi128_si64(sums);
    *squares += (uint64_t)_mm_cvtsi128_si64(squared) +
                (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(squared, zero));
#else
    uint32_t row_sum = 0, row_squares = 0;
    for (int x = 0; x < n; x++) {
        row_sum += row[x];
        row_squares += (uint32_t)(row[x] * row[x]);
    }
    *sum += row_sum, *squares += row_squares;
#endif
}

// Returns the sum of an 8x8 block.
static uint32_t sum8x8(const uint8_t *from, ptrdiff_t stride) {
#ifdef __SSE2__
    __m128i sum = _mm_setzero_si128();
    for (int y = 0; y < 8; y++) sum = add_sums(sum, load8(from + y * stride));
    return (uint32_t)_mm_cvtsi128_si32(sum);
#else
    uint32_t sum = 0;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) sum += from[y * stride + x];
    return sum;
#endif
}

void motus_source_stats_measure(MotusSourceStats *stats, const MotusFrame *frame, int threads) {
    const MotusPlane *luma = &frame->plane[0];
    const int n = luma->width / 8;
    (void)threads;
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &frame->plane[p];
        uint64_t sum = 0, squares = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum, squares)
        for (int y = 0; y < plane->height; y++)
            measure_row(plane->data + y * plane->stride, plane->width, &sum, &squares);
        stats->sum[p] = sum, stats->squares[p] = squares;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < luma->height / 8; y++)
        for (int i = 0; i < n; i++)
            stats->small[y * n + i] =
                motus_small_sample(sum8x8(luma->data + 8 * y * luma->stride + 8 * i, luma->stride));
}
