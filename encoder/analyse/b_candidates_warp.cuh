// Candidates of a B MB by a warp: all blocks of a type at once, a lane a 4x4 block. The lanes below
// 16 have list 0, the others list 1; where one list's MV moves, each half has every other
// neighbour. Equals motus_b_candidates from the refined MVs on (b_choice_cpu.h): suite `lanes`,
// and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_CANDIDATES_WARP_CUH
#define ENCODER_ANALYSE_B_CANDIDATES_WARP_CUH

#include "encoder/analyse/b_core.h"
#include "encoder/analyse/predict_warp.cuh"

// A warp lane's part of an MB whose blocks of one type are measured.
typedef struct MotusBLane {
    int x, y;        // of its 4x4 block in the picture
    int wide, high;  // its block is 16 samples wide, high
    uint32_t src[4]; // source samples
    uint32_t own[4]; // prediction from its list
} MotusBLane;

// Returns the block of a type that covers 4x4 block blk.
MOTUS_WARP int motus_b_block_of(int type, int blk) {
    return type == MOTUS_B_16x16  ? 0
           : type == MOTUS_B_16x8 ? 1 + (blk >> 3)
           : type == MOTUS_B_8x16 ? 3 + (blk >> 1 & 1)
                                  : 5 + motus_8x8_of(blk);
}

// Returns the sum over the lane's block of values that each lane of it has.
MOTUS_WARP uint32_t motus_b_lane_sum(const MotusBLane *own, uint32_t v) {
    const int lane = motus_lane();
    v += motus_lanes_shuffle(v, lane ^ 1);
    v += motus_lanes_shuffle(v, lane ^ 4);
    const uint32_t beside = motus_lanes_shuffle(v, lane ^ 2);
    if (own->wide) v += beside;
    const uint32_t below = motus_lanes_shuffle(v, lane ^ 8);
    return own->high ? v + below : v;
}

// Returns the SATD of the lane's block predicted by a pair. pair_offset: of b's weight.
MOTUS_WARP uint32_t motus_b_lane_satd(const MotusBLane *own, const uint32_t a[4],
                                      const uint32_t b[4], int pair_offset) {
    uint32_t pair[4];
    for (int i = 0; i < 4; i++) pair[i] = motus_lane_pair(a[i], b[i], pair_offset);
    return motus_b_lane_sum(own, motus_words_satd(own->src, pair));
}

// Moves the lane's MV of `list` to the best of its eight neighbours if one is better. other: the
// other list's prediction, of all lanes, and pair_offset its weight's. *satd: of both lists.
// Returns 0 if it stays.
MOTUS_WARP int motus_b_lane_refine(MotusBLane *own, const MotusReference *ref,
                                   const MotusInterLimits *limits, int list,
                                   const uint32_t other[4], int pair_offset, MotusMv centre,
                                   uint32_t lambda_q8, MotusMv *mv, uint32_t *satd) {
    const int unit = limits->unit;
    const uint32_t now = *satd + motus_mv_cost(lambda_q8, *mv, centre);
    uint32_t best = UINT32_MAX, best_satd = 0; // cost << 3 | neighbour: the cost is below 2^19
    for (int j = 0; j < 4; j++) {
        const int k = 2 * j + (motus_lane() >> 4);
        MotusMv trial;
        uint32_t row[4];
        trial.x = (int16_t)(mv->x + unit * motus_neighbour_dx(k));
        trial.y = (int16_t)(mv->y + unit * motus_neighbour_dy(k));
        motus_lane_luma_rows(row, 4, ref, own->x, own->y, trial);
        const uint32_t of_trial = motus_b_lane_satd(own, row, other, pair_offset);
        const uint32_t cost =
            (of_trial + motus_mv_cost(lambda_q8, trial, centre)) << 3 | (uint32_t)k;
        if (motus_mv_allowed(limits, trial) && cost < best) best = cost, best_satd = of_trial;
    }
    const uint32_t across = motus_lanes_shuffle(best, motus_lane() ^ 16),
                   across_satd = motus_lanes_shuffle(best_satd, motus_lane() ^ 16);
    if (across < best) best = across, best_satd = across_satd;
    if (best == UINT32_MAX || best >> 3 >= now) return 0;
    mv->x = (int16_t)(mv->x + unit * motus_neighbour_dx((int)(best & 7)));
    mv->y = (int16_t)(mv->y + unit * motus_neighbour_dy((int)(best & 7)));
    *satd = best_satd;
    if (motus_lane() >> 4 == list) motus_lane_luma_rows(own->own, 4, ref, own->x, own->y, *mv);
    return 1;
}

