// 4x4 transforms of the CPU coder. The warp's versions are in encoder/analyse.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT_CPU_H
#define DCT_DCT_CPU_H

#include "dct/dct_mb_core.h"

// Transforms the 4x4 block src - pred.
static inline void motus_forward_block(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride,
                                       const uint8_t *pred, ptrdiff_t pred_stride) {
#ifdef DCT_DCT_AVX2_H
    motus_forward4x4_avx2(coef, src, src_stride, pred, pred_stride);
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
