// Bookkeeping of a P picture's decisions: which MBs are decided again, what their neighbours see,
// and where intra coding is evaluated. Passes are numbered from 1.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_DECIDE_CORE_H
#define ENCODER_DECIDE_DECIDE_CORE_H

#include <string.h>

#include "common/lanes.h"
#include "encoder/analyse/b_core.h"
#include "encoder/mb/mb.h"
#include "encoder/mb/qp_core.h"

// True if a neighbour of MB i, the x-th of its row, has changed (changed_at, per MB) since the MB
// was evaluated in pass seen_at[i], or if it never was (0). `first`: first MB of its slice.
MOTUS_HD int motus_neighbours_changed(const uint16_t *changed_at, const uint16_t *seen_at, int i,
                                      int x, int mb_width, int first) {
    const int w = mb_width, above = i - w, seen = seen_at[i];
    return !seen || (x && i > first && changed_at[i - 1] > seen) ||
           (above >= first && changed_at[above] > seen) ||
           (x && above > first && changed_at[above - 1] > seen) ||
           (x + 1 < w && above + 1 >= first && changed_at[above + 1] > seen);
}

// True if MVs of neighbours are predicted differently from a and b. Coefficient counts, which
// select code tables, change too often to be tracked. lists: of motus_note_decision.
MOTUS_HD int predicts_differently(const MotusMb *a, const MotusMb *b, int lists) {
#if MOTUS_LANES > 1
    const int blk = motus_lane() & 15;
    int differ = motus_lanes_ballot(!motus_mv_equal(a->mv[blk], b->mv[blk]) ||
                                    motus_mb_is_intra(a) != motus_mb_is_intra(b)) != 0;
#else
    int differ = motus_mb_is_intra(a) != motus_mb_is_intra(b) || memcmp(a->mv, b->mv, sizeof a->mv);
#endif
    if (differ || lists == 1) return differ;
    for (int q = 0; q < 4 && !motus_mb_is_intra(a); q++)
        differ |= !motus_mv_equal(a->mv1[q], b->mv1[q]) | (a->pred[q] != b->pred[q]) |
                  (a->ref[0][q] != b->ref[0][q]) | (a->ref[1][q] != b->ref[1][q]);
    return differ;
}

// Replaces the MB that neighbours see by the decided one. Sets *changed_at to pass `now` if that
// changes their prediction. lists: 2 in B pictures, and in P pictures with several references.
MOTUS_HD void motus_note_decision(MotusMb *to, const MotusMb *decided, uint16_t *changed_at,
                                  int now, int lists) {
    const int differ = predicts_differently(decided, to, lists);
    if (differ && motus_lane() == 0) *changed_at = (uint16_t)now;
    motus_lanes_sync(); // compared before it is overwritten
    for (int i = motus_lane(); i < (int)(sizeof *to / 16); i += MOTUS_LANES)
        memcpy(__builtin_assume_aligned((char *)to + 16 * i, 16),
               __builtin_assume_aligned((const char *)decided + 16 * i, 16), 16);
}

// Sets the MB that neighbours see before its first decision: 16x16 with its searched MV.
MOTUS_HD void motus_first_guess(MotusMb *mb, MotusMv mv) {
    for (int blk = motus_lane(); blk < 16; blk += MOTUS_LANES) {
        mb->mv[blk] = mv;
        memset((char *)mb + sizeof mb->mv + 4 * blk, 0, 4); // all that follows the MVs
    }
    motus_lanes_sync();
    if (motus_lane() == 0) mb->type = MOTUS_MB_P_16x16;
}

// Sets the B MB that neighbours see before its first decision: 16x16 with the lists that cost
// least.
MOTUS_HD void motus_b_first_guess(MotusMb *mb, const MotusBCandidates *found) {
    const uint8_t ref[2] = {(uint8_t)motus_b_ref(found, 0), 0};
    int best = 0;
    for (int pred = 1; pred < MOTUS_PREDS; pred++)
        if (found->satd[pred][0] < found->satd[best][0]) best = pred;
    for (int i = motus_lane(); i < (int)(sizeof *mb / 4); i += MOTUS_LANES)
        memset((char *)mb + 4 * i, 0, 4);
    motus_lanes_sync();
    for (int q = motus_lane(); q < 4; q += MOTUS_LANES)
        motus_set_8x8(mb, q, best, ref, motus_b_found_mv(found, 0, best, 0),
                      motus_b_found_mv(found, 0, best, 1));
    if (motus_lane() == 0) mb->type = MOTUS_MB_P_16x16;
}

// True if B_Skip of a B picture's MBs is tried before anything else: MBs that take it whatever
// their neighbours are (MotusBOps.skip_is_sure) are neither searched nor decided in a phase, and
// neighbours see them as skipped from the first phase on. Needs direct prediction without
// neighbours, one round and a motion field that no other search reads. refs: of list 0.
MOTUS_HD int motus_tries_skips_first(const MotusDirectSource *direct, int refs,
                                     const MotusEffort *effort) {
    return direct->fixed && refs == 1 && effort->rounds == 1 && effort->skip_gate;
}

// True if intra coding is evaluated: SATD of Intra16x16 against the best inter type. The gate
// widens with the bits that the inter cost is worth, since Intra4x4 may then save more. SATDs are
// below 2^18, lambda below 2^20.5, costs below 2^30.
MOTUS_HD int motus_intra_is_close(uint32_t intra, uint32_t inter, uint32_t inter_cost,
                                  const MotusQp *qp, const MotusEffort *effort) {
    const uint64_t unit = (uint64_t)qp->lambda_ssd_q8 * 64; // cost * 1024 == bits * unit
    return intra * unit * 16 <= inter * ((uint32_t)effort->intra_gate * unit +
                                         (uint64_t)inter_cost * 16 * (uint32_t)effort->intra_slope);
}

// Returns the length of a chain of intra MBs up to an MB behind neighbour k (A, B, C, D), whose own
// chain has length `before`; 0: that is inter. A typed MB's first block waits for the last row of
// the MB above, which is its second half of steps, but only for half of the MB to the left. With
// keeps_left it waits for half of both, and the count is the same.
MOTUS_HD int motus_chain_up_to(int before, int k, int typed) {
    return before ? before + 1 + (typed && (k & 1)) : 0;
}

// Returns the longest chain of dependent intra MBs in a P picture that has n of them. Behind a cut,
// where they are a third of all or more, it has no other limit than its type: inter would cost a
// tenth more bits, in a picture that takes as long as an I picture.
MOTUS_HD int motus_longest_chain(int n, int n_mb, const MotusEffort *effort) {
    return n >= (n_mb + 2) / 3 ? UINT8_MAX : effort->intra_chain;
}

#endif
