// Transforms of a macroblock's 4x4 blocks: shared out among the lanes of a warp (common/lanes.h),
// or several at once with AVX2.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT_MB_CORE_H
#define DCT_DCT_MB_CORE_H

#include "common/lanes.h"
#include "dct/dct_core.h"
#if defined(__AVX2__) && !defined(__CUDACC__)
#include "dct/dct_avx2.h"
#endif

// Transforms the 16 luma blocks of src - pred, in raster order. pred: rows of 16.
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

// Transforms the 4 blocks of one chroma plane. pred: rows of 8.
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

// Scales levels in zigzag order to coefficients in raster order.
MOTUS_HD void motus_dequant_zigzag(int16_t coef[16], const int16_t zigzag[16], int qp) {
#ifdef DCT_DCT_AVX2_H
    motus_dequant_zigzag_avx2(coef, zigzag, qp);
#else
    int rem = qp % 6, per = qp / 6;
    for (int i = 0; i < 16; i++) {
        int at = motus_zigzag_at(i);
        coef[at] = motus_dequant(zigzag[i], motus_dequant_scale(rem, motus_coef_class(at)), per);
    }
#endif
}

// Adds the inverse transform of coef to the 4x4 samples at `at`.
MOTUS_HD void motus_inverse4x4_in_place(uint8_t *at, ptrdiff_t stride, const int16_t coef[16]) {
#ifdef DCT_DCT_AVX2_H
    motus_inverse4x4_add_avx2(at, stride, at, stride, coef);
#else
    motus_inverse4x4_add(at, stride, at, stride, coef);
#endif
}

#endif
