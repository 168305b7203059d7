// Quantization tables and steps of the 8x8 DCT.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include "common/int_core.h"
#include "dct/dct8x8.h"

// ITU-T T.81, tables K.1 and K.2
const uint16_t motus_jpeg_luma_table[64] = {
    16, 11,  10,  16, 24, 40, 51, 61, 12,  12,  14,  19,  26, 58, 60, 55,  14,  13,  16,  24, 40, 57,
    69, 56,  14,  17, 22, 29, 51, 87, 80,  62,  18,  22,  37, 56, 68, 109, 103, 77,  24,  35, 55, 64,
    81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98,  112, 100, 103, 99,
};
const uint16_t motus_jpeg_chroma_table[64] = {
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
    99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
};

MotusStatus motus_dct8_quality(uint16_t table[64], const uint16_t base[64], int quality) {
    if (!table || !base || quality < 1 || quality > 100) return MOTUS_ERR_ARGUMENT;
    int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    for (int i = 0; i < 64; i++) table[i] = (uint16_t)motus_clip(1, 255, (base[i] * percent + 50) / 100);
    return MOTUS_OK;
}

// A step of the integer quantizer: multiplier / 2^shift, the multiplier odd and of 24 bits, the quotient at most 3 of its units above the exact
// step, so that halves are rounded away from 0. (No entry of a table, at no place, gives a multiplier of 25 bits.)
static void set_integer_step(MotusDct8Steps *steps, int i, double step) {
    int exponent;
    float mantissa = frexpf((float)step, &exponent);
    steps->multiplier[i] = ((int32_t)(mantissa * (1 << 24)) + 1) | 1;
    steps->shift[i] = (uint8_t)(24 - exponent);
    steps->integer[i] = (float)ldexp(steps->multiplier[i], exponent - 24);
}

MotusStatus motus_dct8_steps(MotusDct8Steps *steps, const uint16_t table[64]) {
    // 1 and sqrt 2 cos(k pi / 16)
    static const double s[8] = {1.0, 1.3870398453221474618,  1.3065629648763765279,  1.1758756024193587170,
                                1.0, 0.78569495838710218128, 0.54119610014619698440, 0.27589937928294301234};
    // of the integer transform: what motus_dct8_int_1d multiplies an orthonormal coefficient by, and the shift after the columns
    static const double o = 11706.94567854791 / (1 << DCT8_SHIFT), e = 12428.027243757268 / (1 << DCT8_SHIFT),
                        z = 2.8284271247461901;
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
        set_integer_step(steps, i, 1.0 / (columns[i / 8] * rows[i % 8] * table[i]));
    }
    return MOTUS_OK;
}

MotusStatus motus_dct8_check(const MotusCoefs *coefs, const MotusPlane *plane) {
    if (!coefs || !plane || !coefs->data || !plane->data) return MOTUS_ERR_ARGUMENT;
    if (plane->width < 1 || plane->height < 1 || plane->stride < plane->width) return MOTUS_ERR_ARGUMENT;
    if (coefs->width != (plane->width + 7) / 8 * 8 || coefs->height != (plane->height + 7) / 8 * 8) return MOTUS_ERR_ARGUMENT;
    if (coefs->stride % 16 || coefs->stride < 2 * (ptrdiff_t)coefs->width || (uintptr_t)coefs->data % 16)
        return MOTUS_ERR_ARGUMENT;
    return MOTUS_OK;
}
