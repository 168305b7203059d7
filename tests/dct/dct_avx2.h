// dct/dct_avx2.h and transform8_avx2.h for suites that are compiled for any CPU.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DCT_AVX2_H
#define TESTS_DCT_AVX2_H

#include <stddef.h>
#include <stdint.h>

typedef struct DctAvx2 {
    void (*forward4x4)(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride,
                       const uint8_t *pred, ptrdiff_t pred_stride);
    void (*forward8x8)(int16_t coef[4][16], const uint8_t *src, ptrdiff_t src_stride,
                       const uint8_t *pred, ptrdiff_t pred_stride);
    void (*forward16x16)(int16_t coef[16][16], const uint8_t *src, ptrdiff_t src_stride,
                         const uint8_t *pred, ptrdiff_t pred_stride);
    void (*inverse4x4_add)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *pred,
                           ptrdiff_t pred_stride, const int16_t coef[16]);
    // The functions of dct/dct_mb_core.h, compiled for AVX2.
    void (*forward_luma)(int16_t coef[16][16], const uint8_t *src, ptrdiff_t src_stride,
                         const uint8_t pred[256]);
    void (*forward_chroma)(int16_t coef[4][16], const uint8_t *src, ptrdiff_t src_stride,
                           const uint8_t pred[64]);
    void (*dequant_zigzag)(int16_t coef[16], const int16_t zigzag[16], int qp);
    void (*forward_block8)(int coef[64], const uint8_t *src, ptrdiff_t src_stride,
                           const uint8_t *pred, ptrdiff_t pred_stride);
    void (*add_block8)(uint8_t *at, ptrdiff_t stride, const int coef[64]);
} DctAvx2;

extern const DctAvx2 dct_avx2; // x86-64 only; needs MOTUS_CPU_AVX2

#endif
