// Chroma inter prediction: see chroma_mc.h.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/chroma_mc.h"

#include <assert.h>

#include "encoder/chroma_mc_core.h"

enum { MAX_SIZE = 8, EDGE_STRIDE = 16 };

// A constant `width` lets the compiler use whole vectors, if it does not unroll the loop before it looks for them (3 times faster so).
static inline void interpolate(uint8_t *restrict dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                               MotusChromaWeights weights, int width, int height) {
    for (int y = 0; y < height; y++, dst += dst_stride, src += src_stride) {
#pragma GCC unroll 1
        for (int x = 0; x < width; x++) dst[x] = motus_chroma_sample(src + x, src + src_stride + x, weights);
    }
}

// Copies the (w + 1) x (h + 1) samples at (x, y), with the edges of `ref` repeated.
static void gather(uint8_t *dst, ptrdiff_t dst_stride, const MotusPlane *ref, int x, int y, int w, int h) {
    int column[MAX_SIZE + 1];
    for (int i = 0; i <= w; i++) column[i] = motus_clip(0, ref->width - 1, x + i);
    for (int j = 0; j <= h; j++) {
        const uint8_t *row = ref->data + motus_clip(0, ref->height - 1, y + j) * ref->stride;
        for (int i = 0; i <= w; i++) dst[j * dst_stride + i] = row[column[i]];
    }
}

void motus_chroma_mc(uint8_t *dst, ptrdiff_t dst_stride, const MotusPlane *ref, int x, int y, MotusMv mv, int w, int h) {
    assert(w <= MAX_SIZE && h <= MAX_SIZE);
    uint8_t edge[(MAX_SIZE + 1) * EDGE_STRIDE];
    const MotusChromaWeights weights = motus_chroma_weights(mv.x & 7, mv.y & 7);
    x += mv.x >> 3;
    y += mv.y >> 3;
    const uint8_t *src = edge;
    ptrdiff_t stride = EDGE_STRIDE;
    if (x < 0 || y < 0 || x + w >= ref->width || y + h >= ref->height) {
        gather(edge, EDGE_STRIDE, ref, x, y, w, h);
    } else {
        src = ref->data + y * ref->stride + x;
        stride = ref->stride;
    }
    switch (w) {
    case 8:
        interpolate(dst, dst_stride, src, stride, weights, 8, h);
        break;
    case 4:
        interpolate(dst, dst_stride, src, stride, weights, 4, h);
        break;
    default:
        interpolate(dst, dst_stride, src, stride, weights, 2, h);
        break;
    }
}
