// Decision of a B MB by a team of four warps: B_Skip and the predicted MVs, a type a warp each,
// then trials of the types, the warps in turn. Equals b.c: suite
// `lanes`, and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_WARP_CUH
#define ENCODER_ANALYSE_B_WARP_CUH

#include "encoder/analyse/b_candidates_warp.cuh"
#include "encoder/analyse/inter_choice_warp.cuh"
#include "encoder/analyse/transform8_warp.cuh"

enum { MOTUS_B_WARPS = 4 };

// Shared memory of a team, beside the coefficients of each warp.
typedef struct MotusBTeam {
    MotusTrial trial[MOTUS_B_TYPES], skip;
    MotusLaneGrid grid[MOTUS_B_WARPS][2]; // of each list
    MotusBChoice choice;
    MotusBNear near[MOTUS_B_NEAR];
    uint32_t direct_satd[4];
} MotusBTeam;

// Fills the grids of both lists.
MOTUS_WARP void b_grids_load(MotusLaneGrid grid[2], const MotusEdge *edge) {
    motus_lanes_sync(); // all have read them
    for (int list = 0; list < 2 && motus_lane() < 30; list++)
        grid[list][motus_lane()] = edge->cell[list];
    motus_lanes_sync(); // they are written
}

// Zeroes an MB.
MOTUS_WARP void b_clear(MotusMb *mb) {
    motus_word_put((char *)mb + 4 * motus_lane(), 0);
    motus_lanes_sync(); // before a part of it is set
}

// ---- B_Skip and predicted MVs -------------------------------------------------------------------

// Makes an MB one whose blocks are all direct.
MOTUS_WARP void b_make_direct(MotusMb *mb, const MotusDirect *direct, int type) {
    const int q = motus_lane();
    b_clear(mb);
    if (q < 4)
        motus_set_8x8(mb, q, direct->pred, direct->ref[q], direct->mv[0][q], direct->mv[1][q]);
    if (q == 0) mb->direct = MOTUS_ALL_DIRECT, mb->type = (uint8_t)type;
    motus_lanes_sync(); // it is written
}

// Returns the sum of the 8x8 block that a lane's 4x4 block is in.
MOTUS_WARP uint32_t lane_8x8_sum(uint32_t v) {
    v += motus_lanes_shuffle(v, motus_lane() ^ 1);
    return v + motus_lanes_shuffle(v, motus_lane() ^ 4);
}

// Makes the trial B_Skip.
MOTUS_WARP void b_make_skip(MotusTrial *skip, const MotusInterMb *in, const MotusDirect *direct) {
    b_make_direct(&skip->mb, direct, MOTUS_MB_P_SKIP);
    if (motus_lane() == 0) skip->mb.qp = in->qp->luma.qp, skip->luma_bits = 0;
}

// Equals MotusBOps.skip_is_sure, by one warp; leaves MB and samples. Chroma is not
// predicted where luma is bad enough.
MOTUS_WARP int motus_b_warp_skip_is_sure(const MotusInterMb *in, const MotusDirect *direct,
                                         const MotusEffort *effort, const MotusLevelChoice *levels,
                                         MotusTrial *skip) {
    const uint32_t bits = motus_most_b_skip_bits(in->costs);
    const int lane = motus_lane(), unit = motus_unit_of(levels), c = lane >> 4, row = lane >> 1 & 7;
    const uint8_t *chroma = c ? in->src.plane[2] : in->src.plane[1];
    const ptrdiff_t stride = c ? in->src.stride[2] : in->src.stride[1];
    uint32_t ssd = 0;
    if (direct->blocks != MOTUS_ALL_DIRECT) return 0;
    b_make_skip(skip, in, direct);
    lane_predict_luma(skip->luma, in, &skip->mb);
    motus_lanes_sync(); // the prediction is written
    for (int k = lane; k < 64; k += MOTUS_LANES)
        ssd = motus_words_ssd(
            motus_word_get(in->src.plane[0] + (k >> 2) * in->src.stride[0] + 4 * (k & 3)),
            motus_word_get(skip->luma + 4 * k), ssd);
    ssd = motus_lanes_sum(ssd);
    if (!motus_skip_is_enough(motus_rd_cost_in(unit, ssd, bits, in->qp->lambda_ssd_q8), in->qp,
                              effort))
        return 0;
    lane_predict_chroma(skip->chroma, in, &skip->mb);
    motus_lanes_sync(); // the prediction is written
    ssd += motus_lanes_sum(
        motus_words_ssd(motus_word_get(chroma + row * stride + 4 * (lane & 1)),
                        motus_word_get(skip->chroma[c] + 8 * row + 4 * (lane & 1)), 0));
    return motus_skip_is_enough(motus_rd_cost_in(unit, ssd, bits, in->qp->lambda_ssd_q8), in->qp,
                                effort);
}

