// SPDX-License-Identifier: BSD-2-Clause
#include "tools/synth_texture.h"

#include <string.h>

#define POINTS MOTUS_TEXTURE_POINTS
#define CELLS MOTUS_TEXTURE_CELLS
#define COARSEST 8 // points per side of the first octave
#define OCTAVES 7

// Largest random addition per octave, 1/16 of a sample value, from 256 samples per period down to 4. Their sum, 6500, fits 16 bits. Chroma is smoother.
static const int luma_amplitude[OCTAVES] = {1100, 1100, 1000, 1000, 900, 850, 550};
static const int chroma_amplitude[OCTAVES] = {500, 400, 300, 250, 200, 100, 0};

uint64_t motus_synth_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int random_within(uint64_t *state, int limit) { return (int)(motus_synth_random(state) >> 33) % (2 * limit + 1) - limit; }

// One step of cubic B-spline subdivision along a line of n points, `step` entries apart: the same curve through 2n points.
static void subdivide_line(int16_t *line, int n, int step) {
    int16_t old[POINTS / 2];
    for (int i = 0; i < n; i++) old[i] = line[i * step];
    for (int i = 0; i < n; i++) {
        int before = old[(i + n - 1) % n], here = old[i], after = old[(i + 1) % n];
        line[2 * i * step] = (int16_t)((before + 6 * here + after + 4) >> 3);
        line[(2 * i + 1) * step] = (int16_t)((here + after + 1) >> 1);
    }
}

static void make_surface(int16_t point[POINTS][POINTS], uint64_t seed, const int amplitude[OCTAVES]) {
    memset(point, 0, sizeof(int16_t) * POINTS * POINTS);
    for (int octave = 0, n = COARSEST; octave < OCTAVES; octave++, n *= 2) {
        if (octave) {
            for (int y = 0; y < n / 2; y++) subdivide_line(point[y], n / 2, 1);
            for (int x = 0; x < n; x++) subdivide_line(&point[0][x], n / 2, POINTS);
        }
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) point[y][x] = (int16_t)(point[y][x] + random_within(&seed, amplitude[octave]));
    }
}

static void flatten_cell(int16_t point[POINTS][POINTS], int cx, int cy, int value) {
    const int side = POINTS / CELLS;
    for (int y = cy * side; y < (cy + 1) * side; y++)
        for (int x = cx * side; x < (cx + 1) * side; x++) point[y][x] = (int16_t)value;
}

static void make_weights(int16_t weight[256][4]) {
    for (int k = 0; k < 256; k++) {
        int64_t unit = 6 << 14, t = k, r = 256 - k; // (t / 256)^3 / 6 * 1024 = t^3 / (6 << 14)
        weight[k][0] = (int16_t)((r * r * r + unit / 2) / unit);
        weight[k][3] = (int16_t)((t * t * t + unit / 2) / unit);
        weight[k][1] = (int16_t)((3 * t * t * t - 6 * 256 * t * t + (4 << 24) + unit / 2) / unit);
        weight[k][2] = (int16_t)(1024 - weight[k][0] - weight[k][1] - weight[k][3]);
    }
}

void motus_texture_make(MotusTexture *texture, uint64_t seed, int flat_percent) {
    make_weights(texture->weight);
    for (int plane = 0; plane < 3; plane++)
        make_surface(texture->point[plane], motus_synth_random(&seed), plane ? chroma_amplitude : luma_amplitude);
    for (int cy = 0; cy < CELLS; cy++)
        for (int cx = 0; cx < CELLS; cx++) {
            uint64_t r = motus_synth_random(&seed);
            texture->flat[cy][cx] = (int)(r % 100) < flat_percent;
            if (!texture->flat[cy][cx]) continue;
            for (int plane = 0; plane < 3; plane++) flatten_cell(texture->point[plane], cx, cy, random_within(&seed, 1000));
        }
}

// |point| <= 6500 < 2^13: the sum over a row stays below 2^23, after the shift below 2^17, and the sum over rows below 2^27.
int motus_texture_at(const MotusTexture *texture, int plane, int64_t u, int64_t v) {
    const int16_t *wx = texture->weight[u >> 9 & 255], *wy = texture->weight[v >> 9 & 255];
    unsigned x0 = (unsigned)(u >> 17) - 1, y0 = (unsigned)(v >> 17) - 1;
    int sum = 0;
    for (int j = 0; j < 4; j++) {
        const int16_t *row = texture->point[plane][(y0 + (unsigned)j) % POINTS];
        int line = 0;
        for (int i = 0; i < 4; i++) line += wx[i] * row[(x0 + (unsigned)i) % POINTS];
        sum += wy[j] * ((line + 32) >> 6);
    }
    return (sum + (1 << 17)) >> 18;
}

static int cell_is_flat(const MotusTexture *texture, int64_t u, int64_t v) {
    return texture->flat[v >> 22 & (CELLS - 1)][u >> 22 & (CELLS - 1)];
}

int motus_texture_is_flat(const MotusTexture *texture, int64_t u, int64_t v, int margin) {
    int64_t m = (int64_t)margin << 16;
    return cell_is_flat(texture, u - m, v - m) || cell_is_flat(texture, u + m, v - m) || cell_is_flat(texture, u - m, v + m) ||
           cell_is_flat(texture, u + m, v + m);
}
