// RD refinement of a decided MB's MVs: each MV moves to the best of its eight neighbours, all coded
// in full, while that costs less. What rd_refine_cpu.h and rd_refine_warp.cuh share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_RD_REFINE_CORE_H
#define ENCODER_ANALYSE_RD_REFINE_CORE_H

#include "encoder/analyse/inter_bits_core.h"

enum { MOTUS_RD_MOVES = 8 }; // of an MV, in the order of motus_neighbour_dx

// True if MVs of the MB are refined: it is inter, and neither skipped nor direct as a whole.
MOTUS_HD int motus_rd_is_open(const MotusMb *mb) {
    return !motus_mb_is_intra(mb) && mb->type != MOTUS_MB_P_SKIP && mb->direct != MOTUS_ALL_DIRECT;
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

#endif
