// Candidates of a B MB on the CPU: the MVs of each list, and pairs that are refined together. Then
// the choice of its lists and MVs, by SATD + lambda * bits with the predictors that the neighbours'
// MVs give. b_candidates_warp.cuh and b_team_warp.cuh have the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_CHOICE_CPU_H
#define ENCODER_ANALYSE_B_CHOICE_CPU_H

#include "encoder/analyse/b_core.h"
#include "encoder/analyse/inter_choice_cpu.h"
#include "me/search/refine.h"

// ---- Candidates ---------------------------------------------------------------------------------

// A B MB to search, and where.
typedef struct MotusBJob {
    const MotusReference *ref; // of both lists
    const MotusRefLuma *ref_luma[2];
    const MotusRefineOps *ops;
    MotusSubpel subpel;
    const MotusEffort *effort;
    const MotusInterLimits *limits;
    uint32_t lambda_q8;
    MotusMbSource src;
    MotusMv centre[2]; // predictors of the costs
    int x, y;          // MBs
} MotusBJob;

// Predictions of a block, at its place in the MB, and the MB that they are compared with.
typedef struct MotusBPredictions {
    MotusRefineCur cur;
    uint8_t list[2][256], trial[8][256];
    uint8_t pair[8][256]; // weighted sums
} MotusBPredictions;

// Returns the samples whose averages predict a block from both lists: the two predictions, or, if
// they have weights, `pair`, which it fills.
static inline MotusTaps motus_b_pair_taps(const MotusReference ref[2], const MotusBlock *block,
                                          const uint8_t *list0, const uint8_t *list1,
                                          uint8_t pair[256]) {
    const int at = block->y * MOTUS_LUMA_STRIDE + block->x;
    if (!ref[1].pair_offset) return (MotusTaps){{list0, list1}};
    for (int y = 0; y < block->height; y++)
        memcpy(pair + at + y * MOTUS_LUMA_STRIDE, list0 + at + y * MOTUS_LUMA_STRIDE,
               (size_t)block->width);
    motus_pair_block(pair + at, list1 + at, MOTUS_LUMA_STRIDE, block->width, block->height,
                     ref[1].pair_offset);
    return (MotusTaps){{pair, pair}};
}

static inline void motus_b_predict(const MotusBJob *in, const MotusBlock *block, int list,
                                   MotusMv mv, uint8_t luma[256]) {
    motus_predict_luma_block(luma, &in->ref[list], in->x, in->y, block->x, block->y, block->width,
                             block->height, mv);
}

static inline uint32_t motus_b_mv_cost(const MotusBJob *in, int list, MotusMv mv) {
    return motus_mv_cost(in->lambda_q8, mv, in->centre[list]);
}

// Measures a block with each list and with both.
static inline void motus_b_measure(const MotusBJob *in, MotusBPredictions *p, int b,
                                   MotusBCandidates *found) {
    MotusTaps taps[MOTUS_PREDS] = {
        [MOTUS_PRED_L0] = {{p->list[0], p->list[0]}}, [MOTUS_PRED_L1] = {{p->list[1], p->list[1]}}};
    uint32_t satd[MOTUS_REFINE_TRIALS];
    for (int list = 0; list < 2; list++)
        motus_b_predict(in, &motus_blocks[b], list, found->mv[list][b], p->list[list]);
    taps[MOTUS_PRED_BI] =
        motus_b_pair_taps(in->ref, &motus_blocks[b], p->list[0], p->list[1], p->pair[0]);
    in->ops->satd_block(&p->cur, &motus_blocks[b], taps, MOTUS_PREDS, MOTUS_LUMA_STRIDE, satd);
    for (int pred = 0; pred < MOTUS_PREDS; pred++) found->satd[pred][b] = satd[pred];
}

// Moves the MV of one list to the best of its eight nearest neighbours, the other list's prediction
// being fixed. Returns 0 if it stays.
static inline int motus_b_refine_list(const MotusBJob *in, MotusBPredictions *p, int b, int list,
                                      MotusBCandidates *found) {
    const MotusBlock *block = &motus_blocks[b];
    const MotusMv from = found->both[list][b];
    const int unit = in->limits->unit;
    MotusTaps taps[8];
    MotusMv mv[8];
    uint32_t satd[MOTUS_REFINE_TRIALS];
    for (int k = 0; k < 8; k++) {
        mv[k] = (MotusMv){(int16_t)(from.x + unit * motus_neighbour_dx(k)),
                          (int16_t)(from.y + unit * motus_neighbour_dy(k))};
        motus_b_predict(in, block, list, mv[k], p->trial[k]);
        taps[k] = motus_b_pair_taps(in->ref, block, list ? p->list[0] : p->trial[k],
                                    list ? p->trial[k] : p->list[1], p->pair[k]);
    }
    in->ops->satd_block(&p->cur, block, taps, 8, MOTUS_LUMA_STRIDE, satd);
    uint32_t best = found->satd[MOTUS_PRED_BI][b] + motus_b_mv_cost(in, list, from);
    int at = -1;
    for (int k = 0; k < 8; k++) {
        const uint32_t cost = satd[k] + motus_b_mv_cost(in, list, mv[k]);
        if (cost < best && motus_mv_allowed(in->limits, mv[k])) best = cost, at = k;
    }
    if (at < 0) return 0;
    found->both[list][b] = mv[at];
    found->satd[MOTUS_PRED_BI][b] = satd[at];
    memcpy(p->list[list], p->trial[at], 256);
    return 1;
}

