// Partitions of an inter MB and the prediction of their MVs (8.4.1.1, 8.4.1.3): from the MBs, or on
// a grid of the MB's and its neighbours' 4x4 blocks, as long as the MB is not decided.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_MV_CORE_H
#define ENCODER_MB_MV_CORE_H

#include "encoder/mb/mb.h"
#include "me/centres/centres_core.h"
#include "me/pixel/cost_core.h"

// ---- Partitions ---------------------------------------------------------------------------------

// Partition or sub-macroblock partition of an inter MB.
typedef struct MotusPartition {
    uint8_t x, y, width, height; // inside the MB, in units of 4 luma samples
    uint8_t mode;                // MotusMode
    uint8_t part;                // mbPartIdx of 16x8 and 8x16, else 0
    uint8_t block;               // of the 41 blocks
} MotusPartition;

// Returns the partition of `mode` at (x, y), in units of 4 samples.
MOTUS_HD MotusPartition motus_partition_at(int mode, int part, int x, int y) {
    // By mode: 16x16, 16x8, 8x16, 8x8, 8x4, 4x8, 4x4.
    int width = (int)(MOTUS_PACK8(8, 4, 4, 2, 2, 2, 1, 1, 0) >> (8 * mode) & 15),
        height = (int)(MOTUS_PACK8(8, 4, 2, 4, 2, 1, 2, 1, 0) >> (8 * mode) & 15);
    int first = (int)(MOTUS_PACK8(8, 0, 1, 3, 5, 9, 17, 25, 0) >> (8 * mode) & 63); // block
    MotusPartition p;
    p.x = (uint8_t)x, p.y = (uint8_t)y, p.width = (uint8_t)width, p.height = (uint8_t)height;
    p.mode = (uint8_t)mode, p.part = (uint8_t)part;
    p.block = (uint8_t)(first + y / height * (4 / width) + x / width);
    return p;
}

MOTUS_HD int motus_sub_partitions(int sub_type) {
    return sub_type == MOTUS_SUB_8x8 ? 1 : sub_type == MOTUS_SUB_4x4 ? 4 : 2;
}

// Returns sub-macroblock partition i of 8x8 block q.
MOTUS_HD MotusPartition motus_sub_partition(int sub_type, int q, int i) {
    int x = q % 2 * 2, y = q / 2 * 2;
    if (sub_type == MOTUS_SUB_8x4) return motus_partition_at(MOTUS_MODE_8x4, 0, x, y + i);
    if (sub_type == MOTUS_SUB_4x8) return motus_partition_at(MOTUS_MODE_4x8, 0, x + i, y);
    if (sub_type == MOTUS_SUB_4x4)
        return motus_partition_at(MOTUS_MODE_4x4, 0, x + i % 2, y + i / 2);
    return motus_partition_at(MOTUS_MODE_8x8, 0, x, y);
}

// Returns the block of sub-macroblock partition i of 8x8 block q.
MOTUS_HD int motus_sub_block(int sub_type, int q, int i) {
    const int x = q % 2 * 2, y = q / 2 * 2;
    if (sub_type == MOTUS_SUB_8x4) return MOTUS_BLOCK_8x4 + 2 * (y + i) + x / 2;
    if (sub_type == MOTUS_SUB_4x8) return MOTUS_BLOCK_4x8 + 2 * y + x + i;
    if (sub_type == MOTUS_SUB_4x4) return MOTUS_BLOCK_4x4 + 4 * (y + i / 2) + x + i % 2;
    return MOTUS_BLOCK_8x8 + q;
}

// Lists the 1..16 partitions of an inter MB in coding order. Returns their number, 0 for intra.
MOTUS_HD int motus_mb_partitions(const MotusMb *mb, MotusPartition parts[16]) {
    int n = 0;
    if (mb->type <= MOTUS_MB_P_16x16) {
        parts[n++] = motus_partition_at(MOTUS_MODE_16x16, 0, 0, 0);
    } else if (mb->type == MOTUS_MB_P_16x8) {
        for (; n < 2; n++) parts[n] = motus_partition_at(MOTUS_MODE_16x8, n, 0, 2 * n);
    } else if (mb->type == MOTUS_MB_P_8x16) {
        for (; n < 2; n++) parts[n] = motus_partition_at(MOTUS_MODE_8x16, n, 2 * n, 0);
    } else if (mb->type == MOTUS_MB_P_8x8) {
        MOTUS_ONE_BODY
        for (int q = 0; q < 4; q++) {
            MOTUS_ONE_BODY
            for (int i = 0; i < motus_sub_partitions(mb->sub_type[q]); i++)
                parts[n++] = motus_sub_partition(mb->sub_type[q], q, i);
        }
    }
    return n;
}

