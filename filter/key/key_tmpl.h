// Row functions of the chroma key, compiled as scalar C and, vectorized by the compiler, for AVX2.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/key/key.h"

static void split(MotusRgbRow *restrict dst, const uint8_t *restrict rgb, int n) {
    for (int i = 0; i < n; i++)
        dst->c[0][i] = rgb[3 * i], dst->c[1][i] = rgb[3 * i + 1], dst->c[2][i] = rgb[3 * i + 2];
}

static void join(uint8_t *restrict rgb, const MotusRgbRow *restrict src, int n) {
    for (int i = 0; i < n; i++)
        rgb[3 * i] = src->c[0][i], rgb[3 * i + 1] = src->c[1][i], rgb[3 * i + 2] = src->c[2][i];
}

static int hard_weight(float hue, float high, float d, const MotusKey *key) {
    int inside = (hue > 0) & (key_sat_margin(high, d, key) > 0) & (key_value_margin(high, key) > 0);
    return (inside - 1) & KEY_FULL;
}

static int soft_weight(float hue, int high, float d, const MotusKey *key) {
    float sat = key_sat_distance(d, key_sat_factor((float)high, key), key);
    float value = key_value_distance((float)motus_min(high, 255), key);
    return key_weight(motus_key_steps(motus_float_max(motus_float_max(hue, sat), value)), key);
}

static void weights(uint16_t *restrict weight, const MotusRgbRow *restrict pixels, int n,
                    const MotusKey *key_at) {
    const MotusKey key = *key_at;
    float r[KEY_CHUNK], g[KEY_CHUNK], b[KEY_CHUNK], high[KEY_CHUNK], d[KEY_CHUNK];
    for (int i = 0; i < n; i++) {
        int c0 = pixels->c[0][i], c1 = pixels->c[1][i], c2 = pixels->c[2][i];
        int top = motus_max(c0, motus_max(c1, c2)), bottom = motus_min(c0, motus_min(c1, c2));
        r[i] = (float)c0, g[i] = (float)c1, b[i] = (float)c2, high[i] = (float)top,
        d[i] = (float)(top - bottom);
    }
    if (key.soft)
        for (int i = 0; i < n; i++) {
            float hue = key_hue_distance(r[i], g[i], b[i], high[i], high[i] - d[i], 1, &key);
            weight[i] = (uint16_t)soft_weight(hue, (int)high[i], d[i], &key);
        }
    else
        for (int i = 0; i < n; i++) {
            float hue = motus_float_max(key_hue_margin(g[i] - r[i], g[i] - b[i], &key.rgb),
                                        key.grey - d[i]);
            weight[i] = (uint16_t)hard_weight(hue, high[i], d[i], &key);
        }
}

// Computes chroma's contributions to the largest and smallest of R, G, B of n pixels, 13 fraction
// bits, and the margin or distance of the hue. cb and cr hold one sample for two pixels.
static void weigh_chroma(float *restrict hue, int *restrict top, int *restrict bottom,
                         const uint8_t *restrict cb, const uint8_t *restrict cr, int n,
                         const MotusKey *key_at) {
    const MotusKey key = *key_at;
    float r[KEY_CHUNK / 2], g[KEY_CHUNK / 2], b[KEY_CHUNK / 2], high[KEY_CHUNK / 2],
        low[KEY_CHUNK / 2], hues[KEY_CHUNK / 2];
    int samples = (n + 1) / 2;
    for (int i = 0; i < samples; i++) {
        key_chroma(&r[i], &g[i], &b[i], (float)(cb[i] - 128), (float)(cr[i] - 128), 0.0f, 0.0f,
                   &key);
        high[i] = motus_float_max(r[i], motus_float_max(g[i], b[i]));
        low[i] = motus_float_min(r[i], motus_float_min(g[i], b[i]));
    }
    if (key.soft)
        for (int i = 0; i < samples; i++)
            hues[i] = key_hue_distance(r[i], g[i], b[i], high[i], low[i], 1, &key);
    else
        for (int i = 0; i < samples; i++)
            hues[i] = key_hue_margin((float)(cb[i] - 128), (float)(cr[i] - 128), &key.chroma);
    for (int i = 0; i < samples; i++)
        hue[2 * i] = hue[2 * i + 1] = hues[i], top[2 * i] = top[2 * i + 1] = (int)high[i],
                bottom[2 * i] = bottom[2 * i + 1] = (int)low[i];
}

