// Pictures and costs of the lookahead's tests.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_ENCODER_LOOKAHEAD_PICTURES_H
#define TESTS_ENCODER_LOOKAHEAD_PICTURES_H

#include <stdlib.h>

#include "encoder/lookahead/lookahead_passes.h"

enum { W = 176, H = 144, MBW = W / 16, MBH = H / 16, N_MB = MBW * MBH };

static inline int lattice(int scene, int x, int y) {
    uint32_t h = (uint32_t)x * 73856093u ^ (uint32_t)y * 19349663u ^ (uint32_t)scene * 83492791u;
    h = (h ^ h >> 13) * 0x5bd1e995u;
    return (int)((h ^ h >> 15) & 255);
}

// Random values every `cell` samples, linear in between; 0..255.
static inline int noise(int scene, int cell, int x, int y) {
    const int i = x / cell, k = y / cell, u = x % cell, v = y % cell;
    const int top = lattice(scene, i, k) * (cell - u) + lattice(scene, i + 1, k) * u;
    const int bottom = lattice(scene, i, k + 1) * (cell - u) + lattice(scene, i + 1, k + 1) * u;
    return (top * (cell - v) + bottom * v) / (cell * cell);
}

// Draws a texture without periods, shifted by (dx, dy). `scene` selects a texture.
static inline void draw(MotusPlane *plane, int scene, int dx, int dy) {
    for (int y = 0; y < plane->height; y++)
        for (int x = 0; x < plane->width; x++)
            plane->data[y * plane->stride + x] =
                (uint8_t)((noise(scene, 32, x + dx + 4096, y + dy + 4096) +
                           noise(scene + 50, 5, x + dx + 4096, y + dy + 4096)) /
                          2);
}

// Scales samples by scale / 64.
static inline void fade(const MotusPlane *plane, int scale) {
    for (int y = 0; y < plane->height; y++)
        for (int x = 0; x < plane->width; x++) {
            uint8_t *v = &plane->data[y * plane->stride + x];
            *v = (uint8_t)(*v * scale / 64);
        }
}

static inline MotusPlane plane_alloc(int width, int height) {
    return (MotusPlane){malloc((size_t)(width * height)), width, width, height};
}

static inline MotusHalfPicture half_alloc(int mb_width, int mb_height) {
    MotusHalfPicture half;
    motus_half_layout(&half, malloc(motus_half_bytes(mb_width, mb_height)), mb_width, mb_height);
    return half;
}

static inline MotusMbCosts costs_alloc(int n) {
    return (MotusMbCosts){malloc((size_t)n * 2), malloc((size_t)n * 2),
                          malloc((size_t)n * sizeof(MotusMv)), malloc((size_t)n * sizeof(MotusMv))};
}

static inline void costs_free(MotusMbCosts *c) {
    free(c->intra);
    free(c->inter);
    free(c->mv);
    free(c->first);
}

#endif
