// Decision of a B MB on the CPU: B_Skip, the choice of lists and MVs of each type by SATD + lambda
// * bits with the predictors that the neighbours' MVs give, then trials of the types that come
// close to the best one. b_warp.cuh has the warp's version.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_CPU_H
#define ENCODER_ANALYSE_B_CPU_H

#include "encoder/analyse/b_candidates_cpu.h"
#include "encoder/analyse/inter_cpu.h"

// ---- Choice -------------------------------------------------------------------------------------

typedef struct MotusBDecideScratch {
    MotusTrial trial[2];
    MotusBChoice choice;
    MotusResidual residual;
    MotusRefineCur cur;
    MotusMvGrid grid[2];           // of each list
    MotusBNear near[MOTUS_B_NEAR]; // of the grids as they are loaded
    uint32_t direct_satd[4];       // of each 8x8 block
} MotusBDecideScratch;

// Loads the neighbours' MVs, and measures them and those predicted from them.
static inline void b_measure_near(const MotusInterMb *in, const MotusRefineOps *ops,
                                  MotusBDecideScratch *s) {
    static const uint8_t cell[MOTUS_B_NEAR][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 5}}; // row, column
    const MotusPartition whole = motus_partition_at(MOTUS_MODE_16x16, 0, 0, 0);
    uint8_t luma[2][256], pair[256];
    for (int list = 0; list < 2; list++) motus_grid_load(&s->grid[list], &in->neighbours, list);
    for (int k = 0; k < MOTUS_B_NEAR; k++) {
        MotusBNear *near = &s->near[k];
        for (int list = 0; list < 2; list++) {
            near->mv[list] = k ? s->grid[list].mv[cell[k][0]][cell[k][1]]
                               : motus_grid_mvp(&s->grid[list], &whole, 0);
            motus_predict_luma_block(luma[list], &in->ref[list ? in->refs : 0], in->x, in->y, 0, 0,
                                     16, 16, near->mv[list]);
        }
        const MotusTaps taps[MOTUS_PREDS] = {
            [MOTUS_PRED_L0] = {{luma[0], luma[0]}},
            [MOTUS_PRED_L1] = {{luma[1], luma[1]}},
            [MOTUS_PRED_BI] = motus_b_pair_taps(
                in->ref[0].pair_offset, &motus_blocks[MOTUS_BLOCK_16x16], luma[0], luma[1], pair)};
        for (int pred = 0; pred < MOTUS_PREDS; pred++) {
            uint32_t sum[MOTUS_BLOCKS];
            ops->satd_mb(&s->cur, &taps[pred], MOTUS_LUMA_STRIDE, 15, sum);
            memcpy(near->satd[pred], sum + MOTUS_BLOCK_8x8, sizeof near->satd[pred]);
        }
    }
}

// Sets the MVs of 8x8 block q of a partition in the grids. A list that it does not use gives zero.
static inline void b_grid_set(MotusMvGrid grid[2], const MotusPartition *p, const MotusMb *mb,
                              int q) {
    for (int list = 0; list < 2; list++)
        motus_grid_set(&grid[list], p->x, p->y, p->width, p->height,
                       motus_list_cell(mb, motus_corner_of(q), list));
}

// Chooses among the options of a partition, and sets its choice in mb and grids.
static inline MotusBOption b_choose_partition(const MotusBCandidates found[MOTUS_B_SETS],
                                              const MotusInterMb *in, MotusBDecideScratch *s,
                                              const MotusPartition *p, MotusMb *mb) {
    const int n = MOTUS_B_OPTIONS, further = (int)(found[1].blocks >> p->block & 1);
    MotusMv predictor[2];
    MotusBOption best = {.pred = 0};
    uint32_t least = UINT32_MAX;
    for (int list = 0; list < 2; list++) predictor[list] = motus_grid_mvp(&s->grid[list], p, 0);
    for (int i = 0; i < n + (further ? MOTUS_B_FURTHER : 0); i++) {
        if (i == n) predictor[0] = motus_grid_mvp(&s->grid[0], p, motus_b_ref(&found[1], p->block));
        const MotusBOption option = motus_b_option(&found[i >= n], s->near, p->block,
                                                   i < n ? i : 2 * (i - n), predictor, in);
        const uint32_t cost = motus_b_option_cost(&option, in->qp);
        if (cost >= least) continue;
        least = cost, best = option;
    }
    for (int y = p->y; y < p->y + p->height; y += 2)
        for (int x = p->x; x < p->x + p->width; x += 2)
            motus_set_8x8(mb, y + x / 2, best.pred, best.ref, best.mv[0], best.mv[1]);
    b_grid_set(s->grid, p, mb, p->y + p->x / 2);
    return best;
}

// Completes the choice of type k, whose MVs are set. Clears the MB's own cells of the grids.
static inline void b_choice_put(const MotusInterMb *in, MotusBDecideScratch *s, int k,
                                uint32_t satd, uint32_t bits, uint32_t mv_bits) {
    const MotusMvCell none = {{0, 0}, MOTUS_CELL_NONE};
    MotusBChoice *choice = &s->choice;
    choice->cost[k] = satd + motus_mode_cost(in->qp, bits + motus_b_mode_bits(&choice->mb[k]));
    choice->mv_bits[k] = mv_bits;
    for (int list = 0; list < 2; list++) motus_grid_set(&s->grid[list], 0, 0, 4, 4, none);
}

