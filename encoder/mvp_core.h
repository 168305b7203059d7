// Prediction of motion vectors (8.4.1.1, 8.4.1.3) for one reference picture, on a small grid of 4x4 blocks around an MB.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MVP_CORE_H
#define ENCODER_MVP_CORE_H

#include "common/int_core.h"
#include "encoder/mb.h"

// State of a grid cell. A block that is not available (outside the slice, or later in decoding order) has no vector at all; an intra
// block counts as a zero vector with a reference that never matches.
enum { MOTUS_CELL_NONE, MOTUS_CELL_INTRA, MOTUS_CELL_INTER };

// The MB's 4x4 blocks are cells (row 1..4, column 1..4); row 0 and column 0 are the neighbours', column 5 of row 0 the upper right MB's.
typedef struct MotusMvGrid {
    MotusMv mv[5][6];
    uint8_t state[5][6];
} MotusMvGrid;

MOTUS_HD void motus_grid_neighbour(MotusMvGrid *grid, int row, int column, const MotusMb *mb, int blk) {
    const MotusMv zero = {0, 0};
    int inter = mb && !motus_mb_is_intra(mb);
    grid->state[row][column] = (uint8_t)(!mb ? MOTUS_CELL_NONE : inter ? MOTUS_CELL_INTER : MOTUS_CELL_INTRA);
    grid->mv[row][column] = inter ? mb->mv[blk] : zero;
}

// Loads the neighbours; the MB's own cells become "not available".
MOTUS_HD void motus_grid_load(MotusMvGrid *grid, const MotusMbAround *around) {
    motus_grid_neighbour(grid, 0, 0, around->d, 15);
    motus_grid_neighbour(grid, 0, 5, around->c, 12);
    for (int i = 0; i < 4; i++) {
        motus_grid_neighbour(grid, 0, i + 1, around->b, 12 + i);
        motus_grid_neighbour(grid, i + 1, 0, around->a, 4 * i + 3);
        for (int column = 1; column < 6; column++) motus_grid_neighbour(grid, i + 1, column, 0, 0);
    }
}

// Sets the cells of the block at (x, y), width x height, all in units of 4 samples inside the MB.
MOTUS_HD void motus_grid_set(MotusMvGrid *grid, int x, int y, int width, int height, int state, MotusMv mv) {
    for (int row = y + 1; row <= y + height; row++)
        for (int column = x + 1; column <= x + width; column++) {
            grid->mv[row][column] = mv;
            grid->state[row][column] = (uint8_t)state;
        }
}

// Cell C of a block `width` cells wide at (x, y), or D where C is not available (8.4.1.3.2).
MOTUS_HD int motus_grid_c_column(const MotusMvGrid *grid, int x, int y, int width) {
    return grid->state[y][x + 1 + width] != MOTUS_CELL_NONE ? x + 1 + width : x;
}

// Median prediction (8.4.1.3.1).
MOTUS_HD MotusMv motus_mvp_median(const MotusMvGrid *grid, int x, int y, int width) {
    int c = motus_grid_c_column(grid, x, y, width);
    int state_a = grid->state[y + 1][x], state_b = grid->state[y][x + 1], state_c = grid->state[y][c];
    MotusMv a = grid->mv[y + 1][x], b = grid->mv[y][x + 1], mv_c = grid->mv[y][c], mv;
    if (state_b == MOTUS_CELL_NONE && state_c == MOTUS_CELL_NONE && state_a != MOTUS_CELL_NONE) return a;
    int inter_a = state_a == MOTUS_CELL_INTER, inter_b = state_b == MOTUS_CELL_INTER, inter_c = state_c == MOTUS_CELL_INTER;
    if (inter_a + inter_b + inter_c == 1) return inter_a ? a : inter_b ? b : mv_c;
    mv.x = (int16_t)motus_median(a.x, b.x, mv_c.x);
    mv.y = (int16_t)motus_median(a.y, b.y, mv_c.y);
    return mv;
}

// Predicted vector of a partition or sub-partition; part tells the first (0) from the second (1) of 16x8 and 8x16, which have
// directional predictors (8.4.1.3).
MOTUS_HD MotusMv motus_mvp(const MotusMvGrid *grid, int mode, int part, int x, int y, int width) {
    if (mode == MOTUS_MODE_16x8) {
        if (part == 0 && grid->state[0][1] == MOTUS_CELL_INTER) return grid->mv[0][1];
        if (part == 1 && grid->state[3][0] == MOTUS_CELL_INTER) return grid->mv[3][0];
    } else if (mode == MOTUS_MODE_8x16) {
        int c = motus_grid_c_column(grid, 2, 0, 2);
        if (part == 0 && grid->state[1][0] == MOTUS_CELL_INTER) return grid->mv[1][0];
        if (part == 1 && grid->state[0][c] == MOTUS_CELL_INTER) return grid->mv[0][c];
    }
    return motus_mvp_median(grid, x, y, width);
}

// Vector of P_Skip (8.4.1.1).
MOTUS_HD MotusMv motus_mvp_skip(const MotusMvGrid *grid) {
    const MotusMv zero = {0, 0};
    if (grid->state[1][0] == MOTUS_CELL_NONE || grid->state[0][1] == MOTUS_CELL_NONE) return zero;
    if (grid->state[1][0] == MOTUS_CELL_INTER && !grid->mv[1][0].x && !grid->mv[1][0].y) return zero;
    if (grid->state[0][1] == MOTUS_CELL_INTER && !grid->mv[0][1].x && !grid->mv[0][1].y) return zero;
    return motus_mvp_median(grid, 0, 0, 4);
}

#endif
