// Arithmetic of the H.264 4x4 transforms and of quantization (8.5.6..8.5.12), shared by CPU and GPU
// code. QPs are 0..51, scaling matrices flat; blocks are 16 int16 in raster order (row * 4 +
// column) unless a name says zigzag.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT_CORE_H
#define DCT_DCT_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "common/int_core.h"
#include "dct/quant_tables.h"

// Rounding offset of the quantizer as a fraction of a step in 1/64: level = (|coef| * scale +
// offset) >> shift. Inter about 1/6, intra about 1/3 are the usual dead zones.
#define MOTUS_DEADZONE_INTER 11
#define MOTUS_DEADZONE_INTRA 21

#define MOTUS_MAX_LEVEL                                                                            \
    2063 // largest |level| that CAVLC of the Baseline profile can always carry (9.2.2.1,
         // level_prefix <= 15)

// Zigzag position -> raster position of a 4x4 block (figure 8-8 a, frame scan), and back: a nibble
// for each.
MOTUS_HD int motus_zigzag_at(int i) { return (int)(0xFEB7ADC963258410ULL >> (4 * i)) & 15; }
MOTUS_HD int motus_zigzag_of(int raster) {
    return (int)(0xFEA9DB83C7426510ULL >> (4 * raster)) & 15;
}

// QP'c of a luma QP 0..51 (table 8-15) without an offset.
MOTUS_HD int motus_chroma_qp_of(int qp) {
    static const uint8_t from_30[22] = {29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36,
                                        36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39};
    return qp < 30 ? qp : from_30[qp - 30];
}

// One quantizer: level = sign * min((|coef| * scale + offset) >> shift, MOTUS_MAX_LEVEL).
// |coef| <= 32768, scale <= 13107, offset <= 2^(shift - 1) <= 2^23: the sum stays below 2^29.
typedef struct MotusQuantizer {
    int scale[3]; // by coefficient class
    int offset, shift;
} MotusQuantizer;

// deadzone: 0..32. extra_shift: 0 for 4x4 blocks, 1 for DC levels, whose second transform doubles
// the scale.
MOTUS_HD MotusQuantizer motus_quantizer(int qp, int deadzone, int extra_shift) {
    MotusQuantizer q;
    for (int c = 0; c < 3; c++) q.scale[c] = motus_quant_scale(qp % 6, c);
    q.shift = 15 + qp / 6 + extra_shift;
    q.offset = deadzone << (q.shift - 6);
    return q;
}

MOTUS_HD int motus_quant(int coef, int scale, int offset, int shift) {
    int level = motus_min((motus_abs(coef) * scale + offset) >> shift, MOTUS_MAX_LEVEL);
    return coef < 0 ? -level : level;
}

// Forward core transform of four values that lie `step` apart, in place. Residuals of +-255 give at
// most +-1530 after the rows and +-9180 after the columns.
MOTUS_HD void motus_forward4(int16_t *v, int step) {
    int sum03 = v[0] + v[3 * step], diff03 = v[0] - v[3 * step];
    int sum12 = v[step] + v[2 * step], diff12 = v[step] - v[2 * step];
    v[0] = (int16_t)(sum03 + sum12);
    v[step] = (int16_t)(2 * diff03 + diff12);
    v[2 * step] = (int16_t)(sum03 - sum12);
    v[3 * step] = (int16_t)(diff03 - 2 * diff12);
}

// Forward core transform (the encoder's side of 8.5.12) of src - pred.
MOTUS_HD void motus_forward4x4(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride,
                               const uint8_t *pred, ptrdiff_t pred_stride) {
    for (int y = 0; y < 4; y++) {
        for (int x = 0; x < 4; x++)
            coef[4 * y + x] = (int16_t)(src[y * src_stride + x] - pred[y * pred_stride + x]);
        motus_forward4(coef + 4 * y, 1);
    }
    for (int x = 0; x < 4; x++) motus_forward4(coef + x, 4);
}

// Inverse core transform (8.5.12.2) of four values that lie `step` apart, in place. Sums are
// reduced to 16 bits. A conforming stream never needs the reduction (8.5.12 bounds the values); it
// makes the result of any other input the same in 16-bit lanes as here.
MOTUS_HD void motus_inverse4(int16_t *v, int step) {
    int sum02 = v[0] + v[2 * step], diff02 = v[0] - v[2 * step];
    int odd1 = (v[step] >> 1) - v[3 * step], odd3 = v[step] + (v[3 * step] >> 1);
    v[0] = (int16_t)(sum02 + odd3);
    v[step] = (int16_t)(diff02 + odd1);
    v[2 * step] = (int16_t)(diff02 - odd1);
    v[3 * step] = (int16_t)(sum02 - odd3);
}

// dst = clip(pred + ((inverse(coef) + 32) >> 6)) (8.5.12.2); dst and pred may be the same memory.
MOTUS_HD void motus_inverse4x4_add(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *pred,
                                   ptrdiff_t pred_stride, const int16_t coef[16]) {
    int16_t r[16];
    for (int i = 0; i < 16; i++) r[i] = coef[i];
    for (int y = 0; y < 4; y++) motus_inverse4(r + 4 * y, 1);
    for (int x = 0; x < 4; x++) motus_inverse4(r + x, 4);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            dst[y * dst_stride + x] =
                motus_clip_u8(pred[y * pred_stride + x] + ((int16_t)(r[4 * y + x] + 32) >> 6));
}

// Scaling (8.5.12.1), modulo 2^16 as above. A level that stands for a residual of 8-bit samples
// scales to less than 2^15.
MOTUS_HD int16_t motus_dequant(int level, int scale, int qp_per) {
    return (int16_t)((uint32_t)(level * scale) << qp_per);
}

// 4x4 Hadamard transform of 32-bit values, its own inverse up to a factor of 16 (8.5.10).
MOTUS_HD void motus_hadamard4x4(int v[16]) {
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

// 2x2 Hadamard transform (8.5.11.1).
MOTUS_HD void motus_hadamard2x2(int v[4]) {
    int sum01 = v[0] + v[1], diff01 = v[0] - v[1], sum23 = v[2] + v[3], diff23 = v[2] - v[3];
    v[0] = sum01 + sum23;
    v[1] = diff01 + diff23;
    v[2] = sum01 - sum23;
    v[3] = diff01 - diff23;
}

// Scaling of a transformed luma DC (8.5.10): f * V * 2^(qp / 6 - 2), rounded.
MOTUS_HD int16_t motus_luma_dc_dequant(int f, int qp) {
    int value = f * motus_dequant_scale(qp % 6, 0), shift = qp / 6 - 2;
    return (int16_t)(shift >= 0 ? (int)((uint32_t)value << shift)
                                : (value + (1 << (-1 - shift))) >> -shift);
}

// Scaling of a transformed chroma DC (8.5.11.2): f * V * 2^(qp / 6) / 2, rounded down.
MOTUS_HD int16_t motus_chroma_dc_dequant(int f, int qp) {
    return (int16_t)((int)((uint32_t)(f * motus_dequant_scale(qp % 6, 0)) << (qp / 6)) >> 1);
}

#endif
