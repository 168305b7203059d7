// Transforms of a macroblock's 4x4 blocks: shared out among the lanes of a warp (common/lanes.h),
// or several at once with AVX2; below, those of the CPU's coder alone. The warp's versions of these
// are in encoder/intra.
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
    forward16x16_avx2(coef, src, src_stride, pred, 16);
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
    forward8x8_avx2(coef, src, src_stride, pred, 8);
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
    dequant_zigzag_avx2(coef, zigzag, qp);
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
    inverse4x4_add_avx2(at, stride, at, stride, coef);
#else
    motus_inverse4x4_add(at, stride, at, stride, coef);
#endif
}

// ---- CPU ----------------------------------------------------------------------------------------

// Transforms the 4x4 block src - pred.
static inline void motus_forward_block(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride,
                                       const uint8_t *pred, ptrdiff_t pred_stride) {
#ifdef DCT_DCT_AVX2_H
    forward4x4_avx2(coef, src, src_stride, pred, pred_stride);
#else
    motus_forward4x4(coef, src, src_stride, pred, pred_stride);
#endif
}

// Transforms a 4x4 matrix by Hadamard's, in place (8.5.10): its own inverse up to a factor of 16.
static inline void motus_hadamard4x4(int v[16]) {
    for (int pass = 0; pass < 2; pass++) {
        int step = pass ? 4 : 1, next = pass ? 1 : 4;
        for (int i = 0; i < 4; i++) {
            int *p = v + i * next;
            int sum01 = p[0] + p[step], diff01 = p[0] - p[step];
            int sum23 = p[2 * step] + p[3 * step], diff23 = p[2 * step] - p[3 * step];
            p[0] = sum01 + sum23;
            p[step] = sum01 - sum23;
            p[2 * step] = diff01 - diff23;
            p[3 * step] = diff01 + diff23;
        }
    }
}

// Quantizes the DCs of an Intra16x16 MB (8.5.10). level: DC levels in raster order. dc: replaced by
// their scaled values.
static inline void motus_luma_dc_code(int16_t level[16], int16_t dc[16], int qp, int deadzone) {
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
