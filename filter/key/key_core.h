// Chroma key: the per-pixel arithmetic that CPU and GPU share. Whether a pixel lies inside the
// thresholds is exact: hue, saturation and value stay fractions, every comparison is multiplied
// out, and the products are whole numbers (or halves) that a float holds. The weights of a soft
// edge and spill suppression are single precision in a fixed order, so that every executor gives
// the same bits: a product and a sum are rounded together where motus_key_fused says so, else one
// by one. A compiler must not contract them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_KEY_KEY_CORE_H
#define FILTER_KEY_KEY_CORE_H

#include <math.h>
#include <stdint.h>

#include "common/float_core.h"
#include "common/int_core.h"
#include "motus/filter.h"
#include "yuv/rgb_core.h"

enum { KEY_CIRCLE = 5760, KEY_UNIT = 1024 }; // 360 degrees; saturation or value 1
enum { KEY_FULL = 256 };                     // weight of a pixel that is all foreground

// The hues within the threshold, as a part of a plane of two colour differences (x, y) whose origin
// is grey and in which opposite hues lie opposite each other. (f - |e|) * side > 0 inside, where f
// and e are linear in x and y: f - |e| is twice the smaller of the distances from two lines through
// grey. Coefficients are whole and sums below 2^24, so floats are exact, and f0 and e0 are such
// that the result is never 0.
typedef struct MotusKeyWedge {
    float fx, fy, f0, ex, ey, e0, side;
} MotusKeyWedge;

// A key configuration made ready.
typedef struct MotusKey {
    int soft, spill;
    int channel;                      // the key's largest: 0 R, 1 G, 2 B
    float cb_direction, cr_direction; // the key's chroma as a vector of length 2^10, whole
    float cb_move, cr_move; // the opposite direction, times the strength of spill suppression
    MotusYuvMatrix matrix;
    float rv, gu, gv, bu; // of the matrix, too
    // Without a soft edge. Saturation and value in units of 1 (multiples of 2^-10), value_limit in
    // 1/1024 of 1/255.
    MotusKeyWedge rgb, chroma; // planes of (G - R, G - B), and of (Cb, Cr) - 128
    float grey;                // 1/2 where grey's hue, which is 0, is inside; else -1
    float saturation, sat_range, value, value_limit;
    // With one: distances to the key are scaled so that the soft edge is 1 wide; `first` is
    // motus_key_steps of the thresholds.
    int first;
    int around; // 0: hues beyond 120 degrees from the key are foreground by any reckoning, and 0
                // and 360 degrees are the same
    float hue_scale, hue_round, sat_scale, sat_at, value_scale,
        value_at;    // hue_round: once around the circle, or out of reach
    float hue_at[4]; // minus the key's hue, seen from 0, 120 and 240 degrees; [3]: from 360, for
                     // what comes before 0
} MotusKey;

MOTUS_HD float motus_key_sum(float a, float b) {
#ifdef __CUDA_ARCH__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}
// a * b + c rounded once, of arguments for which double precision is exact.
MOTUS_HD float motus_key_fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
    return __fmaf_rn(a, b, c);
#elif defined(__FMA__)
    return __builtin_fmaf(a, b, c);
#else
    return (float)((double)a * b + c);
#endif
}

// (sample - grey) * factor + onto, of whole numbers: exact where products are not rounded (a
// GPU's), elsewhere where grey is 0. One instruction, as the outer sum's last argument is the same
// for all samples.
MOTUS_HD float motus_key_from_grey(float sample, float grey, float factor, float onto) {
    return motus_exact_madd(sample, factor, motus_exact_madd(-grey, factor, onto));
}

// 1 / v, correctly rounded, for whole v = 1..2^22.
MOTUS_HD float motus_key_reciprocal(float v) {
#ifdef __CUDA_ARCH__
    float near; // off by one unit in the last place at most; one step of Newton's makes it right,
                // on sm_90 for each v
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(v));
    return __fmaf_rn(__fmaf_rn(-v, near, 1.0f), near, near);
#else
    return 1.0f / v;
#endif
}

// ---- Hard edge: margins, positive inside the threshold, negative (never 0) elsewhere ------------

MOTUS_HD float motus_key_hue_margin(float x, float y, const MotusKeyWedge *w) {
    float f = motus_exact_madd(w->fx, x, motus_exact_madd(w->fy, y, w->f0)),
          e = motus_exact_madd(w->ex, x, motus_exact_madd(w->ey, y, w->e0));
    return (f - fabsf(e)) * w->side;
}

// high and d = high - low: of R, G, B, 0..255. |1024 d - saturation * high| < range * high with
// high at least 1, over 1024.
MOTUS_HD float motus_key_sat_margin(float high, float d, const MotusKey *key) {
    float shade = motus_float_max(high, 1.0f),
          limit = motus_exact_madd(key->sat_range, shade, -0.5f / KEY_UNIT);
    return limit - fabsf(motus_exact_madd(-key->saturation, shade, d));
}

