// Choice of partitions and vectors of an inter MB by SATD + lambda * bits, with the predictors that
// the neighbours' vectors give. An MB looks at few distinct vectors but asks for the SATD of many
// blocks with them: so each vector is measured once, in 4x4 blocks, and the rest are look-ups. By
// one lane; the lanes of a GPU: choose_lanes_core.h.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_CHOOSE_CORE_H
#define ENCODER_ANALYSE_CHOOSE_CORE_H

#include "encoder/analyse/effort.h"
#include "encoder/mb/predict_core.h"
#include "encoder/mb/qp_core.h"
#include "me/pixel/pixel_core.h"

#define MOTUS_CANDIDATES 24 // vectors that the search leaves for an MB
#define MOTUS_CHOICES 32    // with those of the neighbours; one a lane of a warp

// Vectors of an MB that the search has found, measured. Written once per picture, before the first
// decision.
typedef struct MotusCandidates {
    MotusMv mv[MOTUS_CANDIDATES];
    uint16_t satd[MOTUS_CANDIDATES][16]; // 4x4 blocks in raster order
    uint64_t blocks; // mask of the 41 blocks whose whole-sample costs leave them a chance
    uint8_t n;
} MotusCandidates;

// The vectors to choose from, and the SATD of each of the 41 blocks with each.
typedef struct MotusChoices {
    int n;
    int16_t x[MOTUS_CHOICES], y[MOTUS_CHOICES];
    uint32_t sum[MOTUS_BLOCKS][MOTUS_CHOICES]; // at most 130,560
} MotusChoices;

// The MB coded in each of the four types P_16x16, P_16x8, P_8x16, P_8x8 with its best vectors
// (P_8x8: and sub types). cost UINT32_MAX: not considered.
typedef struct MotusChoice {
    MotusMb mb[4];
    uint32_t cost[4];    // SATD + lambda * bits of types and vectors
    uint32_t mv_bits[4]; // of the vectors alone
    MotusMv skip;        // P_Skip's vector
} MotusChoice;

// An inter MB and what surrounds it.
typedef struct MotusInterMb {
    const MotusReference *ref;
    const MotusInterLimits *limits;
    const MotusQp *qp;
    MotusMbSource src;
    MotusNeighbours neighbours;
    int x, y; // MBs
} MotusInterMb;

// Vectors must stay in the level's range, and keep every difference of two within 16 bits.
MOTUS_HD int motus_mv_allowed(const MotusInterLimits *limits, MotusMv mv) {
    return mv.y >= -limits->max_mv_y && mv.y < limits->max_mv_y && mv.x >= -8192 && mv.x < 8192;
}

MOTUS_HD void motus_choices_put(MotusChoices *c, int at, MotusMv mv, const uint16_t satd[16]) {
    uint32_t sum[MOTUS_BLOCKS];
    for (int i = 0; i < 16; i++) sum[MOTUS_BLOCK_4x4 + i] = satd[i];
    motus_merge_sums(sum);
    for (int b = 0; b < MOTUS_BLOCKS; b++) c->sum[b][at] = sum[b];
    c->x[at] = mv.x;
    c->y[at] = mv.y;
}

// Loads what the search has left.
MOTUS_HD void motus_choices_load(MotusChoices *c, const MotusCandidates *found) {
    for (int v = 0; v < found->n; v++) motus_choices_put(c, v, found->mv[v], found->satd[v]);
    c->n = found->n;
}

// Whether mv is among the first n vectors.
MOTUS_HD int motus_choices_have(const MotusChoices *c, int n, MotusMv mv) {
    for (int v = 0; v < n; v++)
        if (c->x[v] == mv.x && c->y[v] == mv.y) return 1;
    return 0;
}

// Measures some more vectors, but for those that are there, are not allowed, or find no room. satd
// is working memory.
MOTUS_HD void motus_choices_add(MotusChoices *c, const MotusInterMb *in, const MotusMv *mv, int n,
                                uint16_t satd[16]) {
    for (int i = 0; i < n; i++) {
        if (c->n == MOTUS_CHOICES || !motus_mv_allowed(in->limits, mv[i]) ||
            motus_choices_have(c, c->n, mv[i]))
            continue;
        motus_satd_mb(satd, in->src.plane[0], in->src.stride[0], in->ref, 16 * in->x, 16 * in->y,
                      mv[i]);
        motus_choices_put(c, c->n++, mv[i], satd);
    }
}

// Bits of se(v) for |v| < 2^15: by the exponent of |v| as a float, which vectors have an
// instruction for.
MOTUS_HD int motus_se_bits_of(int v) {
#ifdef __CUDA_ARCH__
    return 2 * (32 - __clz(motus_abs(v))) + 1;
#else
    union {
        float f;
        int32_t i;
    } magnitude;
    magnitude.f = (float)motus_abs(v) + 0.5f; // 0.5 for 0: exponent -1, where 1 has 0
    return 2 * ((magnitude.i >> 23) - 126) + 1;
#endif
}

