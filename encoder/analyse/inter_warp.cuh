// Decision of an inter MB by a team of two warps or more. Types are evaluated side by side, a warp
// each (residual_warp.cuh) as far as there are warps.
// Equals motus_decide_skip and motus_decide_types (inter_cpu.h): suite `lanes`, and `gpu_decide` on
// a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_WARP_CUH
#define ENCODER_ANALYSE_INTER_WARP_CUH

#include "encoder/analyse/inter_choice_warp.cuh"
#include "encoder/analyse/residual_warp.cuh"
#include "encoder/analyse/transform8_warp.cuh"

// Shared memory of a team, beside the coefficients of each warp.
typedef struct MotusInterTeam {
    union {
        MotusTrial trial[4];
        MotusTeamSums sums; // until types are chosen
    } of;
    MotusTrial skip;
    MotusChooseTeam choose;
} MotusInterTeam;

// ---- A type by one warp -------------------------------------------------------------------------

// Makes trial->mb a P_Skip MB.
MOTUS_WARP void motus_team_skip(const MotusInterMb *in, MotusMv skip, MotusTrial *trial) {
    const int lane = motus_lane();
    if (lane < 16)
        trial->mb.mv[lane] = skip;
    else
        motus_word_put((char *)&trial->mb + 4 * lane, 0); // all that follows the MVs
    motus_lanes_sync();                                   // before a part of it is set
    if (lane) return;
    trial->mb.type = MOTUS_MB_P_SKIP;
    trial->mb.qp = in->qp->luma.qp;
}

// Makes trial->mb the MB of type k.
MOTUS_WARP void motus_team_type(const MotusInterMb *in, const MotusChoice *choice, int k,
                                MotusTrial *trial) {
    const int lane = motus_lane();
    motus_word_put((char *)&trial->mb + 4 * lane,
                   motus_word_get((const char *)&choice->mb[k] + 4 * lane));
    motus_lanes_sync(); // before a part of it is set
    if (lane == 0) trial->mb.qp = in->qp->luma.qp;
}

// Evaluates P_Skip.
MOTUS_WARP void motus_team_skip_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                      MotusMv skip, MotusTrial *trial) {
    motus_team_skip(in, skip, trial);
    const MotusLaneBlock b = motus_lane_predict(trial, in);
    motus_lane_measure(trial, &b, in->qp, motus_skip_bits(in, &trial->mb), levels);
    if (motus_refresh_mv_y(in->max_mv_y, skip.y) != skip.y && motus_lane() == 0)
        trial->cost = UINT32_MAX;
}

// Evaluates type k. edge: MotusTeamEdge's counts. s: as in motus_lane_trial_transform.
MOTUS_WARP void motus_team_trial(const MotusInterMb *in, uint32_t edge,
                                 const MotusLevelChoice *levels, const MotusChoice *choice,
                                 MotusMv skip, int k, MotusTrialCoefs *coefs,
                                 MotusTransformShared *s, MotusTrial *trial) {
    motus_team_type(in, choice, k, trial);
    motus_lane_trial(in, edge, levels, skip, choice->mv_bits[k], coefs, trial);
    motus_lane_trial_transform(in, levels, s, trial);
}

// ---- A type by the whole team -------------------------------------------------------------------
//
// If only one type is evaluated, the other warps are idle. The slowest step then is the choice of
// levels of a block with many: one lane tries to lower them one after another. Eight lanes try them
// together.

enum { MOTUS_SHARED_LEVELS = 3 }; // live coefficients of a block that are worth the barriers

// Lists the blocks whose levels are chosen together, if any block has many.
MOTUS_WARP void motus_team_list_levels(MotusTeamLevels *shared, const MotusLaneResidual *r) {
    const int lane = motus_lane(), many = motus_lanes_ballot(motus_cavlc_total_coeff(r->live) >=
                                                             MOTUS_SHARED_LEVELS) != 0;
    const uint32_t listed = motus_lanes_ballot(r->live != 0);
    if (many && r->live) {
        shared->block[motus_lanes_count(listed & ((1u << lane) - 1))] = (uint8_t)lane;
        shared->context[lane] = (uint8_t)r->context;
    }
    if (lane == 0) shared->n = many ? motus_lanes_count(listed) : 0;
}

