// 8x8 transform and quantization of H.264 (8.5.13). QPs are 0..51 and scaling matrices flat. Blocks
// are 64 values in raster order (row * 8 + column) unless a name says zigzag.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_TRANSFORM8_CORE_H
#define DCT_TRANSFORM8_CORE_H

#include <stddef.h>

#include "dct/dct_core.h"

// Returns the raster position of zigzag position i of an 8x8 block (table 8-13, frame scan).
MOTUS_HD int motus_zigzag8_at(int i) {
    static const uint8_t at[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                   12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                   35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                   58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
    return at[i];
}

// Returns the zigzag position of a raster one.
MOTUS_HD int motus_zigzag8_of(int raster) {
    static const uint8_t of[64] = {0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42,
                                   3,  8,  12, 17, 25, 30, 41, 43, 9,  11, 18, 24, 31, 40, 44, 53,
                                   10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38, 46, 51, 55, 60,
                                   21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63};
    return of[raster];
}

enum { MOTUS_COEF8_CLASSES = 6 };

// Returns the class of a coefficient by the norm of its basis function, the column of
// normAdjust8x8 (8.5.9).
MOTUS_HD int motus_coef8_class(int raster) {
    // Row and column modulo 4.
    const uint64_t classes = MOTUS_PACK16(4, 0, 3, 4, 3, 3, 1, 5, 1, 4, 5, 2, 5, 3, 1, 5, 1);
    return (int)(classes >> (4 * ((raster >> 1 & 12) | (raster & 3)))) & 15;
}

// Returns normAdjust8x8 (8.5.9): the scale of a level at qp % 6, by class. The factor 16 of the
// flat scaling matrix is left out.
MOTUS_HD int motus_dequant8_scale(int qp_rem, int coef_class) {
    static const uint8_t v[6][MOTUS_COEF8_CLASSES] = {
        {20, 18, 32, 19, 25, 24}, {22, 19, 35, 21, 28, 26}, {26, 23, 42, 24, 33, 31},
        {28, 25, 45, 26, 35, 33}, {32, 28, 51, 30, 40, 38}, {36, 32, 58, 34, 46, 43}};
    return v[qp_rem][coef_class];
}

// Returns 2^24 / (normAdjust8x8 * squared norm of the basis function), rounded, so that the level
// is coef * scale >> (16 + qp / 6).
MOTUS_HD int motus_quant8_scale(int qp_rem, int coef_class) {
    static const uint16_t mf[6][MOTUS_COEF8_CLASSES] = {
        {13107, 11428, 20972, 12222, 16777, 15481}, {11916, 10826, 19174, 11058, 14980, 14290},
        {10082, 8943, 15978, 9675, 12710, 11985},   {9362, 8228, 14913, 8931, 11984, 11259},
        {8192, 7346, 13159, 7740, 10486, 9777},     {7282, 6428, 11570, 6830, 9118, 8640}};
    return mf[qp_rem][coef_class];
}

// Transforms eight values that lie `step` apart, in place.
MOTUS_HD void motus_forward8(int *v, int step) {
    int sum[4], diff[4];
    for (int i = 0; i < 4; i++) {
        sum[i] = v[i * step] + v[(7 - i) * step];
        diff[i] = v[i * step] - v[(7 - i) * step];
    }
    const int even0 = sum[0] + sum[3], even1 = sum[1] + sum[2], even2 = sum[0] - sum[3],
              even3 = sum[1] - sum[2];
    const int odd0 = diff[1] + diff[2] + diff[0] + (diff[0] >> 1),
              odd1 = diff[0] - diff[3] - diff[2] - (diff[2] >> 1),
              odd2 = diff[0] + diff[3] - diff[1] - (diff[1] >> 1),
              odd3 = diff[1] - diff[2] + diff[3] + (diff[3] >> 1);
    v[0] = even0 + even1;
    v[step] = odd0 + (odd3 >> 2);
    v[2 * step] = even2 + (even3 >> 1);
    v[3 * step] = odd1 + (odd2 >> 2);
    v[4 * step] = even0 - even1;
    v[5 * step] = odd2 - (odd1 >> 2);
    v[6 * step] = (even2 >> 1) - even3;
    v[7 * step] = (odd0 >> 2) - odd3;
}

MOTUS_HD void transpose8x8(int to[64], const int from[64]) {
    for (int i = 0; i < 64; i++) to[i] = from[8 * (i & 7) + (i >> 3)];
}

// Transforms the 8x8 block src - pred: the inverse of 8.5.13 up to scaling. Residuals of +-255 give
// at most +-36,000.
MOTUS_HD void motus_forward8x8(int coef[64], const uint8_t *src, ptrdiff_t src_stride,
                               const uint8_t *pred, ptrdiff_t pred_stride) {
    int turned[64]; // rows as columns, which a compiler transforms all at once
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            coef[8 * y + x] = src[y * src_stride + x] - pred[y * pred_stride + x];
    transpose8x8(turned, coef);
    for (int x = 0; x < 8; x++) motus_forward8(turned + x, 8);
    transpose8x8(coef, turned);
    for (int x = 0; x < 8; x++) motus_forward8(coef + x, 8);
}

// Transforms eight coefficients that lie `step` apart back, in place (8.5.13).
MOTUS_HD void motus_inverse8(int *v, int step) {
    const int in1 = v[step], in2 = v[2 * step], in3 = v[3 * step], in5 = v[5 * step],
              in6 = v[6 * step], in7 = v[7 * step];
    const int a0 = v[0] + v[4 * step], a2 = v[0] - v[4 * step], a4 = (in2 >> 1) - in6,
              a6 = in2 + (in6 >> 1);
    const int a1 = in5 - in3 - in7 - (in7 >> 1), a3 = in1 + in7 - in3 - (in3 >> 1),
              a5 = in7 - in1 + in5 + (in5 >> 1), a7 = in3 + in5 + in1 + (in1 >> 1);
    const int b0 = a0 + a6, b2 = a2 + a4, b4 = a2 - a4, b6 = a0 - a6;
    const int b1 = a1 + (a7 >> 2), b3 = a3 + (a5 >> 2), b5 = (a3 >> 2) - a5, b7 = a7 - (a1 >> 2);
    v[0] = b0 + b7;
    v[step] = b2 + b5;
    v[2 * step] = b4 + b3;
    v[3 * step] = b6 + b1;
    v[4 * step] = b6 - b1;
    v[5 * step] = b4 - b3;
    v[6 * step] = b2 - b5;
    v[7 * step] = b0 - b7;
}

// Adds the inverse transform of coef to the 8x8 samples at `at`, rounded and clipped.
MOTUS_HD void motus_inverse8x8_add(uint8_t *at, ptrdiff_t stride, int coef[64]) {
    int turned[64];
    transpose8x8(turned, coef);
    for (int x = 0; x < 8; x++) motus_inverse8(turned + x, 8);
    transpose8x8(coef, turned);
    for (int x = 0; x < 8; x++) motus_inverse8(coef + x, 8);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            at[y * stride + x] = motus_clip_u8(at[y * stride + x] + ((coef[8 * y + x] + 32) >> 6));
}

// Scales a level (8.5.13.1).
MOTUS_HD int motus_dequant8(int level, int scale, int qp) {
    const int per = qp / 6, value = level * scale * 16;
    return per >= 6 ? (int)((uint32_t)value << (per - 6)) : (value + (1 << (5 - per))) >> (6 - per);
}

#endif
