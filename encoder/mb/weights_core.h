// Weighted prediction (8.4.2.3): implicit weights of pairs, explicit ones of P pictures.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_WEIGHTS_CORE_H
#define ENCODER_MB_WEIGHTS_CORE_H

#include <stdint.h>

#include "common/int_core.h"
#include "motus/encoder.h"

// A pair's two weights add up to 64. With 32 the weighted sum is the rounded average.
enum { MOTUS_EVEN_PAIR = 32 };

// Returns DistScaleFactor (8.4.1.2.3) of two different references. The pictures' times: of the
// current one and of both references, in units of a picture.
MOTUS_HD int motus_dist_scale(int32_t shown, int32_t ref0, int32_t ref1) {
    const int tb = motus_clip(-128, 127, 2 * (shown - ref0)),
              td = motus_clip(-128, 127, 2 * (ref1 - ref0)), tx = (16384 + motus_abs(td / 2)) / td;
    return motus_clip(-1024, 1023, (tb * tx + 32) >> 6);
}

// Returns MotusReference.pair_offset of list 0's reference in a pair: list 1's implicit weight,
// -64..128 (8.4.2.3.1), less MOTUS_EVEN_PAIR. List 0's weight is 64 less list 1's.
MOTUS_HD int motus_pair_offset(int32_t shown, int32_t ref0, int32_t ref1) {
    if (ref0 == ref1) return 0;
    const int weight = motus_dist_scale(shown, ref0, ref1) >> 2;
    return weight < -64 || weight > 128 ? 0 : weight - MOTUS_EVEN_PAIR;
}

// Returns the weighted sum of two samples. weight1: of b.
MOTUS_HD uint8_t motus_pair_sample(int a, int b, int weight1) {
    return motus_clip_u8((a * (64 - weight1) + b * weight1 + 32) >> 6);
}

// Explicit weight of a plane, over 1 << log2_denom, and what is added then; -128..127 each, but a
// weight of 1 << log2_denom is always allowed.
typedef struct MotusWeight {
    int16_t weight, offset;
} MotusWeight;

// Explicit weights of a P picture's references (7.4.3.2), by ref_idx. log2_denom: 1..6, or 0 if no
// reference has any.
typedef struct MotusWeights {
    int log2_denom;
    struct {
        MotusWeight plane[3];
        uint8_t has_luma, has_chroma; // 0: the planes are predicted without
    } ref[MOTUS_MAX_REFERENCES];
} MotusWeights;

// Returns a weighted sample.
MOTUS_HD uint8_t motus_weighted_sample(int sample, MotusWeight w, int log2_denom) {
    return motus_clip_u8(((sample * w.weight + (1 << (log2_denom - 1))) >> log2_denom) + w.offset);
}

#endif
