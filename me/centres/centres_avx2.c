// Downscaled search: eight dx of an even row of points in the low half of a vector, of the row
// below in the high half. SADs by mpsadbw, as in search_avx2.c.
// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>

#include <string.h>

#include "me/centres/centres.h"
#include "me/pixel/satd_avx2.h"

typedef struct Best {
    int cost, index;
} Best;

static __m128i load16(const void *p) { return _mm_loadu_si128((const __m128i *)p); }

static void improve(__m256i j, int index, Best best[2]) {
    __m128i half[2] = {_mm256_castsi256_si128(j), _mm256_extracti128_si256(j, 1)};
    for (int odd = 0; odd < 2; odd++) {
        __m128i least = _mm_minpos_epu16(half[odd]);
        int cost = _mm_extract_epi16(least, 0);
        if (cost >= best[odd].cost) continue;
        best[odd] =
            (Best){cost, index + odd * MOTUS_DOWNSCALED_COLUMNS + _mm_extract_epi16(least, 1)};
    }
}

static int sad8x8(const uint8_t *a, const uint8_t *b, ptrdiff_t stride) {
    __m128i sum = _mm_setzero_si128();
    for (int y = 0; y < 8; y++)
        sum = _mm_add_epi32(sum, _mm_sad_epu8(_mm_loadl_epi64((const __m128i *)(a + y * stride)),
                                              _mm_loadl_epi64((const __m128i *)(b + y * stride))));
    return _mm_cvtsi128_si32(sum);
}

static int cost_at(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                   const MotusDownscaledCosts cost, int row, int column) {
    return cost[row][column] + sad8x8(cur, ref + row * stride + column, stride);
}

// Adds the SADs of four rows. Sums are at most 16,320; saturation keeps the 65,535 of points
// outside.
static inline __m256i add_rows(__m256i j, const uint8_t *at, ptrdiff_t stride,
                               const __m256i block[4]) {
    for (int y = 0; y < 4; y++) {
        __m256i samples = _mm256_set_m128i(load16(at + (y + 1) * stride), load16(at + y * stride));
        __m256i sad = _mm256_add_epi16(_mm256_mpsadbw_epu8(samples, block[y], MOTUS_MPSAD(0, 0)),
                                       _mm256_mpsadbw_epu8(samples, block[y], MOTUS_MPSAD(1, 1)));
        j = _mm256_adds_epu16(j, sad);
    }
    return j;
}

static inline int none_below(__m256i j, __m256i bound) {
    const __m256i below = _mm256_subs_epu16(bound, j);
    return _mm256_testz_si256(below, below);
}

int motus_downscaled_search_avx2(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                                 const MotusDownscaledCosts cost, int points, int likely) {
    // Points that cost more than a known one cannot be the best.
    const int most = motus_min(cost_at(cur, ref, stride, cost, likely / MOTUS_DOWNSCALED_COLUMNS,
                                       likely % MOTUS_DOWNSCALED_COLUMNS),
                               cost_at(cur, ref, stride, cost, points / 2, points / 2));
    __m256i block[8], bound = _mm256_set1_epi16((short)(most + 1));
    Best best[2] = {{65535, 0}, {65535, 0}};
    for (int y = 0; y < 8; y++)
        block[y] = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(cur + y * stride)));
    for (int row = 0; row < points; row += 2)
        for (int column = 0; column < points; column += 8) {
            const uint8_t *at = ref + row * stride + column;
            __m256i j =
                _mm256_set_m128i(load16(&cost[row + 1][column]), load16(&cost[row][column]));
            j = add_rows(j, at, stride, block);
            if (none_below(j, bound)) continue;
            j = add_rows(j, at + 4 * stride, stride, block + 4);
            if (none_below(j, bound)) continue;
            improve(j, row * MOTUS_DOWNSCALED_COLUMNS + column, best);
            // Equal costs count: that of the other half may be of a later point.
            bound = _mm256_set1_epi16(
                (short)(motus_min(most, motus_min(best[0].cost, best[1].cost)) + 1));
        }
    const Best *first = best[1].cost < best[0].cost ||
                                (best[1].cost == best[0].cost && best[1].index < best[0].index)
                            ? &best[1]
                            : best;
    return first->index;
}

// Computes four means at a time. Sums of two neighbours are at most 510, of four rows of them 2040.
void motus_downscaled_scale_avx2(uint8_t *to, const uint8_t *from, ptrdiff_t stride, int width) {
    const __m128i ones = _mm_set1_epi8(1), half = _mm_set1_epi32(8);
    for (int x = 0; x < width; x += 4) {
        __m128i sum = _mm_maddubs_epi16(load16(from + 4 * x), ones);
        for (int i = 1; i < 4; i++)
            sum = _mm_add_epi16(sum, _mm_maddubs_epi16(load16(from + i * stride + 4 * x), ones));
        sum = _mm_srli_epi32(_mm_add_epi32(_mm_madd_epi16(sum, _mm_set1_epi16(1)), half), 4);
        sum = _mm_packus_epi16(_mm_packs_epi32(sum, sum), sum);
        int four = _mm_cvtsi128_si32(sum);
        memcpy(to + x, &four, 4);
    }
}

uint32_t motus_centre_sad_avx2(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride,
                               uint32_t limit) {
    __m256i sum = _mm256_setzero_si256();
    uint32_t sad = 0;
    for (int half = 0; half < 2 && sad < limit; half++) {
        for (int y = 8 * half; y < 8 * half + 8; y += 2) {
            const uint8_t *row = ref + y * stride;
            sum = _mm256_add_epi32(
                sum, _mm256_sad_epu8(_mm256_load_si256((const __m256i *)(cur + 16 * y)),
                                     _mm256_set_m128i(load16(row + stride), load16(row))));
        }
        sad = motus_sum32_avx2(sum);
    }
    return sad;
}

// Measures five positions of a row at once; sums of 64-bit lanes are at most 16,320.
void motus_centre_sads_avx2(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride,
                            uint32_t sad[MOTUS_FINE_POINTS]) {
    for (int dy = 0; dy < 5; dy++, ref += stride, sad += 5) {
        __m256i sum[5];
        for (int dx = 0; dx < 5; dx++) sum[dx] = _mm256_setzero_si256();
        for (int y = 0; y < 16; y += 2) {
            const __m256i block = _mm256_load_si256((const __m256i *)(cur + 16 * y));
            const uint8_t *row = ref + y * stride;
            for (int dx = 0; dx < 5; dx++)
                sum[dx] = _mm256_add_epi32(
                    sum[dx], _mm256_sad_epu8(block, _mm256_set_m128i(load16(row + stride + dx),
                                                                     load16(row + dx))));
        }
        const __m256i four =
            _mm256_hadd_epi32(_mm256_hadd_epi32(sum[0], sum[1]), _mm256_hadd_epi32(sum[2], sum[3]));
        _mm_storeu_si128((__m128i *)sad, _mm_add_epi32(_mm256_castsi256_si128(four),
                                                       _mm256_extracti128_si256(four, 1)));
        sad[4] = motus_sum32_avx2(sum[4]);
    }
}
