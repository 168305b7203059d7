// 8x8 DCT of whole planes: tables and steps, plain C blocks, and rows of blocks over threads.
// SPDX-License-Identifier: BSD-2-Clause
#include "dct/dct8x8.h"

#include <math.h>
#include <string.h>

#include "common/int_core.h"
#include "yuv/exec.h"
#include "yuv/usable.h"

// ITU-T T.81, tables K.1 and K.2
const uint16_t motus_jpeg_luma_table[64] = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
};
const uint16_t motus_jpeg_chroma_table[64] = {
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
    99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
};

MotusStatus motus_dct8_quality(uint16_t table[64], const uint16_t base[64], int quality) {
    if (!table || !base || quality < 1 || quality > 100) return MOTUS_ERR_ARGUMENT;
    int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    for (int i = 0; i < 64; i++)
        table[i] = (uint16_t)motus_clip(1, 255, (base[i] * percent + 50) / 100);
    return MOTUS_OK;
}

MotusStatus motus_dct8_steps(MotusDct8Steps *steps, const uint16_t table[64]) {
    // 1 and sqrt 2 cos(k pi / 16)
    static const double s[8] = {
        1.0, 1.3870398453221474618,  1.3065629648763765279,  1.1758756024193587170,
        1.0, 0.78569495838710218128, 0.54119610014619698440, 0.27589937928294301234};
    // Scales of the integer transform (DCT8_COLUMNS after the shift, DCT8_ROWS), by coefficient.
    static const double o = 11706.94567854791 / (1 << DCT8_SHIFT),
                        e = 12428.027243757268 / (1 << DCT8_SHIFT), z = 2.8284271247461901;
    static const double columns[8] = {z, o, e, o, z, o, e, o};
    static const double rows[8] = {z, 1486.5639086677281, 1249.0805991374227, 1486.5639086677281,
                                   z, 1486.5639086677281, 1249.0805991374227, 1486.5639086677281};
    if (!table) return MOTUS_ERR_ARGUMENT;
    for (int i = 0; i < 64; i++) {
        if (!table[i]) return MOTUS_ERR_ARGUMENT;
        double scale = s[i / 8] * s[i % 8];
        steps->forward[i] = (float)(1.0 / (8.0 * scale * table[i]));
        steps->inverse[i] = (float)(scale * table[i] / 8.0);
        steps->q[i] = table[i];
        // The integer quantizer's step is multiplier / 2^shift. The multiplier is odd and has 24
        // bits (25 never occur, for any table entry). The quotient is at most 3 units of the
        // multiplier above the exact step, so that halves are rounded away from 0.
        int exponent;
        float mantissa =
            frexpf((float)(1.0 / (columns[i / 8] * rows[i % 8] * table[i])), &exponent);
        steps->multiplier[i] = ((int32_t)(mantissa * (1 << 24)) + 1) | 1;
        steps->shift[i] = (uint8_t)(24 - exponent);
        steps->integer[i] = (float)ldexp(steps->multiplier[i], exponent - 24);
    }
    return MOTUS_OK;
}

MotusStatus motus_dct8_check(const MotusCoefs *coefs, const MotusPlane *plane) {
    if (!coefs || !coefs->data || !motus_plane_usable(plane)) return MOTUS_ERR_ARGUMENT;
    if (coefs->width != (plane->width + 7) / 8 * 8 || coefs->height != (plane->height + 7) / 8 * 8)
        return MOTUS_ERR_ARGUMENT;
    if (coefs->stride % 16 || coefs->stride < 2 * (ptrdiff_t)coefs->width ||
        (uintptr_t)coefs->data % 16)
        return MOTUS_ERR_ARGUMENT;
    return MOTUS_OK;
}

static void forward_float(int16_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                          ptrdiff_t src_stride, int n, const MotusDct8Steps *steps) {
    for (int b = 0; b < n; b++) {
        float x[64];
        for (int i = 0; i < 64; i++) x[i] = (float)(src[i / 8 * src_stride + 8 * b + i % 8] - 128);
        for (int c = 0; c < 8; c++) dct8_float_1d(x + c, 8);
        for (int r = 0; r < 8; r++) dct8_float_1d(x + 8 * r, 1);
        for (int i = 0; i < 64; i++)
            dst[i / 8 * (dst_stride / 2) + 8 * b + i % 8] =
                (int16_t)motus_round_float(x[i] * steps->forward[i]);
    }
}

static void inverse_float(uint8_t *dst, ptrdiff_t dst_stride, const int16_t *src,
                          ptrdiff_t src_stride, int n, const MotusDct8Steps *steps) {
    for (int b = 0; b < n; b++) {
        float x[64];
        for (int i = 0; i < 64; i++)
            x[i] = (float)src[i / 8 * (src_stride / 2) + 8 * b + i % 8] * steps->inverse[i];
        for (int c = 0; c < 8; c++) idct8_float_1d(x + c, 8);
        for (int r = 0; r < 8; r++) idct8_float_1d(x + 8 * r, 1);
        for (int i = 0; i < 64; i++)
            dst[i / 8 * dst_stride + 8 * b + i % 8] = (uint8_t)dct8_float_sample(x[i]);
    }
}

