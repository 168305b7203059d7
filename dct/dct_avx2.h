// 4x4 transforms with AVX2 in 16-bit SIMD lanes. Forward ones cannot overflow: residuals of +-255
// stay within +-9180. The inverse is defined modulo 2^16 (dct_core.h), as these lanes compute.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT_AVX2_H
#define DCT_DCT_AVX2_H

#include <immintrin.h>
#include <string.h>

#include "dct/dct_core.h"

static inline int load32_avx2(const uint8_t *p) {
    int word;
    memcpy(&word, p, sizeof word);
    return word;
}

typedef int16_t MotusInt16x16 __attribute__((vector_size(32)));

// Transforms four 4x4 blocks. v[0..3]: their rows, 64 bits each, blocks 0 and 1 in the low half, 2
// and 3 in the high half. u[0], u[1]: rows 0 and 1, rows 2 and 3 of the results of blocks 0 (low)
// and 2 (high). u[2], u[3]: those of blocks 1 and 3. Columns come first, which is the same as rows
// first: nothing is rounded.
static inline void forward_blocks_avx2(__m256i u[4], MotusInt16x16 v[4]) {
    for (int pass = 0; pass < 2; pass++) {
        const MotusInt16x16 sum03 = v[0] + v[3], diff03 = v[0] - v[3], sum12 = v[1] + v[2],
                            diff12 = v[1] - v[2]; // as in motus_forward4
        const __m256i a = (__m256i)(sum03 + sum12), b = (__m256i)(diff03 + diff03 + diff12),
                      c = (__m256i)(sum03 - sum12), d = (__m256i)(diff03 - (diff12 + diff12));
        const __m256i t0 = _mm256_unpacklo_epi16(a, b), t1 = _mm256_unpackhi_epi16(a, b),
                      t2 = _mm256_unpacklo_epi16(c, d), t3 = _mm256_unpackhi_epi16(c, d);
        u[0] = _mm256_unpacklo_epi32(t0, t2);
        u[1] = _mm256_unpackhi_epi32(t0, t2);
        u[2] = _mm256_unpacklo_epi32(t1, t3);
        u[3] = _mm256_unpackhi_epi32(t1, t3);
        for (int i = 0; i < 2 && !pass; i++) {
            v[2 * i] = (MotusInt16x16)_mm256_unpacklo_epi64(u[i], u[2 + i]);
            v[2 * i + 1] = (MotusInt16x16)_mm256_unpackhi_epi64(u[i], u[2 + i]);
        }
    }
}

static inline void store_blocks_avx2(int16_t coef[4][16], const __m256i u[4]) {
    _mm256_storeu_si256((__m256i *)coef[0], _mm256_permute2x128_si256(u[0], u[1], 0x20));
    _mm256_storeu_si256((__m256i *)coef[1], _mm256_permute2x128_si256(u[2], u[3], 0x20));
    _mm256_storeu_si256((__m256i *)coef[2], _mm256_permute2x128_si256(u[0], u[1], 0x31));
    _mm256_storeu_si256((__m256i *)coef[3], _mm256_permute2x128_si256(u[2], u[3], 0x31));
}

static inline void forward4x4_avx2(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride,
                                   const uint8_t *pred, ptrdiff_t pred_stride) {
    MotusInt16x16 v[4];
    __m256i u[4];
    for (int y = 0; y < 4; y++) {
        __m128i s = _mm_cvtepu8_epi16(_mm_cvtsi32_si128(load32_avx2(src + y * src_stride)));
        __m128i p = _mm_cvtepu8_epi16(_mm_cvtsi32_si128(load32_avx2(pred + y * pred_stride)));
        v[y] = (MotusInt16x16)_mm256_zextsi128_si256(_mm_sub_epi16(s, p));
    }
    forward_blocks_avx2(u, v);
    _mm256_storeu_si256((__m256i *)coef, _mm256_permute2x128_si256(u[0], u[1], 0x20));
}

static inline void forward16x16_avx2(int16_t coef[16][16], const uint8_t *src, ptrdiff_t src_stride,
                                     const uint8_t *pred, ptrdiff_t pred_stride) {
    for (int row = 0; row < 4; row++) {
        MotusInt16x16 v[4];
        __m256i u[4];
        for (int y = 0; y < 4; y++) {
            __m256i s = _mm256_cvtepu8_epi16(
                _mm_loadu_si128((const __m128i *)(src + (4 * row + y) * src_stride)));
            __m256i p = _mm256_cvtepu8_epi16(
                _mm_loadu_si128((const __m128i *)(pred + (4 * row + y) * pred_stride)));
            v[y] = (MotusInt16x16)_mm256_sub_epi16(s, p);
        }
        forward_blocks_avx2(u, v);
        store_blocks_avx2(coef + 4 * row, u);
    }
}

// Loads eight samples each of rows y and y + 4.
static inline MotusInt16x16 load_rows_avx2(const uint8_t *p, ptrdiff_t stride, int y) {
    __m128i upper = _mm_loadl_epi64((const __m128i *)(p + y * stride));
    __m128i lower = _mm_loadl_epi64((const __m128i *)(p + (y + 4) * stride));
    return (MotusInt16x16)_mm256_cvtepu8_epi16(_mm_unpacklo_epi64(upper, lower));
}

