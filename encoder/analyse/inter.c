// Plain C and, where it pays, AVX2: inter_avx2.c compiles this file a second time. An MB has few
// distinct MVs but needs the SATD of many blocks with them: each MV is measured once, in 4x4
// blocks, and block sums are looked up.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/inter.h"

#include <assert.h>

#include "encoder/analyse/predict_cpu.h"
#include "encoder/analyse/trial_cpu.h"
#include "me/pixel/pixel_core.h"

// ---- MVs to choose from -------------------------------------------------------------------------

static void choices_put(MotusChoices *c, int at, MotusMv mv, int ref, const uint16_t satd[16]) {
    uint32_t sum = 0;
    for (int i = 0; i < 16; i++) {
        c->sum[MOTUS_BLOCK_4x4 + i][at] = satd[i];
        sum += satd[i];
    }
    c->sum[MOTUS_BLOCK_16x16][at] = sum;
    c->x[at] = mv.x;
    c->y[at] = mv.y;
    c->ref[at] = (uint8_t)ref;
}

// Adds two blocks' SATDs with the first n MVs, a multiple of 8.
static void choices_add_up(MotusChoices *c, int to, int a, int b, int n) {
    for (int v = 0; v < n; v += 8)
        for (int i = v; i < v + 8; i++) c->sum[to][i] = c->sum[a][i] + c->sum[b][i];
}

// Completes the SATDs of the other blocks, as motus_merge_sums does.
static void choices_merge(MotusChoices *c) {
    const int n = (c->n + 7) & ~7, s44 = MOTUS_BLOCK_4x4, s84 = MOTUS_BLOCK_8x4,
              s48 = MOTUS_BLOCK_4x8, s88 = MOTUS_BLOCK_8x8;
    for (int i = 0; i < 8; i++) choices_add_up(c, s84 + i, s44 + 2 * i, s44 + 2 * i + 1, n);
    for (int i = 0; i < 8; i++)
        choices_add_up(c, s48 + i, s44 + i + (i & 4), s44 + i + (i & 4) + 4, n);
    for (int i = 0; i < 4; i++)
        choices_add_up(c, s88 + i, s84 + i + (i & 2), s84 + i + (i & 2) + 2, n);
    for (int i = 0; i < 2; i++) {
        choices_add_up(c, MOTUS_BLOCK_16x8 + i, s88 + 2 * i, s88 + 2 * i + 1, n);
        choices_add_up(c, MOTUS_BLOCK_8x16 + i, s88 + i, s88 + i + 2, n);
    }
}

// Measures and adds an MV, unless it is listed already or not allowed, or the list is full.
static void choices_add(MotusDecideScratch *s, const MotusInterMb *in, MotusMv mv, int ref) {
    MotusChoices *c = &s->choices;
    if (c->n == MOTUS_CHOICES || !motus_inter_mv_allowed(in, mv)) return;
    for (int v = 0; v < c->n; v++)
        if (c->x[v] == mv.x && c->y[v] == mv.y && c->ref[v] == ref) return;
    uint16_t satd[16];
    motus_satd_mb(satd, in->src.plane[0], in->src.stride[0], in->ref + ref, 16 * in->x, 16 * in->y,
                  mv);
    choices_put(c, c->n++, mv, ref, satd);
}

// Returns the index of the MV with the smallest SATD + lambda * bits for a block, the first of
// equals, and that *cost. mvp: by ref_idx. only: the one reference that counts, the bits of whose
// ref_idx are counted elsewhere; -1: all.
static int choose_mv(const MotusChoices *c, int block, const MotusMv mvp[], int refs, int only,
                     uint32_t lambda_q8, uint32_t *cost) {
    uint32_t best = UINT32_MAX; // cost << 5 | index: the cost is below 2^18 + 2^14
    const uint32_t *sum = c->sum[block];
    uint32_t packed[MOTUS_CHOICES];
    const int n = (c->n + 7) & ~7;
    if (refs == 1) {
        const MotusMv p = mvp[0];
        for (int v = 0; v < n; v++) {
            const int bits = motus_mvd_bits(c->x[v] - p.x) + motus_mvd_bits(c->y[v] - p.y);
            packed[v] = (sum[v] + (lambda_q8 * (uint32_t)bits >> 8)) << 5 | (uint32_t)v;
        }
    } else {
        for (int v = 0; v < c->n; v++) {
            const int ref = c->ref[v], bits = motus_mvd_bits(c->x[v] - mvp[ref].x) +
                                              motus_mvd_bits(c->y[v] - mvp[ref].y) +
                                              (only < 0 ? motus_ref_bits(refs, ref) : 0);
            packed[v] = only >= 0 && ref != only
                            ? UINT32_MAX
                            : (sum[v] + (lambda_q8 * (uint32_t)bits >> 8)) << 5 | (uint32_t)v;
        }
    }
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): n >= c->n
    for (int v = 0; v < c->n; v++) best = packed[v] < best ? packed[v] : best;
    *cost = best >> 5;
    return (int)(best & 31);
}