// Best choice for a block: the least SATD + vector cost, the first of equals. Returns its index;
// *cost without the shift below.
MOTUS_HD int motus_choose_mv(const MotusChoices *c, int block, MotusMv predictor,
                             uint32_t lambda_q8, uint32_t *cost) {
    uint32_t best = UINT32_MAX; // cost << 5 | index: the cost is below 2^18 + 2^14
    const uint32_t *sum = c->sum[block];
    uint32_t packed[MOTUS_CHOICES];
    int n = (c->n + 7) & ~7;
    for (int v = 0; v < n; v++) {
        int bits =
            motus_se_bits_of(c->x[v] - predictor.x) + motus_se_bits_of(c->y[v] - predictor.y);
        packed[v] = (sum[v] + (lambda_q8 * (uint32_t)bits >> 8)) << 5 | (uint32_t)v;
    }
    for (int v = 0; v < c->n; v++) best = packed[v] < best ? packed[v] : best;
    *cost = best >> 5;
    return (int)(best & 31);
}

// Sets the cells of a block in grid and, where there is one, MB.
MOTUS_HD void motus_partition_set(MotusMvGrid *grid, MotusMb *mb, int x, int y, int width,
                                  int height, int state, MotusMv mv) {
    motus_grid_set(grid, x, y, width, height, state, mv);
    for (int cy = y; mb && cy < y + height; cy++)
        for (int cx = x; cx < x + width; cx++) mb->mv[4 * cy + cx] = mv;
}

MOTUS_HD void motus_partition_clear(MotusMvGrid *grid, int x, int y, int width, int height) {
    const MotusMv zero = {0, 0};
    motus_partition_set(grid, NULL, x, y, width, height, MOTUS_CELL_NONE, zero);
}

// Chooses the vector of one block, notes it in mb and grid, and adds to cost and bits.
MOTUS_HD void motus_choose_partition(const MotusChoices *c, const MotusInterMb *in,
                                     MotusMvGrid *grid, const MotusPartition *p, MotusMb *mb,
                                     uint32_t *cost, uint32_t *mv_bits) {
    uint32_t part_cost;
    MotusMv predictor = motus_mvp(grid, p->mode, p->part, p->x, p->y, p->width), mv;
    int v = motus_choose_mv(c, p->block, predictor, in->qp->lambda_q8, &part_cost);
    mv.x = c->x[v];
    mv.y = c->y[v];
    motus_partition_set(grid, mb, p->x, p->y, p->width, p->height, MOTUS_CELL_INTER, mv);
    *cost += part_cost;
    *mv_bits += (uint32_t)motus_mv_bits(mv, predictor);
}

MOTUS_HD uint32_t motus_mode_cost(const MotusQp *qp, uint32_t bits) {
    return qp->lambda_q8 * bits >> 8;
}

// The vectors of type k are chosen.
MOTUS_HD void motus_choice_put(MotusChoice *choice, int k, uint32_t cost, uint32_t mv_bits) {
    choice->mb[k].type = (uint8_t)(MOTUS_MB_P_16x16 + k);
    choice->cost[k] = cost;
    choice->mv_bits[k] = mv_bits;
}

// P_16x16, P_16x8 or P_8x16: k is 0, 1 or 2.
MOTUS_HD void motus_choose_whole(const MotusChoices *c, const MotusInterMb *in, MotusMvGrid *grid,
                                 int k, MotusChoice *choice) {
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
    for (int i = 0; i < (k ? 2 : 1); i++) {
        MotusPartition p = motus_partition_at(k, i, k == 2 ? 2 * i : 0, k == 1 ? 2 * i : 0);
        motus_choose_partition(c, in, grid, &p, &choice->mb[k], &cost, &mv_bits);
    }
    motus_choice_put(choice, k, cost, mv_bits);
    motus_partition_clear(grid, 0, 0, 4, 4);
}

// The vectors of 8x8 block q, in MB order of its four cells.
MOTUS_HD void motus_copy_8x8(MotusMv *to, const MotusMv *from, int q) {
    int at = q / 2 * 8 + q % 2 * 2;
    to[at] = from[at], to[at + 1] = from[at + 1], to[at + 4] = from[at + 4],
    to[at + 5] = from[at + 5];
}

// Best sub type of 8x8 block q with at most max_mvs vectors; `blocks` are those with a chance.
// Leaves its vectors in mb and grid; returns how many.
MOTUS_HD int motus_choose_sub(const MotusChoices *c, const MotusInterMb *in, uint64_t blocks,
                              MotusMvGrid *grid, int q, int max_mvs, MotusMb *mb, MotusMb *trial,
                              uint32_t *cost, uint32_t *mv_bits) {
    uint32_t best = UINT32_MAX, best_bits = 0;
    int best_sub = 0;
    for (int sub = MOTUS_SUB_8x8; sub <= MOTUS_SUB_4x4; sub++) {
        int n = motus_sub_partitions(sub);
        MotusPartition first = motus_sub_partition(sub, q, 0);
        if (sub != MOTUS_SUB_8x8 && (n > max_mvs || !(blocks >> first.block & 1))) continue;
        uint32_t sub_cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)sub)),
                 sub_bits = 0;
        motus_partition_clear(grid, q % 2 * 2, q / 2 * 2, 2, 2);
        for (int i = 0; i < n; i++) {
            MotusPartition p = motus_sub_partition(sub, q, i);
            motus_choose_partition(c, in, grid, &p, trial, &sub_cost, &sub_bits);
        }
        if (sub_cost >= best) continue;
        best = sub_cost;
        best_bits = sub_bits;
        best_sub = sub;
        motus_copy_8x8(mb->mv, trial->mv, q);
    }
    for (int i = 0; i < 4; i++) {
        int x = q % 2 * 2 + i % 2, y = q / 2 * 2 + i / 2;
        motus_grid_set(grid, x, y, 1, 1, MOTUS_CELL_INTER, mb->mv[4 * y + x]);
        mb->sub_type[q] = (uint8_t)best_sub;
    }
    *cost += best;
    *mv_bits += best_bits;
    return motus_sub_partitions(best_sub);
}

