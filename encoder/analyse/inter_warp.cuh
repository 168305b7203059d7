// Decision of an inter MB by a team of two warps or more. Types are evaluated side by side, a warp
// each (residual_warp.cuh) as far as there are warps.
// Equals skip and types of MotusInterOps: suite `lanes`, and `gpu_decide` on
// a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_WARP_CUH
#define ENCODER_ANALYSE_INTER_WARP_CUH

#include "encoder/analyse/inter_choice_warp.cuh"
#include "encoder/analyse/residual_warp.cuh"
#include "encoder/analyse/transform8_warp.cuh"

// Blocks whose levels a team chooses together, and their levels.
typedef struct MotusTeamLevels {
    int n; // 0: each lane chooses those of its block alone
    uint8_t block[24], context[24];
    MotusLevels of[24];
} MotusTeamLevels;

// Shared memory of a team, beside the coefficients of each warp.
typedef struct MotusInterTeam {
    union {
        MotusTrial trial[4];
        MotusTeamSums sums; // until types are chosen
    };
    MotusTrial skip;
    union {
        MotusLaneGrid grid[MOTUS_CHOOSERS][4];
        MotusTeamLevels levels; // after types are chosen
    };
    MotusChoice choice; // without `skip`
} MotusInterTeam;

// ---- A type by one warp -------------------------------------------------------------------------

// Evaluates P_Skip.
MOTUS_WARP void team_skip_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                MotusMv skip, MotusTrial *trial) {
    const int lane = motus_lane();
    if (lane < 16)
        trial->mb.mv[lane] = skip;
    else
        motus_word_put((char *)&trial->mb + 4 * lane, 0); // all that follows the MVs
    motus_lanes_sync();                                   // before a part of it is set
    if (lane == 0) trial->mb.type = MOTUS_MB_P_SKIP, trial->mb.qp = in->qp->luma.qp;
    const MotusLaneBlock b = lane_predict(trial, in);
    lane_measure(trial, &b, in->qp, motus_skip_bits(in, &trial->mb), levels);
    if (motus_refresh_mv_y(in->max_mv_y, 3, skip.y) != skip.y && lane == 0)
        trial->cost = UINT32_MAX;
}

// ---- A type by the whole team -------------------------------------------------------------------
//
// If only one type is evaluated, the other warps are idle. The slowest step then is the choice of
// levels of a block with many: one lane tries to lower them one after another. Eight lanes try them
// together.

enum { MOTUS_SHARED_LEVELS = 3 }; // live coefficients of a block that are worth the barriers

// Chooses the levels of the listed blocks, eight lanes a block. spare: four rows of this warp's
// own, for lanes without a block.
MOTUS_WARP void team_levels(MotusTeamLevels *shared, MotusTrial *trial,
                            const MotusTrialCoefs *coefs, int16_t (*spare)[18],
                            const MotusInterMb *in, const MotusLevelChoice *choice, int warp,
                            int warps) {
    const int n = shared->n, group = motus_lane() >> 3;
    for (int first = 4 * warp; first < n; first += 4 * warps) {
        const int active = first + group < n, blk = active ? shared->block[first + group] : 0;
        const MotusQuant q = *lane_quant(in, blk);
        const MotusLevelPair pair = motus_level_pair(&q);
        const MotusStateCosts level = motus_state_costs(choice->costs, blk >= 16 ? 4 : 2);
        const int16_t *from = coefs->coef[blk];
        const int coef[2] = {from[motus_pairs_of_raster(pair.at[0])],
                             from[motus_pairs_of_raster(pair.at[1])]};
        MotusPairLevels own;
        const MotusLevels levels = motus_eight_levels(
            active ? motus_coef_block(&trial->coef, blk) : spare[group], coef, &pair, active,
            blk >= 16 ? 4 : 2, active ? shared->context[blk] : 0, &q, choice, &level, &own);
        if (active && !(motus_lane() & 7)) shared->of[blk] = levels;
    }
}