// ---- MV prediction ------------------------------------------------------------------------------

// State of a block as a neighbour. NONE: not available (outside the slice, or later in decoding
// order). INTRA: intra, or without this list: a zero MV with a reference that never matches. Else
// INTER + ref_idx.
enum { MOTUS_CELL_NONE, MOTUS_CELL_INTRA, MOTUS_CELL_INTER };

typedef struct MotusMvCell {
    MotusMv mv;
    int state;
} MotusMvCell;

// Returns the ref_idx of 8x8 block q of an MB in a list; -1: none, intra, or NULL.
MOTUS_HD int motus_ref_of(const MotusMb *mb, int q, int list) {
    if (!mb || motus_mb_is_intra(mb) || !motus_pred_uses(mb->pred[q], list)) return -1;
    return mb->ref[list][q];
}

// Returns the MV of block blk of an MB in a list, with its state. mb: NULL: not available.
MOTUS_HD MotusMvCell motus_list_cell(const MotusMb *mb, int blk, int list) {
    const int q = motus_8x8_of(blk), its = motus_ref_of(mb, q, list);
    MotusMvCell cell = {{0, 0}, MOTUS_CELL_NONE};
    if (!mb) return cell;
    cell.state = its < 0 ? MOTUS_CELL_INTRA : MOTUS_CELL_INTER + its;
    if (its >= 0) cell.mv = list ? mb->mv1[q] : mb->mv[blk];
    return cell;
}

// Returns the predicted MV of a partition for a ref_idx from cells A, B and C (D if C is not
// available): directional for partition `part` (mbPartIdx) of 16x8 and 8x16, else the median
// (8.4.1.3).
MOTUS_HD MotusMv motus_mvp(MotusMvCell a, MotusMvCell b, MotusMvCell c, int mode, int part,
                           int ref) {
    const int inter = MOTUS_CELL_INTER + ref;
    MotusMv mv;
    if (mode == MOTUS_MODE_16x8 && (part ? a : b).state == inter) return (part ? a : b).mv;
    if (mode == MOTUS_MODE_8x16 && (part ? c : a).state == inter) return (part ? c : a).mv;
    if (b.state == MOTUS_CELL_NONE && c.state == MOTUS_CELL_NONE && a.state != MOTUS_CELL_NONE)
        return a.mv;
    int inter_a = a.state == inter, inter_b = b.state == inter, inter_c = c.state == inter;
    if (inter_a + inter_b + inter_c == 1) return inter_a ? a.mv : inter_b ? b.mv : c.mv;
    mv.x = (int16_t)motus_median(a.mv.x, b.mv.x, c.mv.x);
    mv.y = (int16_t)motus_median(a.mv.y, b.mv.y, c.mv.y);
    return mv;
}

// Returns the cell at (x, y), units of 4 samples from the MB's first one, as luma4x4BlkIdx i sees
// it: it is not available if it comes later.
MOTUS_HD MotusMvCell mb_cell(const MotusMb *mb, const MotusNeighbours *n, int x, int y, int i,
                             int list) {
    if (y < 0)
        return x < 0   ? motus_list_cell(n->d, 15, list)
               : x > 3 ? motus_list_cell(n->c, 12, list)
                       : motus_list_cell(n->b, 12 + x, list);
    if (x < 0) return motus_list_cell(n->a, 4 * y + 3, list);
    const int is_later = x > 3 || motus_blk_at(4 * y + x) >= i;
    return motus_list_cell(is_later ? NULL : mb, (4 * y + x) & 15, list);
}

// Returns the predicted MV of a partition of an MB (part: all but `block`) in a list that it uses.
// The MB must have its reference and the blocks before the partition.
MOTUS_HD MotusMv motus_mb_mvp(const MotusMb *mb, const MotusNeighbours *n,
                              const MotusPartition *part, int list) {
    const int x = part->x, y = part->y, i = motus_blk_at(4 * y + x); // luma4x4BlkIdx
    const MotusMvCell a = mb_cell(mb, n, x - 1, y, i, list), b = mb_cell(mb, n, x, y - 1, i, list);
    MotusMvCell c = mb_cell(mb, n, x + part->width, y - 1, i, list);
    if (c.state == MOTUS_CELL_NONE) c = mb_cell(mb, n, x - 1, y - 1, i, list);
    return motus_mvp(a, b, c, part->mode, part->part, mb->ref[list][i >> 2]);
}

