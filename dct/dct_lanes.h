// The transforms of a macroblock's blocks as the lanes that work on it share them out
// (common/lanes.h); with AVX2, where this is compiled for it, many at once.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT_LANES_H
#define DCT_DCT_LANES_H

#include "common/lanes.h"
#include "dct/dct_core.h"
#if defined(__AVX2__) && !defined(__CUDACC__)
#include "dct/dct_avx2.h"
#endif

// Forward transforms of 16x16 samples of src - pred (pred: rows of 16): 16 blocks in raster order.
MOTUS_HD void motus_forward_luma(int16_t coef[16][16], const uint8_t *src, ptrdiff_t src_stride,
                                 const uint8_t pred[256]) {
#ifdef DCT_DCT_AVX2_H
    motus_forward16x16_avx2(coef, src, src_stride, pred, 16);
#else
    for (int blk = motus_lane(); blk < 16; blk += MOTUS_LANES) {
        int x = 4 * (blk & 3), y = 4 * (blk >> 2);
        motus_forward4x4(coef[blk], src + y * src_stride + x, src_stride, pred + y * 16 + x, 16);
    }
    motus_lanes_sync();
#endif
}

// The same for 8x8 samples of chroma (pred: rows of 8): 4 blocks.
MOTUS_HD void motus_forward_chroma(int16_t coef[4][16], const uint8_t *src, ptrdiff_t src_stride,
                                   const uint8_t pred[64]) {
#ifdef DCT_DCT_AVX2_H
    motus_forward8x8_avx2(coef, src, src_stride, pred, 8);
#else
    for (int blk = motus_lane(); blk < 4; blk += MOTUS_LANES) {
        int x = 4 * (blk & 1), y = 4 * (blk >> 1);
        motus_forward4x4(coef[blk], src + y * src_stride + x, src_stride, pred + y * 8 + x, 8);
    }
    motus_lanes_sync();
#endif
}

MOTUS_HD void motus_forward_block(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride,
                                  const uint8_t *pred, ptrdiff_t pred_stride) {
#ifdef DCT_DCT_AVX2_H
    motus_forward4x4_avx2(coef, src, src_stride, pred, pred_stride);
#else
    motus_forward4x4(coef, src, src_stride, pred, pred_stride);
#endif
}

// Scaling of zigzag levels; the result is in raster order.
MOTUS_HD void motus_dequant_zigzag(int16_t coef[16], const int16_t zigzag[16], int qp) {
    int rem = qp % 6, per = qp / 6;
    for (int i = 0; i < 16; i++) {
        int at = motus_zigzag_at(i);
        coef[at] = motus_dequant(zigzag[i], motus_dequant_scale(rem, motus_coef_class(at)), per);
    }
}

// at = clip(at + ((inverse(coef) + 32) >> 6)).
MOTUS_HD void motus_inverse4x4_in_place(uint8_t *at, ptrdiff_t stride, const int16_t coef[16]) {
#ifdef DCT_DCT_AVX2_H
    motus_inverse4x4_add_avx2(at, stride, at, stride, coef);
#else
    motus_inverse4x4_add(at, stride, at, stride, coef);
#endif
}

// DC levels of an Intra16x16 MB (raster order) from the blocks' DCs, which their dequantized values
// replace (8.5.10).
MOTUS_HD void motus_luma_dc_code(int16_t level[16], int16_t dc[16], int qp, int deadzone) {
    int v[16];
    MotusQuantizer q = motus_quantizer(qp, deadzone, 1);
    for (int i = 0; i < 16; i++) v[i] = dc[i];
    motus_hadamard4x4(v);
    for (int i = 0; i < 16; i++) {
        level[i] = (int16_t)motus_quant((int16_t)((v[i] + 1) >> 1), q.scale[0], q.offset, q.shift);
        v[i] = level[i];
    }
    motus_hadamard4x4(v);
    for (int i = 0; i < 16; i++) dc[i] = motus_luma_dc_dequant(v[i], qp);
}

#endif
