// Plain C and, where it pays, AVX2: b_avx2.c compiles this file a second time.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/b.h"

#include "encoder/analyse/predict_cpu.h"
#include "encoder/analyse/trial_cpu.h"

// ---- Candidates ---------------------------------------------------------------------------------

// Predictions of a block, at its place in the MB, and the MB that they are compared with.
typedef struct MotusBPredictions {
    MotusRefineCur cur;
    uint8_t list[2][256], trial[8][256];
    uint8_t pair[8][256]; // weighted sums
} MotusBPredictions;

// Returns the samples whose averages predict a block from both lists: the two predictions, or, if
// they have weights, `pair`, which it fills. pair_offset: of MotusReference.
static MotusTaps pair_taps(int pair_offset, const MotusBlock *block, const uint8_t *list0,
                           const uint8_t *list1, uint8_t pair[256]) {
    const int at = block->y * MOTUS_LUMA_STRIDE + block->x;
    if (!pair_offset) return (MotusTaps){{list0, list1}};
    for (int y = 0; y < block->height; y++)
        memcpy(pair + at + y * MOTUS_LUMA_STRIDE, list0 + at + y * MOTUS_LUMA_STRIDE,
               (size_t)block->width);
    motus_pair_block(pair + at, list1 + at, MOTUS_LUMA_STRIDE, block->width, block->height,
                     pair_offset);
    return (MotusTaps){{pair, pair}};
}

