// The error of a level is measured on coefficients, where it is exact but for the final rounding of samples: the forward transform's rows
// have squared norms 4 and 10, so a coefficient of class (even, even), (odd, odd), mixed weighs 1/16, 1/100, 1/40 in squared samples; and the
// inverse transform takes the scaled level d as 16/64, 25/64, 20/64 of a forward coefficient.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/quantize.h"

#include <string.h>

#include "common/int_core.h"
#include "encoder/cavlc.h"

#define NEAREST 32 // dead zone of half a step: plain rounding

// Per coefficient class: forward coefficient in 1/64 for one unit of d; and 400 / squared norm.
static const uint8_t class_of[16] = {0, 1, 0, 1, 1, 2, 1, 2, 0, 1, 0, 1, 1, 2, 1, 2};
static const int8_t gain[3] = {16, 20, 25};
static const int8_t weight[3] = {25, 10, 4};

// |coef| < 2^14 and |d| < 2^15 keep e within 2^21, its square times 25 within 2^47.
static inline int64_t level_error(int coef, int d, int class) {
    int64_t e = coef * 64 - d * gain[class];
    return e * e * weight[class];
}

int64_t motus_block_energy(const int16_t coef[16], int first) {
    int64_t sum = 0;
    for (int i = first; i < 16; i++) sum += level_error(coef[i], 0, class_of[i]);
    return sum;
}

// What lowering |level| by one at raster position `at` adds to the error; d is the step of one level at that position.
static int64_t lowering_error(int coef, int level, int step, int at) {
    int lower = level > 0 ? level - 1 : level + 1;
    return level_error(coef, lower * step, class_of[at]) - level_error(coef, level * step, class_of[at]);
}

// Lowers levels from the highest frequency down wherever the bits saved outweigh the error added.
static void lower_levels(const MotusCoding *coding, MotusLevels *levels, int16_t level[16], const int16_t coef[16],
                         const int16_t step[16], int first, int nc) {
    int n = 16 - first;
    for (int i = 15; i >= first; i--) {
        if (!level[i]) continue;
        int at = motus_zigzag4x4[i];
        int64_t added = lowering_error(coef[at], level[i], step[at], at);
        int sign = level[i] > 0 ? 1 : -1;
        if (level[i] * sign > 2 && added > 0) continue; // large levels only give up what rounding had added
        level[i] = (int16_t)(level[i] - sign);
        uint32_t bits = (uint32_t)motus_cavlc_residual_bits(level + first, n, nc);
        if (added + motus_bits_error(coding, bits) < motus_bits_error(coding, levels->bits)) {
            levels->bits = bits;
            levels->error += added;
            levels->n -= !level[i];
        } else {
            level[i] = (int16_t)(level[i] + sign);
        }
    }
}

MotusLevels motus_quantize_block(const MotusCoding *coding, int16_t level[16], const int16_t coef[16], int qp, int first,
                                 int nc) {
    static const int16_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int16_t raster[16], step[16];
    MotusLevels levels = {0};
    int n = 16 - first;
    levels.zero_error = levels.error = motus_block_energy(coef, first);
    int found = coding->dct->quant4x4(raster, coef, qp, NEAREST);
    if (first) found -= raster[0] != 0, raster[0] = 0;
    memset(level, 0, 16 * sizeof *level);
    uint32_t zero_bits = levels.bits = (uint32_t)motus_cavlc_residual_bits(level + first, n, nc);
    if (!found) return levels;

    coding->dct->dequant4x4(step, ones, qp);
    levels.n = found;
    levels.error = 0;
    for (int i = first; i < 16; i++) {
        int at = motus_zigzag4x4[i];
        level[i] = raster[at];
        levels.error += level_error(coef[at], raster[at] * step[at], class_of[at]);
    }
    levels.bits = (uint32_t)motus_cavlc_residual_bits(level + first, n, nc);
    lower_levels(coding, &levels, level, coef, step, first, nc);
    if (levels.n &&
        levels.zero_error + motus_bits_error(coding, zero_bits) <= levels.error + motus_bits_error(coding, levels.bits)) {
        memset(level, 0, 16 * sizeof *level);
        levels = (MotusLevels){0, zero_bits, levels.zero_error, levels.zero_error};
    }
    return levels;
}