// Evaluates B_Skip, and measures the prediction that it shares with direct blocks.
MOTUS_WARP void b_team_skip(const MotusInterMb *in, const MotusLevelChoice *levels,
                            const MotusDirectSource *source, int i, MotusBTeam *t) {
    const int lane = motus_lane(), blk = lane & 15;
    const MotusDirect direct = motus_direct_of(&in->neighbours, source, i);
    if (lane == 0) t->choice.direct = direct;
    motus_lanes_sync(); // it is written
    b_make_skip(&t->skip, in, &t->choice.direct);
    const MotusLaneBlock b = lane_predict(&t->skip, in);
    uint32_t satd = motus_words_satd(b.src, b.rec);
    satd = lane_8x8_sum(satd);
    const int q = motus_8x8_of(blk);
    if (lane < 16 && !(blk & 5)) t->direct_satd[q] = motus_b_direct_satd(&direct, q, satd);
    lane_measure(&t->skip, &b, in->qp, motus_skip_bits(in, &t->skip.mb), levels);
    if (lane == 0 && direct.blocks != MOTUS_ALL_DIRECT) t->skip.cost = UINT32_MAX;
}

// Measures the near pairs of a warp, a half of the warp each list: all warps but that of B_Skip
// have some.
MOTUS_WARP void b_team_near(const MotusInterMb *in, const MotusEdge *edge, MotusBTeam *t,
                            int warp) {
    const int half = motus_lane() >> 4, blk = motus_lane() & 15, q = motus_8x8_of(blk);
    const uint8_t *src = in->src.plane[0] + 4 * (blk >> 2) * in->src.stride[0] + 4 * (blk & 3);
    const int pair_offset = in->ref[0].pair_offset;
    b_grids_load(t->grid[warp], edge);
    MOTUS_ONE_BODY
    for (int k = warp - 1; k < MOTUS_B_NEAR; k += MOTUS_B_WARPS - 1) {
        const int cell = k == 1 ? 6 : k == 2 ? 1 : 5; // A, B, C
        const MotusLanePartition whole = lane_whole_partition(0, 0);
        const MotusMv mv = motus_mv_of_word(k ? t->grid[warp][half][cell].mv
                                              : lane_mvp(t->grid[warp][half], &whole, 0));
        const MotusReference *ref = &in->ref[half ? in->refs : 0];
        MotusBNear *near = &t->near[k];
        uint32_t s[4], row[4], pair[4];
        for (int i = 0; i < 4; i++) s[i] = motus_word_get(src + i * in->src.stride[0]);
        lane_luma_rows(row, 4, ref, ref->luma, 16 * in->x + 4 * (blk & 3),
                       16 * in->y + 4 * (blk >> 2), mv);
        for (int i = 0; i < 4; i++)
            pair[i] = lane_pair(row[i], motus_lanes_shuffle(row[i], motus_lane() ^ 16),
                                half ? -pair_offset : pair_offset);
        const uint32_t alone = lane_8x8_sum(motus_words_satd(s, row)),
                       both = lane_8x8_sum(motus_words_satd(s, pair));
        if (!(blk & 5)) { // the 8x8 block's first one
            near->satd[half][q] = alone;
            if (!half) near->satd[MOTUS_PRED_BI][q] = both;
            if (!blk) near->mv[half] = mv;
        }
    }
}

// ---- Choice -------------------------------------------------------------------------------------

// Sets lists and MVs of a partition's 8x8 blocks in an MB, and its cells in the grids.
MOTUS_WARP void b_lane_put(MotusLaneGrid grid[2], uint32_t cells, const MotusBOption *option,
                           MotusMb *mb) {
    const int lane = motus_lane(), list = lane >> 4, blk = lane & 15;
    const int uses = motus_pred_uses(option->pred, list);
    const MotusLaneCell cell = {uses ? motus_mv_word(option->mv[list]) : 0,
                                uses ? MOTUS_CELL_INTER + option->ref[list] : MOTUS_CELL_INTRA};
    motus_lanes_sync(); // all have read the grids
    if (cells >> blk & 1) grid[list][6 * (blk >> 2) + (blk & 3) + 7] = cell;
    if (lane < 4 && cells >> motus_corner_of(lane) & 1)
        motus_set_8x8(mb, lane, option->pred, option->ref, option->mv[0], option->mv[1]);
    motus_lanes_sync(); // they are written
}

