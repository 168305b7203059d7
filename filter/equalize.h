// The parts of the equalizer that CPU and CUDA versions share: its grid of tiles, checks, and the
// table of row functions.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_EQUALIZE_H
#define FILTER_EQUALIZE_H

#include "filter/equalize_core.h"
#include "motus/filter.h"

// Tiles as they are: all but the last of a row and column are tile_w x tile_h.
typedef struct MotusTileGrid {
    int width, height, tile_w, tile_h, nx, ny;
} MotusTileGrid;

// MOTUS_ERR_ARGUMENT: a parameter or the size is out of range.
MotusStatus motus_equalize_grid(MotusTileGrid *grid, const MotusEqualizeConfig *config, int width,
                                int height);

// dst[i] = curve[src[i]]; dst may be src.
void motus_map_row_c(uint8_t *dst, const uint8_t *src, int n, const uint8_t curve[256]);
#if defined(__x86_64__)
void motus_map_row_avx2(uint8_t *dst, const uint8_t *src, int n, const uint8_t curve[256]);
#endif

#endif
