// The texture of the generator: three periodic bicubic B-spline surfaces (Y, Cb, Cr).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_SYNTH_SYNTH_TEXTURE_H
#define TOOLS_SYNTH_SYNTH_TEXTURE_H

#include <stdint.h>

#define MOTUS_TEXTURE_POINTS                                                                       \
    512 // control points per side, 2 luma samples apart: the period is 1024 samples
#define MOTUS_TEXTURE_CELLS 16 // flat cells per side, 64 samples wide

typedef struct MotusTexture {
    int16_t point[3][MOTUS_TEXTURE_POINTS]
                 [MOTUS_TEXTURE_POINTS]; // 1/16 of a sample value around 128
    uint8_t flat[MOTUS_TEXTURE_CELLS][MOTUS_TEXTURE_CELLS];
    int16_t weight[256][4]; // cubic B-spline at k/256 of the distance between two points; each row
                            // sums up to 1024
} MotusTexture;

uint64_t motus_synth_random(uint64_t *state); // next number of a splitmix64 sequence

void motus_texture_make(MotusTexture *texture, uint64_t seed, int flat_percent);

// Value around 0 at (u, v), 1/65536 of a luma sample, any value.
int motus_texture_at(const MotusTexture *texture, int plane, int64_t u, int64_t v);

// Whether a sample at (u, v) lies in a flat cell or within `margin` luma samples of one (margin at
// most 32).
int motus_texture_is_flat(const MotusTexture *texture, int64_t u, int64_t v, int margin);

#endif
