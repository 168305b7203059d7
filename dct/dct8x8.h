// Block-row functions below the public 8x8 DCT: the plain C truth and AVX2.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT8X8_H
#define DCT_DCT8X8_H

#include "dct/dct8x8_core.h"
#include "motus/dct8x8.h"

// n whole 8x8 blocks side by side; strides in bytes.
typedef struct MotusDct8Ops {
    void (*forward[2])(int16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                       int n, const MotusDct8Steps *steps);
    void (*inverse[2])(uint8_t *dst, ptrdiff_t dst_stride, const int16_t *src, ptrdiff_t src_stride,
                       int n, const MotusDct8Steps *steps);
} MotusDct8Ops;

extern const MotusDct8Ops motus_dct8_ops_c;
#if defined(__x86_64__)
extern const MotusDct8Ops motus_dct8_ops_avx2;
#endif

// Checks a table and computes the steps from it. MOTUS_ERR_ARGUMENT: a step of 0.
MotusStatus motus_dct8_steps(MotusDct8Steps *steps, const uint16_t table[64]);

// Checks the sizes and strides of a plane against its coefficients.
MotusStatus motus_dct8_check(const MotusCoefs *coefs, const MotusPlane *plane);

#endif