// Adds P_Skip's MV, the median, zero and the neighbours' MVs. As long as the best MV for the whole
// MB is one that was added here, adds the four MVs around it, up to `steps` times.
static void choices_of_neighbours(MotusDecideScratch *s, const MotusInterMb *in, MotusMv skip) {
    static const uint8_t cell[3][2] = {{1, 0}, {0, 1}, {0, 5}}; // row and column of A, B, C
    MotusChoices *c = &s->choices;
    const MotusPartition whole = motus_partition_at(MOTUS_MODE_16x16, 0, 0, 0);
    MotusMv mvp[MOTUS_MAX_REFERENCES];
    const MotusMv zero = {0, 0};
    uint32_t unused;
    int found = c->n;
    assert(in->refs > 0);
    for (int ref = 0; ref < in->refs; ref++) mvp[ref] = motus_grid_mvp(&s->grid, &whole, ref);
    choices_add(s, in, skip, 0);
    choices_add(s, in, mvp[0], 0);
    choices_add(s, in, zero, 0);
    for (int i = 0; i < 3; i++) {
        const int row = cell[i][0], column = cell[i][1], state = s->grid.cell[row][column].state;
        if (state >= MOTUS_CELL_INTER)
            choices_add(s, in, s->grid.cell[row][column].mv, state - MOTUS_CELL_INTER);
    }
    for (int step = 0; step < in->limits->steps; step++) {
        const int best =
            choose_mv(c, MOTUS_BLOCK_16x16, mvp, in->refs, -1, in->qp->lambda_q8, &unused);
        if (best < found) break;
        found = c->n;
        for (int i = 0; i < 4; i++) {
            MotusMv mv;
            mv.x = (int16_t)(c->x[best] + in->limits->unit * (i == 1 ? -1 : i == 2));
            mv.y = (int16_t)(c->y[best] + in->limits->unit * (i == 0 ? -1 : i == 3));
            choices_add(s, in, mv, c->ref[best]);
        }
    }
}

// ---- Types --------------------------------------------------------------------------------------

// Chooses the MV of one block, sets it in mb and grid, and adds to cost and mv_bits. only: as in
// choose_mv. Returns its reference.
static int choose_partition(const MotusChoices *c, const MotusInterMb *in, MotusMvGrid *grid,
                            const MotusPartition *p, int only, MotusMb *mb, uint32_t *cost,
                            uint32_t *mv_bits) {
    uint32_t part_cost;
    MotusMv mvp[MOTUS_MAX_REFERENCES];
    assert(in->refs > 0);
    for (int k = 0; k < in->refs; k++) mvp[k] = motus_grid_mvp(grid, p, k);
    const int v = choose_mv(c, p->block, mvp, in->refs, only, in->qp->lambda_q8, &part_cost);
    const MotusMv mv = {c->x[v], c->y[v]};
    const int ref = in->refs > 1 ? c->ref[v] : 0;
    const MotusMvCell cell = {mv, MOTUS_CELL_INTER + ref};
    motus_grid_set(grid, p->x, p->y, p->width, p->height, cell);
    for (int y = p->y; y < p->y + p->height; y++)
        for (int x = p->x; x < p->x + p->width; x++) {
            mb->mv[4 * y + x] = mv;
            if (in->refs > 1) mb->ref[0][motus_8x8_of(4 * y + x)] = (uint8_t)ref;
        }
    *cost += part_cost;
    *mv_bits +=
        motus_mvd_bits_in(in->costs, mv, mvp[ref], only < 0 ? motus_ref_bits(in->refs, ref) : 0);
    return ref;
}

// Chooses the MVs of P_16x16, P_16x8 or P_8x16: k is 0, 1 or 2.
static void choose_whole(const MotusChoices *c, const MotusInterMb *in, MotusMvGrid *grid, int k,
                         MotusChoice *choice) {
    const MotusMvCell none = {{0, 0}, MOTUS_CELL_NONE};
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
    for (int i = 0; i < (k ? 2 : 1); i++) {
        MotusPartition p = motus_partition_at(k, i, k == 2 ? 2 * i : 0, k == 1 ? 2 * i : 0);
        choose_partition(c, in, grid, &p, -1, &choice->mb[k], &cost, &mv_bits);
    }
    motus_choice_put(choice, k, cost, mv_bits);
    motus_grid_set(grid, 0, 0, 4, 4, none);
}

