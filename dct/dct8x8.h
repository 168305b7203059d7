// Versions of the 8x8 DCT over a row of blocks, and checks, below motus/dct8x8.h.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT8X8_H
#define DCT_DCT8X8_H

#include "dct/dct8x8_core.h"
#include "motus/dct8x8.h"

// Transforms of n whole 8x8 blocks side by side, by MotusDct8Kind; strides in bytes.
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

// Transforms eight samples forward, in place (MOTUS_DCT8_INTEGER).
static inline void dct8_int_1d(int32_t *x, int step, MotusDct8Factors k) {
    int32_t a0 = x[0] + x[7 * step], o0 = x[0] - x[7 * step], a1 = x[step] + x[6 * step],
            o1 = x[step] - x[6 * step];
    int32_t a2 = x[2 * step] + x[5 * step], o2 = x[2 * step] - x[5 * step],
            a3 = x[3 * step] + x[4 * step], o3 = x[3 * step] - x[4 * step];
    int32_t b0 = a0 + a3, b3 = a0 - a3, b1 = a1 + a2, b2 = a1 - a2;
    x[0] = b0 + b1, x[4 * step] = b0 - b1;
    x[2 * step] = b3 * k.c2 + b2 * k.c6, x[6 * step] = b3 * k.c6 - b2 * k.c2;
    x[step] = o0 * k.c1 + o1 * k.c3 + o2 * k.c5 + o3 * k.c7,
    x[3 * step] = o0 * k.c3 - o1 * k.c7 - o2 * k.c1 - o3 * k.c5;
    x[5 * step] = o0 * k.c5 - o1 * k.c1 + o2 * k.c7 + o3 * k.c3,
          x[7 * step] = o0 * k.c7 - o1 * k.c5 + o2 * k.c3 - o3 * k.c1;
}

// Drops DCT8_SHIFT bits; halves are rounded up.
static inline int32_t dct8_int_shift(int32_t x) {
    return (x + (1 << (DCT8_SHIFT - 1))) >> DCT8_SHIFT;
}

// Returns v * multiplier / 2^shift rounded to nearest, |v| < 2^24. There are no ties: the
// multiplier is odd and shift at least 26, so v would have to be a multiple of 2^25. Every way to
// round the exact product once gives this level.
static inline int dct8_int_level(int32_t v, int32_t multiplier, int shift) {
    return (int)(((int64_t)v * multiplier + (1ll << (shift - 1))) >> shift);
}

// Computes the steps of a table. MOTUS_ERR_ARGUMENT: NULL, or a step of 0.
MotusStatus motus_dct8_steps(MotusDct8Steps *steps, const uint16_t table[64]);

// Returns MOTUS_ERR_ARGUMENT if sizes or strides of a plane and its coefficients do not fit.
MotusStatus motus_dct8_check(const MotusCoefs *coefs, const MotusPlane *plane);

#endif
