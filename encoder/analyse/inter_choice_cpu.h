// Choice of an inter MB's partitions and MVs on the CPU, by SATD + lambda * bits with the
// predictors that the neighbours' MVs give. An MB has few distinct MVs but needs the SATD of many
// blocks with them: each MV is measured once, in 4x4 blocks, and block sums are looked up.
// inter_choice_warp.cuh has the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_CHOICE_CPU_H
#define ENCODER_ANALYSE_INTER_CHOICE_CPU_H

#include "encoder/analyse/inter_core.h"
#include "encoder/mb/predict_cpu.h"
#include "me/pixel/pixel_core.h"

// MVs to choose from, and the SATD of each of the 41 blocks with each.
typedef struct MotusChoices {
    int n;
    int16_t x[MOTUS_CHOICES], y[MOTUS_CHOICES];
    uint32_t sum[MOTUS_BLOCKS][MOTUS_CHOICES]; // at most 130,560
} MotusChoices;

typedef struct MotusChooseScratch {
    MotusChoices choices[MOTUS_MAX_REFERENCES]; // by ref_idx
    MotusMvGrid grid;
    MotusMb trial;
    uint16_t satd[16];
} MotusChooseScratch;

// ---- MVs to choose from -------------------------------------------------------------------------

static inline void motus_choices_put(MotusChoices *c, int at, MotusMv mv, const uint16_t satd[16]) {
    uint32_t sum[MOTUS_BLOCKS];
    for (int i = 0; i < 16; i++) sum[MOTUS_BLOCK_4x4 + i] = satd[i];
    motus_merge_sums(sum);
    for (int b = 0; b < MOTUS_BLOCKS; b++) c->sum[b][at] = sum[b];
    c->x[at] = mv.x;
    c->y[at] = mv.y;
}

static inline int motus_choices_have(const MotusChoices *c, MotusMv mv) {
    for (int v = 0; v < c->n; v++)
        if (c->x[v] == mv.x && c->y[v] == mv.y) return 1;
    return 0;
}

// Measures and adds n more MVs into a reference, except those that are listed already or not
// allowed, as long as there is room.
static inline void motus_choices_add(MotusChooseScratch *s, const MotusInterMb *in, int ref,
                                     const MotusMv *mv, int n) {
    MotusChoices *c = &s->choices[ref];
    for (int i = 0; i < n; i++) {
        if (c->n == MOTUS_CHOICES || !motus_mv_allowed(in->limits, mv[i]) ||
            motus_choices_have(c, mv[i]))
            continue;
        motus_satd_mb(s->satd, in->src.plane[0], in->src.stride[0], in->ref + ref, 16 * in->x,
                      16 * in->y, mv[i]);
        motus_choices_put(c, c->n++, mv[i], s->satd);
    }
}

// Returns the index of the MV with the smallest SATD + lambda * bits for a block, the first of
// equals, and that *cost.
static inline int motus_choose_mv(const MotusChoices *c, int block, MotusMv predictor,
                                  uint32_t lambda_q8, uint32_t *cost) {
    uint32_t best = UINT32_MAX; // cost << 5 | index: the cost is below 2^18 + 2^14
    const uint32_t *sum = c->sum[block];
    uint32_t packed[MOTUS_CHOICES];
    int n = (c->n + 7) & ~7;
    for (int v = 0; v < n; v++) {
        int bits = motus_mvd_bits(c->x[v] - predictor.x) + motus_mvd_bits(c->y[v] - predictor.y);
        packed[v] = (sum[v] + (lambda_q8 * (uint32_t)bits >> 8)) << 5 | (uint32_t)v;
    }
    for (int v = 0; v < c->n; v++) best = packed[v] < best ? packed[v] : best;
    *cost = best >> 5;
    return (int)(best & 31);
}

// Adds P_Skip's MV, the median, zero and the neighbours' MVs. As long as the best MV for the whole
// MB is one that was added here, adds the four MVs around it, up to `steps` times.
static inline void motus_choices_of_neighbours(MotusChooseScratch *s, const MotusInterMb *in,
                                               MotusMv skip) {
    static const uint8_t cell[3][2] = {{1, 0}, {0, 1}, {0, 5}}; // row and column of A, B, C
    MotusChoices *c = &s->choices[0];
    const MotusMv predictor = motus_mvp(&s->grid, MOTUS_MODE_16x16, 0, 0, 0, 4), zero = {0, 0};
    MotusMv mv[6] = {skip, predictor, zero};
    uint32_t unused;
    int found = c->n;
    for (int i = 0; i < 3; i++) {
        const int row = cell[i][0], column = cell[i][1];
        mv[3 + i] = s->grid.state[row][column] == MOTUS_CELL_INTER ? s->grid.mv[row][column] : zero;
    }
    motus_choices_add(s, in, 0, mv, 6);
    for (int step = 0; step < in->limits->steps; step++) {
        const int best =
            motus_choose_mv(c, MOTUS_BLOCK_16x16, predictor, in->qp->lambda_q8, &unused);
        if (best < found) break;
        found = c->n;
        for (int i = 0; i < 4; i++) {
            mv[i].x = (int16_t)(c->x[best] + in->limits->unit * (i == 1 ? -1 : i == 2));
            mv[i].y = (int16_t)(c->y[best] + in->limits->unit * (i == 0 ? -1 : i == 3));
        }
        motus_choices_add(s, in, 0, mv, 4);
    }
}

