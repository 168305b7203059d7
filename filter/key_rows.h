// Bodies of the chroma key's row functions; compiled once as scalar C and once for AVX2, where the compiler vectorizes the loops.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/key.h"

static void split(MotusKeyPixels *restrict dst, const uint8_t *restrict rgb, int n) {
    for (int i = 0; i < n; i++) dst->c[0][i] = rgb[3 * i], dst->c[1][i] = rgb[3 * i + 1], dst->c[2][i] = rgb[3 * i + 2];
}

static void join(uint8_t *restrict rgb, const MotusKeyPixels *restrict src, int n) {
    for (int i = 0; i < n; i++) rgb[3 * i] = src->c[0][i], rgb[3 * i + 1] = src->c[1][i], rgb[3 * i + 2] = src->c[2][i];
}

// First all pixels that are clearly one or the other, then the few inside a soft edge, which need divisions.
static void weights(uint8_t *restrict weight, const MotusKeyPixels *restrict pixels, int n, const MotusKey *key_at) {
    const MotusKey key = *key_at;
    for (int i = 0; i < n; i++) {
        MotusKeyDistance d = motus_key_distance(pixels->c[0][i], pixels->c[1][i], pixels->c[2][i], &key);
        int inside = motus_key_inside(&d), outside = motus_key_outside(&d, key.soft);
        weight[i] = (uint8_t)(-outside | (inside ^ 1)); // 0, 255, or 1 between the two
    }
    if (!key.soft) return;
    for (int i = 0; i < n; i++)
        if (weight[i] == 1) weight[i] = (uint8_t)motus_key_weight(pixels->c[0][i], pixels->c[1][i], pixels->c[2][i], &key);
}

static void unspill(MotusKeyPixels *pixels, int n, const MotusKey *key) {
    uint8_t *restrict value = pixels->c[key->channel];
    const uint8_t *other1 = pixels->c[(key->channel + 1) % 3], *other2 = pixels->c[(key->channel + 2) % 3];
    int spill = key->spill;
    for (int i = 0; i < n; i++) value[i] = (uint8_t)motus_key_unspill(value[i], other1[i], other2[i], spill);
}

static void mix(uint8_t *dst, const uint8_t *fg, const uint8_t *bg, const uint8_t *weight, int n) {
    for (int i = 0; i < n; i++) dst[i] = motus_key_mix(fg[i], bg[i], weight[i]);
}

// cb and cr hold one sample for two pixels.
static void from_yuv(MotusKeyPixels *restrict dst, const uint8_t *restrict y, const uint8_t *restrict cb,
                     const uint8_t *restrict cr, int n, const MotusYuvMatrix *matrix) {
    const MotusYuvMatrix m = *matrix;
    uint8_t u[KEY_CHUNK], v[KEY_CHUNK];
    for (int i = 0; i < (n + 1) / 2; i++) u[2 * i] = u[2 * i + 1] = cb[i], v[2 * i] = v[2 * i + 1] = cr[i];
    for (int i = 0; i < n; i++) {
        int r, g, b;
        motus_yuv_to_rgb(&r, &g, &b, y[i], u[i], v[i], &m);
        dst->c[0][i] = (uint8_t)r, dst->c[1][i] = (uint8_t)g, dst->c[2][i] = (uint8_t)b;
    }
}