// Chooses the sub type of 8x8 block q with at most max_mvs MVs, among the candidates' `blocks`. The
// MV of the whole block chooses the reference. Sets its MVs in mb and grid. Returns their number.
static int choose_sub(const MotusChoices *c, const MotusInterMb *in, uint64_t blocks,
                      MotusMvGrid *grid, int q, int max_mvs, MotusMb *mb, MotusMb *trial,
                      uint32_t *cost, uint32_t *mv_bits) {
    const MotusMvCell none = {{0, 0}, MOTUS_CELL_NONE};
    uint32_t best = UINT32_MAX, best_bits = 0;
    int best_sub = 0, ref = -1;
    for (int sub = MOTUS_SUB_8x8; sub <= MOTUS_SUB_4x4; sub++) {
        int n = motus_sub_partitions(sub);
        MotusPartition first = motus_sub_partition(sub, q, 0);
        if (sub != MOTUS_SUB_8x8 && (n > max_mvs || !(blocks >> first.block & 1))) continue;
        const uint32_t ref_bits = ref < 0 ? 0 : (uint32_t)motus_ref_bits(in->refs, ref);
        uint32_t sub_bits = in->costs ? 0 : ref_bits,
                 sub_cost =
                     motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)sub) + ref_bits);
        motus_grid_set(grid, q % 2 * 2, q / 2 * 2, 2, 2, none);
        for (int i = 0; i < n; i++) {
            MotusPartition p = motus_sub_partition(sub, q, i);
            ref = choose_partition(c, in, grid, &p, ref, trial, &sub_cost, &sub_bits);
        }
        if (sub_cost >= best) continue;
        best = sub_cost;
        best_bits = sub_bits;
        best_sub = sub;
        for (int i = 0; i < 4; i++) {
            const int blk = motus_blk_at(4 * q + i);
            mb->mv[blk] = trial->mv[blk];
        }
    }
    for (int i = 0; i < 4; i++) {
        int x = q % 2 * 2 + i % 2, y = q / 2 * 2 + i / 2;
        const MotusMvCell cell = {mb->mv[4 * y + x], MOTUS_CELL_INTER + ref};
        motus_grid_set(grid, x, y, 1, 1, cell);
    }
    mb->sub_type[q] = (uint8_t)best_sub;
    mb->ref[0][q] = (uint8_t)ref;
    *cost += best;
    *mv_bits += best_bits;
    return motus_sub_partitions(best_sub);
}

// ---- Decision -----------------------------------------------------------------------------------

static int decide_skip(const MotusInterMb *in, const MotusEffort *effort,
                       const MotusLevelChoice *levels, MotusDecideScratch *s) {
    MotusTrial *trial = &s->trial[0];
    const MotusMv skip = s->choice.skip = motus_mb_skip_mv(&in->neighbours);
    motus_grid_load(&s->grid, &in->neighbours, 0);
    memset(&trial->mb, 0, sizeof trial->mb);
    trial->mb.type = MOTUS_MB_P_SKIP;
    trial->mb.qp = in->qp->luma.qp;
    for (int i = 0; i < 16; i++) trial->mb.mv[i] = skip;
    trial->luma_bits = 0;
    motus_predict_inter(trial->luma, trial->chroma, in, &trial->mb);
    motus_trial_measure(trial, in, levels, motus_skip_bits(in, &trial->mb));
    // Its MV may exceed the limits of coded MVs, but not that of intra refresh.
    if (motus_refresh_mv_y(in->max_mv_y, 3, skip.y) != skip.y) trial->cost = UINT32_MAX;
    return motus_skip_is_enough(trial->cost, in->qp, effort);
}

// Beside a range of intra refresh: drops types with an MV that its block may not have, which only
// extreme samples let win. P_16x16 gets a zero MV then.
static void check_choice(const MotusInterMb *in, MotusChoice *choice) {
    for (int k = 0; k < 4; k++) {
        int wrong = 0;
        for (int blk = 0; blk < 16; blk++)
            wrong |= motus_refresh_mv_y(in->max_mv_y, blk >> 2, choice->mb[k].mv[blk].y) !=
                     choice->mb[k].mv[blk].y;
        if (wrong && k) choice->cost[k] = UINT32_MAX;
        if (!wrong || k) continue;
        memset(choice->mb[0].mv, 0, sizeof choice->mb[0].mv);
        choice->mv_bits[0] = motus_trial_mv_bits(in, &choice->mb[0], 0, 0);
    }
}

