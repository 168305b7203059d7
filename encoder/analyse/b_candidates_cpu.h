// Candidates of a B MB on the CPU: the MVs of each list, and pairs that are refined together.
// b_candidates_warp.cuh has the warp's version.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_CANDIDATES_CPU_H
#define ENCODER_ANALYSE_B_CANDIDATES_CPU_H

#include "encoder/analyse/b_core.h"
#include "encoder/analyse/predict_cpu.h"
#include "me/search/refine.h"

// A B MB to search, and where.
typedef struct MotusBJob {
    int refs; // of list 0; list 1's only one follows them
    const MotusReference *ref;
    const MotusRefLuma *const *ref_luma;
    const MotusRefineOps *ops;
    MotusSubpel subpel;
    const MotusEffort *effort;
    const MotusInterLimits *limits;
    uint32_t lambda_q8;
    MotusMbSource src;
    MotusMv centre[MOTUS_MAX_REFERENCES]; // predictors of the costs
    int x, y;                             // MBs
} MotusBJob;

// Predictions of a block, at its place in the MB, and the MB that they are compared with.
typedef struct MotusBPredictions {
    MotusRefineCur cur;
    uint8_t list[2][256], trial[8][256];
    uint8_t pair[8][256]; // weighted sums
} MotusBPredictions;

// Returns the samples whose averages predict a block from both lists: the two predictions, or, if
// they have weights, `pair`, which it fills. pair_offset: of MotusReference.
static inline MotusTaps motus_b_pair_taps(int pair_offset, const MotusBlock *block,
                                          const uint8_t *list0, const uint8_t *list1,
                                          uint8_t pair[256]) {
    const int at = block->y * MOTUS_LUMA_STRIDE + block->x;
    if (!pair_offset) return (MotusTaps){{list0, list1}};
    for (int y = 0; y < block->height; y++)
        memcpy(pair + at + y * MOTUS_LUMA_STRIDE, list0 + at + y * MOTUS_LUMA_STRIDE,
               (size_t)block->width);
    motus_pair_block(pair + at, list1 + at, MOTUS_LUMA_STRIDE, block->width, block->height,
                     pair_offset);
    return (MotusTaps){{pair, pair}};
}

static inline void b_predict(const MotusBJob *in, const MotusBlock *block, int ref, MotusMv mv,
                             uint8_t luma[256]) {
    motus_predict_luma_block(luma, &in->ref[ref], in->x, in->y, block->x, block->y, block->width,
                             block->height, mv);
}

// Moves the MV of one list to the best of its eight nearest neighbours, the other list's prediction
// being fixed. Returns 0 if it stays.
static inline int b_refine_list(const MotusBJob *in, MotusBPredictions *p, int b, int list,
                                MotusBCandidates *found) {
    const MotusBlock *block = &motus_blocks[b];
    const MotusMv from = found->both[list][b];
    const int unit = in->limits->unit, ref0 = motus_b_ref(found, b), ref = list ? in->refs : ref0,
              pair_offset = in->ref[ref0].pair_offset;
    MotusTaps taps[8];
    MotusMv mv[8];
    uint32_t satd[MOTUS_REFINE_TRIALS];
    for (int k = 0; k < 8; k++) {
        mv[k] = (MotusMv){(int16_t)(from.x + unit * motus_neighbour_dx(k)),
                          (int16_t)(from.y + unit * motus_neighbour_dy(k))};
        b_predict(in, block, ref, mv[k], p->trial[k]);
        taps[k] = motus_b_pair_taps(pair_offset, block, list ? p->list[0] : p->trial[k],
                                    list ? p->trial[k] : p->list[1], p->pair[k]);
    }
    in->ops->satd_block(&p->cur, block, taps, 8, MOTUS_LUMA_STRIDE, satd);
    uint32_t best =
        found->satd[MOTUS_PRED_BI][b] + motus_mv_cost(in->lambda_q8, from, in->centre[ref]);
    int at = -1;
    for (int k = 0; k < 8; k++) {
        const uint32_t cost = satd[k] + motus_mv_cost(in->lambda_q8, mv[k], in->centre[ref]);
        if (cost < best && motus_mv_allowed(in->limits, mv[k])) best = cost, at = k;
    }
    if (at < 0) return 0;
    found->both[list][b] = mv[at];
    found->satd[MOTUS_PRED_BI][b] = satd[at];
    memcpy(p->list[list], p->trial[at], 256);
    return 1;
}

// Returns those of `blocks` whose MVs have no fraction: all of the search's, external MVs may have.
static inline uint64_t motus_whole_mvs(const MotusMv mv[MOTUS_BLOCKS], uint64_t blocks) {
    uint64_t whole = 0;
    for (; blocks; blocks &= blocks - 1)
        if (motus_mv_is_whole(mv[__builtin_ctzll(blocks)])) whole |= blocks & -blocks;
    return whole;
}

// Refines the MVs of some blocks in a reference.
static inline void b_refine(const MotusBJob *in, int ref, uint64_t blocks, MotusMbMotion *motion) {
    const MotusMbJob job = {.cur = in->src.plane[0],
                            .cur_stride = in->src.stride[0],
                            .ref = in->ref_luma[ref],
                            .x = 16 * in->x,
                            .y = 16 * in->y,
                            .predictor = in->centre[ref],
                            .lambda_q8 = in->lambda_q8};
    motus_refine_blocks(&job, in->subpel, in->ops, motus_whole_mvs(motion->mv, blocks), motion);
}

