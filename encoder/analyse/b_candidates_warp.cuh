// Candidates of a B MB by a warp: all blocks of a type at once, a lane a 4x4 block. The lanes below
// 16 have list 0, the others list 1; where one list's MV moves, each half has every other
// neighbour. Equals MotusBOps.candidates (b.c) from the refined MVs on: suite `lanes`,
// and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_CANDIDATES_WARP_CUH
#define ENCODER_ANALYSE_B_CANDIDATES_WARP_CUH

#include "encoder/analyse/b_core.h"
#include "encoder/analyse/predict_warp.cuh"

// Motion fields of a B MB by reference (MotusBJob), refined: MVs, costs and centres, from the MB's
// 16x16 on, `pitch` between blocks. Costs are read if there are several references. far: masks of
// the blocks refined in further ones, `pitch` between references.
typedef struct MotusBFields {
    const MotusMv *const *mv, *const *centre;
    const uint32_t *const *cost;
    const uint64_t *far;
    size_t mb, pitch;
} MotusBFields;

// A warp lane's part of an MB whose blocks of one type are measured.
typedef struct MotusBLane {
    int x, y;                     // of its 4x4 block in the picture
    int wide, high;               // its block is 16 samples wide, high
    uint32_t src[4];              // source samples
    uint32_t own[4];              // prediction from its list
    const MotusReference *ref[2]; // of its block, by list
    MotusMv centre[2];
} MotusBLane;

// Returns the block of a type that covers 4x4 block blk.
MOTUS_WARP int b_block_of(int type, int blk) {
    return type == MOTUS_B_16x16  ? 0
           : type == MOTUS_B_16x8 ? 1 + (blk >> 3)
           : type == MOTUS_B_8x16 ? 3 + (blk >> 1 & 1)
                                  : 5 + motus_8x8_of(blk);
}

// Returns the sum over the lane's block of values that each lane of it has.
MOTUS_WARP uint32_t b_lane_sum(const MotusBLane *own, uint32_t v) {
    const int lane = motus_lane();
    v += motus_lanes_shuffle(v, lane ^ 1);
    v += motus_lanes_shuffle(v, lane ^ 4);
    const uint32_t beside = motus_lanes_shuffle(v, lane ^ 2);
    if (own->wide) v += beside;
    const uint32_t below = motus_lanes_shuffle(v, lane ^ 8);
    return own->high ? v + below : v;
}

// Returns the SATD of the lane's block predicted by a pair. pair_offset: of b's weight.
MOTUS_WARP uint32_t b_lane_satd(const MotusBLane *own, const uint32_t a[4], const uint32_t b[4],
                                int pair_offset) {
    uint32_t pair[4];
    for (int i = 0; i < 4; i++) pair[i] = lane_pair(a[i], b[i], pair_offset);
    return b_lane_sum(own, motus_words_satd(own->src, pair));
}

