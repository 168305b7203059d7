// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>

#include "me/refine.h"
#include "me/satd_avx2.h"

static __m128i load16(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)p); }

static void prepare_avx2(MotusRefineCur *cur, const uint8_t *samples, ptrdiff_t stride) {
    for (int y = 0; y < 16; y++) _mm256_storeu_si256((__m256i *)cur->pairs[y], motus_pairs_avx2(load16(samples + y * stride)));
}

// SATDs of the four 4x4 blocks whose differences of pairs these are.
static inline __m128i four_satds(const __m256i d[4]) {
    __m256i sum = motus_satd_strip_avx2(d);
    return _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
}

static inline __m256i difference(__m128i pred, const int16_t pairs[16]) {
    return _mm256_sub_epi16(motus_pairs_avx2(pred), _mm256_loadu_si256((const __m256i *)pairs));
}

// Sums of 41 blocks from the rows of 4x4 sums, in the order of MOTUS_BLOCK_*.
static inline void merge(const __m128i s44[4], uint32_t sum[MOTUS_BLOCKS]) {
    __m128i s48[2] = {_mm_add_epi32(s44[0], s44[1]), _mm_add_epi32(s44[2], s44[3])};
    __m128i s88 = _mm_hadd_epi32(s48[0], s48[1]);
    __m128i s168 = _mm_hadd_epi32(s88, s88), s816 = _mm_add_epi32(s88, _mm_shuffle_epi32(s88, 0x4E));
    for (int i = 0; i < 4; i++) _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_4x4 + 4 * i), s44[i]);
    for (int i = 0; i < 2; i++) {
        _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_4x8 + 4 * i), s48[i]);
        _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_8x4 + 4 * i), _mm_hadd_epi32(s44[2 * i], s44[2 * i + 1]));
    }
    _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_8x8), s88);
    _mm_storel_epi64((__m128i *)(sum + MOTUS_BLOCK_8x16), s816);
    _mm_storel_epi64((__m128i *)(sum + MOTUS_BLOCK_16x8), s168);
    sum[MOTUS_BLOCK_16x16] = (uint32_t)_mm_cvtsi128_si32(_mm_hadd_epi32(s168, s168));
}

static void satd_avx2(const MotusRefineCur *cur, const uint8_t *const tap[2], ptrdiff_t stride, unsigned rows,
                      uint32_t sum[MOTUS_BLOCKS]) {
    __m128i s44[4];
    for (int i = 0; i < 4; i++) {
        const uint8_t *p = tap[0] + 4 * i * stride, *q = tap[1] + 4 * i * stride;
        __m256i d[4];
        s44[i] = _mm_setzero_si128();
        if (!(rows >> i & 1)) continue;
        for (int y = 0; y < 4; y++) // the average of a sample with itself is the sample
            d[y] = difference(_mm_avg_epu8(load16(p + y * stride), load16(q + y * stride)), cur->pairs[4 * i + y]);
        s44[i] = four_satds(d);
    }
    merge(s44, sum);
}

const MotusRefineOps motus_refine_ops_avx2 = {prepare_avx2, satd_avx2};
