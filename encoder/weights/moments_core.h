// Weights that the means and variances of two planes suggest.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_WEIGHTS_MOMENTS_CORE_H
#define ENCODER_WEIGHTS_MOMENTS_CORE_H

#include "encoder/mb/weights_core.h"

enum {
    MOTUS_SCALE_ONE = 128,                   // scales are in 1/128
    MOTUS_MAX_SCALE = 8 * MOTUS_SCALE_ONE,   // larger ones are none
    MOTUS_LEAST_VARIANCE = 4,                // of a plane whose scale is measured
    MOTUS_MAX_LOG2_DENOM = 6,                // so that 1 can be coded
    MOTUS_SMALL_ONE = 16,                    // of a sample of a picture downscaled 8:1
    MOTUS_SMALL_MAX = 255 * MOTUS_SMALL_ONE, // its largest value
};

// A weight is taken if it leaves at most MOTUS_WEIGHT_COST of the cost, 1/256, and helps at least
// MOTUS_WEIGHT_MAJORITY as many MBs as it harms, 1/4. What comes into the picture changes means,
// too, but harms the MBs that were there.
enum { MOTUS_WEIGHT_COST = 228, MOTUS_WEIGHT_MAJORITY = 6 };

// Mean and variance of a plane, 1/256.
typedef struct MotusMoments {
    int64_t mean, variance;
} MotusMoments;

// Returns the moments of n samples from their sum and that of their squares.
MOTUS_HD MotusMoments motus_moments(uint64_t sum, uint64_t squares, uint64_t n) {
    const uint64_t mean = (256 * sum + n / 2) / n; // below 2^16
    MotusMoments m;
    m.mean = (int64_t)mean;
    m.variance = (int64_t)(256 * squares / n) - (int64_t)(mean * mean >> 8);
    return m;
}

// Returns the ratio of two planes' deviations.
MOTUS_HD int motus_scale_of(const MotusMoments *cur, const MotusMoments *ref) {
    if (ref->variance < 256 * MOTUS_LEAST_VARIANCE || cur->variance < 0) return MOTUS_SCALE_ONE;
    const int64_t ratio = (cur->variance << 16) / ref->variance;
    int64_t scale = 0; // its square root, 1/256
    for (int64_t bit = (int64_t)1 << 20; bit; bit >>= 1)
        if ((scale + bit) * (scale + bit) <= ratio) scale += bit;
    return scale >= 2 * MOTUS_MAX_SCALE ? MOTUS_SCALE_ONE : (int)(scale + 1) / 2;
}

// Returns the largest denominator with which a scale's weight is at most 127.
MOTUS_HD int motus_log2_denom_of(int scale) {
    int log2_denom = MOTUS_MAX_LOG2_DENOM;
    while ((scale << log2_denom) > 127 * MOTUS_SCALE_ONE) log2_denom--;
    return log2_denom;
}

// Returns the weight nearest to a scale, and the offset that makes the means equal.
MOTUS_HD MotusWeight motus_weight_at(int scale, const MotusMoments *cur, const MotusMoments *ref,
                                     int log2_denom) {
    const int weight =
        motus_min(127, (scale * (1 << log2_denom) + MOTUS_SCALE_ONE / 2) / MOTUS_SCALE_ONE);
    const int64_t offset = (cur->mean - ref->mean * weight / (1 << log2_denom) + 128) >> 8;
    MotusWeight w;
    w.weight = (int16_t)weight, w.offset = (int16_t)motus_clip(-128, 127, (int)offset);
    return w;
}

MOTUS_HD int motus_is_no_weight(MotusWeight w, int log2_denom) {
    return w.weight == 1 << log2_denom && !w.offset;
}

#endif
