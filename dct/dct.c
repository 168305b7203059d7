// Plain C transforms and quantization: the truth the other versions are tested against.
// SPDX-License-Identifier: BSD-2-Clause
#include "dct/dct_internal.h"

#include "common/cpu.h"
#include "dct/dct_core.h"

const uint8_t motus_zigzag4x4[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};

static void forward4x4_c(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride, const uint8_t *pred, ptrdiff_t pred_stride) {
    motus_forward4x4(coef, src, src_stride, pred, pred_stride);
}

static void forward8x8_c(int16_t coef[4][16], const uint8_t *src, ptrdiff_t src_stride, const uint8_t *pred,
                         ptrdiff_t pred_stride) {
    for (int i = 0; i < 4; i++) {
        int x = 4 * (i & 1), y = 4 * (i >> 1);
        motus_forward4x4(coef[i], src + y * src_stride + x, src_stride, pred + y * pred_stride + x, pred_stride);
    }
}

static void forward16x16_c(int16_t coef[16][16], const uint8_t *src, ptrdiff_t src_stride, const uint8_t *pred,
                           ptrdiff_t pred_stride) {
    for (int i = 0; i < 16; i++) {
        int x = 4 * (i & 3), y = 4 * (i >> 2);
        motus_forward4x4(coef[i], src + y * src_stride + x, src_stride, pred + y * pred_stride + x, pred_stride);
    }
}

static int quant4x4_c(int16_t level[16], const int16_t coef[16], int qp, int deadzone) {
    MotusQuantizer q = motus_quantizer(qp, deadzone, 0);
    int nonzero = 0;
    for (int i = 0; i < 16; i++) {
        level[i] = (int16_t)motus_quant(coef[i], q.scale[motus_coef_class(i)], q.offset, q.shift);
        nonzero += level[i] != 0;
    }
    return nonzero;
}

static void dequant4x4_c(int16_t coef[16], const int16_t level[16], int qp) {
    int rem = qp % 6, per = qp / 6;
    for (int i = 0; i < 16; i++) coef[i] = motus_dequant(level[i], motus_dequant_scale(rem, motus_coef_class(i)), per);
}

static void inverse4x4_add_c(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *pred, ptrdiff_t pred_stride,
                             const int16_t coef[16]) {
    motus_inverse4x4_add(dst, dst_stride, pred, pred_stride, coef);
}

void motus_luma_dc_forward(int16_t out[16], const int16_t dc[16]) {
    int v[16];
    for (int i = 0; i < 16; i++) v[i] = dc[i];
    motus_hadamard4x4(v);
    for (int i = 0; i < 16; i++) out[i] = (int16_t)((v[i] + 1) >> 1);
}

int motus_luma_dc_quant(int16_t level[16], const int16_t coef[16], int qp, int deadzone) {
    return motus_quant_dc(level, coef, 16, motus_clip(0, 51, qp), motus_clip(0, 32, deadzone));
}

void motus_luma_dc_inverse(int16_t dc[16], const int16_t level[16], int qp) {
    int v[16];
    for (int i = 0; i < 16; i++) v[i] = level[i];
    qp = motus_clip(0, 51, qp);
    motus_hadamard4x4(v);
    for (int i = 0; i < 16; i++) dc[i] = motus_luma_dc_dequant(v[i], qp);
}

void motus_chroma_dc_forward(int16_t out[4], const int16_t dc[4]) {
    int v[4] = {dc[0], dc[1], dc[2], dc[3]};
    motus_hadamard2x2(v);
    for (int i = 0; i < 4; i++) out[i] = (int16_t)v[i];
}

int motus_chroma_dc_quant(int16_t level[4], const int16_t coef[4], int qp, int deadzone) {
    return motus_quant_dc(level, coef, 4, motus_clip(0, 51, qp), motus_clip(0, 32, deadzone));
}

void motus_chroma_dc_inverse(int16_t dc[4], const int16_t level[4], int qp) {
    int v[4] = {level[0], level[1], level[2], level[3]};
    qp = motus_clip(0, 51, qp);
    motus_hadamard2x2(v);
    for (int i = 0; i < 4; i++) dc[i] = motus_chroma_dc_dequant(v[i], qp);
}

int motus_chroma_qp(int qp_luma, int offset) {
    return motus_chroma_qp_of(motus_clip(0, 51, motus_clip(0, 51, qp_luma) + motus_clip(-51, 51, offset))); // qPI, table 8-15
}

static const MotusDctOps ops_c = {"c", forward4x4_c, forward16x16_c, forward8x8_c, quant4x4_c, dequant4x4_c, inverse4x4_add_c};

const MotusDctOps *motus_dct_ops(int plain_c) {
#if defined(__x86_64__)
    if (!plain_c && motus_cpu_flags() & MOTUS_CPU_AVX2) return &motus_dct_ops_avx2;
#endif
    (void)plain_c;
    return &ops_c;
}