// True if P_Skip's MV is zero because this cell, A or B, is unavailable or has refIdx 0 and a zero
// MV (8.4.1.1).
MOTUS_HD int motus_skip_is_zero(MotusMvCell cell) {
    return cell.state == MOTUS_CELL_NONE ||
           (cell.state == MOTUS_CELL_INTER && !cell.mv.x && !cell.mv.y);
}

// Returns the MV that P_Skip would have in this MB (8.4.1.1).
MOTUS_HD MotusMv motus_mb_skip_mv(const MotusNeighbours *n) {
    const MotusMv zero = {0, 0};
    const MotusMvCell a = motus_list_cell(n->a, 3, 0), b = motus_list_cell(n->b, 12, 0);
    if (motus_skip_is_zero(a) || motus_skip_is_zero(b)) return zero;
    return motus_mvp(a, b, n->c ? motus_list_cell(n->c, 12, 0) : motus_list_cell(n->d, 15, 0),
                     MOTUS_MODE_16x16, 0, 0);
}

// Lists mvd_l0 of an inter MB in coding order. Returns their number.
MOTUS_HD int motus_mb_mvd(const MotusMb *mb, const MotusNeighbours *neighbours, MotusMv mvd[16]) {
    MotusPartition parts[16];
    const int n = motus_mb_partitions(mb, parts);
    for (int i = 0; i < n; i++) {
        const MotusMv mv = mb->mv[4 * parts[i].y + parts[i].x],
                      mvp = motus_mb_mvp(mb, neighbours, &parts[i], 0);
        mvd[i].x = (int16_t)(mv.x - mvp.x), mvd[i].y = (int16_t)(mv.y - mvp.y);
    }
    return n;
}

// ---- MV prediction on a grid --------------------------------------------------------------------

// Cells of an MB: rows and columns 1..4 are its own 4x4 blocks, row 0 and column 0 the neighbours',
// column 5 of row 0 that of the MB above right.
typedef struct MotusMvGrid {
    MotusMvCell cell[5][6];
} MotusMvGrid;

// Sets the cells of the width x height block at (x, y) of the MB, in units of 4 samples: from
// (-1, -1), the neighbours' on.
MOTUS_HD void motus_grid_set(MotusMvGrid *grid, int x, int y, int width, int height,
                             MotusMvCell cell) {
    for (int row = y + 1; row <= y + height; row++)
        for (int column = x + 1; column <= x + width; column++) grid->cell[row][column] = cell;
}

// Loads the neighbours in a list; the MB's own cells become not available.
MOTUS_HD void motus_grid_load(MotusMvGrid *grid, const MotusNeighbours *neighbours, int list) {
    const MotusMvCell none = {{0, 0}, MOTUS_CELL_NONE};
    motus_grid_set(grid, -1, -1, 1, 1, motus_list_cell(neighbours->d, 15, list));
    motus_grid_set(grid, 4, -1, 1, 1, motus_list_cell(neighbours->c, 12, list));
    for (int i = 0; i < 4; i++) {
        motus_grid_set(grid, i, -1, 1, 1, motus_list_cell(neighbours->b, 12 + i, list));
        motus_grid_set(grid, -1, i, 1, 1, motus_list_cell(neighbours->a, 4 * i + 3, list));
    }
    motus_grid_set(grid, 0, 0, 5, 4, none);
}

// Returns the predicted MV of a partition or sub-macroblock partition for a ref_idx.
MOTUS_HD MotusMv motus_grid_mvp(const MotusMvGrid *grid, const MotusPartition *p, int ref) {
    const int beyond = p->x + 1 + p->width;
    const MotusMvCell *above = grid->cell[p->y];
    const int c = above[beyond].state != MOTUS_CELL_NONE ? beyond : p->x; // or D (8.4.1.3.2)
    return motus_mvp(grid->cell[p->y + 1][p->x], above[p->x + 1], above[c], p->mode, p->part, ref);
}

// Returns the MV that a P picture keeps of an MB for the search centres of later pictures, into its
// first of `refs` references. searched: of the search; span[k]: pictures from reference k to here.
MOTUS_HD MotusMv motus_mv_to_keep(const MotusMb *mb, MotusMv searched, int refs,
                                  const int32_t span[]) {
    if (motus_mb_is_intra(mb)) return searched;
    const int ref = refs > 1 ? mb->ref[0][0] : 0;
    return ref ? motus_mv_over(mb->mv[0], span[0], span[ref]) : mb->mv[0];
}

#endif
