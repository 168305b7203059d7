// 8x8 DCT with AVX2: the transforms of dct8x8_core.h over eight columns at once, transposed between
// the passes. The compiler vectorizes the loops over columns, so the arithmetic exists once.
// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>

#include "dct/dct8x8.h"

// Transposes a block of 32-bit elements in memory.
static inline void transpose_block(void *x) {
    __m256 r[8], t[8], u[8];
    for (int i = 0; i < 8; i++) r[i] = _mm256_load_ps((const float *)x + 8 * i);
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44),
        u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
        u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44),
              u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
    }
    for (int i = 0; i < 4; i++) {
        _mm256_store_ps((float *)x + 8 * i, _mm256_permute2f128_ps(u[i], u[i + 4], 0x20));
        _mm256_store_ps((float *)x + 8 * (i + 4), _mm256_permute2f128_ps(u[i], u[i + 4], 0x31));
    }
}

// Stores 32-bit levels as rows of int16.
static inline void store_levels(int16_t *dst, ptrdiff_t stride, const int32_t x[64]) {
    for (int r = 0; r < 8; r += 2) {
        __m256i a = _mm256_load_si256((const __m256i *)(x + 8 * r)),
                b = _mm256_load_si256((const __m256i *)(x + 8 * r + 8));
        __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);
        _mm_storeu_si128((__m128i *)((uint8_t *)dst + r * stride), _mm256_castsi256_si128(packed));
        _mm_storeu_si128((__m128i *)((uint8_t *)dst + (r + 1) * stride),
                         _mm256_extracti128_si256(packed, 1));
    }
}

static inline void store_samples(uint8_t *dst, ptrdiff_t stride, const int32_t x[64]) {
    for (int r = 0; r < 8; r += 2) {
        __m256i a = _mm256_load_si256((const __m256i *)(x + 8 * r)),
                b = _mm256_load_si256((const __m256i *)(x + 8 * r + 8));
        __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);
        __m128i bytes =
            _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        _mm_storel_epi64((__m128i *)(dst + r * stride), bytes);
        _mm_storel_epi64((__m128i *)(dst + (r + 1) * stride), _mm_unpackhi_epi64(bytes, bytes));
    }
}

static inline void load_block(float x[64], const uint8_t *src, ptrdiff_t stride) {
    for (int r = 0; r < 8; r++) {
        __m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(src + r * stride)));
        v = _mm256_sub_epi32(v, _mm256_set1_epi32(128));
        _mm256_store_ps(x + 8 * r, _mm256_cvtepi32_ps(v));
    }
}

static inline __m256i load_levels(const int16_t *src) {
    return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)src));
}

static void forward_float(int16_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                          ptrdiff_t src_stride, int n, const MotusDct8Steps *steps) {
    for (int b = 0; b < n; b++) {
        _Alignas(32) float x[64];
        _Alignas(32) int32_t level[64];
        load_block(x, src + 8 * b, src_stride);
        for (int c = 0; c < 8; c++) dct8_float_1d(x + c, 8);
        transpose_block(x);
        for (int c = 0; c < 8; c++) dct8_float_1d(x + c, 8);
        transpose_block(x);
        for (int i = 0; i < 64; i++) level[i] = motus_round_float(x[i] * steps->forward[i]);
        store_levels(dst + 8 * b, dst_stride, level);
    }
}

static void inverse_float(uint8_t *dst, ptrdiff_t dst_stride, const int16_t *src,
                          ptrdiff_t src_stride, int n, const MotusDct8Steps *steps) {
    const __m256 lowest = _mm256_setzero_ps(), highest = _mm256_set1_ps(255.0f),
                 middle = _mm256_set1_ps(128.0f);
    for (int b = 0; b < n; b++) {
        _Alignas(32) float x[64];
        _Alignas(32) int32_t sample[64];
        for (int r = 0; r < 8; r++) {
            __m256 level = _mm256_cvtepi32_ps(load_levels(src + r * (src_stride / 2) + 8 * b));
            _mm256_store_ps(x + 8 * r,
                            _mm256_mul_ps(level, _mm256_loadu_ps(steps->inverse + 8 * r)));
        }
        for (int c = 0; c < 8; c++) idct8_float_1d(x + c, 8);
        transpose_block(x);
        for (int c = 0; c < 8; c++) idct8_float_1d(x + c, 8);
        transpose_block(x);
        for (int r = 0; r < 8; r++) {
            __m256 v = _mm256_add_ps(_mm256_load_ps(x + 8 * r), middle);
            _mm256_store_si256(
                (__m256i *)(sample + 8 * r),
                _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(v, lowest), highest)));
        }
        store_samples(dst + 8 * b, dst_stride, sample);
    }
}

static void forward_int(int16_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                        ptrdiff_t src_stride, int n, const MotusDct8Steps *steps) {
    for (int b = 0; b < n; b++) {
        _Alignas(32) float x[64];
        _Alignas(32) int32_t level[64];
        load_block(x, src + 8 * b, src_stride);
        for (int c = 0; c < 8; c++) dct8_exact_1d(x + c, 8, DCT8_COLUMNS);
        for (int i = 8; i < 32; i++)
            x[i] = dct8_exact_shift(x[i]), x[32 + i] = dct8_exact_shift(x[32 + i]);
        transpose_block(x);
        for (int c = 0; c < 8; c++) dct8_exact_1d(x + c, 8, DCT8_ROWS);
        transpose_block(x);
        for (int i = 0; i < 64; i += 4) { // the product of two floats is exact in a double
            const __m256d v = _mm256_cvtps_pd(_mm_load_ps(x + i)),
                          step = _mm256_cvtps_pd(_mm_loadu_ps(steps->integer + i));
            _mm_store_si128((__m128i *)(level + i), _mm256_cvtpd_epi32(_mm256_mul_pd(v, step)));
        }
        store_levels(dst + 8 * b, dst_stride, level);
    }
}

static void inverse_int(uint8_t *dst, ptrdiff_t dst_stride, const int16_t *src,
                        ptrdiff_t src_stride, int n, const MotusDct8Steps *steps) {
    for (int b = 0; b < n; b++) {
        _Alignas(32) int32_t x[64];
        for (int r = 0; r < 8; r++) {
            _mm256_store_si256((__m256i *)(x + 8 * r),
                               load_levels(src + r * (src_stride / 2) + 8 * b));
            for (int c = 0; c < 8; c++)
                x[8 * r + c] = dct8_int_coef(x[8 * r + c], steps->q[8 * r + c]);
        }
        for (int c = 0; c < 8; c++) idct8_int_1d(x + c, 8, IDCT8_SHIFT_1);
        transpose_block(x);
        for (int c = 0; c < 8; c++) idct8_int_1d(x + c, 8, IDCT8_SHIFT_2);
        transpose_block(x);
        for (int i = 0; i < 64; i++) x[i] += 128;
        store_samples(dst + 8 * b, dst_stride, x);
    }
}

const MotusDct8Ops motus_dct8_ops_avx2 = {{forward_float, forward_int},
                                          {inverse_float, inverse_int}};