// Evaluates type k by all warps. coefs: each warp's; the second one's also has the spare rows of
// all lanes without a block.
MOTUS_WARP void team_shared_trial(const MotusInterMb *in, uint32_t edge,
                                  const MotusLevelChoice *levels, MotusTeamLevels *shared,
                                  const MotusChoice *choice, MotusMv skip, int k,
                                  MotusTrialCoefs *coefs, MotusTrial *trial, int warp, int warps) {
    MotusLaneBlock b;
    MotusLaneResidual r;
    if (warp == 0) {
        const int lane = motus_lane();
        lane_copy_mb(&trial->mb, &choice->mb[k]);
        if (lane == 0) trial->mb.qp = in->qp->luma.qp;
        b = lane_predict(trial, in);
        r = lane_transform(trial, &b, &coefs[0], in, edge, levels);
        // List the blocks whose levels are chosen together, if any block has many.
        const int many =
            motus_lanes_ballot(motus_cavlc_total_coeff(r.live) >= MOTUS_SHARED_LEVELS) != 0;
        const uint32_t listed = motus_lanes_ballot(r.live != 0);
        if (many && r.live) {
            shared->block[motus_lanes_count(listed & ((1u << lane) - 1))] = (uint8_t)lane;
            shared->context[lane] = (uint8_t)r.context;
        }
        if (lane == 0) shared->n = many ? motus_lanes_count(listed) : 0;
    }
    motus_team_sync(); // coefficients and the list are written
    const int together = shared->n;
    if (together) {
        team_levels(shared, trial, &coefs[0], coefs[1].coef + 4 * warp, in, levels, warp, warps);
        motus_team_sync(); // levels are written
    }
    if (warp) return;
    MotusLevels chosen = {0, 0, 0};
    if (together) {
        chosen.bits = motus_no_levels_bits(b.blk >= 16 ? 4 : 2, r.context, levels);
        if (r.live) chosen = shared->of[b.blk];
    } else if (r.any) {
        chosen =
            motus_lane_levels(motus_coef_block(&trial->coef, b.blk), coefs[0].coef[b.blk], r.live,
                              b.blk >= 16 ? 4 : 2, r.context, lane_quant(in, b.blk), levels);
    }
    lane_complete(trial, &b, in, &r, &chosen, levels, skip, choice->mv_bits[k]);
}

// ---- The MB -------------------------------------------------------------------------------------

// Drops types with an MV that its block may not have (check_choice in inter.c).
MOTUS_WARP void team_check(const MotusInterMb *in, MotusChoice *choice, int warp) {
    const int lane = motus_lane(), row = lane >> 2 & 3;
    uint32_t wrong = 0; // mask of types
    for (int k = 0; k < 4; k++) {
        const int y = choice->mb[k].mv[lane & 15].y;
        if (motus_lanes_ballot(motus_refresh_mv_y(in->max_mv_y, row, y) != y)) wrong |= 1u << k;
    }
    if (!wrong) return;
    motus_team_sync(); // all warps have looked
    if (!warp && lane && lane < 4 && wrong >> lane & 1) choice->cost[lane] = UINT32_MAX;
    if (!warp && lane < 16 && wrong & 1) motus_word_put(&choice->mb[0].mv[lane], 0);
    if (!warp && !lane && wrong & 1)
        choice->mv_bits[0] = motus_trial_mv_bits(in, &choice->mb[0], 0, 0);
    motus_team_sync(); // types are dropped
}

// Returns the mask of types that come close enough to the best one by SATD to be evaluated, and
// *best, the first of the best.
MOTUS_WARP uint32_t team_close(const MotusChoice *choice, int gate, int *best) {
    const uint32_t cost = choice->cost[motus_lane() & 3], least = motus_lanes_min(cost);
    const uint32_t which = motus_lanes_ballot(cost == least);
    *best = motus_bit_length(which & (0u - which)) - 1;
    return motus_lanes_ballot(cost != UINT32_MAX &&
                              (uint64_t)cost * 16 <= (uint64_t)least * (uint32_t)gate) &
           15;
}

