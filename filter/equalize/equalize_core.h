// Histogram equalization: arithmetic on histograms and curves, in integers.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_EQUALIZE_EQUALIZE_CORE_H
#define FILTER_EQUALIZE_EQUALIZE_CORE_H

#include "common/int_core.h"

// Returns int(255 * cumulated / total + 0.5), total > 0.
MOTUS_HD uint8_t curve_value(uint32_t cumulated, uint32_t total) {
    int64_t n = 510ll * cumulated + total, d = 2ll * total;
#ifdef __CUDA_ARCH__
    // Below 256: off by less than one, and the remainder tells the direction.
    int q = (int)__fdividef((float)n, (float)d);
    int64_t rest = n - q * d;
    return (uint8_t)(q + (rest >= d) - (rest < 0));
#else
    return (uint8_t)(n / d);
#endif
}

// The clip limit of a histogram, and how the excess is spread again: `batch` to every bin, and one
// to each of the first `residual` multiples of `step`.
typedef struct MotusEqualizeClip {
    uint32_t limit, batch, step, residual;
} MotusEqualizeClip;

// Returns the clip limit in counts, at least 1; 0 (none) if clip_q8 is 0.
MOTUS_HD uint32_t clip_limit(uint32_t total, int clip_q8) {
    uint32_t limit = (uint32_t)(((uint64_t)total * (uint32_t)clip_q8) >> 16);
    return clip_q8 && !limit ? 1 : limit;
}

MOTUS_HD MotusEqualizeClip clip_share(uint32_t limit, uint32_t excess) {
    MotusEqualizeClip clip = {limit, excess / 256, 1, excess % 256};
    if (clip.residual) clip.step = 256 / clip.residual;
    return clip;
}

MOTUS_HD uint32_t clip_bin(uint32_t count, int bin, const MotusEqualizeClip *clip) {
    if (!clip->limit) return count;
    uint32_t kept = count < clip->limit ? count : clip->limit;
    return kept + clip->batch +
           ((uint32_t)bin % clip->step == 0 && (uint32_t)bin / clip->step < clip->residual);
}

// Returns the smoothed value with 8 fraction bits: smooth_q8 / 256 of the previous one, the rest of
// the new one. Monotone in both, so curves still rise.
MOTUS_HD uint16_t curve_smooth(uint16_t before, uint8_t now, int smooth_q8) {
    return (uint16_t)(((uint32_t)before * (uint32_t)smooth_q8 +
                       ((uint32_t)now << 8) * (uint32_t)(256 - smooth_q8) + 128) >>
                      8);
}

MOTUS_HD uint8_t curve_round(uint16_t q8) { return (uint8_t)((q8 + 128) >> 8); }

// True at a scene cut: the sum of |count - previous count| over all bins reaches the number of
// samples, that is, half of them changed their bin.
MOTUS_HD int curve_is_cut(uint64_t sum_of_differences, uint32_t samples) {
    return sum_of_differences >= samples;
}

#endif
