// Chroma key, per pixel. Thresholds are exact: comparisons of hue, saturation and value are
// multiplied out, to whole numbers or halves that a float holds. Soft edges and spill suppression
// are single precision in a fixed order, the same on CPU and GPU: key_fused rounds a product
// and a sum once, all else is rounded step by step. Includers are compiled without contraction.
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
enum { KEY_FULL = 256 };                     // weight of a foreground pixel

// The hues within the threshold, in a plane of two colour differences (x, y): grey is the origin,
// opposite hues lie opposite each other. Inside if (f - |e|) * side > 0, with f and e linear in x
// and y: f - |e| is twice the smaller distance from two lines through grey. Coefficients are whole
// and sums below 2^24, so floats are exact; f0 and e0 keep the result from being 0.
typedef struct MotusKeyWedge {
    float fx, fy, f0, ex, ey, e0, side;
} MotusKeyWedge;

// A prepared key configuration.
typedef struct MotusKey {
    int soft, spill;
    int channel;                      // the key's largest: 0 R, 1 G, 2 B
    float cb_direction, cr_direction; // the key's chroma, of length 2^10, whole
    float cb_move, cr_move;           // the opposite, times the strength of spill suppression
    MotusYuvMatrix matrix;
    float rv, gu, gv, bu; // of the matrix

    // Hard edge. Saturation and value are multiples of 2^-10, value_limit is in 1/1024 of 1/255.
    MotusKeyWedge rgb, chroma; // planes of (G - R, G - B), and of (Cb, Cr) - 128
    float grey;                // 1/2 if grey's hue, which is 0, is inside; else -1
    float saturation, sat_range, value, value_limit;

    // Soft edge. Distances to the key are scaled so that the edge is 1 wide.
    int first;                  // motus_key_steps of the thresholds
    int around;                 // 0: hues beyond 120 degrees from the key are foreground anyway
    float hue_scale, hue_round; // hue_round: the whole circle; out of reach if hues don't wrap
    float sat_scale, sat_at, value_scale, value_at;
    float hue_at[4]; // minus the key's hue from 0, 120 and 240 degrees; [3]: from 360, for hues < 0
} MotusKey;

// Returns a * b + c, rounded once. The exact value must fit in double precision.
MOTUS_HD float key_fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
    return __fmaf_rn(a, b, c);
#elif defined(__FMA__)
    return __builtin_fmaf(a, b, c);
#else
    return (float)((double)a * b + c);
#endif
}

// Returns (sample - grey) * factor + onto, of whole numbers: exact on a GPU, and on a CPU if grey
// is 0. One instruction per sample: the inner sum is the same for all.
MOTUS_HD float key_from_grey(float sample, float grey, float factor, float onto) {
    return motus_exact_madd(sample, factor, motus_exact_madd(-grey, factor, onto));
}

// Returns 1 / v, correctly rounded, for whole v = 1..2^22.
MOTUS_HD float key_reciprocal(float v) {
#ifdef __CUDA_ARCH__
    float near; // off by at most one unit in the last place; a Newton step corrects it for each v
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(v));
    return __fmaf_rn(__fmaf_rn(-v, near, 1.0f), near, near);
#else
    return 1.0f / v;
#endif
}

// ---- Hard edge: margins are positive inside the threshold, negative (never 0) outside -----------

// x = y = 0 is grey, which has a hue but no direction in the plane: in R, G, B its margin is at
// least key->grey - d.
MOTUS_HD float key_hue_margin(float x, float y, const MotusKeyWedge *w) {
    float f = motus_exact_madd(w->fx, x, motus_exact_madd(w->fy, y, w->f0)),
          e = motus_exact_madd(w->ex, x, motus_exact_madd(w->ey, y, w->e0));
    return (f - fabsf(e)) * w->side;
}

// high: the largest of R, G, B, 0..255; d: less the smallest. |1024 d - saturation * high| < range
// * high with high at least 1, over 1024.
MOTUS_HD float key_sat_margin(float high, float d, const MotusKey *key) {
    float shade = motus_float_max(high, 1.0f),
          limit = motus_exact_madd(key->sat_range, shade, -0.5f / KEY_UNIT);
    return limit - fabsf(motus_exact_madd(-key->saturation, shade, d));
}