// Chooses the levels of the listed blocks, eight lanes a block. spare: four rows of this warp's
// own, for lanes without a block.
MOTUS_WARP void motus_team_levels(MotusTeamLevels *shared, MotusTrial *trial,
                                  const MotusTrialCoefs *coefs, int16_t (*spare)[18],
                                  const MotusInterMb *in, const MotusLevelChoice *choice, int warp,
                                  int warps) {
    const int n = shared->n, group = motus_lane() >> 3;
    for (int first = 4 * warp; first < n; first += 4 * warps) {
        const int active = first + group < n, blk = active ? shared->block[first + group] : 0;
        const MotusQuant q = *motus_lane_quant(in, blk);
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
MOTUS_WARP void motus_team_shared_trial(const MotusInterMb *in, uint32_t edge,
                                        const MotusLevelChoice *levels, MotusTeamLevels *shared,
                                        const MotusChoice *choice, MotusMv skip, int k,
                                        MotusTrialCoefs *coefs, MotusTrial *trial, int warp,
                                        int warps) {
    MotusLaneBlock b;
    MotusLaneResidual r;
    if (warp == 0) {
        motus_team_type(in, choice, k, trial);
        b = motus_lane_predict(trial, in);
        r = motus_lane_transform(trial, &b, &coefs[0], in, edge, levels);
        motus_team_list_levels(shared, &r);
    }
    motus_team_sync(); // coefficients and the list are written
    const int together = shared->n;
    if (together) {
        motus_team_levels(shared, trial, &coefs[0], coefs[1].coef + 4 * warp, in, levels, warp,
                          warps);
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
                              b.blk >= 16 ? 4 : 2, r.context, motus_lane_quant(in, b.blk), levels);
    }
    motus_lane_complete(trial, &b, in, &r, &chosen, levels, skip, choice->mv_bits[k]);
}

// ---- The MB -------------------------------------------------------------------------------------

// Chooses the MVs of all types.
MOTUS_WARP void motus_team_choose(const MotusTeamLane *own, const MotusInterMb *in, uint64_t blocks,
                                  MotusInterTeam *t, int warp) {

    const MotusTeamChooser c = motus_team_chooser(&t->of.sums, own, in);
    if (warp == MOTUS_CHOOSE_8x8 && blocks >> MOTUS_BLOCK_8x8 & 1)
        motus_team_choose_8x8(&c, in, blocks, t->choose.of.grid[warp], &t->choose.choice);
    if (warp == MOTUS_CHOOSE_WHOLE)
        motus_team_choose_whole(&c, in, blocks, t->choose.of.grid[warp], &t->choose.choice);
}

// Equals motus_choice_check.
MOTUS_WARP void motus_team_check(const MotusInterMb *in, MotusChoice *choice, int warp) {
    const int lane = motus_lane(), row = lane >> 2 & 3;
    uint32_t wrong = 0; // mask of types
    for (int k = 0; k < 4; k++) {
        const int y = choice->mb[k].mv[lane & 15].y;
        if (motus_lanes_ballot(motus_refresh_row_mv_y(in->max_mv_y, row, y) != y)) wrong |= 1u << k;
    }
    if (!wrong) return;
    motus_team_sync(); // all warps have looked
    if (!warp && lane && lane < 4 && wrong >> lane & 1) choice->cost[lane] = UINT32_MAX;
    if (!warp && lane < 16 && wrong & 1) motus_word_put(&choice->mb[0].mv[lane], 0);
    if (!warp && !lane && wrong & 1)
        choice->mv_bits[0] = motus_trial_mv_bits(in, &choice->mb[0], 0, 0);
    motus_team_sync(); // types are dropped
}

// Evaluates the types in the mask `close`, the warps in turn; a single one together if `shares`.
MOTUS_WARP void motus_team_evaluate(const MotusTeamLane *own, uint32_t edge, const MotusInterMb *in,
                                    const MotusLevelChoice *levels, int best, uint32_t close,
                                    MotusInterTeam *t, MotusTrialCoefs *coefs,
                                    MotusTransformShared *transforms, int warp, int warps,
                                    int shares) {
    if (shares && !(close & (close - 1))) {
        motus_team_shared_trial(in, edge, levels, &t->choose.of.levels, &t->choose.choice,
                                own->skip, best, coefs, &t->of.trial[best], warp, warps);
        return;
    }
    for (int i = 0, turn = 0; i < 4; i++) {
        const int k = (best + i) & 3;
        if (!(close >> k & 1)) continue;
        if (turn == warp)
            motus_team_trial(in, edge, levels, &t->choose.choice, own->skip, k, &coefs[warp],
                             transforms ? &transforms[warp] : NULL, &t->of.trial[k]);
        turn = turn + 1 == warps ? 0 : turn + 1;
    }
}

// Returns the cheapest trial, to all warps. P_Skip wins ties, then the best type by SATD, then the
// next type.
MOTUS_WARP MotusTrial *motus_team_join(int first, uint32_t close, MotusInterTeam *t) {
    const int k = (first + (motus_lane() & 3)) & 3;
    const uint32_t cost = close >> k & 1 ? t->of.trial[k].cost : UINT32_MAX,
                   least = motus_lanes_min(cost);
    const uint32_t which = motus_lanes_ballot(cost == least);
    return least < t->skip.cost
               ? &t->of.trial[(first + motus_bit_length(which & (0u - which)) - 1) & 3]
               : &t->skip;
}

// Returns the cheapest inter coding of the MB, after motus_team_begin, which set `own`. coefs: each
// warp's; transforms, too, NULL: in->quant8 is. shares: all warps evaluate a single type together,
// with one transform. *satd: as in motus_decide_types, 0 if P_Skip was taken at once.
MOTUS_WARP MotusTrial *motus_team_decide(const MotusInterMb *in, MotusTeamLane own,
                                         const MotusTeamEdge *edge, const MotusCandidates *found,
                                         const MotusEffort *effort, const MotusLevelChoice *levels,
                                         MotusInterTeam *t, MotusTrialCoefs *coefs,
                                         MotusTransformShared *transforms, int warp, int warps,
                                         int shares, uint32_t *satd) {
    const int old = own.n;
    int first;
    motus_team_list(&own, edge, in, warp < MOTUS_CHOOSERS ? t->choose.of.grid[warp] : NULL);
    if (warp == warps - 1) // it has the least to measure
        motus_team_skip_trial(in, levels, own.skip, &t->skip);
    motus_team_measure(&t->of.sums, in, &own, old, warp, warps);
    motus_team_sync(); // all MVs are measured, P_Skip is evaluated
    *satd = 0;
    if (motus_skip_is_enough(t->skip.cost, in->qp, effort)) return &t->skip;
    motus_team_refine(&own, edge, in, old, &t->of.sums, warp, warps);
    motus_team_choose(&own, in, found->blocks, t, warp);
    motus_team_sync(); // types are chosen
    if (in->max_mv_y < MOTUS_MAX_MV_Y) motus_team_check(in, &t->choose.choice, warp);
    const uint32_t close = motus_team_close(&t->choose.choice, effort->trial_gate, &first);
    motus_team_evaluate(&own, edge->counts, in, levels, first, close, t, coefs, transforms, warp,
                        warps, shares);
    motus_team_sync(); // every type is evaluated
    MotusTrial *best = motus_team_join(first, close, t);
    *satd = t->choose.choice.cost[first];
    if (best->bits > MOTUS_MB_BITS_LIMIT) {
        motus_team_sync(); // all warps have compared
        if (warp == 0) motus_trial_pcm(best, &in->src, in->qp);
        motus_team_sync(); // the trial is replaced
    }
    return best;
}

#endif