// Takes the MVs of further references of list 0 that cost least, once refined. A block is refined
// in a reference if its whole-sample cost is close to the least one, and has a candidate if its
// refined cost is close to the first reference's. motion: by reference.
static inline void motus_b_further(const MotusBJob *in, MotusMbMotion motion[],
                                   const uint32_t least[MOTUS_B_BLOCKS], uint64_t blocks,
                                   MotusBCandidates *found) {
    const int gate = in->effort->type_gate;
    uint32_t cost[MOTUS_B_BLOCKS];
    found->blocks = found->refs = 0;
    for (int ref = 1; ref < in->refs; ref++) {
        const uint32_t ref_cost = motus_ref_cost(in->lambda_q8, in->refs, ref);
        uint64_t wanted = 0;
        for (int b = 0; b < MOTUS_B_BLOCKS; b++)
            if (motus_ref_is_close(motion[ref].cost[b] + ref_cost, least[b], gate))
                wanted |= blocks & 1ull << b;
        b_refine(in, ref, wanted, &motion[ref]);
        for (; wanted; wanted &= wanted - 1) {
            const int b = __builtin_ctzll(wanted);
            const uint32_t its = motion[ref].cost[b] + ref_cost;
            if ((found->blocks >> b & 1 && its >= cost[b]) ||
                !motus_ref_is_close(its, motion[0].cost[b], gate))
                continue;
            cost[b] = its;
            found->mv[0][b] = motion[ref].mv[b];
            found->blocks |= 1ull << b;
            found->refs = (found->refs & ~(15ull << 4 * b)) | (uint64_t)ref << 4 * b;
        }
    }
}

// Measures a set of candidates whose MVs of list 0 are chosen with each list and with both, and
// refines their pairs. list1: MVs of list 1.
static inline void b_pairs(const MotusBJob *in, const MotusMv list1[MOTUS_BLOCKS],
                           MotusBPredictions *p, MotusBCandidates *found) {
    for (uint64_t left = found->blocks; left; left &= left - 1) {
        const int b = __builtin_ctzll(left), ref = motus_b_ref(found, b);
        uint32_t satd[MOTUS_REFINE_TRIALS];
        found->mv[1][b] = list1[b];
        for (int list = 0; list < 2; list++) {
            found->both[list][b] = found->mv[list][b];
            b_predict(in, &motus_blocks[b], list ? in->refs : ref, found->mv[list][b],
                      p->list[list]);
        }
        const MotusTaps taps[MOTUS_PREDS] = {
            [MOTUS_PRED_L0] = {{p->list[0], p->list[0]}},
            [MOTUS_PRED_L1] = {{p->list[1], p->list[1]}},
            [MOTUS_PRED_BI] = motus_b_pair_taps(in->ref[ref].pair_offset, &motus_blocks[b],
                                                p->list[0], p->list[1], p->pair[0])};
        in->ops->satd_block(&p->cur, &motus_blocks[b], taps, MOTUS_PREDS, MOTUS_LUMA_STRIDE, satd);
        for (int pred = 0; pred < MOTUS_PREDS; pred++) found->satd[pred][b] = satd[pred];
        if (satd[MOTUS_PRED_BI] > satd[MOTUS_PRED_L0] || satd[MOTUS_PRED_BI] > satd[MOTUS_PRED_L1])
            continue; // pairs of blocks that one list predicts better seldom win
        for (int step = 0, still = 0; step < in->effort->pair_steps && still < 2; step++)
            still = b_refine_list(in, p, b, ~step & 1, found) ? 0 : still + 1;
    }
}

// Finds the candidates of an MB from the whole-sample MVs and costs in the references of list 0,
// and behind them in that of list 1.
static inline void motus_b_candidates(const MotusBJob *in, MotusMbMotion motion[],
                                      MotusBCandidates found[MOTUS_B_SETS]) {
    MotusMbMotion *list1 = &motion[in->refs];
    MotusBPredictions p;
    uint32_t least[MOTUS_B_BLOCKS];
    for (int b = 0; b < MOTUS_B_BLOCKS; b++) least[b] = UINT32_MAX;
    for (int ref = 0; ref < in->refs; ref++) {
        const uint32_t ref_cost = motus_ref_cost(in->lambda_q8, in->refs, ref);
        for (int b = 0; b < MOTUS_B_BLOCKS; b++)
            if (motion[ref].cost[b] != UINT32_MAX && motion[ref].cost[b] + ref_cost < least[b])
                least[b] = motion[ref].cost[b] + ref_cost;
    }
    in->ops->prepare(&p.cur, in->src.plane[0], in->src.stride[0]);
    found->blocks = motus_b_blocks(least, list1->cost, in->effort);
    found->refs = 0;
    b_refine(in, 0, found->blocks, &motion[0]);
    b_refine(in, in->refs, found->blocks, list1);
    memcpy(found->mv[0], motion[0].mv, sizeof found->mv[0]);
    b_pairs(in, list1->mv, &p, found);
    motus_b_further(in, motion, least, found->blocks, &found[1]);
    b_pairs(in, list1->mv, &p, &found[1]);
}

#endif
