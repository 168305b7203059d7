// RGB <-> YCbCr in integers.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_RGB_CORE_H
#define YUV_RGB_CORE_H

#include "common/float_core.h"
#include "common/int_core.h"

// Factors with 13 fraction bits; y_low: luma of black.
typedef struct MotusYuvMatrix {
    int y_low, cy, rv, gu, gv, bu;
    int yr, yg, yb, ur, ug, ub, vr, vg, vb;
} MotusYuvMatrix;

MOTUS_HD void motus_yuv_to_rgb(int *r, int *g, int *b, int y, int cb, int cr,
                               const MotusYuvMatrix *m) {
    int luma = m->cy * (y - m->y_low) + 4096, u = cb - 128, v = cr - 128;
    *r = motus_clip_u8((luma + m->rv * v) >> 13);
    *g = motus_clip_u8((luma - m->gu * u - m->gv * v) >> 13);
    *b = motus_clip_u8((luma + m->bu * u) >> 13);
}

MOTUS_HD uint8_t rgb_to_y(int r, int g, int b, const MotusYuvMatrix *m) {
    return motus_clip_u8(m->y_low + ((m->yr * r + m->yg * g + m->yb * b + 4096) >> 13));
}

// Chroma of the sum of 4 pixels, r, g, b up to 1020.
MOTUS_HD uint8_t rgb4_to_cb(int r, int g, int b, const MotusYuvMatrix *m) {
    return motus_clip_u8(128 + ((m->ur * r + m->ug * g + m->ub * b + 16384) >> 15));
}
MOTUS_HD uint8_t rgb4_to_cr(int r, int g, int b, const MotusYuvMatrix *m) {
    return motus_clip_u8(128 + ((m->vr * r + m->vg * g + m->vb * b + 16384) >> 15));
}

// Converts x of 0..1 to a byte: clipped, times 255 in single precision, rounded, ties to even. NaN
// becomes 0: each comparison falls to the other operand.
MOTUS_HD uint8_t unit_to_u8(float x) {
    float unit = motus_float_min(motus_float_max(x, 0.0f), 1.0f);
#ifdef __CUDA_ARCH__
    float scaled = __fmul_rn(unit, 255.0f); // not fused with the addition that rounds
#else
    float scaled = unit * 255.0f;
#endif
    return (uint8_t)motus_round_float(scaled);
}

#endif
