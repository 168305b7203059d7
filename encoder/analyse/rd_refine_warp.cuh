// RD refinement of a decided MB's MVs by a team of eight warps, which evaluate a move of an MV
// each. Equals MotusInterOps.refine: suites `lanes` and `lanes_b`.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_RD_REFINE_WARP_CUH
#define ENCODER_ANALYSE_RD_REFINE_WARP_CUH

#include "encoder/analyse/inter_warp.cuh"

enum { MOTUS_RD_WARPS = MOTUS_RD_MOVES };

// Shared memory of a team, beside the coefficients of each warp.
typedef struct MotusRdTeam {
    MotusTrial trial[MOTUS_RD_WARPS];
    MotusMb mb;                    // with the MVs that cost least so far
    uint32_t cost[MOTUS_RD_MOVES]; // of an MV's moves
} MotusRdTeam;

// Values that the trials of an MB share.
typedef struct MotusRdLane {
    uint32_t edge;                    // MotusEdge.counts
    MotusMv skip;                     // P_Skip's MV
    MotusTransformShared *transforms; // this warp's, or NULL (lane_trial_transform)
} MotusRdLane;

// Evaluates trial->mb. Returns its cost, UINT32_MAX if it may be too large for an MB, to all lanes.
MOTUS_WARP uint32_t rd_evaluate(const MotusInterMb *in, const MotusRdLane *own,
                                const MotusLevelChoice *levels, MotusTrialCoefs *coefs,
                                MotusTrial *trial) {
    MotusTransformShared *s = own->transforms;
    const int list = motus_lane() >> 4;
    if (s) {
        if (motus_lane() == 0) trial->mb.transform_8x8 = 0;
        motus_lanes_sync(); // it is written
    }
    const uint32_t mv_bits = motus_lanes_sum(
        list < in->lists ? motus_trial_mv_bits(in, &trial->mb, motus_lane() & 15, list) : 0);
    const uint32_t cost = lane_trial(in, own->edge, levels, own->skip, mv_bits, coefs, trial);
    if (!s) return motus_lanes_shuffle(cost, 0);
    lane_trial_transform(in, levels, s, trial);
    return trial->bits > MOTUS_MB_BITS_LIMIT ? UINT32_MAX : trial->cost;
}

// Moves one MV of t->mb to the neighbour that costs least, if that is less than *cost. Returns 1
// if it moves.
MOTUS_WARP int rd_team_mv(const MotusInterMb *in, const MotusRdLane *own,
                          const MotusLevelChoice *levels, const MotusPartition *part, int i,
                          int list, MotusRdTeam *t, MotusTrialCoefs *coefs, int warp,
                          uint32_t *cost) {
    MotusTrial *trial = &t->trial[warp];
    const MotusMv own_mv = motus_rd_move(&t->mb, i, list, warp, in->limits->unit);
    uint32_t own_cost = UINT32_MAX;
    if (motus_inter_mv_allowed(in, own_mv)) {
        lane_copy_mb(&trial->mb, &t->mb);
        motus_rd_set(&trial->mb, part, list, own_mv);
        own_cost = rd_evaluate(in, own, levels, coefs, trial);
    }
    if (motus_lane() == 0) t->cost[warp] = own_cost;
    motus_team_sync(); // all moves are evaluated
    const uint32_t its = t->cost[motus_lane() & 7], least = motus_lanes_min(its),
                   which = motus_lanes_ballot(its == least);
    const int moves = least < *cost, k = motus_bit_length(which & (0u - which)) - 1;
    const MotusMv mv = motus_rd_move(&t->mb, i, list, k, in->limits->unit);
    motus_team_sync(); // all have read costs and MVs
    if (moves && warp == 0) motus_rd_set(&t->mb, part, list, mv);
    if (moves) *cost = least;
    motus_team_sync(); // the MV has moved
    return moves;
}

// Refines the MVs of the decided MB t->mb, which costs `cost`, in turn until none moves, at most
// `most` of them. coefs: each warp's; transforms, too, NULL: in->quant8 is. Returns 1 if it has
// become cheaper: the first trial is its coding then.
MOTUS_WARP int motus_rd_team_refine(const MotusInterMb *in, const MotusLevelChoice *levels,
                                    int most, uint32_t cost, MotusRdTeam *t, MotusTrialCoefs *coefs,
                                    MotusTransformShared *transforms, int warp) {
    int any = 0, moves = 1, left = most;
    if (!motus_rd_is_open(&t->mb)) return 0;
    const MotusMv zero = {0, 0};
    const MotusEdge edge = motus_edge(&in->neighbours, in->refs, 1);
    MotusRdLane own = {edge.counts, zero, transforms ? &transforms[warp] : NULL};
    if (in->lists == 1 && !motus_skip_is_zero(edge_cell(&edge, 1, 0)) &&
        !motus_skip_is_zero(edge_cell(&edge, 0, 1)))
        own.skip = edge_mvp(&edge, 0);
    while (moves && left > 0) {
        moves = 0;
        MOTUS_ONE_BODY
        for (int j = 0; j < 16 * in->lists; j++) {
            const int i = in->lists == 2 ? j >> 1 : j, list = in->lists == 2 ? j & 1 : 0;
            MotusPartition part;
            if (motus_mb_has_mv(&t->mb, i, list, in->lists, &part) && left-- > 0)
                moves |= rd_team_mv(in, &own, levels, &part, i, list, t, &coefs[warp], warp, &cost);
        }
        any |= moves;
    }
    if (any && warp == 0) {
        lane_copy_mb(&t->trial[0].mb, &t->mb);
        rd_evaluate(in, &own, levels, &coefs[0], &t->trial[0]);
    }
    motus_team_sync(); // it is evaluated
    return any;
}

#endif
