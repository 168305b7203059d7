// SADs and SATDs of several blocks at once. Only for files compiled with AVX2.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_SATD_AVX2_H
#define ME_PIXEL_SATD_AVX2_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

// Loads `width` (4, 8 or 16) bytes, zeros above.
static inline __m128i motus_load_row_avx2(const uint8_t *p, int width) {
    if (width == 16) return _mm_loadu_si128((const __m128i *)p);
    if (width == 8) return _mm_loadl_epi64((const __m128i *)p);
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm_cvtsi32_si128(four);
}

// Returns the sum of the eight 32-bit lanes.
static inline uint32_t motus_sum32_avx2(__m256i v) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, _MM_SHUFFLE(1, 0, 3, 2)));
    return (uint32_t)_mm_cvtsi128_si32(
        _mm_add_epi32(s, _mm_shuffle_epi32(s, _MM_SHUFFLE(2, 3, 0, 1))));
}

// Does the first horizontal step of the Hadamard transform of 16 samples. Low half: sums of the
// eight pairs (0..510); high half: their differences.
static inline __m256i motus_pairs_avx2(__m128i row) {
    const __m128i sum = _mm_set1_epi8(1), difference = _mm_set1_epi16((short)0xFF01); // 1, -1
    return _mm256_maddubs_epi16(_mm256_broadcastsi128_si256(row),
                                _mm256_set_m128i(difference, sum));
}

// Returns max(|left|, |right|) of each pair of 16-bit lanes: in lanes 2i of a, in 2i + 1 of b.
static inline __m256i motus_pair_max_avx2(__m256i a, __m256i b) {
    __m256i left = _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xAA),
            right = _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xAA);
    return _mm256_max_epi16(_mm256_abs_epi16(left), _mm256_abs_epi16(right));
}

// Transforms four rows of differences of pairs, |d| <= 510. The SATD of the i-th 4x4 block is the
// sum of 32-bit lanes i and i + 4. The vertical transform stays within +-2040. The last horizontal
// step gives u + v and u - v; (|u + v| + |u - v|) / 2 = max(|u|, |v|) halves the SATD for free. The
// sum of two maxima is at most 4080.
static inline __m256i motus_satd_strip_avx2(const __m256i d[4]) {
    __m256i s0 = _mm256_add_epi16(d[0], d[1]), d0 = _mm256_sub_epi16(d[0], d[1]);
    __m256i s1 = _mm256_add_epi16(d[2], d[3]), d1 = _mm256_sub_epi16(d[2], d[3]);
    __m256i a = motus_pair_max_avx2(_mm256_add_epi16(s0, s1), _mm256_sub_epi16(s0, s1));
    __m256i b = motus_pair_max_avx2(_mm256_add_epi16(d0, d1), _mm256_sub_epi16(d0, d1));
    return _mm256_madd_epi16(_mm256_add_epi16(a, b), _mm256_set1_epi16(1));
}

#endif
