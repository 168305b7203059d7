// Chroma key: the per-pixel arithmetic that CPU and GPU share. Hue, saturation and value are exact fractions: every comparison is multiplied out.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_KEY_CORE_H
#define FILTER_KEY_CORE_H

#include <stdint.h>

#include "common/hd.h"
#include "common/int_core.h"
#include "motus/filter.h"

enum { KEY_CIRCLE = 5760, KEY_UNIT = 1024 }; // 360 degrees; saturation or value 1

// Factors with 13 fraction bits of RGB <-> YCbCr; y_low is the luma of black.
typedef struct MotusYuvMatrix {
    int y_low, cy, rv, gu, gv, bu;
    int yr, yg, yb, ur, ug, ub, vr, vg, vb;
} MotusYuvMatrix;

// A key configuration made ready.
typedef struct MotusKey {
    int hue, saturation, value, hue_range, sat_range, value_range, soft, spill;
    int circle;                     // KEY_CIRCLE, or more than twice that where hue distances are not taken around the circle
    int channel;                    // the key's largest: 0 R, 1 G, 2 B
    int cb_direction, cr_direction; // the key's chroma as a vector of length 2^10
    MotusYuvMatrix matrix;
} MotusKey;

MOTUS_HD int motus_max3(int a, int b, int c) {
#ifdef __CUDA_ARCH__
    return __vimax3_s32(a, b, c); // one instruction from sm_90 on
#else
    return motus_max(motus_max(a, b), c);
#endif
}

MOTUS_HD int motus_min3(int a, int b, int c) {
#ifdef __CUDA_ARCH__
    return __vimin3_s32(a, b, c);
#else
    return motus_min(motus_min(a, b), c);
#endif
}

// Clips to 0..255.
MOTUS_HD int motus_key_clip(int v) {
#ifdef __CUDA_ARCH__
    return __vimin_s32_relu(v, 255); // one instruction from sm_90 on
#else
    return motus_clip_u8(v);
#endif
}

// floor(a / b), 0 <= a < 2^30, 0 < b, quotient below 2^16: a float's quotient is off by less than one, and the remainder tells which way.
MOTUS_HD int motus_key_quotient(int a, int b) {
#ifdef __CUDA_ARCH__
    int q = (int)__fdividef((float)a, (float)b), rest = a - q * b;
    return q + (rest >= b) - (rest < 0);
#else
    return a / b;
#endif
}

// Distance to the key and threshold as numerators over one denominator, for each of the three.
typedef struct MotusKeyDistance {
    int hue, hue_limit, sat, sat_limit, value, value_limit;
} MotusKeyDistance;

// hue = 5760 / 360 * H * d where d = max - min, or 1 for grey: at most 5760 * 255 = 1.5e6. The others stay below 2048 * 255.
MOTUS_HD MotusKeyDistance motus_key_distance(int r, int g, int b, const MotusKey *key) {
    int high = motus_max3(r, g, b), low = motus_min3(r, g, b), d = high - low;
    // Selections one after the other, and no branches, for the sake of vectorizers.
    int rising = high == g ? b - r : r - g, sector = high == g ? 2 * d : 4 * d;
    rising = high == r ? g - b : rising, sector = high == r ? 0 : sector;
    int hue = 960 * (rising + sector), unit = motus_max(d, 1), shade = motus_max(high, 1);
    hue += (hue >> 31) & (KEY_CIRCLE * d);
    int distance = motus_abs(hue - key->hue * unit);
    MotusKeyDistance out = {motus_min(distance, key->circle * unit - distance), key->hue_range * unit,
                            motus_abs(KEY_UNIT * d - key->saturation * shade),  key->sat_range * shade,
                            motus_abs(KEY_UNIT * high - key->value * 255),      key->value_range * 255};
    return out;
}

// All three below their thresholds: background, as the source document has it.
MOTUS_HD int motus_key_inside(const MotusKeyDistance *d) {
    return (d->hue < d->hue_limit) & (d->sat < d->sat_limit) & (d->value < d->value_limit);
}