// |1024 high - value * 255| < range * 255, over 1024.
MOTUS_HD float key_value_margin(float high, const MotusKey *key) {
    return key->value_limit - fabsf(high - key->value);
}

// ---- Soft edge: distances, 1 the width of the edge ----------------------------------------------

// Returns the hue's distance of a colour, or of chroma's contributions: whole numbers. high and
// low: the largest and smallest of r, g, b. around: may be 0 if key->around is.
MOTUS_HD float key_hue_distance(float r, float g, float b, float high, float low, int around,
                                const MotusKey *key) {
    // Selections and no branches, for vectorizers.
    float turn = high == g ? b - r : r - g, at = high == g ? key->hue_at[1] : key->hue_at[2];
    float red = g - b, red_at = around && red < 0 ? key->hue_at[3] : key->hue_at[0];
    turn = high == r ? red : turn, at = high == r ? red_at : at;
    // high - low are 60 degrees.
    float unit = key_reciprocal(motus_float_max(high - low, 1.0f)) * key->hue_scale;
    float distance = fabsf(key_fused(turn, unit, at));
    return around ? motus_float_min(distance, key->hue_round - distance) : distance;
}

// Returns the factor of d; high: rounded.
MOTUS_HD float key_sat_factor(float high, const MotusKey *key) {
    return key->sat_scale * key_reciprocal(motus_float_max(high, 1.0f));
}
MOTUS_HD float key_sat_distance(float d, float factor, const MotusKey *key) {
    return fabsf(key_fused(d, factor, -key->sat_at));
}

MOTUS_HD float key_value_distance(float high, const MotusKey *key) {
    return fabsf(key_fused(high, key->value_scale, -key->value_at));
}

// Returns a distance >= 0 in steps of 1/256, rounded, plus KEY_STEPS: the bits of 2^15 + distance.
// Beyond 2^15 steps are wider.
enum { KEY_STEPS = 0x47000000 }; // the bits of 2^15
MOTUS_HD int motus_key_steps(float distance) {
#ifdef __CUDA_ARCH__
    return (int)motus_float_bits(__fadd_rn(distance, 32768.0f));
#else
    return (int)motus_float_bits(distance + 32768.0f);
#endif
}

// Returns the foreground's weight from the farthest of the three.
MOTUS_HD int key_weight(int steps, const MotusKey *key) {
#ifdef __CUDA_ARCH__
    return __viaddmin_s32_relu(steps, -key->first, KEY_FULL);
#else
    return motus_clip(0, KEY_FULL, steps - key->first);
#endif
}

// ---- Chroma -------------------------------------------------------------------------------------

// Returns how far chroma lies inside a right-angled cone around the key's direction: whole, below
// 2^19. u: Cb - 128; cr: Cr - 128 + grey.
MOTUS_HD float key_cone(float u, float cr, float grey, const MotusKey *key) {
    float along =
        motus_exact_madd(u, key->cb_direction, key_from_grey(cr, grey, key->cr_direction, 0.0f));
    float across =
        motus_exact_madd(u, key->cr_direction, key_from_grey(cr, grey, -key->cb_direction, 0.0f));
    return motus_float_max(along - fabsf(across), 0.0f);
}

// Moves a chroma sample, plus 2^15, out of the cone; move: cb_move or cr_move. The result, 0..255,
// is in byte 1: the sum has 8 fraction bits, rounded by half a unit.
MOTUS_HD int key_unspill_chroma(float sample, float inside, float move) {
    int bits = (int)motus_float_bits(key_fused(inside, move, sample));
#ifdef __CUDA_ARCH__
    return __viaddmin_s32_relu(bits, 128 - KEY_STEPS, 0xFFFF);
#else
    return motus_clip(0, 0xFFFF, bits - KEY_STEPS + 128);
#endif
}

// Computes chroma's contributions to R, G and B, 13 fraction bits, plus `onto`: exact, below 2^23.
// u: Cb - 128; cr: Cr - 128 + grey.
MOTUS_HD void key_chroma(float *r, float *g, float *b, float u, float cr, float grey, float onto,
                         const MotusKey *key) {
    *r = key_from_grey(cr, grey, key->rv, onto), *b = motus_exact_madd(u, key->bu, onto);
    *g = motus_exact_madd(-u, key->gu, key_from_grey(cr, grey, -key->gv, onto));
}

#endif
