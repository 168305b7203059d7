// Choice of a B MB's lists and MVs on the CPU, by SATD + lambda * bits with the predictors that the
// neighbours' MVs give.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_CHOICE_CPU_H
#define ENCODER_ANALYSE_B_CHOICE_CPU_H

#include "encoder/analyse/b_core.h"
#include "encoder/analyse/inter_choice_cpu.h"

typedef struct MotusBScratch {
    MotusMvGrid grid[2];     // of each list
    uint32_t direct_satd[4]; // of each 8x8 block
} MotusBScratch;

// Sets a partition's MVs in the grids. A list that it does not use gives a zero MV.
static inline void motus_b_grid_set(MotusMvGrid grid[2], const MotusPartition *p, const MotusMb *mb,
                                    int q) {
    for (int list = 0; list < 2; list++) {
        const int used = motus_pred_uses(mb->pred[q], list) && !mb->ref[list][q];
        motus_grid_set(&grid[list], p->x, p->y, p->width, p->height,
                       used ? MOTUS_CELL_INTER : MOTUS_CELL_INTRA,
                       list ? mb->mv1[q] : mb->mv[motus_corner_of(q)]);
    }
}

static inline void motus_b_grid_clear(MotusMvGrid grid[2]) {
    for (int list = 0; list < 2; list++) motus_grid_clear(&grid[list], 0, 0, 4, 4);
}

// Chooses lists and MVs of a partition, sets them in mb and grids, and returns their SATD + lambda
// * bits of MVs and lists. pair_bits: what both lists take more than one in the type.
static inline uint32_t motus_b_choose_partition(const MotusBCandidates *found,
                                                const MotusInterMb *in, MotusMvGrid grid[2],
                                                const MotusPartition *p, uint32_t pair_bits,
                                                MotusMb *mb, uint32_t *mv_bits) {
    static const uint8_t first_ref[2] = {0, 0};
    uint32_t best = UINT32_MAX, best_bits = 0;
    int best_pred = 0;
    MotusMv predictor[2];
    for (int list = 0; list < 2; list++)
        predictor[list] = motus_mvp(&grid[list], p->mode, p->part, p->x, p->y, p->width);
    for (int pred = 0; pred < MOTUS_PREDS; pred++) {
        uint32_t bits = 0;
        for (int list = 0; list < 2; list++)
            if (motus_pred_uses(pred, list))
                bits += (uint32_t)motus_mv_bits(motus_b_mv(found, p->block, pred, list),
                                                predictor[list]);
        const uint32_t cost =
            found->satd[pred][p->block] +
            motus_mode_cost(in->qp, bits + (pred == MOTUS_PRED_BI ? pair_bits : 0));
        if (cost >= best) continue;
        best = cost, best_bits = bits, best_pred = pred;
    }
    for (int y = p->y; y < p->y + p->height; y += 2)
        for (int x = p->x; x < p->x + p->width; x += 2)
            motus_set_8x8(mb, y + x / 2, best_pred, first_ref,
                          motus_b_mv(found, p->block, best_pred, 0),
                          motus_b_mv(found, p->block, best_pred, 1));
    motus_b_grid_set(grid, p, mb, p->y + p->x / 2);
    *mv_bits += best_bits;
    return best;
}

// Chooses type k: 16x16, 16x8 or 8x16.
static inline void motus_b_choose_whole(const MotusBCandidates *found, const MotusInterMb *in,
                                        MotusBScratch *s, int k, MotusBChoice *choice) {
    MotusMb *mb = &choice->mb[k];
    const int mode = k - MOTUS_B_16x16;
    uint32_t cost = 0, mv_bits = 0;
    mb->type = (uint8_t)(MOTUS_MB_P_16x16 + mode);
    for (int i = 0; i < (mode ? 2 : 1); i++) {
        const MotusPartition p =
            motus_partition_at(mode, i, mode == 2 ? 2 * i : 0, mode == 1 ? 2 * i : 0);
        cost += motus_b_choose_partition(found, in, s->grid, &p, 2, mb, &mv_bits);
    }
    // Bits of the lists were counted with the partitions only to choose among them.
    for (int i = 0; i < (mode ? 2 : 1); i++)
        if (mb->pred[3 * i] == MOTUS_PRED_BI) cost -= motus_mode_cost(in->qp, 2);
    choice->cost[k] = cost + motus_mode_cost(in->qp, motus_b_type_bits(mb));
    choice->mv_bits[k] = mv_bits;
    motus_b_grid_clear(s->grid);
}

// Chooses the four blocks of B_8x8, each direct or with MVs.
static inline void motus_b_choose_8x8(const MotusBCandidates *found, const MotusInterMb *in,
                                      MotusBScratch *s, MotusBChoice *choice) {
    MotusMb *mb = &choice->mb[MOTUS_B_8x8];
    uint32_t cost = 0, mv_bits = 0;
    mb->type = MOTUS_MB_P_8x8;
    for (int q = 0; q < 4; q++) {
        const MotusPartition p = motus_partition_at(MOTUS_MODE_8x8, 0, q % 2 * 2, q / 2 * 2);
        const uint32_t direct = s->direct_satd[q] + motus_mode_cost(in->qp, 1);
        uint32_t bits = 0, own = motus_mode_cost(in->qp, 3);
        own += motus_b_choose_partition(found, in, s->grid, &p, 2, mb, &bits);
        if (direct <= own) {
            motus_set_direct(mb, q, &choice->direct);
            motus_b_grid_set(s->grid, &p, mb, q);
            cost += direct;
        } else {
            cost += own;
            mv_bits += bits;
        }
    }
    choice->cost[MOTUS_B_8x8] = mb->direct == MOTUS_ALL_DIRECT
                                    ? UINT32_MAX // B_Direct_16x16 says the same
                                    : cost + motus_mode_cost(in->qp, motus_b_type_bits(mb));
    choice->mv_bits[MOTUS_B_8x8] = mv_bits;
    motus_b_grid_clear(s->grid);
}

// Chooses every type among the candidates' blocks. s: direct_satd is set.
static inline void motus_b_choose_types(const MotusInterMb *in, const MotusBCandidates *found,
                                        MotusBScratch *s, MotusBChoice *choice) {
    for (int k = 0; k < MOTUS_B_TYPES; k++) {
        memset(&choice->mb[k], 0, sizeof choice->mb[k]);
        choice->cost[k] = UINT32_MAX;
        choice->mv_bits[k] = 0;
    }
    for (int list = 0; list < 2; list++)
        motus_grid_load_list(&s->grid[list], &in->neighbours, list, 0);
    MotusMb *direct = &choice->mb[MOTUS_B_DIRECT];
    direct->type = MOTUS_MB_P_16x16;
    for (int q = 0; q < 4; q++) motus_set_direct(direct, q, &choice->direct);
    choice->cost[MOTUS_B_DIRECT] = s->direct_satd[0] + s->direct_satd[1] + s->direct_satd[2] +
                                   s->direct_satd[3] +
                                   motus_mode_cost(in->qp, motus_b_type_bits(direct));
    motus_b_choose_whole(found, in, s, MOTUS_B_16x16, choice);
    if (found->blocks & 2) motus_b_choose_whole(found, in, s, MOTUS_B_16x8, choice);
    if (found->blocks & 8) motus_b_choose_whole(found, in, s, MOTUS_B_8x16, choice);
    if (found->blocks & 32) motus_b_choose_8x8(found, in, s, choice);
}

#endif