// One of the three beyond the soft edge: foreground. distance * 256 <= 3.8e8, limit * (256 + 1024) <= 1.9e9.
MOTUS_HD int motus_key_outside(const MotusKeyDistance *d, int soft) {
    int edge = 256 + soft;
    return (d->hue * 256 >= d->hue_limit * edge) | (d->sat * 256 >= d->sat_limit * edge) |
           (d->value * 256 >= d->value_limit * edge);
}

// Weight 0..255 of a foreground pixel inside the soft edge, by the largest of the three quotients.
MOTUS_HD int motus_key_edge(const MotusKeyDistance *d, int soft) {
    int hue = motus_key_quotient(d->hue * 256, d->hue_limit), sat = motus_key_quotient(d->sat * 256, d->sat_limit);
    int farthest = motus_max3(hue, sat, motus_key_quotient(d->value * 256, d->value_limit));
    return motus_clip(0, 255, motus_key_quotient(motus_max(farthest - 256, 0) * 255, motus_max(soft, 1)));
}

// Weight of the foreground, 0..255.
MOTUS_HD int motus_key_weight(int r, int g, int b, const MotusKey *key) {
    MotusKeyDistance d = motus_key_distance(r, g, b, key);
    if (motus_key_inside(&d)) return 0;
    return motus_key_outside(&d, key->soft) ? 255 : motus_key_edge(&d, key->soft);
}

// Mean of two samples; weights 0..255 are taken as 0..256 so that both ends are exact.
MOTUS_HD uint8_t motus_key_mix(int fg, int bg, int weight) {
    int w = weight + (weight >> 7);
    return (uint8_t)((fg * w + bg * (256 - w) + 128) >> 8);
}

// The key's channel, moved down towards the larger of the other two.
MOTUS_HD int motus_key_unspill(int value, int other1, int other2, int spill) {
    int above = motus_max(value - motus_max(other1, other2), 0);
    return value - ((above * spill + 128) >> 8);
}

// Chroma, moved against the key's direction by as much as it lies inside a right-angled cone around that direction.
MOTUS_HD void motus_key_unspill_chroma(int *cb, int *cr, const MotusKey *key) {
    int x = *cb - 128, y = *cr - 128;
    int along = x * key->cb_direction + y * key->cr_direction, across = motus_abs(x * key->cr_direction - y * key->cb_direction);
    int spill = motus_max(along - across, 0) * key->spill >> 18; // in samples
    *cb = motus_clip_u8(*cb - ((spill * key->cb_direction + 512) >> 10));
    *cr = motus_clip_u8(*cr - ((spill * key->cr_direction + 512) >> 10));
}

MOTUS_HD void motus_yuv_to_rgb(int *r, int *g, int *b, int y, int cb, int cr, const MotusYuvMatrix *m) {
    int luma = m->cy * (y - m->y_low) + 4096, u = cb - 128, v = cr - 128;
    *r = motus_key_clip((luma + m->rv * v) >> 13);
    *g = motus_key_clip((luma - m->gu * u - m->gv * v) >> 13);
    *b = motus_key_clip((luma + m->bu * u) >> 13);
}

MOTUS_HD uint8_t motus_rgb_to_y(int r, int g, int b, const MotusYuvMatrix *m) {
    return motus_clip_u8(m->y_low + ((m->yr * r + m->yg * g + m->yb * b + 4096) >> 13));
}

// Chroma of the sum of 4 pixels (r, g, b up to 1020).
MOTUS_HD uint8_t motus_rgb4_to_cb(int r, int g, int b, const MotusYuvMatrix *m) {
    return motus_clip_u8(128 + ((m->ur * r + m->ug * g + m->ub * b + 16384) >> 15));
}
MOTUS_HD uint8_t motus_rgb4_to_cr(int r, int g, int b, const MotusYuvMatrix *m) {
    return motus_clip_u8(128 + ((m->vr * r + m->vg * g + m->vb * b + 16384) >> 15));
}

#endif