// Evaluates the types in the mask `close`, the warps in turn; a single one together if `shares`.
MOTUS_WARP void team_evaluate(const MotusTeamLane *own, uint32_t edge, const MotusInterMb *in,
                              const MotusLevelChoice *levels, int best, uint32_t close,
                              MotusInterTeam *t, MotusTrialCoefs *coefs,
                              MotusTransformShared *transforms, int warp, int warps, int shares) {
    if (shares && !(close & (close - 1))) {
        team_shared_trial(in, edge, levels, &t->levels, &t->choice, own->skip, best, coefs,
                          &t->trial[best], warp, warps);
        return;
    }
    for (int i = 0, turn = 0; i < 4; i++) {
        const int k = (best + i) & 3;
        if (!(close >> k & 1)) continue;
        if (turn == warp)
            lane_type(in, edge, levels, &t->choice.mb[k], own->skip, t->choice.mv_bits[k],
                      &coefs[warp], transforms ? &transforms[warp] : NULL, &t->trial[k]);
        turn = turn + 1 == warps ? 0 : turn + 1;
    }
}

// Returns the cheapest trial, to all warps. P_Skip wins ties, then the best type by SATD, then the
// next type.
MOTUS_WARP MotusTrial *team_join(int first, uint32_t close, MotusInterTeam *t) {
    const int k = (first + (motus_lane() & 3)) & 3;
    const uint32_t cost = close >> k & 1 ? t->trial[k].cost : UINT32_MAX,
                   least = motus_lanes_min(cost);
    const uint32_t which = motus_lanes_ballot(cost == least);
    return least < t->skip.cost
               ? &t->trial[(first + motus_bit_length(which & (0u - which)) - 1) & 3]
               : &t->skip;
}

// Returns the cheapest inter coding of the MB, after motus_team_begin, which set `own`. coefs: each
// warp's; transforms, too, NULL: in->quant8 is. shares: all warps evaluate a single type together,
// with one transform. *satd: as in MotusInterOps.types, 0 if P_Skip was taken at once.
MOTUS_WARP MotusTrial *motus_team_decide(const MotusInterMb *in, MotusTeamLane own,
                                         const MotusEdge *edge, const MotusCandidates *found,
                                         const MotusEffort *effort, const MotusLevelChoice *levels,
                                         MotusInterTeam *t, MotusTrialCoefs *coefs,
                                         MotusTransformShared *transforms, int warp, int warps,
                                         int shares, uint32_t *satd) {
    const int old = own.n;
    int first;
    team_list(&own, edge, in, warp < MOTUS_CHOOSERS ? t->grid[warp] : NULL);
    if (warp == warps - 1) // it has the least to measure
        team_skip_trial(in, levels, own.skip, &t->skip);
    team_measure(&t->sums, in, &own, old, warp, warps);
    motus_team_sync(); // all MVs are measured, P_Skip is evaluated
    *satd = 0;
    if (motus_skip_is_enough(t->skip.cost, in->qp, effort)) return &t->skip;
    team_refine(&own, edge, in, old, &t->sums, warp, warps);
    const MotusTeamChooser chooser = team_chooser(&t->sums, &own, in);
    if (warp == MOTUS_CHOOSE_8x8 && found->blocks >> MOTUS_BLOCK_8x8 & 1)
        team_choose_8x8(&chooser, in, found->blocks, t->grid[warp], &t->choice);
    if (warp == MOTUS_CHOOSE_WHOLE)
        team_choose_whole(&chooser, in, found->blocks, t->grid[warp], &t->choice);
    motus_team_sync(); // types are chosen
    if (in->max_mv_y < MOTUS_MAX_MV_Y) team_check(in, &t->choice, warp);
    const uint32_t close = team_close(&t->choice, effort->trial_gate, &first);
    team_evaluate(&own, edge->counts, in, levels, first, close, t, coefs, transforms, warp, warps,
                  shares);
    motus_team_sync(); // every type is evaluated
    MotusTrial *best = team_join(first, close, t);
    *satd = t->choice.cost[first];
    if (best->bits > MOTUS_MB_BITS_LIMIT) {
        motus_team_sync(); // all warps have compared
        if (warp == 0) motus_trial_pcm(best, &in->src, in->qp);
        motus_team_sync(); // the trial is replaced
    }
    return best;
}

#endif