static void forward_int(int16_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                        ptrdiff_t src_stride, int n, const MotusDct8Steps *steps) {
    for (int b = 0; b < n; b++) {
        int32_t x[64];
        for (int i = 0; i < 64; i++) x[i] = src[i / 8 * src_stride + 8 * b + i % 8] - 128;
        for (int c = 0; c < 8; c++) dct8_int_1d(x + c, 8, DCT8_COLUMNS);
        for (int i = 0; i < 64; i++)
            if (i / 8 % 4) x[i] = dct8_int_shift(x[i]);
        for (int r = 0; r < 8; r++) dct8_int_1d(x + 8 * r, 1, DCT8_ROWS);
        for (int i = 0; i < 64; i++)
            dst[i / 8 * (dst_stride / 2) + 8 * b + i % 8] =
                (int16_t)dct8_int_level(x[i], steps->multiplier[i], steps->shift[i]);
    }
}

static void inverse_int(uint8_t *dst, ptrdiff_t dst_stride, const int16_t *src,
                        ptrdiff_t src_stride, int n, const MotusDct8Steps *steps) {
    for (int b = 0; b < n; b++) {
        int32_t x[64];
        for (int i = 0; i < 64; i++)
            x[i] = dct8_int_coef(src[i / 8 * (src_stride / 2) + 8 * b + i % 8], steps->q[i]);
        for (int c = 0; c < 8; c++) idct8_int_1d(x + c, 8, IDCT8_SHIFT_1);
        for (int r = 0; r < 8; r++) idct8_int_1d(x + 8 * r, 1, IDCT8_SHIFT_2);
        for (int i = 0; i < 64; i++)
            dst[i / 8 * dst_stride + 8 * b + i % 8] = motus_clip_u8(x[i] + 128);
    }
}

const MotusDct8Ops motus_dct8_ops_c = {{forward_float, forward_int}, {inverse_float, inverse_int}};

MotusStatus motus_dct8_forward(MotusCoefs *dst, const MotusPlane *src, const uint16_t table[64],
                               MotusDct8Kind kind, const MotusExec *exec) {
    MotusDct8Steps steps;
    if (motus_dct8_check(dst, src) || motus_dct8_steps(&steps, table) ||
        (unsigned)kind > MOTUS_DCT8_INTEGER)
        return MOTUS_ERR_ARGUMENT;
    const MotusDct8Ops *ops = MOTUS_VERSION(motus_dct8_ops, exec);
    int whole = src->width / 8, threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < dst->height; y += 8) {
        int16_t *out = (int16_t *)((uint8_t *)dst->data + y * dst->stride);
        int direct = y + 8 <= src->height ? whole : 0;
        ops->forward[kind](out, dst->stride, src->data + y * src->stride, src->stride, direct,
                           &steps);
        for (int x = 8 * direct; x < dst->width; x += 8) {
            uint8_t block[64]; // reaches past the plane: last column and row are repeated
            for (int i = 0; i < 64; i++)
                block[i] = src->data[motus_min(y + i / 8, src->height - 1) * src->stride +
                                     motus_min(x + i % 8, src->width - 1)];
            ops->forward[kind](out + x, dst->stride, block, 8, 1, &steps);
        }
    }
    return MOTUS_OK;
}

MotusStatus motus_dct8_inverse(MotusPlane *dst, const MotusCoefs *src, const uint16_t table[64],
                               MotusDct8Kind kind, const MotusExec *exec) {
    MotusDct8Steps steps;
    if (motus_dct8_check(src, dst) || motus_dct8_steps(&steps, table) ||
        (unsigned)kind > MOTUS_DCT8_INTEGER)
        return MOTUS_ERR_ARGUMENT;
    const MotusDct8Ops *ops = MOTUS_VERSION(motus_dct8_ops, exec);
    int whole = dst->width / 8, threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < src->height; y += 8) {
        const int16_t *in = (const int16_t *)((const uint8_t *)src->data + y * src->stride);
        int direct = y + 8 <= dst->height ? whole : 0;
        ops->inverse[kind](dst->data + y * dst->stride, dst->stride, in, src->stride, direct,
                           &steps);
        for (int x = 8 * direct; x < src->width; x += 8) {
            uint8_t block[64];
            ops->inverse[kind](block, 8, in + x, src->stride, 1, &steps);
            for (int r = 0; r < motus_min(8, dst->height - y); r++)
                memcpy(dst->data + (y + r) * dst->stride + x, block + 8 * r,
                       (size_t)motus_min(8, dst->width - x));
        }
    }
    return MOTUS_OK;
}
