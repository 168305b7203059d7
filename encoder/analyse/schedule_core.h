// When an MB of a P picture is decided again, and what is noted about a decision, whoever runs the
// passes. Passes are numbered from 1.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_SCHEDULE_CORE_H
#define ENCODER_ANALYSE_SCHEDULE_CORE_H

#include <string.h>

#include "common/lanes.h"
#include "encoder/analyse/trial_core.h"

// Whether a neighbour of MB i, which is the x-th of its row, has changed (changed_at, per MB) since
// the MB was evaluated, in pass seen_at[i]; 0: never yet. `first` is the first MB of its slice:
// what comes before it is no neighbour.
MOTUS_HD int motus_neighbours_changed(const uint16_t *changed_at, const uint16_t *seen_at, int i,
                                      int x, int mb_width, int first) {
    const int w = mb_width, above = i - w, seen = seen_at[i];
    return !seen || (x && i > first && changed_at[i - 1] > seen) ||
           (above >= first && changed_at[above] > seen) ||
           (x && above > first && changed_at[above - 1] > seen) ||
           (x + 1 < w && above + 1 >= first && changed_at[above + 1] > seen);
}

// Whether the neighbours would predict other vectors. (Coefficient counts, which choose code
// tables, change too often to be followed.)
MOTUS_HD int motus_predicts_differently(const MotusMb *a, const MotusMb *b) {
#if MOTUS_LANES > 1
    const int blk = motus_lane() & 15;
    return motus_lanes_which(!motus_mv_equal(a->mv[blk], b->mv[blk]) ||
                             motus_mb_is_intra(a) != motus_mb_is_intra(b)) != 0;
#else
    return motus_mb_is_intra(a) != motus_mb_is_intra(b) || memcmp(a->mv, b->mv, sizeof a->mv);
#endif
}

// Makes `to`, which neighbours see, the way that was decided for.
MOTUS_HD void motus_note_decision(MotusMb *to, const MotusMb *decided, uint16_t *changed_at,
                                  int now) {
    if (motus_predicts_differently(decided, to) && motus_lane() == 0) *changed_at = (uint16_t)now;
    motus_lanes_sync(); // compared before it is overwritten
    for (int i = motus_lane(); i < (int)(sizeof *to / 16); i += MOTUS_LANES)
        memcpy(__builtin_assume_aligned((char *)to + 16 * i, 16),
               __builtin_assume_aligned((const char *)decided + 16 * i, 16), 16);
}

// What neighbours see of an MB before its first decision: 16x16 with its searched vector.
MOTUS_HD void motus_first_guess(MotusMb *mb, MotusMv mv) {
    for (int blk = motus_lane(); blk < 16; blk += MOTUS_LANES) {
        mb->mv[blk] = mv;
        memset((char *)mb + sizeof mb->mv + 4 * blk, 0, 4); // all that follows the vectors
    }
    motus_lanes_sync();
    if (motus_lane() == 0) mb->type = MOTUS_MB_P_16x16;
}

// Whether intra coding is worth an evaluation: SATD of Intra16x16 against that of the best inter
// type. The more bits the inter MB's cost is worth, the more Intra4x4 may save that Intra16x16
// knows nothing of, and the wider is the gate. SATDs are below 2^18, lambda below 2^20.5, costs
// below 2^30.
MOTUS_HD int motus_intra_is_close(uint32_t intra, uint32_t inter, uint32_t inter_cost,
                                  const MotusQp *qp, const MotusEffort *effort) {
    const uint64_t unit = (uint64_t)qp->lambda_ssd_q8 * 64; // cost * 1024 == bits * unit
    return intra * unit * 16 <= inter * ((uint32_t)effort->intra_gate * unit +
                                         (uint64_t)inter_cost * 16 * (uint32_t)effort->intra_slope);
}

#endif
