// RD refinement of a decided MB's MVs: each MV moves to the best of its eight neighbours, all coded
// in full, while that costs less. What rd_refine_cpu.h and rd_refine_warp.cuh share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_RD_REFINE_CORE_H
#define ENCODER_ANALYSE_RD_REFINE_CORE_H

#include "encoder/analyse/b_core.h"

enum { MOTUS_RD_MOVES = 8 }; // of an MV, in the order of motus_neighbour_dx

// True if MVs of the MB are refined: it is inter, and neither skipped nor direct as a whole.
MOTUS_HD int motus_rd_is_open(const MotusMb *mb) {
    return !motus_mb_is_intra(mb) && mb->type != MOTUS_MB_P_SKIP && mb->direct != MOTUS_ALL_DIRECT;
}

// True if luma4x4BlkIdx i begins a partition of an inter MB, which *part becomes (x, y, width,
// height; units of 4 samples).
MOTUS_HD int motus_rd_partition(const MotusMb *mb, int i, MotusPartition *part) {
    const int blk = motus_blk_at(i), is_8x8 = mb->type == MOTUS_MB_P_8x8,
              sub = is_8x8 ? mb->sub_type[i >> 2] : 0;
    const int large = is_8x8 ? 2 : 4,
              halves = is_8x8 ? sub == MOTUS_SUB_8x4 || sub == MOTUS_SUB_4x4
                              : mb->type == MOTUS_MB_P_16x8,
              columns = is_8x8 ? sub == MOTUS_SUB_4x8 || sub == MOTUS_SUB_4x4
                               : mb->type == MOTUS_MB_P_8x16;
    part->x = (uint8_t)(blk & 3), part->y = (uint8_t)(blk >> 2);
    part->width = (uint8_t)(large >> columns), part->height = (uint8_t)(large >> halves);
    return !(part->x & (part->width - 1)) && !(part->y & (part->height - 1));
}

// True if the partition that begins at luma4x4BlkIdx i has an MV of a list.
MOTUS_HD int motus_rd_has_mv(const MotusMb *mb, int i, int list, int lists) {
    const int q = i >> 2;
    return lists == 1 || (!(mb->direct >> q & 1) && motus_pred_uses(mb->pred[q], list));
}

// Returns move k of the MV at luma4x4BlkIdx i.
MOTUS_HD MotusMv motus_rd_move(const MotusMb *mb, int i, int list, int k, int unit) {
    MotusMv mv = list ? mb->mv1[i >> 2] : mb->mv[motus_blk_at(i)];
    mv.x = (int16_t)(mv.x + unit * motus_neighbour_dx(k));
    mv.y = (int16_t)(mv.y + unit * motus_neighbour_dy(k));
    return mv;
}

// Sets a partition's MV of a list. A warp may call it, or one thread of a CPU.
MOTUS_HD void motus_rd_set(MotusMb *mb, const MotusPartition *part, int list, MotusMv mv) {
    for (int blk = motus_lane(); blk < 16; blk += MOTUS_LANES) {
        const int x = (blk & 3) - part->x, y = (blk >> 2) - part->y;
        if (x < 0 || y < 0 || x >= part->width || y >= part->height) continue;
        if (!list)
            mb->mv[blk] = mv;
        else if (!(blk & 5)) // the 8x8 block's first one
            mb->mv1[motus_8x8_of(blk)] = mv;
    }
    motus_lanes_sync(); // it is written
}

// ---- Bits of MVs --------------------------------------------------------------------------------

// Returns the cell at (x, y), units of 4 samples from the MB's first one, as luma4x4BlkIdx i sees
// it: it is not available if it comes later.
MOTUS_HD MotusMvCell motus_rd_cell(const MotusMb *mb, const MotusNeighbours *n, int x, int y, int i,
                                   int list) {
    if (y < 0)
        return x < 0   ? motus_list_cell(n->d, 15, list)
               : x > 3 ? motus_list_cell(n->c, 12, list)
                       : motus_list_cell(n->b, 12 + x, list);
    if (x < 0) return motus_list_cell(n->a, 4 * y + 3, list);
    const int is_later = x > 3 || motus_blk_at(4 * y + x) >= i;
    return motus_list_cell(is_later ? NULL : mb, (4 * y + x) & 15, list);
}

// Returns the predicted MV of the partition that begins at luma4x4BlkIdx i (8.4.1.3), as
// motus_mvp_ref does on a grid.
MOTUS_HD MotusMv motus_rd_mvp(const MotusMb *mb, const MotusNeighbours *n,
                              const MotusPartition *part, int i, int list) {
    const int x = part->x, y = part->y, ref = mb->ref[list][i >> 2], inter = MOTUS_CELL_INTER + ref;
    const MotusMvCell a = motus_rd_cell(mb, n, x - 1, y, i, list),
                      b = motus_rd_cell(mb, n, x, y - 1, i, list);
    MotusMvCell c = motus_rd_cell(mb, n, x + part->width, y - 1, i, list);
    if (c.state == MOTUS_CELL_NONE) c = motus_rd_cell(mb, n, x - 1, y - 1, i, list);
    if (mb->type == MOTUS_MB_P_16x8 && (i ? a : b).state == inter) return (i ? a : b).mv;
    if (mb->type == MOTUS_MB_P_8x16 && (i ? c : a).state == inter) return (i ? c : a).mv;
    return motus_mvp_of_ref(a, b, c, ref);
}

// Returns the bits of the MVD at luma4x4BlkIdx i in a list, and of its ref_idx; 0 without one.
// refs: of list 0.
MOTUS_HD uint32_t motus_rd_mv_bits(const MotusMb *mb, const MotusNeighbours *n, int i, int list,
                                   int lists, int refs) {
    MotusPartition part;
    if (!motus_rd_partition(mb, i, &part) || !motus_rd_has_mv(mb, i, list, lists)) return 0;
    const MotusMv mv = list ? mb->mv1[i >> 2] : mb->mv[motus_blk_at(i)],
                  predictor = motus_rd_mvp(mb, n, &part, i, list);
    const int ref_bits = list || i & 3 ? 0 : motus_ref_bits(refs, mb->ref[0][i >> 2]);
    return (uint32_t)(motus_mv_bits(mv, predictor) + ref_bits);
}

#endif