// Finds the candidates of an MB from the whole-sample MVs and costs of both lists.
static inline void motus_b_candidates(const MotusBJob *in, MotusMbMotion motion[2],
                                      MotusBCandidates *found) {
    MotusBPredictions p;
    in->ops->prepare(&p.cur, in->src.plane[0], in->src.stride[0]);
    found->blocks = motus_b_blocks(motion[0].cost, motion[1].cost, in->effort);
    for (int list = 0; list < 2; list++) {
        const MotusMbJob job = {.cur = in->src.plane[0],
                                .cur_stride = in->src.stride[0],
                                .ref = in->ref_luma[list],
                                .x = 16 * in->x,
                                .y = 16 * in->y,
                                .predictor = in->centre[list],
                                .lambda_q8 = in->lambda_q8};
        motus_refine_blocks(&job, in->subpel, in->ops, found->blocks, &motion[list]);
        for (int b = 0; b < MOTUS_B_BLOCKS; b++)
            found->mv[list][b] = found->both[list][b] = motion[list].mv[b];
    }
    for (uint64_t left = found->blocks; left; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        motus_b_measure(in, &p, b, found);
        if (!motus_b_pair_is_close(found->satd[MOTUS_PRED_BI][b], found->satd[MOTUS_PRED_L0][b],
                                   found->satd[MOTUS_PRED_L1][b]))
            continue;
        for (int step = 0, still = 0; step < in->effort->pair_steps && still < 2; step++)
            still = motus_b_refine_list(in, &p, b, ~step & 1, found) ? 0 : still + 1;
    }
}

// ---- Choice -------------------------------------------------------------------------------------

typedef struct MotusBScratch {
    MotusRefineCur cur;
    MotusMvGrid grid[2];     // of each list
    MotusBNear near;         // of the grids as they are loaded
    uint32_t direct_satd[4]; // of each 8x8 block
} MotusBScratch;

// Loads the neighbours' MVs, and measures those predicted from them.
static inline void motus_b_measure_near(const MotusInterMb *in, const MotusRefineOps *ops,
                                        MotusBScratch *s) {
    uint8_t luma[2][256], pair[256];
    for (int list = 0; list < 2; list++) {
        motus_grid_load_list(&s->grid[list], &in->neighbours, list, 0);
        s->near.mv[list] = motus_mvp(&s->grid[list], MOTUS_MODE_16x16, 0, 0, 0, 4);
        motus_predict_luma_block(luma[list], &in->ref[list], in->x, in->y, 0, 0, 16, 16,
                                 s->near.mv[list]);
    }
    const MotusTaps taps[MOTUS_PREDS] = {
        [MOTUS_PRED_L0] = {{luma[0], luma[0]}},
        [MOTUS_PRED_L1] = {{luma[1], luma[1]}},
        [MOTUS_PRED_BI] =
            motus_b_pair_taps(in->ref, &motus_blocks[MOTUS_BLOCK_16x16], luma[0], luma[1], pair)};
    uint32_t satd[MOTUS_REFINE_TRIALS];
    ops->satd_block(&s->cur, &motus_blocks[MOTUS_BLOCK_16x16], taps, MOTUS_PREDS, MOTUS_LUMA_STRIDE,
                    satd);
    memcpy(s->near.satd, satd, sizeof s->near.satd);
}

// Sets the MVs of 8x8 block q of a partition in the grids. A list that it does not use gives zero.
static inline void motus_b_grid_set(MotusMvGrid grid[2], const MotusPartition *p, const MotusMb *mb,
                                    int q) {
    for (int list = 0; list < 2; list++) {
        const int used = motus_pred_uses(mb->pred[q], list) && !mb->ref[list][q];
        motus_grid_set(&grid[list], p->x, p->y, p->width, p->height,
                       used ? MOTUS_CELL_INTER : MOTUS_CELL_INTRA,
                       list ? mb->mv1[q] : mb->mv[motus_corner_of(q)]);
    }
}