// Moves the lane's MV of `list` to the best of its eight neighbours if one is better. other: the
// other list's prediction, of all lanes, and pair_offset its weight's. *satd: of both lists.
// Returns 0 if it stays.
MOTUS_WARP int b_lane_refine(MotusBLane *own, const MotusInterLimits *limits, int list,
                             const uint32_t other[4], int pair_offset, uint32_t lambda_q8,
                             MotusMv *mv, uint32_t *satd) {
    const int unit = limits->unit;
    const MotusReference *ref = list ? own->ref[1] : own->ref[0];
    const MotusMv centre = list ? own->centre[1] : own->centre[0];
    const uint32_t now = *satd + motus_mv_cost(lambda_q8, *mv, centre);
    uint32_t best = UINT32_MAX, best_satd = 0; // cost << 3 | neighbour: the cost is below 2^19
    for (int j = 0; j < 4; j++) {
        const int k = 2 * j + (motus_lane() >> 4);
        MotusMv trial;
        uint32_t row[4];
        trial.x = (int16_t)(mv->x + unit * motus_neighbour_dx(k));
        trial.y = (int16_t)(mv->y + unit * motus_neighbour_dy(k));
        lane_luma_rows(row, 4, ref, ref->luma, own->x, own->y, trial);
        const uint32_t of_trial = b_lane_satd(own, row, other, pair_offset);
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
    if (motus_lane() >> 4 == list) lane_luma_rows(own->own, 4, ref, ref->luma, own->x, own->y, *mv);
    return 1;
}

// Copies the prediction from a list to all lanes.
MOTUS_WARP void b_lane_share(const MotusBLane *own, int list, uint32_t to[4]) {
    for (int i = 0; i < 4; i++)
        to[i] = motus_lanes_shuffle(own->own[i], (motus_lane() & 15) + 16 * list);
}

// Measures the blocks of a type and refines their pairs. has: the lane's block has a candidate;
// mv: of it in both lists.
MOTUS_WARP void b_lane_type(const MotusInterMb *in, const MotusEffort *effort, int type, int has,
                            uint32_t lambda_q8, MotusBLane *own, MotusMv mv[2],
                            MotusBCandidates *found) {
    const int half = motus_lane() >> 4, blk = motus_lane() & 15, b = b_block_of(type, blk);
    const int first = has && !(blk & (own->wide ? 3 : 1)) && !(blk >> 2 & (own->high ? 3 : 1));
    const int pair_offset = own->ref[0]->pair_offset; // of list 1's weight
    const MotusReference *ref = half ? own->ref[1] : own->ref[0];
    uint32_t other[4];
    lane_luma_rows(own->own, 4, ref, ref->luma, own->x, own->y, mv[half]);
    const uint32_t alone = b_lane_sum(own, motus_words_satd(own->src, own->own));
    b_lane_share(own, 1 - half, other);
    uint32_t satd = b_lane_satd(own, own->own, other, half ? -pair_offset : pair_offset);
    if (first) found->mv[half][b] = mv[half], found->satd[half][b] = alone;
    const uint32_t of_other = motus_lanes_shuffle(alone, motus_lane() ^ 16);
    int still = has && satd <= alone && satd <= of_other ? 0 : 2;
    for (int step = 0; step < effort->pair_steps; step++) {
        const int list = ~step & 1;
        if (!motus_lanes_ballot(still < 2)) break;
        MotusBLane moved = *own;
        MotusMv to = mv[list];
        uint32_t moved_satd = satd;
        b_lane_share(own, 1 - list, other);
        const int moves =
            b_lane_refine(&moved, in->limits, list, other, list ? -pair_offset : pair_offset,
                          lambda_q8, &to, &moved_satd);
        if (still < 2 && moves) *own = moved, mv[list] = to, satd = moved_satd;
        if (still < 2) still = moves ? 0 : still + 1;
    }
    if (!first) return;
    found->both[half][b] = mv[half];
    if (!half) found->satd[MOTUS_PRED_BI][b] = satd;
}

// Measures a set of candidates. ref: of list 0, of the block with the lane's number.
MOTUS_WARP void b_lane_set(const MotusInterMb *in, const MotusEffort *effort,
                           const MotusBFields *fields, uint32_t blocks, uint32_t ref,
                           uint32_t lambda_q8, MotusBLane *own, MotusBCandidates *found) {
    const int blk = motus_lane() & 15;
    for (int type = MOTUS_B_16x16; type <= MOTUS_B_8x8; type++) {
        const int b = b_block_of(type, blk), has = (int)(blocks >> b & 1);
        if (!motus_lanes_ballot(has)) continue;
        const int k[2] = {in->refs > 1 ? (int)motus_lanes_shuffle(ref, b) : 0, in->refs};
        MotusMv mv[2];
        for (int list = 0; list < 2; list++) {
            mv[list] = fields->mv[k[list]][fields->mb + (size_t)b * fields->pitch];
            own->ref[list] = &in->ref[k[list]];
            own->centre[list] = fields->centre[k[list]][fields->mb];
        }
        own->wide = type <= MOTUS_B_16x8;
        own->high = type == MOTUS_B_16x16 || type == MOTUS_B_8x16;
        b_lane_type(in, effort, type, has, lambda_q8, own, mv, found);
    }
}

// Finds the candidates of an MB; found->blocks is set. With several references, found[1] becomes
// the set of further ones.
MOTUS_WARP void motus_b_candidates_warp(const MotusInterMb *in, const MotusEffort *effort,
                                        const MotusBFields *fields, uint32_t lambda_q8,
                                        MotusBCandidates *found) {
    const int blk = motus_lane() & 15;
    MotusBLane own;
    own.x = 16 * in->x + 4 * (blk & 3), own.y = 16 * in->y + 4 * (blk >> 2);
    const uint8_t *src = in->src.plane[0] + 4 * (blk >> 2) * in->src.stride[0] + 4 * (blk & 3);
    for (int i = 0; i < 4; i++) own.src[i] = motus_word_get(src + i * in->src.stride[0]);
    b_lane_set(in, effort, fields, (uint32_t)found->blocks, 0, lambda_q8, &own, found);
    if (in->refs == 1) return;
    // The further reference of the block with the lane's number (find_further in b.c).
    const int b = motus_min(motus_lane(), MOTUS_B_BLOCKS - 1);
    const size_t at = fields->mb + (size_t)b * fields->pitch;
    const uint32_t nearest = fields->cost[0][at];
    uint32_t least = UINT32_MAX, ref = 0;
    for (int k = 1; k < in->refs; k++) {
        const uint64_t far = fields->far[(size_t)(k - 1) * fields->pitch + fields->mb];
        const uint32_t cost = fields->cost[k][at] + motus_ref_cost(lambda_q8, in->refs, k);
        if (!(far >> b & 1) || cost >= least ||
            !motus_ref_is_close(cost, nearest, effort->type_gate))
            continue;
        least = cost, ref = (uint32_t)k;
    }
    const uint32_t further = motus_lanes_ballot(motus_lane() < MOTUS_B_BLOCKS && ref),
                   low = motus_lanes_sum(motus_lane() < 8 ? ref << 4 * motus_lane() : 0),
                   high = motus_lanes_shuffle(ref, 8);
    if (motus_lane() == 0) found[1].blocks = further, found[1].refs = (uint64_t)high << 32 | low;
    b_lane_set(in, effort, fields, further, ref, lambda_q8, &own, &found[1]);
}

#endif
