// SPDX-License-Identifier: BSD-2-Clause
#include "tools/synth/synth_texture.h"

#include <stdlib.h>
#include <string.h>

#include "common/int_core.h"

#define POINTS MOTUS_TEXTURE_POINTS
#define CELLS MOTUS_TEXTURE_CELLS
#define COARSEST 8 // points per side of the first octave
#define OCTAVES 7
#define MAX_POINT 8191

// Amplitude of each octave, periods of 256 samples down to 4, in 1/16 of a sample value; the sum is
// below MAX_POINT. Luma has most at 8 and 16 samples: half a sample of motion shows, and a 6-tap
// filter loses little. Chroma is smoother.
static const int luma_amplitude[OCTAVES] = {800, 800, 800, 900, 1100, 1300, 600};
static const int chroma_amplitude[OCTAVES] = {500, 400, 300, 250, 200, 100, 0};

uint64_t motus_synth_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int random_within(uint64_t *state, int limit) {
    return (int)(motus_synth_random(state) >> 33) % (2 * limit + 1) - limit;
}

// Subdivides a cubic B-spline along a line of n points, `step` entries apart: the same curve by 2n
// points.
static void subdivide_line(int16_t *line, int n, int step) {
    int16_t old[POINTS / 2];
    for (int i = 0; i < n; i++) old[i] = line[i * step];
    for (int i = 0; i < n; i++) {
        int before = old[(i + n - 1) % n], here = old[i], after = old[(i + 1) % n];
        line[2 * i * step] = (int16_t)((before + 6 * here + after + 4) >> 3);
        line[(2 * i + 1) * step] = (int16_t)((here + after + 1) >> 1);
    }
}

static void make_surface(int16_t point[POINTS][POINTS], uint64_t seed,
                         const int amplitude[OCTAVES]) {
    memset(point, 0, sizeof(int16_t) * POINTS * POINTS);
    for (int octave = 0, n = COARSEST; octave < OCTAVES; octave++, n *= 2) {
        if (octave) {
            for (int y = 0; y < n / 2; y++) subdivide_line(point[y], n / 2, 1);
            for (int x = 0; x < n; x++) subdivide_line(&point[0][x], n / 2, POINTS);
        }
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                point[y][x] = (int16_t)(point[y][x] + random_within(&seed, amplitude[octave]));
    }
}

// Evaluates the surface at the points of row y (any integer), times 36.
static void values_at_points(int value[POINTS], int16_t point[POINTS][POINTS], int y) {
    const int16_t *above = point[(y + POINTS - 1) % POINTS], *here = point[y % POINTS],
                  *below = point[(y + 1) % POINTS];
    int column[POINTS];
    for (int x = 0; x < POINTS; x++) column[x] = above[x] + 4 * here[x] + below[x];
    for (int x = 0; x < POINTS; x++)
        value[x] = column[(x + POINTS - 1) % POINTS] + 4 * column[x] + column[(x + 1) % POINTS];
}

// Returns the span of four values, times 36, at which samples differ by 3 before rounding: synth.c
// compresses v to 160 v / (160 + |v|).
static int least_span(int value) {
    int64_t steep = 160 * 16 + abs(value) / 36;
    return (int)(3 * 16 * 36 * steep * steep / (160 * 160 * 256));
}

// Moves a point where the surface is nearly flat over four neighbouring points, so that every 4x4
// block, which holds four, has detail. A move by d changes the surface by 4/9 d there and by 1/36 d
// diagonally across. Returns the number of moves.
static int roughen(int16_t point[POINTS][POINTS]) {
    int moves = 0, top[POINTS], bottom[POINTS];
    for (int y = 0; y < POINTS; y++) {
        values_at_points(top, point, y);
        values_at_points(bottom, point, y + 1);
        for (int x = 0; x < POINTS; x++) {
            int right = (x + 1) % POINTS, a = top[x], b = top[right], c = bottom[x],
                d = bottom[right];
            int span = motus_max(motus_max(a, b), motus_max(c, d)) -
                       motus_min(motus_min(a, b), motus_min(c, d));
            if (span >= least_span(a)) continue;
            int16_t *p = &point[(y + 1) % POINTS][right];
            int step = 3 * least_span(a) / 36;
            *p = (int16_t)motus_clip(-MAX_POINT, MAX_POINT, *p + (d >= a ? step : -step));
            values_at_points(top, point, y);
            values_at_points(bottom, point, y + 1);
            moves++;
        }
    }
    return moves;
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
        make_surface(texture->point[plane], motus_synth_random(&seed),
                     plane ? chroma_amplitude : luma_amplitude);
    // A move can flatten the surface at an earlier point, seldom twice.
    for (int moves = 1, pass = 0; moves && pass < 16; pass++) moves = roughen(texture->point[0]);
    for (int cy = 0; cy < CELLS; cy++)
        for (int cx = 0; cx < CELLS; cx++) {
            uint64_t r = motus_synth_random(&seed);
            texture->flat[cy][cx] = (int)(r % 100) < flat_percent;
            if (!texture->flat[cy][cx]) continue;
            for (int plane = 0; plane < 3; plane++)
                flatten_cell(texture->point[plane], cx, cy, random_within(&seed, 1000));
        }
}

// |point| <= MAX_POINT < 2^13: the sum over a row stays below 2^23, after the shift below 2^17, and
// the sum over rows below 2^27.
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
    return cell_is_flat(texture, u - m, v - m) || cell_is_flat(texture, u + m, v - m) ||
           cell_is_flat(texture, u - m, v + m) || cell_is_flat(texture, u + m, v + m);
}
