// The equalizer's grid of tiles, and its row functions.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_EQUALIZE_EQUALIZE_H
#define FILTER_EQUALIZE_EQUALIZE_H

#include "filter/equalize/equalize_core.h"
#include "motus/filter.h"

// nx x ny tiles of tile_w x tile_h samples; the last of a row or column may be smaller.
typedef struct MotusTileGrid {
    int width, height, tile_w, tile_h, nx, ny;
} MotusTileGrid;

// Makes the grid. MOTUS_ERR_ARGUMENT: a parameter or the size is out of range.
MotusStatus motus_equalize_grid(MotusTileGrid *grid, const MotusEqualizeConfig *config, int width,
                                int height);

// A position between the centres of tiles a and b along one axis: the weight of b in 1/1024.
typedef struct MotusTilePosition {
    uint16_t a, b, weight;
} MotusTilePosition;

// size: of a tile; n: number of tiles.
static inline MotusTilePosition tile_position(int position, int size, int n) {
    // p >= -size: the only negative quotient is -1.
    const int p = 2 * position - size, whole = p < 0 ? -1 : p / (2 * size);
    const int rest = p - whole * 2 * size;
    return (MotusTilePosition){(uint16_t)motus_max(whole, 0), (uint16_t)motus_min(whole + 1, n - 1),
                               (uint16_t)((rest * 1024 + size) / (2 * size))};
}

// dst[i] = curve[src[i]]; dst may be src.
void motus_map_row_c(uint8_t *dst, const uint8_t *src, int n, const uint8_t curve[256]);
#if defined(__x86_64__)
void motus_map_row_avx2(uint8_t *dst, const uint8_t *src, int n, const uint8_t curve[256]);
#endif

#endif