static MotusTrial *decide_types(const MotusInterMb *in, const MotusCandidates *found,
                                const MotusEffort *effort, const MotusLevelChoice *levels,
                                MotusDecideScratch *s, uint32_t *satd) {
    MotusChoice *choice = &s->choice;
    MotusChoices *c = &s->choices;
    for (int v = 0; v < found->n; v++)
        choices_put(c, v, found->mv[v], found->ref[v], found->satd[v]);
    c->n = found->n;
    memset(choice->mb, 0, sizeof choice->mb);
    for (int k = 0; k < 4; k++) choice->cost[k] = UINT32_MAX;
    choices_of_neighbours(s, in, choice->skip);
    choices_merge(c);
    choose_whole(c, in, &s->grid, 0, choice);
    if (found->blocks >> MOTUS_BLOCK_16x8 & 1) choose_whole(c, in, &s->grid, 1, choice);
    if (found->blocks >> MOTUS_BLOCK_8x16 & 1) choose_whole(c, in, &s->grid, 2, choice);
    if (found->blocks >> MOTUS_BLOCK_8x8 & 1) {
        const int k = MOTUS_MB_P_8x8 - MOTUS_MB_P_16x16;
        uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
        int left = in->limits->max_mvs;
        for (int q = 0; q < 4; q++) // each later 8x8 block needs at least one MV
            left -= choose_sub(c, in, found->blocks, &s->grid, q, left - (3 - q), &choice->mb[k],
                               &s->sub, &cost, &mv_bits);
        motus_choice_put(choice, k, cost, mv_bits);
    }
    if (in->max_mv_y < MOTUS_MAX_MV_Y) check_choice(in, choice);
    return motus_try_types(in, effort, levels, 4, choice->mb, choice->cost, choice->mv_bits,
                           choice->skip, &s->residual, s->trial, satd);
}

// ---- RD refinement ------------------------------------------------------------------------------

static void evaluate(const MotusInterMb *in, const MotusLevelChoice *levels, MotusMv skip,
                     const MotusMb *mb, MotusResidual *residual, MotusTrial *trial) {
    uint32_t mv_bits = 0;
    for (int i = 0; i < 16; i++)
        for (int list = 0; list < in->lists; list++)
            mv_bits += motus_trial_mv_bits(in, mb, i, list);
    trial->mb = *mb;
    trial->mb.cbp = 0;
    trial->mb.transform_8x8 = 0;
    motus_inter_trial(in, levels, skip, mv_bits, residual, trial);
    if (trial->bits > MOTUS_MB_BITS_LIMIT) trial->cost = UINT32_MAX;
}

static int refine(const MotusInterMb *in, const MotusLevelChoice *levels, int most,
                  const MotusMb *decided, uint32_t cost, MotusResidual *residual,
                  MotusTrial *trial) {
    const int unit = in->limits->unit;
    MotusMb mb = *decided;
    MotusPartition part;
    int any = 0, moves = 1, left = most;
    if (!motus_rd_is_open(&mb)) return 0;
    const MotusMv skip = motus_mb_skip_mv(&in->neighbours);
    while (moves && left > 0) {
        moves = 0;
        for (int j = 0; j < 16 * in->lists; j++) {
            const int i = j / in->lists, list = j % in->lists;
            int best = -1;
            if (!motus_mb_has_mv(&mb, i, list, in->lists, &part) || left-- <= 0) continue;
            for (int k = 0; k < MOTUS_RD_MOVES; k++) {
                const MotusMv mv = motus_rd_move(&mb, i, list, k, unit);
                MotusMb moved = mb;
                if (!motus_inter_mv_allowed(in, mv)) continue;
                motus_rd_set(&moved, &part, list, mv);
                evaluate(in, levels, skip, &moved, residual, trial);
                if (trial->cost < cost) cost = trial->cost, best = k;
            }
            if (best < 0) continue;
            motus_rd_set(&mb, &part, list, motus_rd_move(&mb, i, list, best, unit));
            moves = any = 1;
        }
    }
    if (any) evaluate(in, levels, skip, &mb, residual, trial);
    return any;
}

const MotusInterOps MOTUS_ISA(motus_inter) = {decide_skip, decide_types, evaluate, refine};
