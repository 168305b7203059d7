// RD refinement of a decided MB's MVs on the CPU. rd_refine_warp.cuh has the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_RD_REFINE_CPU_H
#define ENCODER_ANALYSE_RD_REFINE_CPU_H

#include "encoder/analyse/inter_cpu.h"

// Evaluates `mb` with the MVs that it has. A trial that may be too large for an MB costs too much.
static inline void motus_rd_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                  MotusMv skip, const MotusMb *mb, MotusResidual *residual,
                                  MotusTrial *trial) {
    uint32_t mv_bits = 0;
    for (int i = 0; i < 16; i++)
        for (int list = 0; list < in->lists; list++)
            mv_bits += motus_trial_mv_bits(in, mb, i, list);
    trial->mb = *mb;
    trial->mb.cbp = 0;
    trial->mb.transform_8x8 = 0;
    motus_inter_trial(in, levels, skip, mv_bits, residual, trial);
    if (trial->bits > MOTUS_MB_BITS_LIMIT) trial->cost = UINT32_MAX;
}

// Refines the MVs of a decided MB that costs `cost`, in turn until none moves, at most `most` of
// them: each moves to the neighbour that costs least, if that is less. Returns 1 if the MB has
// become cheaper: *trial is its coding then.
static inline int motus_rd_refine(const MotusInterMb *in, const MotusLevelChoice *levels, int most,
                                  const MotusMb *decided, uint32_t cost, MotusResidual *residual,
                                  MotusTrial *trial) {
    const int unit = in->limits->unit;
    MotusMb mb = *decided;
    MotusPartition part;
    int any = 0, moves = 1, left = most;
    if (!motus_rd_is_open(&mb)) return 0;
    const MotusMv skip = motus_mb_skip_mv(&in->neighbours);
    while (moves && left > 0) {
        moves = 0;
        for (int j = 0; j < 16 * in->lists; j++) {
            const int i = j / in->lists, list = j % in->lists;
            int best = -1;
            if (!motus_mb_has_mv(&mb, i, list, in->lists, &part) || left-- <= 0) continue;
            for (int k = 0; k < MOTUS_RD_MOVES; k++) {
                const MotusMv mv = motus_rd_move(&mb, i, list, k, unit);
                MotusMb moved = mb;
                if (!motus_inter_mv_allowed(in, mv)) continue;
                motus_rd_set(&moved, &part, list, mv);
                motus_rd_trial(in, levels, skip, &moved, residual, trial);
                if (trial->cost < cost) cost = trial->cost, best = k;
            }
            if (best < 0) continue;
            motus_rd_set(&mb, &part, list, motus_rd_move(&mb, i, list, best, unit));
            moves = any = 1;
        }
    }
    if (any) motus_rd_trial(in, levels, skip, &mb, residual, trial);
    return any;
}

#endif