// Chooses every type among the candidates' blocks. s: direct_satd and near are set.
static inline void b_choose_types(const MotusInterMb *in, const MotusBCandidates *found,
                                  MotusBDecideScratch *s) {
    MotusBChoice *choice = &s->choice;
    uint32_t direct = 0;
    memset(choice->mb, 0, sizeof choice->mb);
    for (int k = 0; k < MOTUS_B_TYPES; k++) choice->cost[k] = UINT32_MAX;
    choice->mb[MOTUS_B_DIRECT].type = MOTUS_MB_P_16x16;
    for (int q = 0; q < 4; q++) {
        motus_set_direct(&choice->mb[MOTUS_B_DIRECT], q, &choice->direct);
        direct += s->direct_satd[q];
    }
    b_choice_put(in, s, MOTUS_B_DIRECT, direct, 0, 0);
    for (int k = MOTUS_B_16x16; k <= MOTUS_B_8x8; k++) {
        MotusMb *mb = &choice->mb[k];
        const int mode = k - MOTUS_B_16x16;
        uint32_t satd = 0, bits = 0, mv_bits = 0;
        if (!motus_b_has_type(found, k)) continue;
        mb->type = (uint8_t)(MOTUS_MB_P_16x16 + mode);
        for (int i = 0; i < (k == MOTUS_B_8x8 ? 4 : mode ? 2 : 1); i++) {
            const int q = k == MOTUS_B_16x8 ? 2 * i : i; // the first 8x8 block
            const MotusPartition p =
                motus_partition_at(mode, k == MOTUS_B_8x8 ? 0 : i, q % 2 * 2, q / 2 * 2);
            const MotusBOption own = b_choose_partition(found, in, s, &p, mb);
            if (k == MOTUS_B_8x8 && motus_b_direct_wins(s->direct_satd[q], &own, in->qp)) {
                motus_set_direct(mb, q, &choice->direct);
                b_grid_set(s->grid, &p, mb, q);
                satd += s->direct_satd[q];
            } else {
                satd += own.satd, bits += own.bits, mv_bits += own.mv_bits;
            }
        }
        b_choice_put(in, s, k, satd, bits, mv_bits);
    }
    if (choice->mb[MOTUS_B_8x8].direct == MOTUS_ALL_DIRECT) // B_Direct_16x16 says the same
        choice->cost[MOTUS_B_8x8] = UINT32_MAX;
}

// ---- Trials -------------------------------------------------------------------------------------

// Makes the trial B_Skip, and predicts it.
static inline void b_predict_skip(const MotusInterMb *in, const MotusDirect *direct,
                                  MotusTrial *trial) {
    MotusMb *mb = &trial->mb;
    memset(mb, 0, sizeof *mb);
    mb->type = MOTUS_MB_P_SKIP;
    mb->qp = in->qp->luma.qp;
    for (int q = 0; q < 4; q++) motus_set_direct(mb, q, direct);
    trial->luma_bits = 0;
    motus_predict_inter(trial->luma, trial->chroma, in, mb);
}

// True if B_Skip is taken at once whatever the MB's neighbours are; it is left in the trial then.
// direct: does not depend on them.
static inline int motus_b_skip_is_sure(const MotusInterMb *in, const MotusDirect *direct,
                                       const MotusEffort *effort, const MotusLevelChoice *levels,
                                       MotusTrial *trial) {
    if (direct->blocks != MOTUS_ALL_DIRECT) return 0;
    b_predict_skip(in, direct, trial);
    motus_trial_measure(trial, in, levels, motus_most_b_skip_bits(in->costs));
    return motus_skip_is_enough(trial->cost, in->qp, effort);
}

// Begins the decision of an MB: evaluates B_Skip, which becomes the first trial, and measures the
// prediction that it shares with direct blocks. source, i: of motus_direct_of. True if it is taken
// at once: then there is no need of candidates.
static inline int motus_b_decide_skip(const MotusInterMb *in, const MotusDirectSource *source,
                                      int i, const MotusEffort *effort,
                                      const MotusLevelChoice *levels, const MotusRefineOps *ops,
                                      MotusBDecideScratch *s) {
    MotusTrial *trial = &s->trial[0];
    const MotusDirect *direct = &s->choice.direct;
    uint32_t sum[MOTUS_BLOCKS];
    s->choice.direct = motus_direct_of(&in->neighbours, source, i);
    b_predict_skip(in, direct, trial);
    motus_trial_measure(trial, in, levels, motus_skip_bits(in, &trial->mb));
    if (direct->blocks != MOTUS_ALL_DIRECT) trial->cost = UINT32_MAX;
    const MotusTaps taps = {{trial->luma, trial->luma}};
    ops->prepare(&s->cur, in->src.plane[0], in->src.stride[0]);
    ops->satd_mb(&s->cur, &taps, MOTUS_LUMA_STRIDE, 15, sum);
    for (int q = 0; q < 4; q++)
        s->direct_satd[q] = motus_b_direct_satd(direct, q, sum[MOTUS_BLOCK_8x8 + q]);
    return motus_skip_is_enough(trial->cost, in->qp, effort);
}

// Completes it: returns the cheapest inter coding of the MB, one of the scratch's two trials. *satd
// becomes the cost of the best type by SATD.
static inline MotusTrial *
motus_b_decide_types(const MotusInterMb *in, const MotusBCandidates *found,
                     const MotusEffort *effort, const MotusLevelChoice *levels,
                     const MotusRefineOps *ops, MotusBDecideScratch *s, uint32_t *satd) {
    const MotusBChoice *choice = &s->choice;
    const MotusMv none = {0, 0};
    b_measure_near(in, ops, s);
    b_choose_types(in, found, s);
    return motus_try_types(in, effort, levels, MOTUS_B_TYPES, choice->mb, choice->cost,
                           choice->mv_bits, none, &s->residual, s->trial, satd);
}

#endif