static inline void forward8x8_avx2(int16_t coef[4][16], const uint8_t *src, ptrdiff_t src_stride,
                                   const uint8_t *pred, ptrdiff_t pred_stride) {
    MotusInt16x16 v[4];
    __m256i u[4];
    for (int y = 0; y < 4; y++)
        v[y] = load_rows_avx2(src, src_stride, y) - load_rows_avx2(pred, pred_stride, y);
    forward_blocks_avx2(u, v);
    store_blocks_avx2(coef, u);
}

// Equals motus_inverse4 of four lines, of which `first` and `second` hold two each, into v[0..3]:
// their low 64 bits.
static inline void inverse4_avx2(__m128i v[4], __m128i first, __m128i second) {
    const __m128i in1 = _mm_unpackhi_epi64(first, first), in3 = _mm_unpackhi_epi64(second, second);
    const __m128i sum02 = _mm_add_epi16(first, second), diff02 = _mm_sub_epi16(first, second);
    const __m128i odd1 = _mm_sub_epi16(_mm_srai_epi16(in1, 1), in3),
                  odd3 = _mm_add_epi16(in1, _mm_srai_epi16(in3, 1));
    v[0] = _mm_add_epi16(sum02, odd3);
    v[1] = _mm_add_epi16(diff02, odd1);
    v[2] = _mm_sub_epi16(diff02, odd1);
    v[3] = _mm_sub_epi16(sum02, odd3);
}

static inline __m128i load4x4_avx2(const uint8_t *p, ptrdiff_t stride) {
    return _mm_setr_epi32(load32_avx2(p), load32_avx2(p + stride), load32_avx2(p + 2 * stride),
                          load32_avx2(p + 3 * stride));
}

static inline void inverse4x4_add_avx2(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *pred,
                                       ptrdiff_t pred_stride, const int16_t coef[16]) {
    __m128i rows01 = _mm_loadu_si128((const __m128i *)coef),
            rows23 = _mm_loadu_si128((const __m128i *)(coef + 8)), v[4];
    __m128i t0 = _mm_unpacklo_epi16(rows01, rows23), t1 = _mm_unpackhi_epi16(rows01, rows23);
    inverse4_avx2(v, _mm_unpacklo_epi16(t0, t1), _mm_unpackhi_epi16(t0, t1)); // columns
    t0 = _mm_unpacklo_epi16(v[0], v[1]);
    t1 = _mm_unpacklo_epi16(v[2], v[3]);
    inverse4_avx2(v, _mm_unpacklo_epi32(t0, t1), _mm_unpackhi_epi32(t0, t1)); // rows
    __m128i half = _mm_set1_epi16(32);
    rows01 = _mm_srai_epi16(_mm_add_epi16(_mm_unpacklo_epi64(v[0], v[1]), half), 6);
    rows23 = _mm_srai_epi16(_mm_add_epi16(_mm_unpacklo_epi64(v[2], v[3]), half), 6);
    __m128i p = load4x4_avx2(pred, pred_stride);
    rows01 = _mm_add_epi16(rows01, _mm_cvtepu8_epi16(p));
    rows23 = _mm_add_epi16(rows23, _mm_unpackhi_epi8(p, _mm_setzero_si128()));
    uint32_t out[4];
    _mm_storeu_si128((__m128i *)out, _mm_packus_epi16(rows01, rows23));
    for (int y = 0; y < 4; y++) memcpy(dst + y * dst_stride, &out[y], 4);
}

// Equals motus_dequant_zigzag. Each half of a block has one level of the other half in zigzag
// order: the 13th of all in row 1, the fourth in row 2.
static inline void dequant_zigzag_avx2(int16_t coef[16], const int16_t zigzag[16], int qp) {
    const int s0 = motus_dequant_scale(qp % 6, 0), s1 = motus_dequant_scale(qp % 6, 1),
              s2 = motus_dequant_scale(qp % 6, 2);
    const __m256i scale = _mm256_set1_epi64x((int64_t)s2 << 48 | (int64_t)s0 << 32 | s2 << 16 | s0),
                  odd = _mm256_set1_epi64x((int64_t)s1 << 48 | (int64_t)s2 << 32 | s1 << 16 | s2);
    const __m256i from = _mm256_setr_epi8( // bytes of zigzag positions, 8 subtracted in rows 2, 3
        0, 1, 2, 3, 10, 11, 12, 13, 4, 5, 8, 9, 14, 15, -1, -1, //
        -1, -1, 0, 1, 6, 7, 10, 11, 2, 3, 4, 5, 12, 13, 14, 15);
    __m256i v = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)zigzag), from);
    v = _mm256_insert_epi16(_mm256_insert_epi16(v, zigzag[12], 7), zigzag[3], 8);
    v = _mm256_mullo_epi16(v, _mm256_blend_epi32(scale, odd, 0xCC));
    _mm256_storeu_si256((__m256i *)coef, _mm256_sll_epi16(v, _mm_cvtsi32_si128(qp / 6)));
}

#endif
