// Coarse search: eight dx of an even row of points in the low half of a vector, of the row below in
// the high half. SADs by mpsadbw, as in search_avx2.c.
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
        best[odd] = (Best){cost, index + odd * MOTUS_COARSE_COLUMNS + _mm_extract_epi16(least, 1)};
    }
}

int motus_coarse_search_avx2(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                             const MotusCoarseCosts cost, int points) {
    __m256i block[8], bound = _mm256_set1_epi16(-1);
    Best best[2] = {{65535, 0}, {65535, 0}};
    for (int y = 0; y < 8; y++)
        block[y] = _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)(cur + y * stride)));
    for (int row = 0; row < points; row += 2)
        for (int column = 0; column < points; column += 8) {
            const uint8_t *at = ref + row * stride + column;
            __m256i j =
                _mm256_set_m128i(load16(&cost[row + 1][column]), load16(&cost[row][column]));
            // Sums are at most 16,320; saturation keeps the 65,535 of points outside.
            for (int y = 0; y < 8; y++) {
                __m256i samples =
                    _mm256_set_m128i(load16(at + (y + 1) * stride), load16(at + y * stride));
                __m256i sad =
                    _mm256_add_epi16(_mm256_mpsadbw_epu8(samples, block[y], MOTUS_MPSAD(0, 0)),
                                     _mm256_mpsadbw_epu8(samples, block[y], MOTUS_MPSAD(1, 1)));
                j = _mm256_adds_epu16(j, sad);
            }
            __m256i below = _mm256_subs_epu16(bound, j);
            if (_mm256_testz_si256(below, below)) continue;
            improve(j, row * MOTUS_COARSE_COLUMNS + column, best);
            bound = _mm256_set_m128i(_mm_set1_epi16((short)best[1].cost),
                                     _mm_set1_epi16((short)best[0].cost));
        }
    const Best *first = best[1].cost < best[0].cost ||
                                (best[1].cost == best[0].cost && best[1].index < best[0].index)
                            ? &best[1]
                            : best;
    return first->index;
}

// Computes four means at a time. Sums of two neighbours are at most 510, of four rows of them 2040.
void motus_coarse_scale_avx2(uint8_t *to, const uint8_t *from, ptrdiff_t stride, int width) {
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