// Chooses among the first n options of a partition, and sets them in mb and grids.
static inline MotusBOption motus_b_choose_partition(const MotusBCandidates *found,
                                                    const MotusInterMb *in, MotusBScratch *s,
                                                    const MotusPartition *p, int n, MotusMb *mb) {
    static const uint8_t first_ref[2] = {0, 0};
    MotusMv predictor[2];
    for (int list = 0; list < 2; list++)
        predictor[list] = motus_mvp(&s->grid[list], p->mode, p->part, p->x, p->y, p->width);
    MotusBOption best = motus_b_option(found, &s->near, p->block, 0, predictor);
    uint32_t least = motus_b_option_cost(&best, in->qp);
    for (int i = 1; i < n; i++) {
        const MotusBOption option = motus_b_option(found, &s->near, p->block, i, predictor);
        const uint32_t cost = motus_b_option_cost(&option, in->qp);
        if (cost >= least) continue;
        least = cost, best = option;
    }
    for (int y = p->y; y < p->y + p->height; y += 2)
        for (int x = p->x; x < p->x + p->width; x += 2)
            motus_set_8x8(mb, y + x / 2, best.pred, first_ref, best.mv[0], best.mv[1]);
    motus_b_grid_set(s->grid, p, mb, p->y + p->x / 2);
    return best;
}

// Completes the choice of type k, whose MVs are set. Clears the MB's own cells of the grids.
static inline void motus_b_choice_put(const MotusInterMb *in, MotusBScratch *s,
                                      MotusBChoice *choice, int k, uint32_t satd,
                                      uint32_t mv_bits) {
    choice->cost[k] = satd + motus_mode_cost(in->qp, mv_bits + motus_b_mode_bits(&choice->mb[k]));
    choice->mv_bits[k] = mv_bits;
    for (int list = 0; list < 2; list++) motus_grid_clear(&s->grid[list], 0, 0, 4, 4);
}

// Chooses type k: 16x16, 16x8 or 8x16.
static inline void motus_b_choose_whole(const MotusBCandidates *found, const MotusInterMb *in,
                                        MotusBScratch *s, int k, MotusBChoice *choice) {
    MotusMb *mb = &choice->mb[k];
    const int mode = k - MOTUS_B_16x16;
    uint32_t satd = 0, mv_bits = 0;
    mb->type = (uint8_t)(MOTUS_MB_P_16x16 + mode);
    for (int i = 0; i < (mode ? 2 : 1); i++) {
        const MotusPartition p =
            motus_partition_at(mode, i, mode == 2 ? 2 * i : 0, mode == 1 ? 2 * i : 0);
        const MotusBOption chosen = motus_b_choose_partition(
            found, in, s, &p, mode ? MOTUS_B_OPTIONS : MOTUS_B_OPTIONS_16x16, mb);
        satd += chosen.satd, mv_bits += chosen.bits;
    }
    motus_b_choice_put(in, s, choice, k, satd, mv_bits);
}

// Chooses the four blocks of B_8x8, each direct or with MVs.
static inline void motus_b_choose_8x8(const MotusBCandidates *found, const MotusInterMb *in,
                                      MotusBScratch *s, MotusBChoice *choice) {
    MotusMb *mb = &choice->mb[MOTUS_B_8x8];
    uint32_t satd = 0, mv_bits = 0;
    mb->type = MOTUS_MB_P_8x8;
    for (int q = 0; q < 4; q++) {
        const MotusPartition p = motus_partition_at(MOTUS_MODE_8x8, 0, q % 2 * 2, q / 2 * 2);
        const MotusBOption own = motus_b_choose_partition(found, in, s, &p, MOTUS_B_OPTIONS, mb);
        if (motus_b_direct_wins(s->direct_satd[q], &own, in->qp)) {
            motus_set_direct(mb, q, &choice->direct);
            motus_b_grid_set(s->grid, &p, mb, q);
            satd += s->direct_satd[q];
        } else {
            satd += own.satd, mv_bits += own.bits;
        }
    }
    motus_b_choice_put(in, s, choice, MOTUS_B_8x8, satd, mv_bits);
    if (mb->direct == MOTUS_ALL_DIRECT) // B_Direct_16x16 says the same
        choice->cost[MOTUS_B_8x8] = UINT32_MAX;
}

// Chooses every type among the candidates' blocks. s: direct_satd and near are set.
static inline void motus_b_choose_types(const MotusInterMb *in, const MotusBCandidates *found,
                                        MotusBScratch *s, MotusBChoice *choice) {
    MotusMb *direct = &choice->mb[MOTUS_B_DIRECT];
    for (int k = 0; k < MOTUS_B_TYPES; k++) {
        memset(&choice->mb[k], 0, sizeof choice->mb[k]);
        choice->cost[k] = UINT32_MAX;
    }
    direct->type = MOTUS_MB_P_16x16;
    for (int q = 0; q < 4; q++) motus_set_direct(direct, q, &choice->direct);
    motus_b_choice_put(
        in, s, choice, MOTUS_B_DIRECT,
        s->direct_satd[0] + s->direct_satd[1] + s->direct_satd[2] + s->direct_satd[3], 0);
    motus_b_choose_whole(found, in, s, MOTUS_B_16x16, choice);
    if (motus_b_has_type(found, MOTUS_B_16x8))
        motus_b_choose_whole(found, in, s, MOTUS_B_16x8, choice);
    if (motus_b_has_type(found, MOTUS_B_8x16))
        motus_b_choose_whole(found, in, s, MOTUS_B_8x16, choice);
    if (motus_b_has_type(found, MOTUS_B_8x8)) motus_b_choose_8x8(found, in, s, choice);
}

#endif