// Moves the MV of one list to the best of its eight nearest neighbours, the other list's prediction
// being fixed. Returns 0 if it stays.
static int refine_list(const MotusBJob *in, MotusBPredictions *p, int b, int list,
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
        motus_predict_luma_block(p->trial[k], &in->ref[ref], in->x, in->y, block->x, block->y,
                                 block->width, block->height, mv[k]);
        taps[k] = pair_taps(pair_offset, block, list ? p->list[0] : p->trial[k],
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

// Refines the MVs of some blocks in a reference.
static void refine_blocks(const MotusBJob *in, int ref, uint64_t blocks, MotusMbMotion *motion) {
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
static void find_further(const MotusBJob *in, MotusMbMotion motion[],
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
        refine_blocks(in, ref, wanted, &motion[ref]);
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
static void measure_pairs(const MotusBJob *in, const MotusMv list1[MOTUS_BLOCKS],
                          MotusBPredictions *p, MotusBCandidates *found) {
    for (uint64_t left = found->blocks; left; left &= left - 1) {
        const int b = __builtin_ctzll(left), ref = motus_b_ref(found, b);
        const MotusBlock *block = &motus_blocks[b];
        uint32_t satd[MOTUS_REFINE_TRIALS];
        found->mv[1][b] = list1[b];
        for (int list = 0; list < 2; list++) {
            found->both[list][b] = found->mv[list][b];
            motus_predict_luma_block(p->list[list], &in->ref[list ? in->refs : ref], in->x, in->y,
                                     block->x, block->y, block->width, block->height,
                                     found->mv[list][b]);
        }
        const MotusTaps taps[MOTUS_PREDS] = {
            [MOTUS_PRED_L0] = {{p->list[0], p->list[0]}},
            [MOTUS_PRED_L1] = {{p->list[1], p->list[1]}},
            [MOTUS_PRED_BI] =
                pair_taps(in->ref[ref].pair_offset, block, p->list[0], p->list[1], p->pair[0])};
        in->ops->satd_block(&p->cur, block, taps, MOTUS_PREDS, MOTUS_LUMA_STRIDE, satd);
        for (int pred = 0; pred < MOTUS_PREDS; pred++) found->satd[pred][b] = satd[pred];
        if (satd[MOTUS_PRED_BI] > satd[MOTUS_PRED_L0] || satd[MOTUS_PRED_BI] > satd[MOTUS_PRED_L1])
            continue; // pairs of blocks that one list predicts better seldom win
        for (int step = 0, still = 0; step < in->effort->pair_steps && still < 2; step++)
            still = refine_list(in, p, b, ~step & 1, found) ? 0 : still + 1;
    }
}

static void find_candidates(const MotusBJob *in, MotusMbMotion motion[],
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
    refine_blocks(in, 0, found->blocks, &motion[0]);
    refine_blocks(in, in->refs, found->blocks, list1);
    memcpy(found->mv[0], motion[0].mv, sizeof found->mv[0]);
    measure_pairs(in, list1->mv, &p, found);
    find_further(in, motion, least, found->blocks, &found[1]);
    measure_pairs(in, list1->mv, &p, &found[1]);
}

// ---- Choice -------------------------------------------------------------------------------------

// Loads the neighbours' MVs, and measures them and those predicted from them.
static void measure_near(const MotusInterMb *in, const MotusRefineOps *ops,
                         MotusBDecideScratch *s) {
    static const uint8_t cell[MOTUS_B_NEAR][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 5}}; // row, column
    const MotusPartition whole = motus_partition_at(MOTUS_MODE_16x16, 0, 0, 0);
    uint8_t luma[2][256], pair[256];
    for (int list = 0; list < 2; list++) motus_grid_load(&s->grid[list], &in->neighbours, list);
    for (int k = 0; k < MOTUS_B_NEAR; k++) {
        MotusBNear *near = &s->near[k];
        for (int list = 0; list < 2; list++) {
            near->mv[list] = k ? s->grid[list].cell[cell[k][0]][cell[k][1]].mv
                               : motus_grid_mvp(&s->grid[list], &whole, 0);
            motus_predict_luma_block(luma[list], &in->ref[list ? in->refs : 0], in->x, in->y, 0, 0,
                                     16, 16, near->mv[list]);
        }
        const MotusTaps taps[MOTUS_PREDS] = {
            [MOTUS_PRED_L0] = {{luma[0], luma[0]}},
            [MOTUS_PRED_L1] = {{luma[1], luma[1]}},
            [MOTUS_PRED_BI] = pair_taps(in->ref[0].pair_offset, &motus_blocks[MOTUS_BLOCK_16x16],
                                        luma[0], luma[1], pair)};
        for (int pred = 0; pred < MOTUS_PREDS; pred++) {
            uint32_t sum[MOTUS_BLOCKS];
            ops->satd_mb(&s->cur, &taps[pred], MOTUS_LUMA_STRIDE, 15, sum);
            memcpy(near->satd[pred], sum + MOTUS_BLOCK_8x8, sizeof near->satd[pred]);
        }
    }
}

// Chooses among the options of a partition.
static MotusBOption choose_option(const MotusBCandidates found[MOTUS_B_SETS],
                                  const MotusInterMb *in, const MotusBDecideScratch *s,
                                  const MotusPartition *p) {
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
    return best;
}

// Chooses lists and MVs of type k among the candidates' blocks. s: direct_satd and near are set;
// the MB's own cells of the grids are clear before and after.
static void choose_type(const MotusInterMb *in, const MotusBCandidates found[MOTUS_B_SETS],
                        MotusBDecideScratch *s, int k) {
    const MotusMvCell none = {{0, 0}, MOTUS_CELL_NONE};
    const int is_direct = k == MOTUS_B_DIRECT, by_8x8 = is_direct || k == MOTUS_B_8x8,
              mode = is_direct ? MOTUS_MODE_16x16 : k - MOTUS_B_16x16;
    MotusBChoice *choice = &s->choice;
    MotusMb *mb = &choice->mb[k];
    uint32_t satd = 0, bits = 0, mv_bits = 0;
    mb->type = (uint8_t)(MOTUS_MB_P_16x16 + mode);
    for (int i = 0; i < (by_8x8 ? 4 : mode ? 2 : 1); i++) {
        const int q = k == MOTUS_B_16x8 ? 2 * i : i; // the first 8x8 block
        const MotusPartition p = motus_partition_at(by_8x8 ? MOTUS_MODE_8x8 : mode, by_8x8 ? 0 : i,
                                                    q % 2 * 2, q / 2 * 2);
        MotusBOption own = {.pred = 0};
        if (!is_direct) own = choose_option(found, in, s, &p);
        if (is_direct || (by_8x8 && motus_b_direct_wins(s->direct_satd[q], &own, in->qp))) {
            motus_set_direct(mb, q, &choice->direct);
            satd += s->direct_satd[q];
        } else {
            for (int y = p.y; y < p.y + p.height; y += 2)
                for (int x = p.x; x < p.x + p.width; x += 2)
                    motus_set_8x8(mb, y + x / 2, own.pred, own.ref, own.mv[0], own.mv[1]);
            satd += own.satd, bits += own.bits, mv_bits += own.mv_bits;
        }
        for (int list = 0; list < 2; list++) // a list that it does not use gives zero
            motus_grid_set(&s->grid[list], p.x, p.y, p.width, p.height,
                           motus_list_cell(mb, motus_corner_of(q), list));
    }
    choice->cost[k] = satd + motus_mode_cost(in->qp, bits + motus_b_mode_bits(mb));
    choice->mv_bits[k] = mv_bits;
    for (int list = 0; list < 2; list++) motus_grid_set(&s->grid[list], 0, 0, 4, 4, none);
}

// ---- Trials -------------------------------------------------------------------------------------

// Makes the trial B_Skip, and predicts it.
static void predict_skip(const MotusInterMb *in, const MotusDirect *direct, MotusTrial *trial) {
    MotusMb *mb = &trial->mb;
    memset(mb, 0, sizeof *mb);
    mb->type = MOTUS_MB_P_SKIP;
    mb->qp = in->qp->luma.qp;
    for (int q = 0; q < 4; q++) motus_set_direct(mb, q, direct);
    trial->luma_bits = 0;
    motus_predict_inter(trial->luma, trial->chroma, in, mb);
}

static int skip_is_sure(const MotusInterMb *in, const MotusDirect *direct,
                        const MotusEffort *effort, const MotusLevelChoice *levels,
                        MotusTrial *trial) {
    if (direct->blocks != MOTUS_ALL_DIRECT) return 0;
    predict_skip(in, direct, trial);
    motus_trial_measure(trial, in, levels, motus_most_b_skip_bits(in->costs));
    return motus_skip_is_enough(trial->cost, in->qp, effort);
}

static int decide_skip(const MotusInterMb *in, const MotusDirectSource *source, int i,
                       const MotusEffort *effort, const MotusLevelChoice *levels,
                       const MotusRefineOps *ops, MotusBDecideScratch *s) {
    MotusTrial *trial = &s->trial[0];
    const MotusDirect *direct = &s->choice.direct;
    uint32_t sum[MOTUS_BLOCKS];
    s->choice.direct = motus_direct_of(&in->neighbours, source, i);
    predict_skip(in, direct, trial);
    motus_trial_measure(trial, in, levels, motus_skip_bits(in, &trial->mb));
    if (direct->blocks != MOTUS_ALL_DIRECT) trial->cost = UINT32_MAX;
    const MotusTaps taps = {{trial->luma, trial->luma}};
    ops->prepare(&s->cur, in->src.plane[0], in->src.stride[0]);
    ops->satd_mb(&s->cur, &taps, MOTUS_LUMA_STRIDE, 15, sum);
    for (int q = 0; q < 4; q++)
        s->direct_satd[q] = motus_b_direct_satd(direct, q, sum[MOTUS_BLOCK_8x8 + q]);
    return motus_skip_is_enough(trial->cost, in->qp, effort);
}

static MotusTrial *decide_types(const MotusInterMb *in, const MotusBCandidates *found,
                                const MotusEffort *effort, const MotusLevelChoice *levels,
                                const MotusRefineOps *ops, MotusBDecideScratch *s, uint32_t *satd) {
    MotusBChoice *choice = &s->choice;
    const MotusMv none = {0, 0};
    measure_near(in, ops, s);
    memset(choice->mb, 0, sizeof choice->mb);
    for (int k = 0; k < MOTUS_B_TYPES; k++) {
        choice->cost[k] = UINT32_MAX;
        if (motus_b_has_type(found, k)) choose_type(in, found, s, k);
    }
    if (choice->mb[MOTUS_B_8x8].direct == MOTUS_ALL_DIRECT) // B_Direct_16x16 says the same
        choice->cost[MOTUS_B_8x8] = UINT32_MAX;
    return motus_try_types(in, effort, levels, MOTUS_B_TYPES, choice->mb, choice->cost,
                           choice->mv_bits, none, &s->residual, s->trial, satd);
}

const MotusBOps MOTUS_ISA(motus_b) = {find_candidates, skip_is_sure, decide_skip, decide_types};