// Chooses among the options of a partition.
MOTUS_WARP MotusBOption b_lane_choose(const MotusBCandidates *found, const MotusBNear *near,
                                      const MotusInterMb *in, MotusLaneGrid grid[2],
                                      const MotusLanePartition *p) {
    const int n = MOTUS_B_OPTIONS, further = in->refs > 1 && found[1].blocks >> p->block & 1,
              i = motus_min(motus_lane(), n + (further ? MOTUS_B_FURTHER : 0) - 1),
              ref = i < n ? 0 : motus_b_ref(&found[1], p->block);
    const MotusMv predictor[2] = {motus_mv_of_word(lane_mvp(grid[0], p, ref)),
                                  motus_mv_of_word(lane_mvp(grid[1], p, 0))};
    const MotusBOption own = motus_b_option(i < n ? found : &found[1], near, p->block,
                                            i < n ? i : 2 * (i - n), predictor, in);
    const uint32_t least = // cost << 5 | option: the cost is below 2^19
        motus_lanes_min(motus_b_option_cost(&own, in->qp) << 5 | (uint32_t)i);
    const int at = (int)(least & 31);
    MotusBOption best;
    best.pred = (int)motus_lanes_shuffle((uint32_t)own.pred, at);
    best.ref[0] = (uint8_t)(in->refs > 1 ? motus_lanes_shuffle(own.ref[0], at) : 0);
    best.ref[1] = 0;
    for (int list = 0; list < 2; list++)
        best.mv[list] = motus_mv_of_word(motus_lanes_shuffle(motus_mv_word(own.mv[list]), at));
    best.satd = motus_lanes_shuffle(own.satd, at);
    best.bits = motus_lanes_shuffle(own.bits, at);
    best.mv_bits = motus_lanes_shuffle(own.mv_bits, at);
    return best;
}

MOTUS_WARP void b_team_put(const MotusInterMb *in, MotusBChoice *choice, int k, uint32_t satd,
                           uint32_t bits, uint32_t mv_bits) {
    if (motus_lane()) return;
    choice->cost[k] = satd + motus_mode_cost(in->qp, bits + motus_b_mode_bits(&choice->mb[k]));
    choice->mv_bits[k] = mv_bits;
}

// Chooses type k: 16x16, 16x8 or 8x16.
MOTUS_WARP void b_team_choose_whole(const MotusBCandidates *found, const MotusInterMb *in,
                                    MotusLaneGrid grid[2], int k, MotusBTeam *t) {
    const int mode = k - MOTUS_B_16x16;
    MotusMb *mb = &t->choice.mb[k];
    uint32_t satd = 0, bits = 0, mv_bits = 0;
    b_clear(mb);
    if (motus_lane() == 0) mb->type = (uint8_t)(MOTUS_MB_P_16x16 + mode);
    for (int i = 0; i < (mode ? 2 : 1); i++) {
        const MotusLanePartition p = lane_whole_partition(mode, i);
        const MotusBOption best = b_lane_choose(found, t->near, in, grid, &p);
        b_lane_put(grid, p.cells, &best, mb);
        satd += best.satd, bits += best.bits, mv_bits += best.mv_bits;
    }
    b_team_put(in, &t->choice, k, satd, bits, mv_bits);
}

// Chooses the four blocks of B_8x8.
MOTUS_WARP void b_team_choose_8x8(const MotusBCandidates *found, const MotusInterMb *in,
                                  MotusLaneGrid grid[2], MotusBTeam *t) {
    const MotusDirect *direct = &t->choice.direct;
    MotusMb *mb = &t->choice.mb[MOTUS_B_8x8];
    uint32_t satd = 0, bits = 0, mv_bits = 0;
    int mask = 0;
    b_clear(mb);
    for (int q = 0; q < 4; q++) {
        const MotusLanePartition p = lane_sub_partition(MOTUS_SUB_8x8, q, 0);
        MotusBOption best = b_lane_choose(found, t->near, in, grid, &p);
        if (motus_b_direct_wins(t->direct_satd[q], &best, in->qp)) {
            best.pred = direct->pred, best.satd = t->direct_satd[q];
            best.bits = best.mv_bits = 0;
            for (int list = 0; list < 2; list++)
                best.mv[list] = direct->mv[list][q], best.ref[list] = direct->ref[q][list];
            mask |= 1 << q;
        }
        b_lane_put(grid, p.cells, &best, mb);
        satd += best.satd, bits += best.bits, mv_bits += best.mv_bits;
    }
    if (motus_lane() == 0) mb->type = MOTUS_MB_P_8x8, mb->direct = (uint8_t)mask;
    b_team_put(in, &t->choice, MOTUS_B_8x8, satd, bits, mv_bits);
    if (motus_lane() == 0 && mask == MOTUS_ALL_DIRECT) // B_Direct_16x16 says the same
        t->choice.cost[MOTUS_B_8x8] = UINT32_MAX;
}