// Sets the choices of a further reference: its candidates, and if any, or if a neighbour uses it,
// the median and the neighbours' MVs.
static inline void motus_choices_of_ref(MotusChooseScratch *s, const MotusInterMb *in, int ref) {
    static const uint8_t cell[3][2] = {{1, 0}, {0, 1}, {0, 5}};
    const MotusCandidates *found = &in->far[ref - 1];
    MotusChoices *c = &s->choices[ref];
    MotusMv mv[4];
    int n = 1;
    for (int v = 0; v < found->n; v++) motus_choices_put(c, v, found->mv[v], found->satd[v]);
    c->n = found->n;
    for (int i = 0; i < 3; i++)
        if (s->grid.state[cell[i][0]][cell[i][1]] == MOTUS_CELL_INTER + ref)
            mv[n++] = s->grid.mv[cell[i][0]][cell[i][1]];
    if (n == 1 && !c->n) return;
    mv[0] = motus_mvp_ref(&s->grid, MOTUS_MODE_16x16, 0, 0, 0, 4, ref);
    motus_choices_add(s, in, ref, mv, n);
}

// ---- Types --------------------------------------------------------------------------------------

// Chooses the reference of one block: the one whose best MV costs least. Adds the bits of its
// ref_idx to cost and mv_bits.
static inline int motus_choose_ref(const MotusChoices *c, const MotusInterMb *in,
                                   const MotusMvGrid *grid, const MotusPartition *p, uint32_t *cost,
                                   uint32_t *mv_bits) {
    uint32_t best = UINT32_MAX, part_cost;
    int best_ref = 0;
    for (int ref = 0; ref < in->refs; ref++) {
        if (!c[ref].n) continue;
        motus_choose_mv(&c[ref], p->block,
                        motus_mvp_ref(grid, p->mode, p->part, p->x, p->y, p->width, ref),
                        in->qp->lambda_q8, &part_cost);
        part_cost += motus_mode_cost(in->qp, (uint32_t)motus_ref_bits(in->refs, ref));
        if (part_cost >= best) continue;
        best = part_cost;
        best_ref = ref;
    }
    *cost += motus_mode_cost(in->qp, (uint32_t)motus_ref_bits(in->refs, best_ref));
    *mv_bits += (uint32_t)motus_ref_bits(in->refs, best_ref);
    return best_ref;
}

// Chooses the MV of one block in a reference, sets it in mb and grid, and adds to cost and mv_bits.
static inline void motus_choose_partition(const MotusChoices *choices, const MotusInterMb *in,
                                          MotusMvGrid *grid, const MotusPartition *p, int ref,
                                          MotusMb *mb, uint32_t *cost, uint32_t *mv_bits) {
    uint32_t part_cost;
    const MotusChoices *c = &choices[ref];
    const MotusMv predictor = motus_mvp_ref(grid, p->mode, p->part, p->x, p->y, p->width, ref);
    const int v = motus_choose_mv(c, p->block, predictor, in->qp->lambda_q8, &part_cost);
    const MotusMv mv = {c->x[v], c->y[v]};
    motus_grid_set(grid, p->x, p->y, p->width, p->height, MOTUS_CELL_INTER + ref, mv);
    for (int y = p->y; y < p->y + p->height; y++)
        for (int x = p->x; x < p->x + p->width; x++) mb->mv[4 * y + x] = mv;
    *cost += part_cost;
    *mv_bits += (uint32_t)motus_mv_bits(mv, predictor);
}

static inline void motus_grid_clear(MotusMvGrid *grid, int x, int y, int width, int height) {
    const MotusMv zero = {0, 0};
    motus_grid_set(grid, x, y, width, height, MOTUS_CELL_NONE, zero);
}

// Chooses the MVs of P_16x16, P_16x8 or P_8x16: k is 0, 1 or 2.
static inline void motus_choose_whole(const MotusChoices *c, const MotusInterMb *in,
                                      MotusMvGrid *grid, int k, MotusChoice *choice) {
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
    for (int i = 0; i < (k ? 2 : 1); i++) {
        MotusPartition p = motus_partition_at(k, i, k == 2 ? 2 * i : 0, k == 1 ? 2 * i : 0);
        const int ref = in->refs > 1 ? motus_choose_ref(c, in, grid, &p, &cost, &mv_bits) : 0;
        motus_choose_partition(c, in, grid, &p, ref, &choice->mb[k], &cost, &mv_bits);
        for (int q = 0; q < 4 && in->refs > 1; q++) // the second partition overwrites its own
            if (!i || (k == 1 ? q >> 1 : q & 1)) choice->mb[k].ref[0][q] = (uint8_t)ref;
    }
    motus_choice_put(choice, k, cost, mv_bits);
    motus_grid_clear(grid, 0, 0, 4, 4);
}

