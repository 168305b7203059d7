// Inner loops of search centres by vectors (me/pixel/vector_tmpl.h); equal those of centres.c.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CENTRES_CENTRES_TMPL_H
#define ME_CENTRES_CENTRES_TMPL_H

#include "me/centres/centres.h"
#include "me/pixel/satd_avx2.h"

// Returns J of one point.
static int cost_at(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                   const MotusDownscaledCosts cost, int row, int column) {
    const uint8_t *at = ref + row * stride + column;
    __m128i sum = _mm_setzero_si128();
    for (int y = 0; y < 8; y++)
        sum = _mm_add_epi32(sum, _mm_sad_epu8(motus_load_row_avx2(cur + y * stride, 8),
                                              motus_load_row_avx2(at + y * stride, 8)));
    return cost[row][column] + _mm_cvtsi128_si32(sum);
}

// Adds the SADs of four rows at eight points of PARTS rows. Sums are at most 16,320; saturation
// keeps the 65,535 of points outside.
INLINE V add_rows(V j, const uint8_t *cur, const uint8_t *at, ptrdiff_t stride) {
    for (int y = 0; y < 4; y++, cur += stride, at += stride) {
        const void *p[PARTS];
        for (int i = 0; i < PARTS; i++) p[i] = at + i * stride;
        const V samples = parts(p);
        j = OP(adds_epu16)(j, OP(add_epi16)(sad4x1(samples, cur, 0), sad4x1(samples, cur, 1)));
    }
    return j;
}

// A part of a vector is eight dx of one of PARTS neighbouring rows of points.
static int search(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                  const MotusDownscaledCosts cost, int points, int likely) {
    // Points that cost more than a known one cannot be the best. Equal costs count: that of another
    // part may be of a later point.
    int least = motus_min(cost_at(cur, ref, stride, cost, likely / MOTUS_DOWNSCALED_COLUMNS,
                                  likely % MOTUS_DOWNSCALED_COLUMNS),
                          cost_at(cur, ref, stride, cost, points / 2, points / 2));
    uint32_t best = UINT32_MAX; // J << 16 | index
    V bound = OP(set1_epi16)((short)(least + 1));
    for (int row = 0; row < points; row += PARTS)
        for (int column = 0; column < points; column += 8) {
            const uint8_t *at = ref + row * stride + column;
            _Alignas(64) uint16_t lane[LANES];
            const void *p[PARTS];
            for (int i = 0; i < PARTS; i++) p[i] = &cost[row + i][column];
            V j = add_rows(parts(p), cur, at, stride);
            if (!any_below(j, bound)) continue;
            j = add_rows(j, cur + 4 * stride, at + 4 * stride, stride);
            if (!any_below(j, bound)) continue;
            *(V *)lane = j;
            for (int i = 0; i < PARTS; i++) {
                const uint32_t first = (uint32_t)_mm_cvtsi128_si32(
                    _mm_minpos_epu16(_mm_load_si128((const __m128i *)(lane + 8 * i))));
                const int index =
                    (row + i) * MOTUS_DOWNSCALED_COLUMNS + column + (int)(first >> 16);
                const uint32_t key = first << 16 | (uint32_t)index;
                if (key < best) best = key;
            }
            least = motus_min(least, (int)(best >> 16));
            bound = OP(set1_epi16)((short)(least + 1));
        }
    return (int)(best & 0xFFFF);
}

// Computes four means at a time. Sums of two neighbours are at most 510, of four rows of them 2040.
static void scale(uint8_t *to, const uint8_t *from, ptrdiff_t stride, int width) {
    const __m128i ones = _mm_set1_epi8(1), half = _mm_set1_epi32(8);
    for (int x = 0; x < width; x += 4) {
        __m128i sum = _mm_setzero_si128();
        for (int i = 0; i < 4; i++)
            sum = _mm_add_epi16(
                sum, _mm_maddubs_epi16(motus_load_row_avx2(from + i * stride + 4 * x, 16), ones));
        sum = _mm_srli_epi32(_mm_add_epi32(_mm_madd_epi16(sum, _mm_set1_epi16(1)), half), 4);
        sum = _mm_packus_epi16(_mm_packs_epi32(sum, sum), sum);
        int four = _mm_cvtsi128_si32(sum);
        memcpy(to + x, &four, 4);
    }
}

// Returns the SADs of two rows, in the 64-bit lanes.
INLINE __m256i sad_rows(const uint8_t cur[32], const uint8_t *ref, ptrdiff_t stride) {
    return _mm256_sad_epu8(
        _mm256_load_si256((const __m256i *)cur),
        _mm256_set_m128i(motus_load_row_avx2(ref + stride, 16), motus_load_row_avx2(ref, 16)));
}

static uint32_t sad(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride, uint32_t limit) {
    __m256i sum = _mm256_setzero_si256();
    uint32_t sad = 0;
    for (int half = 0; half < 2 && sad < limit; half++) {
        for (int y = 8 * half; y < 8 * half + 8; y += 2)
            sum = _mm256_add_epi32(sum, sad_rows(cur + 16 * y, ref + y * stride, stride));
        sad = motus_sum32_avx2(sum);
    }
    return sad;
}

// Measures five positions of a row at once; sums of 64-bit lanes are at most 16,320.
static void sads(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride,
                 uint32_t sad[MOTUS_FINE_POINTS]) {
    for (int dy = 0; dy < 5; dy++, ref += stride, sad += 5) {
        __m256i sum[5];
        for (int dx = 0; dx < 5; dx++) sum[dx] = _mm256_setzero_si256();
        for (int y = 0; y < 16; y += 2)
            for (int dx = 0; dx < 5; dx++)
                sum[dx] = _mm256_add_epi32(sum[dx],
                                           sad_rows(cur + 16 * y, ref + y * stride + dx, stride));
        const __m256i four =
            _mm256_hadd_epi32(_mm256_hadd_epi32(sum[0], sum[1]), _mm256_hadd_epi32(sum[2], sum[3]));
        _mm_storeu_si128((__m128i *)sad, _mm_add_epi32(_mm256_castsi256_si128(four),
                                                       _mm256_extracti128_si256(four, 1)));
        sad[4] = motus_sum32_avx2(sum[4]);
    }
}

#endif