// |1024 high - value * 255| < range * 255, over 1024.
MOTUS_HD float motus_key_value_margin(float high, const MotusKey *key) {
    return key->value_limit - fabsf(high - key->value);
}

// Grey has no direction in the plane, but a hue.
MOTUS_HD float motus_key_grey_margin(float hue, float d, const MotusKey *key) {
    return motus_float_max(hue, key->grey - d);
}

// ---- Soft edge: distances, 1 the width of the edge ----------------------------------------------

// Of a colour or of its contributions from chroma: whole numbers, high and low the largest and the
// smallest of the three. around: 0 only where key->around is 0.
MOTUS_HD float motus_key_hue_distance(float r, float g, float b, float high, float low, int around,
                                      const MotusKey *key) {
    // Selections one after the other, and no branches, for the sake of vectorizers.
    float turn = high == g ? b - r : r - g, at = high == g ? key->hue_at[1] : key->hue_at[2];
    float red = g - b, red_at = around && red < 0 ? key->hue_at[3] : key->hue_at[0];
    turn = high == r ? red : turn, at = high == r ? red_at : at;
    float unit = motus_key_reciprocal(motus_float_max(high - low, 1.0f)) *
                 key->hue_scale; // high - low are 60 degrees
    float distance = fabsf(motus_key_fused(turn, unit, at));
    return around ? motus_float_min(distance, key->hue_round - distance)
                  : distance; // the other way round may be shorter
}

// What d is to be multiplied by; high: rounded.
MOTUS_HD float motus_key_sat_factor(float high, const MotusKey *key) {
    return key->sat_scale * motus_key_reciprocal(motus_float_max(high, 1.0f));
}
MOTUS_HD float motus_key_sat_distance(float d, float factor, const MotusKey *key) {
    return fabsf(motus_key_fused(d, factor, -key->sat_at));
}

MOTUS_HD float motus_key_value_distance(float high, const MotusKey *key) {
    return fabsf(motus_key_fused(high, key->value_scale, -key->value_at));
}

// A distance >= 0 in steps of 1/256, rounded, on top of KEY_STEPS: the bits of 2^15 + distance.
// Beyond 2^15 steps are wider.
enum { KEY_STEPS = 0x47000000 };
MOTUS_HD int motus_key_steps(float distance) {
    return (int)motus_float_bits(motus_key_sum(distance, 32768.0f));
}

// The foreground's weight by the farthest of the three.
MOTUS_HD int motus_key_weight(int steps, const MotusKey *key) {
#ifdef __CUDA_ARCH__
    return __viaddmin_s32_relu(steps, -key->first, KEY_FULL);
#else
    return motus_clip(0, KEY_FULL, steps - key->first);
#endif
}

// ---- Mixing -------------------------------------------------------------------------------------

// weight: of the foreground, 0..256.
MOTUS_HD uint8_t motus_key_mix(int fg, int bg, int weight) {
    return (uint8_t)((fg * weight + bg * (KEY_FULL - weight) + 128) >> 8);
}

// The key's channel, moved down towards the larger of the other two.
MOTUS_HD int motus_key_unspill(int value, int other1, int other2, int spill) {
    int above = motus_max(value - motus_max(other1, other2), 0);
    return value - ((above * spill + 128) >> 8);
}

// By how much chroma lies inside a right-angled cone around the key's direction: whole, below 2^19.
// u: Cb - 128; cr: Cr - 128 + grey.
MOTUS_HD float motus_key_cone(float u, float cr, float grey, const MotusKey *key) {
    float along = motus_exact_madd(u, key->cb_direction,
                                   motus_key_from_grey(cr, grey, key->cr_direction, 0.0f));
    float across = motus_exact_madd(u, key->cr_direction,
                                    motus_key_from_grey(cr, grey, -key->cb_direction, 0.0f));
    return motus_float_max(along - fabsf(across), 0.0f);
}

// A chroma sample, plus 2^15, moved out of the cone against the key's direction; move is that of
// its direction. The result, 0..255, is in byte 1. (The sum has 8 fraction bits, and half a unit
// more rounds it.)
MOTUS_HD int motus_key_unspill_chroma(float sample, float inside, float move) {
    int bits = (int)motus_float_bits(motus_key_fused(inside, move, sample));
#ifdef __CUDA_ARCH__
    return __viaddmin_s32_relu(bits, 128 - KEY_STEPS, 0xFFFF);
#else
    return motus_clip(0, 0xFFFF, bits - KEY_STEPS + 128);
#endif
}

// What chroma adds to R, G and B, with 13 fraction bits, plus `onto`: exact, below 2^23. u: Cb -
// 128; cr: Cr - 128 + grey.
MOTUS_HD void motus_key_chroma(float *r, float *g, float *b, float u, float cr, float grey,
                               float onto, const MotusKey *key) {
    *r = motus_key_from_grey(cr, grey, key->rv, onto), *b = motus_exact_madd(u, key->bu, onto);
    *g = motus_exact_madd(-u, key->gu, motus_key_from_grey(cr, grey, -key->gv, onto));
}

#endif
