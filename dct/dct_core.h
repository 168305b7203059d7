// 4x4 transforms and quantization of H.264 (8.5.6 to 8.5.12). QPs are 0..51 and scaling matrices
// flat. Blocks are 16 int16 in raster order (row * 4 + column) unless a name says zigzag.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT_CORE_H
#define DCT_DCT_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "common/int_core.h"

// Rounding offset of the quantizer in 1/64 of a step: about 1/6 for inter, 1/3 for intra.
#define MOTUS_DEADZONE_INTER 11
#define MOTUS_DEADZONE_INTRA 21

// Largest |level| that CAVLC of the Baseline profile can always carry (9.2.2.1, level_prefix <=
// 15).
#define MOTUS_MAX_LEVEL 2063

// Returns the raster position of zigzag position i of a 4x4 block (figure 8-8 a, frame scan).
MOTUS_HD int motus_zigzag_at(int i) {
    return (int)(MOTUS_PACK16(4, 0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15) >> (4 * i)) &
           15;
}

// Returns the zigzag position of a raster position.
MOTUS_HD int motus_zigzag_of(int raster) {
    return (int)(MOTUS_PACK16(4, 0, 1, 5, 6, 2, 4, 7, 12, 3, 8, 11, 13, 9, 10, 14, 15) >>
                 (4 * raster)) &
           15;
}

// Returns the class of a coefficient by the norm of its basis function: 0 = row and column even,
// 1 = both odd, 2 = others (8.5.9).
MOTUS_HD int motus_coef_class(int raster) {
    return raster & 1 ? (raster & 4 ? 1 : 2) : (raster & 4 ? 2 : 0);
}

// Returns normAdjust4x4 (8.5.9): the scale of a level at qp % 6, by class. The factor 16 of the
// flat scaling matrix is left out.
MOTUS_HD int motus_dequant_scale(int qp_rem, int coef_class) {
    static const uint8_t v[6][3] = {{10, 16, 13}, {11, 18, 14}, {13, 20, 16},
                                    {14, 23, 18}, {16, 25, 20}, {18, 29, 23}};
    return v[qp_rem][coef_class];
}

// Returns 2^21 / (normAdjust4x4 * squared norm of the basis function), rounded, so that the level
// is coef * scale >> (15 + qp / 6).
MOTUS_HD int motus_quant_scale(int qp_rem, int coef_class) {
    static const uint16_t mf[6][3] = {{13107, 5243, 8066}, {11916, 4660, 7490}, {10082, 4194, 6554},
                                      {9362, 3647, 5825},  {8192, 3355, 5243},  {7282, 2893, 4559}};
    return mf[qp_rem][coef_class];
}

// Returns QP'c of a luma QP 0..51 (table 8-15), chroma_qp_index_offset 0.
MOTUS_HD int motus_chroma_qp_of(int qp) {
    static const uint8_t from_30[22] = {29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36,
                                        36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39};
    return qp < 30 ? qp : from_30[qp - 30];
}

// Quantizer: level = sign * min((|coef| * scale + offset) >> shift, MOTUS_MAX_LEVEL).
// |coef| <= 32768, scale <= 13107, offset <= 2^(shift - 1) <= 2^23: the sum stays below 2^29.
typedef struct MotusQuantizer {
    int scale[3]; // by coefficient class
    int offset, shift;
} MotusQuantizer;

// Returns the quantizer of a QP. deadzone: 0..32. extra_shift: 0 for 4x4 blocks, 1 for DC levels,
// whose second transform doubles the scale.
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

// Transforms four values that lie `step` apart, in place. Residuals of +-255 give at most +-1530
// after the rows and +-9180 after the columns.
MOTUS_HD void motus_forward4(int16_t *v, int step) {
    int sum03 = v[0] + v[3 * step], diff03 = v[0] - v[3 * step];
    int sum12 = v[step] + v[2 * step], diff12 = v[step] - v[2 * step];
    v[0] = (int16_t)(sum03 + sum12);
    v[step] = (int16_t)(2 * diff03 + diff12);
    v[2 * step] = (int16_t)(sum03 - sum12);
    v[3 * step] = (int16_t)(diff03 - 2 * diff12);
}

// Transforms the 4x4 block src - pred: the inverse of 8.5.12 up to scaling.
MOTUS_HD void motus_forward4x4(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride,
                               const uint8_t *pred, ptrdiff_t pred_stride) {
    for (int y = 0; y < 4; y++) {
        for (int x = 0; x < 4; x++)
            coef[4 * y + x] = (int16_t)(src[y * src_stride + x] - pred[y * pred_stride + x]);
        motus_forward4(coef + 4 * y, 1);
    }
    for (int x = 0; x < 4; x++) motus_forward4(coef + x, 4);
}

// Transforms four coefficients that lie `step` apart back, in place (8.5.12.2). Sums are modulo
// 2^16, as in 16-bit SIMD lanes. 8.5.12 bounds the values of a conforming stream, which never wrap.
MOTUS_HD void motus_inverse4(int16_t *v, int step) {
    int sum02 = v[0] + v[2 * step], diff02 = v[0] - v[2 * step];
    int odd1 = (v[step] >> 1) - v[3 * step], odd3 = v[step] + (v[3 * step] >> 1);
    v[0] = (int16_t)(sum02 + odd3);
    v[step] = (int16_t)(diff02 + odd1);
    v[2 * step] = (int16_t)(diff02 - odd1);
    v[3 * step] = (int16_t)(sum02 - odd3);
}

// Sets dst = clip(pred + ((inverse(coef) + 32) >> 6)) (8.5.12.2); dst may be pred.
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

// Scales a level (8.5.12.1), modulo 2^16. Levels of 8-bit residuals scale to less than 2^15.
MOTUS_HD int16_t motus_dequant(int level, int scale, int qp_per) {
    return (int16_t)((uint32_t)(level * scale) << qp_per);
}

// Transforms a 2x2 matrix by Hadamard's (8.5.11.1), in place.
MOTUS_HD void motus_hadamard2x2(int v[4]) {
    int sum01 = v[0] + v[1], diff01 = v[0] - v[1], sum23 = v[2] + v[3], diff23 = v[2] - v[3];
    v[0] = sum01 + sum23;
    v[1] = diff01 + diff23;
    v[2] = sum01 - sum23;
    v[3] = diff01 - diff23;
}

// Scales a transformed luma DC (8.5.10): f * V * 2^(qp / 6 - 2), rounded.
MOTUS_HD int16_t motus_luma_dc_dequant(int f, int qp) {
    int value = f * motus_dequant_scale(qp % 6, 0), shift = qp / 6 - 2;
    return (int16_t)(shift >= 0 ? (int)((uint32_t)value << shift)
                                : (value + (1 << (-1 - shift))) >> -shift);
}

// Scales a transformed chroma DC (8.5.11.2): f * V * 2^(qp / 6) / 2, rounded down.
MOTUS_HD int16_t motus_chroma_dc_dequant(int f, int qp) {
    return (int16_t)((int)((uint32_t)(f * motus_dequant_scale(qp % 6, 0)) << (qp / 6)) >> 1);
}

#endif