// With a hard edge, saturation and value are those of from_yuv's pixel. With a soft edge, d is the
// difference before rounding.
static void weights_yuv(uint16_t *restrict weight, const uint8_t *restrict y,
                        const uint8_t *restrict cb, const uint8_t *restrict cr, int n,
                        const MotusKey *key_at) {
    const MotusKey key = *key_at;
    float hue[KEY_CHUNK], d[KEY_CHUNK];
    int top[KEY_CHUNK], bottom[KEY_CHUNK];
    weigh_chroma(hue, top, bottom, cb, cr, n, &key);
    for (int i = 0; i < n; i++) {
        int luma = key.matrix.cy * (y[i] - key.matrix.y_low);
        top[i] += luma, bottom[i] += luma;
    }
    if (key.soft) {
        for (int i = 0; i < n; i++) {
            int high = motus_clip(0, KEY_FULL << 13, top[i]),
                low = motus_clip(0, KEY_FULL << 13, bottom[i]);
            d[i] = (float)(high - low) / 8192, top[i] = motus_round_float((float)high / 8192);
        }
        for (int i = 0; i < n; i++) weight[i] = (uint16_t)soft_weight(hue[i], top[i], d[i], &key);
    } else {
        for (int i = 0; i < n; i++) {
            int high = motus_clip_u8((top[i] + 4096) >> 13),
                low = motus_clip_u8((bottom[i] + 4096) >> 13);
            weight[i] = (uint16_t)hard_weight(hue[i], (float)high, (float)(high - low), &key);
        }
    }
}

// Moves the key's channel down towards the larger of the other two.
static void unspill(MotusRgbRow *pixels, int n, const MotusKey *key) {
    uint8_t *restrict value = pixels->c[key->channel];
    const uint8_t *other1 = pixels->c[(key->channel + 1) % 3],
                  *other2 = pixels->c[(key->channel + 2) % 3];
    int spill = key->spill;
    for (int i = 0; i < n; i++) {
        const int above = motus_max(value[i] - motus_max(other1[i], other2[i]), 0);
        value[i] = (uint8_t)(value[i] - ((above * spill + 128) >> 8));
    }
}

static void halve(uint16_t *restrict mean, const uint16_t *restrict above,
                  const uint16_t *restrict below, int n) {
    for (int i = 0; i < n / 2; i++)
        mean[i] =
            (uint16_t)((above[2 * i] + above[2 * i + 1] + below[2 * i] + below[2 * i + 1] + 2) >>
                       2);
    if (n & 1) // a last single column counts twice
        mean[n / 2] = (uint16_t)((above[n - 1] + below[n - 1] + 1) >> 1);
}

static void unspill_chroma(uint8_t *restrict cb, uint8_t *restrict cr, int n,
                           const MotusKey *key_at) {
    const MotusKey key = *key_at;
    for (int i = 0; i < n; i++) {
        float u = (float)(cb[i] - 128), v = (float)(cr[i] - 128);
        float inside = key_cone(u, v, 0.0f, &key);
        cb[i] = (uint8_t)(key_unspill_chroma((float)(cb[i] + 32768), inside, key.cb_move) >> 8);
        cr[i] = (uint8_t)(key_unspill_chroma((float)(cr[i] + 32768), inside, key.cr_move) >> 8);
    }
}

static void mix(uint8_t *dst, const uint8_t *fg, const uint8_t *bg, const uint16_t *weight, int n) {
    for (int i = 0; i < n; i++)
        dst[i] = (uint8_t)((fg[i] * weight[i] + bg[i] * (KEY_FULL - weight[i]) + 128) >> 8);
}

static void from_yuv(MotusRgbRow *restrict dst, const uint8_t *restrict y,
                     const uint8_t *restrict cb, const uint8_t *restrict cr, int n,
                     const MotusYuvMatrix *matrix) {
    const MotusYuvMatrix m = *matrix;
    uint8_t u[KEY_CHUNK], v[KEY_CHUNK];
    for (int i = 0; i < (n + 1) / 2; i++)
        u[2 * i] = u[2 * i + 1] = cb[i], v[2 * i] = v[2 * i + 1] = cr[i];
    for (int i = 0; i < n; i++) {
        int r, g, b;
        motus_yuv_to_rgb(&r, &g, &b, y[i], u[i], v[i], &m);
        dst->c[0][i] = (uint8_t)r, dst->c[1][i] = (uint8_t)g, dst->c[2][i] = (uint8_t)b;
    }
}