// Chooses the types of a warp.
MOTUS_WARP void b_team_choose(const MotusBCandidates *found, const MotusInterMb *in,
                              const MotusEdge *edge, MotusBTeam *t, int warp) {
    const int k = MOTUS_B_16x16 + warp;
    MotusLaneGrid *grid = t->grid[warp];
    if (warp == 0) {
        b_make_direct(&t->choice.mb[MOTUS_B_DIRECT], &t->choice.direct, MOTUS_MB_P_16x16);
        b_team_put(in, &t->choice, MOTUS_B_DIRECT,
                   t->direct_satd[0] + t->direct_satd[1] + t->direct_satd[2] + t->direct_satd[3], 0,
                   0);
    }
    if (motus_lane() == 0) t->choice.cost[k] = UINT32_MAX;
    if (!motus_b_has_type(found, k)) return;
    b_grids_load(grid, edge);
    if (k == MOTUS_B_8x8)
        b_team_choose_8x8(found, in, grid, t);
    else
        b_team_choose_whole(found, in, grid, k, t);
}

// ---- Trials -------------------------------------------------------------------------------------

// Returns the mask of types that are evaluated, and *first, the best one by SATD.
MOTUS_WARP uint32_t b_team_close(const MotusBChoice *choice, int gate, int *first) {
    const int k = motus_min(motus_lane(), MOTUS_B_TYPES - 1);
    const uint32_t cost = choice->cost[k], least = motus_lanes_min(cost);
    const uint32_t which = motus_lanes_ballot(cost == least);
    *first = motus_bit_length(which & (0u - which)) - 1;
    return motus_lanes_ballot(cost != UINT32_MAX &&
                              (uint64_t)cost * 16 <= (uint64_t)least * (uint32_t)gate) &
           ((1u << MOTUS_B_TYPES) - 1);
}

// Returns the cheapest trial, to all warps. B_Skip wins ties, then the best type by SATD, then the
// next type.
MOTUS_WARP MotusTrial *b_team_join(int first, uint32_t close, MotusBTeam *t) {
    const int i = motus_min(motus_lane(), MOTUS_B_TYPES - 1), k = (first + i) % MOTUS_B_TYPES;
    const uint32_t cost = close >> k & 1 ? t->trial[k].cost : UINT32_MAX,
                   least = motus_lanes_min(cost);
    const uint32_t which = motus_lanes_ballot(cost == least);
    if (least >= t->skip.cost) return &t->skip;
    return &t->trial[(first + motus_bit_length(which & (0u - which)) - 1) % MOTUS_B_TYPES];
}

// Returns the cheapest inter coding of the MB. coefs: each warp's; transforms, too, NULL:
// in->quant8 is. *satd: as in MotusBOps.types, 0 if B_Skip was taken at once.
MOTUS_WARP MotusTrial *motus_b_team_decide(const MotusInterMb *in, const MotusBCandidates *found,
                                           const MotusDirectSource *source, int mb_i,
                                           const MotusEffort *effort,
                                           const MotusLevelChoice *levels, MotusBTeam *t,
                                           MotusTrialCoefs *coefs, MotusTransformShared *transforms,
                                           int warp, uint32_t *satd) {
    const MotusEdge edge = motus_edge(&in->neighbours, in->refs, 2);
    const MotusMv none = {0, 0};
    int first;
    if (warp == 0)
        b_team_skip(in, levels, source, mb_i, t);
    else
        b_team_near(in, &edge, t, warp);
    motus_team_sync(); // B_Skip is evaluated, near pairs are measured
    *satd = 0;
    if (motus_skip_is_enough(t->skip.cost, in->qp, effort)) return &t->skip;
    b_team_choose(found, in, &edge, t, warp);
    motus_team_sync(); // types are chosen
    const uint32_t close = b_team_close(&t->choice, effort->trial_gate, &first);
    for (int i = 0, turn = 0; i < MOTUS_B_TYPES; i++) {
        const int k = (first + i) % MOTUS_B_TYPES;
        if (!(close >> k & 1)) continue;
        if (turn == warp)
            lane_type(in, edge.counts, levels, &t->choice.mb[k], none, t->choice.mv_bits[k],
                      &coefs[warp], transforms ? &transforms[warp] : NULL, &t->trial[k]);
        turn = (turn + 1) % MOTUS_B_WARPS;
    }
    motus_team_sync(); // every type is evaluated
    MotusTrial *best = b_team_join(first, close, t);
    *satd = t->choice.cost[first];
    if (best->bits > MOTUS_MB_BITS_LIMIT) {
        motus_team_sync(); // all warps have compared
        if (warp == 0) motus_trial_pcm(best, &in->src, in->qp);
        motus_team_sync(); // the trial is replaced
    }
    return best;
}

#endif
