// Histogram equalization: the arithmetic that CPU and GPU share. Integers only.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_EQUALIZE_CORE_H
#define FILTER_EQUALIZE_CORE_H

#include <stdint.h>

#include "common/int_core.h"

// int(255 * cumulated / total + 0.5), total > 0. Below 2^28 samples 510 * cumulated stays far
// inside 64 bits.
MOTUS_HD uint8_t motus_curve_value(uint32_t cumulated, uint32_t total) {
    int64_t n = 510ll * cumulated + total, d = 2ll * total;
#ifdef __CUDA_ARCH__
    int q = (int)__fdividef(
        (float)n, (float)d); // below 256: off by less than one, and the remainder tells which way
    int64_t rest = n - q * d;
    return (uint8_t)(q + (rest >= d) - (rest < 0));
#else
    return (uint8_t)(n / d);
#endif
}

// What a tile's histogram loses at the clip limit and how that is dealt out again: `batch` to every
// bin, one more to each of the first `residual` multiples of `step`.
typedef struct MotusEqualizeClip {
    uint32_t limit, batch, step, residual;
} MotusEqualizeClip;

// The limit in counts; 0 for clip_q8 = 0 (none). At least 1.
MOTUS_HD uint32_t motus_clip_limit(uint32_t total, int clip_q8) {
    uint32_t limit = (uint32_t)(((uint64_t)total * (uint32_t)clip_q8) >> 16);
    return clip_q8 && !limit ? 1 : limit;
}

MOTUS_HD MotusEqualizeClip motus_clip_share(uint32_t limit, uint32_t excess) {
    MotusEqualizeClip clip = {limit, excess / 256, 1, excess % 256};
    if (clip.residual) clip.step = 256 / clip.residual;
    return clip;
}

MOTUS_HD uint32_t motus_clip_bin(uint32_t count, int bin, const MotusEqualizeClip *clip) {
    if (!clip->limit) return count;
    uint32_t kept = count < clip->limit ? count : clip->limit;
    return kept + clip->batch +
           ((uint32_t)bin % clip->step == 0 && (uint32_t)bin / clip->step < clip->residual);
}

// The curve with 8 fraction bits: smooth_q8 / 256 of the one before, the rest of the new one.
// Monotone in both, so a mean of rising curves rises.
MOTUS_HD uint16_t motus_curve_smooth(uint16_t before, uint8_t now, int smooth_q8) {
    return (uint16_t)(((uint32_t)before * (uint32_t)smooth_q8 +
                       ((uint32_t)now << 8) * (uint32_t)(256 - smooth_q8) + 128) >>
                      8);
}

MOTUS_HD uint8_t motus_curve_round(uint16_t q8) { return (uint8_t)((q8 + 128) >> 8); }

// A cut: the sum of |count - count before| over all bins reaches the number of samples (half of
// them changed their bin).
MOTUS_HD int motus_curve_is_cut(uint64_t sum_of_differences, uint32_t samples) {
    return sum_of_differences >= samples;
}

// Place between tile centres along one axis: tiles a and b, weight of b in 1/1024. size: of a tile,
// n: number of tiles.
typedef struct MotusTilePlace {
    uint16_t a, b, weight;
} MotusTilePlace;

MOTUS_HD MotusTilePlace motus_tile_place(int position, int size, int n) {
    int p = 2 * position - size,
        whole = p < 0 ? -1 : p / (2 * size); // p >= -size: the only negative quotient is -1
    int rest = p - whole * 2 * size;
    MotusTilePlace place = {(uint16_t)motus_max(whole, 0), (uint16_t)motus_min(whole + 1, n - 1),
                            (uint16_t)((rest * 1024 + size) / (2 * size))};
    return place;
}

// Bilinear mean of four curves' values; the sum of weights is 2^20, so 255 * 2^20 fits in 32 bits.
MOTUS_HD uint8_t motus_tile_mix(uint32_t c00, uint32_t c01, uint32_t c10, uint32_t c11, uint32_t wx,
                                uint32_t wy) {
    uint32_t top = c00 * (1024 - wx) + c01 * wx, bottom = c10 * (1024 - wx) + c11 * wx;
    return (uint8_t)((top * (1024 - wy) + bottom * wy + (1u << 19)) >> 20);
}

#endif