// Copies the MVs of 8x8 block q.
static inline void motus_copy_8x8(MotusMv *to, const MotusMv *from, int q) {
    int at = q / 2 * 8 + q % 2 * 2;
    to[at] = from[at], to[at + 1] = from[at + 1], to[at + 4] = from[at + 4],
    to[at + 5] = from[at + 5];
}

// Chooses the sub type of 8x8 block q with at most max_mvs MVs, among the candidates' `blocks`.
// Sets its MVs in mb and grid. Returns their number.
static inline int motus_choose_sub(const MotusChoices *c, const MotusInterMb *in, uint64_t blocks,
                                   MotusMvGrid *grid, int q, int max_mvs, MotusMb *mb,
                                   MotusMb *trial, uint32_t *cost, uint32_t *mv_bits) {
    uint32_t best = UINT32_MAX, best_bits = 0;
    int best_sub = 0, ref = 0;
    if (in->refs > 1) { // by the whole 8x8 block
        const MotusPartition whole = motus_sub_partition(MOTUS_SUB_8x8, q, 0);
        motus_grid_clear(grid, q % 2 * 2, q / 2 * 2, 2, 2);
        ref = motus_choose_ref(c, in, grid, &whole, cost, mv_bits);
        mb->ref[0][q] = (uint8_t)ref;
    }
    for (int sub = MOTUS_SUB_8x8; sub <= MOTUS_SUB_4x4; sub++) {
        int n = motus_sub_partitions(sub);
        MotusPartition first = motus_sub_partition(sub, q, 0);
        if (sub != MOTUS_SUB_8x8 && (n > max_mvs || !(blocks >> first.block & 1))) continue;
        uint32_t sub_cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)sub)),
                 sub_bits = 0;
        motus_grid_clear(grid, q % 2 * 2, q / 2 * 2, 2, 2);
        for (int i = 0; i < n; i++) {
            MotusPartition p = motus_sub_partition(sub, q, i);
            motus_choose_partition(c, in, grid, &p, ref, trial, &sub_cost, &sub_bits);
        }
        if (sub_cost >= best) continue;
        best = sub_cost;
        best_bits = sub_bits;
        best_sub = sub;
        motus_copy_8x8(mb->mv, trial->mv, q);
    }
    for (int i = 0; i < 4; i++) {
        int x = q % 2 * 2 + i % 2, y = q / 2 * 2 + i / 2;
        motus_grid_set(grid, x, y, 1, 1, MOTUS_CELL_INTER + ref, mb->mv[4 * y + x]);
    }
    mb->sub_type[q] = (uint8_t)best_sub;
    *cost += best;
    *mv_bits += best_bits;
    return motus_sub_partitions(best_sub);
}

static inline void motus_choose_8x8(const MotusChoices *c, const MotusInterMb *in, uint64_t blocks,
                                    MotusMvGrid *grid, MotusMb *trial, MotusChoice *choice) {
    const int k = MOTUS_MB_P_8x8 - MOTUS_MB_P_16x16;
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
    int left = in->limits->max_mvs;
    for (int q = 0; q < 4; q++) // each later 8x8 block needs at least one MV
        left -= motus_choose_sub(c, in, blocks, grid, q, left - (3 - q), &choice->mb[k], trial,
                                 &cost, &mv_bits);
    motus_choice_put(choice, k, cost, mv_bits);
}

// Chooses the MVs of every type among the candidates' blocks. s->grid holds the neighbours,
// choice->skip P_Skip's MV.
static inline void motus_choose_types(const MotusInterMb *in, const MotusCandidates *found,
                                      MotusChooseScratch *s, MotusChoice *choice) {
    MotusChoices *c = s->choices;
    for (int v = 0; v < found->n; v++) motus_choices_put(c, v, found->mv[v], found->satd[v]);
    c->n = found->n;
    for (int k = 0; k < 4; k++) {
        memset(&choice->mb[k], 0, sizeof choice->mb[k]);
        choice->cost[k] = UINT32_MAX;
    }
    motus_choices_of_neighbours(s, in, choice->skip);
    for (int ref = 1; ref < in->refs; ref++) motus_choices_of_ref(s, in, ref);
    motus_choose_whole(c, in, &s->grid, 0, choice);
    if (found->blocks >> MOTUS_BLOCK_16x8 & 1) motus_choose_whole(c, in, &s->grid, 1, choice);
    if (found->blocks >> MOTUS_BLOCK_8x16 & 1) motus_choose_whole(c, in, &s->grid, 2, choice);
    if (found->blocks >> MOTUS_BLOCK_8x8 & 1)
        motus_choose_8x8(c, in, found->blocks, &s->grid, &s->trial, choice);
}

// Returns the best type by SATD.
static inline int motus_choice_best(const MotusChoice *choice) {
    int best = 0;
    for (int k = 1; k < 4; k++)
        if (choice->cost[k] < choice->cost[best]) best = k;
    return best;
}

#endif
