// Candidates of a B MB on the CPU: the MVs of each list, and pairs that are refined together.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_CANDIDATES_CPU_H
#define ENCODER_ANALYSE_B_CANDIDATES_CPU_H

#include "encoder/analyse/b_core.h"
#include "encoder/mb/predict_cpu.h"
#include "me/search/refine.h"

// A B MB to search, and where.
typedef struct MotusBSearch {
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
} MotusBSearch;

// Predictions of a block, at its place in the MB, and the MB that they are compared with.
typedef struct MotusBPredictions {
    MotusRefineCur cur;
    uint8_t list[2][256], trial[8][256];
} MotusBPredictions;

static inline void motus_b_predict(const MotusBSearch *in, const MotusBlock *block, int list,
                                   MotusMv mv, uint8_t luma[256]) {
    motus_predict_luma_block(luma, &in->ref[list], in->x, in->y, block->x, block->y, block->width,
                             block->height, mv);
}

static inline uint32_t motus_b_mv_cost(const MotusBSearch *in, int list, MotusMv mv) {
    return motus_mv_cost(in->lambda_q8, mv, in->centre[list]);
}

// Measures a block with each list and with both.
static inline void motus_b_measure(const MotusBSearch *in, MotusBPredictions *p, int b,
                                   MotusBCandidates *found) {
    const MotusTaps taps[MOTUS_PREDS] = {[MOTUS_PRED_L0] = {{p->list[0], p->list[0]}},
                                         [MOTUS_PRED_L1] = {{p->list[1], p->list[1]}},
                                         [MOTUS_PRED_BI] = {{p->list[0], p->list[1]}}};
    uint32_t satd[MOTUS_REFINE_TRIALS];
    for (int list = 0; list < 2; list++)
        motus_b_predict(in, &motus_blocks[b], list, found->mv[list][b], p->list[list]);
    in->ops->satd_block(&p->cur, &motus_blocks[b], taps, MOTUS_PREDS, MOTUS_LUMA_STRIDE, satd);
    for (int pred = 0; pred < MOTUS_PREDS; pred++) found->satd[pred][b] = satd[pred];
}

// Moves the MV of one list to the best of its eight nearest neighbours, the other list's prediction
// being fixed. Returns 0 if it stays.
static inline int motus_b_refine_list(const MotusBSearch *in, MotusBPredictions *p, int b, int list,
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
        taps[k] = (MotusTaps){{p->trial[k], p->list[1 - list]}};
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
static inline void motus_b_candidates(const MotusBSearch *in, MotusMbMotion motion[2],
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

#endif
