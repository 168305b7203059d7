// The 8x8 transform with AVX2 in 32-bit SIMD lanes, a row in a register: equals transform8_core.h.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_TRANSFORM8_AVX2_H
#define DCT_TRANSFORM8_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t MotusInt32x8 __attribute__((vector_size(32)));

static inline MotusInt32x8 load8_avx2(const uint8_t *p) {
    return (MotusInt32x8)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
}

static inline void transpose8_avx2(MotusInt32x8 v[8]) {
    __m256i t[8], u[8];
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm256_unpacklo_epi32((__m256i)v[2 * i], (__m256i)v[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_epi32((__m256i)v[2 * i], (__m256i)v[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            u[i + 2 * k] = _mm256_unpacklo_epi64(t[i + k], t[i + 2 + k]);
            u[i + 2 * k + 1] = _mm256_unpackhi_epi64(t[i + k], t[i + 2 + k]);
        }
    for (int i = 0; i < 4; i++) {
        v[i] = (MotusInt32x8)_mm256_permute2x128_si256(u[i], u[i + 4], 0x20);
        v[i + 4] = (MotusInt32x8)_mm256_permute2x128_si256(u[i], u[i + 4], 0x31);
    }
}

// Equals motus_forward8 over v[0..7] in every lane.
static inline void forward8_avx2(MotusInt32x8 v[8]) {
    MotusInt32x8 sum[4], diff[4];
    for (int i = 0; i < 4; i++) {
        sum[i] = v[i] + v[7 - i];
        diff[i] = v[i] - v[7 - i];
    }
    const MotusInt32x8 even0 = sum[0] + sum[3], even1 = sum[1] + sum[2], even2 = sum[0] - sum[3],
                       even3 = sum[1] - sum[2];
    const MotusInt32x8 odd0 = diff[1] + diff[2] + (diff[0] + (diff[0] >> 1)),
                       odd1 = diff[0] - diff[3] - (diff[2] + (diff[2] >> 1)),
                       odd2 = diff[0] + diff[3] - (diff[1] + (diff[1] >> 1)),
                       odd3 = diff[1] - diff[2] + (diff[3] + (diff[3] >> 1));
    v[0] = even0 + even1;
    v[1] = odd0 + (odd3 >> 2);
    v[2] = even2 + (even3 >> 1);
    v[3] = odd1 + (odd2 >> 2);
    v[4] = even0 - even1;
    v[5] = odd2 - (odd1 >> 2);
    v[6] = (even2 >> 1) - even3;
    v[7] = (odd0 >> 2) - odd3;
}

// Equals motus_forward8x8.
static inline void forward_block8_avx2(int coef[64], const uint8_t *src, ptrdiff_t src_stride,
                                       const uint8_t *pred, ptrdiff_t pred_stride) {
    MotusInt32x8 v[8];
    for (int y = 0; y < 8; y++)
        v[y] = load8_avx2(src + y * src_stride) - load8_avx2(pred + y * pred_stride);
    for (int pass = 0; pass < 2; pass++) {
        transpose8_avx2(v);
        forward8_avx2(v);
    }
    for (int y = 0; y < 8; y++) _mm256_storeu_si256((__m256i *)(coef + 8 * y), (__m256i)v[y]);
}

// Equals motus_inverse8 over v[0..7] in every lane.
static inline void inverse8_avx2(MotusInt32x8 v[8]) {
    const MotusInt32x8 a0 = v[0] + v[4], a2 = v[0] - v[4], a4 = (v[2] >> 1) - v[6],
                       a6 = v[2] + (v[6] >> 1);
    const MotusInt32x8 a1 = v[5] - v[3] - (v[7] + (v[7] >> 1)),
                       a3 = v[1] + v[7] - (v[3] + (v[3] >> 1)),
                       a5 = v[7] - v[1] + (v[5] + (v[5] >> 1)),
                       a7 = v[3] + v[5] + (v[1] + (v[1] >> 1));
    const MotusInt32x8 b0 = a0 + a6, b2 = a2 + a4, b4 = a2 - a4, b6 = a0 - a6;
    const MotusInt32x8 b1 = a1 + (a7 >> 2), b3 = a3 + (a5 >> 2), b5 = (a3 >> 2) - a5,
                       b7 = a7 - (a1 >> 2);
    v[0] = b0 + b7;
    v[1] = b2 + b5;
    v[2] = b4 + b3;
    v[3] = b6 + b1;
    v[4] = b6 - b1;
    v[5] = b4 - b3;
    v[6] = b2 - b5;
    v[7] = b0 - b7;
}

// Equals motus_inverse8x8_add; coef stays as it is.
static inline void add_block8_avx2(uint8_t *at, ptrdiff_t stride, const int coef[64]) {
    MotusInt32x8 v[8];
    for (int i = 0; i < 8; i++)
        v[i] = (MotusInt32x8)_mm256_loadu_si256((const __m256i *)(coef + 8 * i));
    for (int pass = 0; pass < 2; pass++) {
        transpose8_avx2(v);
        inverse8_avx2(v);
    }
    for (int y = 0; y < 8; y++) {
        const __m256i sum = (__m256i)(((v[y] + 32) >> 6) + load8_avx2(at + y * stride));
        const __m128i words =
            _mm_packs_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        _mm_storel_epi64((__m128i *)(at + y * stride), _mm_packus_epi16(words, words));
    }
}

#endif
