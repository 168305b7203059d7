// Arithmetic of chroma inter prediction (8.4.2.2.2).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_CHROMA_MC_CORE_H
#define ENCODER_MB_CHROMA_MC_CORE_H

#include <stddef.h>

#include "common/int_core.h"

// Weights of the four samples around a position at (fx, fy) eighths, 0..7. They add up to 64, so
// that 16 bits hold the sum of the products (at most 64 * 255 + 32).
typedef struct MotusChromaWeights {
    uint16_t a, b, c, d; // here, to the right, below, below to the right
} MotusChromaWeights;

MOTUS_HD MotusChromaWeights motus_chroma_weights(int fx, int fy) {
    const MotusChromaWeights w = {(uint16_t)((8 - fx) * (8 - fy)), (uint16_t)(fx * (8 - fy)),
                                  (uint16_t)((8 - fx) * fy), (uint16_t)(fx * fy)};
    return w;
}

MOTUS_HD uint8_t motus_chroma_sample(const uint8_t *row, const uint8_t *below,
                                     MotusChromaWeights w) {
    const uint16_t sum =
        (uint16_t)(w.a * row[0] + w.b * row[1] + w.c * below[0] + w.d * below[1] + 32);
    return (uint8_t)(sum >> 6);
}

// Interpolates w x h samples (w 2, 4 or 8) from src on, which is readable one sample to the right
// and below. A constant width lets the compiler use whole vectors, if it does not unroll the loop
// before it looks for them (3 times faster so).
MOTUS_HD void motus_chroma_interpolate(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                                       ptrdiff_t src_stride, MotusChromaWeights weights, int w,
                                       int h) {
    for (int y = 0; y < h; y++, dst += dst_stride, src += src_stride) {
#ifndef __CUDACC__
#pragma GCC unroll 1
#endif
        for (int x = 0; x < w; x++)
            dst[x] = motus_chroma_sample(src + x, src + src_stride + x, weights);
    }
}

// Prediction from (x, y) of a plane whose edge samples repeat outside it.
MOTUS_HD void motus_chroma_block(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *plane,
                                 ptrdiff_t stride, int width, int height, int x, int y,
                                 MotusChromaWeights weights, int w, int h) {
    const uint8_t *src = plane + y * stride + x;
    uint8_t edge[9 * 16];
    if (x < 0 || y < 0 || x + w >= width || y + h >= height) {
        for (int j = 0; j <= h; j++)
            for (int i = 0; i <= w; i++)
                edge[16 * j + i] = plane[motus_clip(0, height - 1, y + j) * stride +
                                         motus_clip(0, width - 1, x + i)];
        src = edge;
        stride = 16;
    }
    if (w == 8)
        motus_chroma_interpolate(dst, dst_stride, src, stride, weights, 8, h);
    else if (w == 4)
        motus_chroma_interpolate(dst, dst_stride, src, stride, weights, 4, h);
    else
        motus_chroma_interpolate(dst, dst_stride, src, stride, weights, 2, h);
}

#endif