// Copies the prediction from a list to all lanes.
MOTUS_WARP void motus_b_lane_share(const MotusBLane *own, int list, uint32_t to[4]) {
    for (int i = 0; i < 4; i++)
        to[i] = motus_lanes_shuffle(own->own[i], (motus_lane() & 15) + 16 * list);
}

// Measures the blocks of a type and refines their pairs. mv: of the lane's block in both lists.
MOTUS_WARP void motus_b_lane_type(const MotusInterMb *in, const MotusEffort *effort, int type,
                                  const MotusMv centre[2], uint32_t lambda_q8, MotusBLane *own,
                                  MotusMv mv[2], MotusBCandidates *found) {
    const int half = motus_lane() >> 4, blk = motus_lane() & 15, b = motus_b_block_of(type, blk);
    const int first = !(blk & (own->wide ? 3 : 1)) && !(blk >> 2 & (own->high ? 3 : 1));
    const int pair_offset = in->ref[0].pair_offset; // of list 1's weight
    uint32_t other[4];
    motus_lane_luma_rows(own->own, 4, &in->ref[half], own->x, own->y, mv[half]);
    const uint32_t alone = motus_b_lane_sum(own, motus_words_satd(own->src, own->own));
    motus_b_lane_share(own, 1 - half, other);
    uint32_t satd = motus_b_lane_satd(own, own->own, other, half ? -pair_offset : pair_offset);
    if (first) found->mv[half][b] = mv[half], found->satd[half][b] = alone;
    const uint32_t of_other = motus_lanes_shuffle(alone, motus_lane() ^ 16);
    int still = motus_b_pair_is_close(satd, alone, of_other) ? 0 : 2;
    for (int step = 0; step < effort->pair_steps; step++) {
        const int list = ~step & 1;
        if (!motus_lanes_ballot(still < 2)) break;
        MotusBLane moved = *own;
        MotusMv to = mv[list];
        uint32_t moved_satd = satd;
        motus_b_lane_share(own, 1 - list, other);
        const int moves = motus_b_lane_refine(&moved, &in->ref[list], in->limits, list, other,
                                              list ? -pair_offset : pair_offset, centre[list],
                                              lambda_q8, &to, &moved_satd);
        if (still < 2 && moves) *own = moved, mv[list] = to, satd = moved_satd;
        if (still < 2) still = moves ? 0 : still + 1;
    }
    if (!first) return;
    found->both[half][b] = mv[half];
    if (!half) found->satd[MOTUS_PRED_BI][b] = satd;
}

// Finds the candidates of an MB. mv: of each list, refined, n_mb between blocks, from the MB's
// 16x16 on; found->blocks is set.
MOTUS_WARP void motus_b_candidates_warp(const MotusInterMb *in, const MotusEffort *effort,
                                        const MotusMv *const mv[2], size_t n_mb,
                                        const MotusMv centre[2], uint32_t lambda_q8,
                                        MotusBCandidates *found) {
    const int blk = motus_lane() & 15;
    MotusBLane own;
    own.x = 16 * in->x + 4 * (blk & 3), own.y = 16 * in->y + 4 * (blk >> 2);
    const uint8_t *src = in->src.plane[0] + 4 * (blk >> 2) * in->src.stride[0] + 4 * (blk & 3);
    for (int i = 0; i < 4; i++) own.src[i] = motus_word_get(src + i * in->src.stride[0]);
    for (int type = MOTUS_B_16x16; type <= MOTUS_B_8x8; type++) {
        if (!motus_b_has_type(found, type)) continue;
        const int b = motus_b_block_of(type, blk);
        MotusMv both[2];
        for (int list = 0; list < 2; list++) both[list] = mv[list][(size_t)b * n_mb];
        own.wide = type <= MOTUS_B_16x8;
        own.high = type == MOTUS_B_16x16 || type == MOTUS_B_8x16;
        motus_b_lane_type(in, effort, type, centre, lambda_q8, &own, both, found);
    }
}

#endif
