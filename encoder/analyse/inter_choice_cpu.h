// Choice of an inter MB's partitions and MVs on the CPU, by SATD + lambda * bits with the
// predictors that the neighbours' MVs give. An MB has few distinct MVs but needs the SATD of many
// blocks with them: each MV is measured once, in 4x4 blocks, and block sums are looked up.
// inter_choice_warp.cuh is the version of warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_CHOICE_CPU_H
#define ENCODER_ANALYSE_INTER_CHOICE_CPU_H

#include "encoder/analyse/inter_core.h"
#include "encoder/analyse/predict_cpu.h"
#include "me/pixel/pixel_core.h"

// MVs to choose from, and the SATD of each of the 41 blocks with each: of the blocks between 16x16
// and 4x4 once all MVs are listed.
typedef struct MotusChoices {
    int n;
    int16_t x[MOTUS_CHOICES], y[MOTUS_CHOICES];
    uint8_t ref[MOTUS_CHOICES];                // ref_idx
    uint32_t sum[MOTUS_BLOCKS][MOTUS_CHOICES]; // at most 130,560
} MotusChoices;

typedef struct MotusChooseScratch {
    MotusChoices choices;
    MotusMvGrid grid;
    MotusMb trial;
    uint16_t satd[16];
} MotusChooseScratch;

// ---- MVs to choose from -------------------------------------------------------------------------

static inline void choices_put(MotusChoices *c, int at, MotusMv mv, int ref,
                               const uint16_t satd[16]) {
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
static inline void choices_add_up(MotusChoices *c, int to, int a, int b, int n) {
    for (int v = 0; v < n; v += 8)
        for (int i = v; i < v + 8; i++) c->sum[to][i] = c->sum[a][i] + c->sum[b][i];
}

// Completes the SATDs of the other blocks, as motus_merge_sums does.
static inline void choices_merge(MotusChoices *c) {
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
static inline void choices_add(MotusChooseScratch *s, const MotusInterMb *in, MotusMv mv, int ref) {
    MotusChoices *c = &s->choices;
    if (c->n == MOTUS_CHOICES || !motus_inter_mv_allowed(in, mv)) return;
    for (int v = 0; v < c->n; v++)
        if (c->x[v] == mv.x && c->y[v] == mv.y && c->ref[v] == ref) return;
    motus_satd_mb(s->satd, in->src.plane[0], in->src.stride[0], in->ref + ref, 16 * in->x,
                  16 * in->y, mv);
    choices_put(c, c->n++, mv, ref, s->satd);
}

// Returns the index of the MV with the smallest SATD + lambda * bits for a block, the first of
// equals, and that *cost. mvp: by ref_idx. only: the one reference that counts, the bits of whose
// ref_idx are counted elsewhere; -1: all.
static inline int motus_choose_mv(const MotusChoices *c, int block, const MotusMv mvp[], int refs,
                                  int only, uint32_t lambda_q8, uint32_t *cost) {
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
    for (int v = 0; v < c->n; v++) best = packed[v] < best ? packed[v] : best;
    *cost = best >> 5;
    return (int)(best & 31);
}

// Adds P_Skip's MV, the median, zero and the neighbours' MVs. As long as the best MV for the whole
// MB is one that was added here, adds the four MVs around it, up to `steps` times.
static inline void choices_of_neighbours(MotusChooseScratch *s, const MotusInterMb *in,
                                         MotusMv skip) {
    static const uint8_t cell[3][2] = {{1, 0}, {0, 1}, {0, 5}}; // row and column of A, B, C
    MotusChoices *c = &s->choices;
    const MotusPartition whole = motus_partition_at(MOTUS_MODE_16x16, 0, 0, 0);
    MotusMv mvp[MOTUS_MAX_REFERENCES];
    const MotusMv zero = {0, 0};
    uint32_t unused;
    int found = c->n;
    for (int ref = 0; ref < in->refs; ref++) mvp[ref] = motus_grid_mvp(&s->grid, &whole, ref);
    choices_add(s, in, skip, 0);
    choices_add(s, in, mvp[0], 0);
    choices_add(s, in, zero, 0);
    for (int i = 0; i < 3; i++) {
        const int row = cell[i][0], column = cell[i][1], state = s->grid.state[row][column];
        if (state >= MOTUS_CELL_INTER)
            choices_add(s, in, s->grid.mv[row][column], state - MOTUS_CELL_INTER);
    }
    for (int step = 0; step < in->limits->steps; step++) {
        const int best =
            motus_choose_mv(c, MOTUS_BLOCK_16x16, mvp, in->refs, -1, in->qp->lambda_q8, &unused);
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
// motus_choose_mv. Returns its reference.
static inline int choose_partition(const MotusChoices *c, const MotusInterMb *in, MotusMvGrid *grid,
                                   const MotusPartition *p, int only, MotusMb *mb, uint32_t *cost,
                                   uint32_t *mv_bits) {
    uint32_t part_cost;
    MotusMv mvp[MOTUS_MAX_REFERENCES];
    for (int k = 0; k < in->refs; k++) mvp[k] = motus_grid_mvp(grid, p, k);
    const int v = motus_choose_mv(c, p->block, mvp, in->refs, only, in->qp->lambda_q8, &part_cost);
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
static inline void choose_whole(const MotusChoices *c, const MotusInterMb *in, MotusMvGrid *grid,
                                int k, MotusChoice *choice) {
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
static inline int choose_sub(const MotusChoices *c, const MotusInterMb *in, uint64_t blocks,
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

// Chooses the MVs of every type among the candidates' blocks. s->grid holds the neighbours,
// choice->skip P_Skip's MV.
static inline void motus_choose_types(const MotusInterMb *in, const MotusCandidates *found,
                                      MotusChooseScratch *s, MotusChoice *choice) {
    const uint64_t blocks = found->blocks;
    MotusChoices *c = &s->choices;
    for (int v = 0; v < found->n; v++)
        choices_put(c, v, found->mv[v], found->ref[v], found->satd[v]);
    c->n = found->n;
    memset(choice->mb, 0, sizeof choice->mb);
    for (int k = 0; k < 4; k++) choice->cost[k] = UINT32_MAX;
    choices_of_neighbours(s, in, choice->skip);
    choices_merge(c);
    choose_whole(c, in, &s->grid, 0, choice);
    if (blocks >> MOTUS_BLOCK_16x8 & 1) choose_whole(c, in, &s->grid, 1, choice);
    if (blocks >> MOTUS_BLOCK_8x16 & 1) choose_whole(c, in, &s->grid, 2, choice);
    if (!(blocks >> MOTUS_BLOCK_8x8 & 1)) return;
    const int k = MOTUS_MB_P_8x8 - MOTUS_MB_P_16x16;
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
    int left = in->limits->max_mvs;
    for (int q = 0; q < 4; q++) // each later 8x8 block needs at least one MV
        left -= choose_sub(c, in, blocks, &s->grid, q, left - (3 - q), &choice->mb[k], &s->trial,
                           &cost, &mv_bits);
    motus_choice_put(choice, k, cost, mv_bits);
}

#endif
