// The 8x8 transform with AVX2 in 32-bit SIMD lanes, a row in a register: equals transform8_core.h.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_TRANSFORM8_AVX2_H
#define DCT_TRANSFORM8_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

static inline __m256i motus_load8_avx2(const uint8_t *p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}
static inline __m256i motus_half_avx2(__m256i v) { return _mm256_srai_epi32(v, 1); }
static inline __m256i motus_quarter_avx2(__m256i v) { return _mm256_srai_epi32(v, 2); }
static inline __m256i motus_add32_avx2(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }
static inline __m256i motus_sub32_avx2(__m256i a, __m256i b) { return _mm256_sub_epi32(a, b); }
// Returns v * 1.5, rounded down.
static inline __m256i motus_more_avx2(__m256i v) { return motus_add32_avx2(v, motus_half_avx2(v)); }

static inline void motus_transpose8_avx2(__m256i v[8]) {
    __m256i t[8], u[8];
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm256_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            u[i + 2 * k] = _mm256_unpacklo_epi64(t[i + k], t[i + 2 + k]);
            u[i + 2 * k + 1] = _mm256_unpackhi_epi64(t[i + k], t[i + 2 + k]);
        }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2x128_si256(u[i], u[i + 4], 0x20);
        v[i + 4] = _mm256_permute2x128_si256(u[i], u[i + 4], 0x31);
    }
}

// Equals motus_forward8 over v[0..7] in every lane.
static inline void motus_forward8_avx2(__m256i v[8]) {
    __m256i sum[4], diff[4];
    for (int i = 0; i < 4; i++) {
        sum[i] = motus_add32_avx2(v[i], v[7 - i]);
        diff[i] = motus_sub32_avx2(v[i], v[7 - i]);
    }
    const __m256i even0 = motus_add32_avx2(sum[0], sum[3]),
                  even1 = motus_add32_avx2(sum[1], sum[2]),
                  even2 = motus_sub32_avx2(sum[0], sum[3]),
                  even3 = motus_sub32_avx2(sum[1], sum[2]);
    const __m256i odd0 = motus_add32_avx2(motus_add32_avx2(diff[1], diff[2]),
                                          motus_more_avx2(diff[0])),
                  odd1 = motus_sub32_avx2(motus_sub32_avx2(diff[0], diff[3]),
                                          motus_more_avx2(diff[2])),
                  odd2 = motus_sub32_avx2(motus_add32_avx2(diff[0], diff[3]),
                                          motus_more_avx2(diff[1])),
                  odd3 = motus_add32_avx2(motus_sub32_avx2(diff[1], diff[2]),
                                          motus_more_avx2(diff[3]));
    v[0] = motus_add32_avx2(even0, even1);
    v[1] = motus_add32_avx2(odd0, motus_quarter_avx2(odd3));
    v[2] = motus_add32_avx2(even2, motus_half_avx2(even3));
    v[3] = motus_add32_avx2(odd1, motus_quarter_avx2(odd2));
    v[4] = motus_sub32_avx2(even0, even1);
    v[5] = motus_sub32_avx2(odd2, motus_quarter_avx2(odd1));
    v[6] = motus_sub32_avx2(motus_half_avx2(even2), even3);
    v[7] = motus_sub32_avx2(motus_quarter_avx2(odd0), odd3);
}

// Equals motus_forward8x8.
static inline void motus_forward_block8_avx2(int coef[64], const uint8_t *src, ptrdiff_t src_stride,
                                             const uint8_t *pred, ptrdiff_t pred_stride) {
    __m256i v[8];
    for (int y = 0; y < 8; y++)
        v[y] = motus_sub32_avx2(motus_load8_avx2(src + y * src_stride),
                                motus_load8_avx2(pred + y * pred_stride));
    motus_transpose8_avx2(v);
    motus_forward8_avx2(v);
    motus_transpose8_avx2(v);
    motus_forward8_avx2(v);
    for (int y = 0; y < 8; y++) _mm256_storeu_si256((__m256i *)(coef + 8 * y), v[y]);
}

// Equals motus_inverse8 over v[0..7] in every lane.
static inline void motus_inverse8_avx2(__m256i v[8]) {
    const __m256i a0 = motus_add32_avx2(v[0], v[4]), a2 = motus_sub32_avx2(v[0], v[4]),
                  a4 = motus_sub32_avx2(motus_half_avx2(v[2]), v[6]),
                  a6 = motus_add32_avx2(v[2], motus_half_avx2(v[6]));
    const __m256i a1 = motus_sub32_avx2(motus_sub32_avx2(v[5], v[3]), motus_more_avx2(v[7])),
                  a3 = motus_sub32_avx2(motus_add32_avx2(v[1], v[7]), motus_more_avx2(v[3])),
                  a5 = motus_add32_avx2(motus_sub32_avx2(v[7], v[1]), motus_more_avx2(v[5])),
                  a7 = motus_add32_avx2(motus_add32_avx2(v[3], v[5]), motus_more_avx2(v[1]));
    const __m256i b0 = motus_add32_avx2(a0, a6), b2 = motus_add32_avx2(a2, a4),
                  b4 = motus_sub32_avx2(a2, a4), b6 = motus_sub32_avx2(a0, a6);
    const __m256i b1 = motus_add32_avx2(a1, motus_quarter_avx2(a7)),
                  b3 = motus_add32_avx2(a3, motus_quarter_avx2(a5)),
                  b5 = motus_sub32_avx2(motus_quarter_avx2(a3), a5),
                  b7 = motus_sub32_avx2(a7, motus_quarter_avx2(a1));
    v[0] = motus_add32_avx2(b0, b7);
    v[1] = motus_add32_avx2(b2, b5);
    v[2] = motus_add32_avx2(b4, b3);
    v[3] = motus_add32_avx2(b6, b1);
    v[4] = motus_sub32_avx2(b6, b1);
    v[5] = motus_sub32_avx2(b4, b3);
    v[6] = motus_sub32_avx2(b2, b5);
    v[7] = motus_sub32_avx2(b0, b7);
}

// Equals motus_inverse8x8_add; coef stays as it is.
static inline void motus_add_block8_avx2(uint8_t *at, ptrdiff_t stride, const int coef[64]) {
    __m256i v[8];
    for (int i = 0; i < 8; i++) v[i] = _mm256_loadu_si256((const __m256i *)(coef + 8 * i));
    motus_transpose8_avx2(v);
    motus_inverse8_avx2(v);
    motus_transpose8_avx2(v);
    motus_inverse8_avx2(v);
    const __m256i half = _mm256_set1_epi32(32);
    for (int y = 0; y < 8; y++) {
        const __m256i residual = _mm256_srai_epi32(motus_add32_avx2(v[y], half), 6),
                      sum = motus_add32_avx2(residual, motus_load8_avx2(at + y * stride));
        const __m128i words =
            _mm_packs_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        _mm_storel_epi64((__m128i *)(at + y * stride), _mm_packus_epi16(words, words));
    }
}

#endif
