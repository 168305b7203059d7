// Chroma key: configurations, colour matrices, checks.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include "filter/key.h"

// Nearest integer with 13 fraction bits.
static int q13(double v) { return (int)lround(v * 8192.0); }

MotusYuvMatrix motus_yuv_matrix(int matrix_709, int full_range) {
    double kr = matrix_709 ? 0.2126 : 0.299, kb = matrix_709 ? 0.0722 : 0.114, kg = 1.0 - kr - kb;
    double luma = full_range ? 1.0 : 219.0 / 255.0, chroma = full_range ? 1.0 : 224.0 / 255.0; // of the full range
    double u = chroma / (2.0 * (1.0 - kb)), v = chroma / (2.0 * (1.0 - kr));
    MotusYuvMatrix m = {full_range ? 0 : 16, q13(1.0 / luma),     q13(1.0 / v),        q13(kb / (kg * u)), q13(kr / (kg * v)),
                        q13(1.0 / u),        q13(kr * luma),      q13(kg * luma),      q13(kb * luma),     q13(-kr * u),
                        q13(-kg * u),        q13((1.0 - kb) * u), q13((1.0 - kr) * v), q13(-kg * v),       q13(-kb * v)};
    return m;
}

MotusKeyConfig motus_key_config(uint8_t r, uint8_t g, uint8_t b) {
    int high = motus_max(r, motus_max(g, b)), low = motus_min(r, motus_min(g, b)), d = high - low;
    int rising = r == high ? g - b : g == high ? b - r : r - g, sector = r == high ? 0 : g == high ? 2 : 4;
    int hue = d ? (960 * (rising + sector * d + (rising + sector * d < 0 ? 6 * d : 0)) + d / 2) / d % KEY_CIRCLE : 0;
    MotusKeyConfig config = {0};
    config.hue = hue;
    config.saturation = high ? (KEY_UNIT * d + high / 2) / high : 0;
    config.value = (KEY_UNIT * high + 127) / 255;
    config.hue_range = 30 * 16, config.sat_range = KEY_UNIT / 2, config.value_range = KEY_UNIT * 6 / 10;
    return config;
}

// The direction of a pure colour of the key's hue in the chroma plane.
static void chroma_direction(MotusKey *key) {
    int rgb[3] = {0}, sector = key->hue / 960, rise = key->hue % 960;
    static const uint8_t full[6] = {0, 1, 1, 2, 2, 0}, partial[6] = {1, 0, 2, 1, 0, 2};
    rgb[full[sector]] = 960, rgb[partial[sector]] = sector & 1 ? 960 - rise : rise;
    double cb = key->matrix.ur * rgb[0] + key->matrix.ug * rgb[1] + key->matrix.ub * rgb[2];
    double cr = key->matrix.vr * rgb[0] + key->matrix.vg * rgb[1] + key->matrix.vb * rgb[2], length = sqrt(cb * cb + cr * cr);
    key->channel = full[sector];
    key->cb_direction = (int)lround(1024.0 * cb / length);
    key->cr_direction = (int)lround(1024.0 * cr / length);
}

static int in_range(int v, int lo, int hi) { return v >= lo && v <= hi; }

MotusStatus motus_key_prepare(MotusKey *key, const MotusKeyConfig *c) {
    if (!c || !in_range(c->hue, 0, KEY_CIRCLE - 1) || !in_range(c->saturation, 0, KEY_UNIT) || !in_range(c->value, 0, KEY_UNIT))
        return MOTUS_ERR_ARGUMENT;
    if (!in_range(c->hue_range, 1, KEY_CIRCLE) || !in_range(c->sat_range, 1, 2 * KEY_UNIT) ||
        !in_range(c->value_range, 1, 2 * KEY_UNIT))
        return MOTUS_ERR_ARGUMENT;
    if (!in_range(c->soft_q8, 0, 1024) || !in_range(c->spill_q8, 0, 256)) return MOTUS_ERR_ARGUMENT;
    MotusKey k = {.hue = c->hue, .saturation = c->saturation, .value = c->value};
    k.hue_range = c->hue_range, k.sat_range = c->sat_range, k.value_range = c->value_range;
    k.soft = c->soft_q8, k.spill = c->spill_q8, k.circle = c->plain_hue ? 3 * KEY_CIRCLE : KEY_CIRCLE;
    k.matrix = motus_yuv_matrix(c->matrix_709, c->full_range);
    chroma_direction(&k);
    *key = k;
    return MOTUS_OK;
}

int motus_planes_match(const MotusPlane *a, const MotusPlane *b) {
    return a && b && a->data && b->data && a->width == b->width && a->height == b->height && a->width > 0 && a->height > 0;
}

int motus_frames_match(const MotusFrame *a, const MotusFrame *b) {
    return a && b && a->width == b->width && a->height == b->height;
}

int motus_rgb24_matches(const MotusPlane *rgb, const MotusPlane planes[3]) {
    if (!rgb || !planes || !rgb->data || rgb->width < 3 || rgb->width % 3 || rgb->height < 1) return 0;
    for (int k = 0; k < 3; k++)
        if (!planes[k].data || planes[k].width != rgb->width / 3 || planes[k].height != rgb->height) return 0;
    return 1;
}