MOTUS_HD void motus_choose_8x8(const MotusChoices *c, const MotusInterMb *in, uint64_t blocks,
                               MotusMvGrid *grid, MotusMb *trial, MotusChoice *choice) {
    const int k = MOTUS_MB_P_8x8 - MOTUS_MB_P_16x16;
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
    int left = in->limits->max_mvs;
    for (int q = 0; q < 4; q++) // each later 8x8 block needs at least one vector
        left -= motus_choose_sub(c, in, blocks, grid, q, left - (3 - q), &choice->mb[k], trial,
                                 &cost, &mv_bits);
    motus_choice_put(choice, k, cost, mv_bits);
}

// Working memory of a choice.
typedef struct MotusChooseScratch {
    MotusChoices choices;
    MotusMvGrid grid;
    MotusMb trial;
    uint16_t satd[16];
} MotusChooseScratch;

// Adds the neighbours' vectors, P_Skip's and zero; and where one of them serves the whole MB best,
// what lies around it.
MOTUS_HD void motus_choices_of_neighbours(MotusChooseScratch *s, const MotusInterMb *in,
                                          MotusMv skip) {
    MotusChoices *c = &s->choices;
    MotusMv mv[6], predictor = motus_mvp(&s->grid, MOTUS_MODE_16x16, 0, 0, 0, 4);
    uint32_t unused;
    int found = c->n, n = 3;
    mv[0] = skip;
    mv[1] = predictor;
    mv[2].x = mv[2].y = 0;
    for (int i = 0; i < 3; i++) {
        int row = i == 0, column = i == 0   ? 0
                                   : i == 1 ? 1
                                            : 5; // A, B, C; zero once more where one has no vector
        mv[3 + i] =
            s->grid.state[row][column] == MOTUS_CELL_INTER ? s->grid.mv[row][column] : mv[2];
        n = 4 + i;
    }
    motus_choices_add(c, in, mv, n, s->satd);
    for (int step = 0; step < in->limits->steps; step++) {
        int best = motus_choose_mv(c, MOTUS_BLOCK_16x16, predictor, in->qp->lambda_q8, &unused),
            first = c->n;
        if (best < found) break;
        for (int i = 0; i < 4; i++) {
            mv[i].x = (int16_t)(c->x[best] + in->limits->unit * (i == 1 ? -1 : i == 2));
            mv[i].y = (int16_t)(c->y[best] + in->limits->unit * (i == 0 ? -1 : i == 3));
        }
        motus_choices_add(c, in, mv, 4, s->satd);
        found = first;
    }
}

// What the types of an MB are chosen from: all vectors, measured. The grid and P_Skip's vector are
// there.
MOTUS_HD void motus_choose_begin(const MotusInterMb *in, const MotusCandidates *found,
                                 MotusChooseScratch *s, MotusChoice *choice) {
    motus_choices_load(&s->choices, found);
    for (int k = 0; k < 4; k++) {
        memset(&choice->mb[k], 0, sizeof choice->mb[k]);
        choice->cost[k] = UINT32_MAX;
    }
    motus_choices_of_neighbours(s, in, choice->skip);
}

// Chooses the vectors of type k (P_16x16 + k), if the candidates' `blocks` leave it a chance. The
// grid is left as it was, but by P_8x8.
MOTUS_HD void motus_choose_type(const MotusChoices *c, const MotusInterMb *in, uint64_t blocks,
                                MotusMvGrid *grid, MotusMb *trial, int k, MotusChoice *choice) {
    const int first = k == 0   ? 0
                      : k == 1 ? MOTUS_BLOCK_16x8
                      : k == 2 ? MOTUS_BLOCK_8x16
                               : MOTUS_BLOCK_8x8;
    if (k && !(blocks >> first & 1)) return;
    if (k < 3)
        motus_choose_whole(c, in, grid, k, choice);
    else
        motus_choose_8x8(c, in, blocks, grid, trial, choice);
}

// The best type by SATD.
MOTUS_HD int motus_choice_best(const MotusChoice *choice) {
    int best = 0;
    for (int k = 1; k < 4; k++)
        if (choice->cost[k] < choice->cost[best]) best = k;
    return best;
}

#endif
