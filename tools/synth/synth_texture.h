// The texture of the generator: three periodic bicubic B-spline surfaces (Y, Cb, Cr).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_SYNTH_SYNTH_TEXTURE_H
#define TOOLS_SYNTH_SYNTH_TEXTURE_H

#include <stdint.h>

#define MOTUS_TEXTURE_POINTS 512 // control points per side, 2 luma samples apart
#define MOTUS_TEXTURE_CELLS 16   // cells per side, 64 samples wide

typedef struct MotusTexture {
    // 1/16 of a sample value around 128.
    int16_t point[3][MOTUS_TEXTURE_POINTS][MOTUS_TEXTURE_POINTS];
    uint8_t flat[MOTUS_TEXTURE_CELLS][MOTUS_TEXTURE_CELLS]; // 1: flat
    int16_t weight[256][4]; // cubic B-spline at k/256 between two points; each sum is 1024
} MotusTexture;

// Returns the next number of a splitmix64 sequence.
uint64_t motus_synth_random(uint64_t *state);

void motus_texture_make(MotusTexture *texture, uint64_t seed, int flat_percent);

// Returns the value around 0 at (u, v), any position in 1/65536 of a luma sample.
int motus_texture_at(const MotusTexture *texture, int plane, int64_t u, int64_t v);

// True if (u, v) lies within `margin` (at most 32) luma samples of a flat cell.
int motus_texture_is_flat(const MotusTexture *texture, int64_t u, int64_t v, int margin);

#endif
