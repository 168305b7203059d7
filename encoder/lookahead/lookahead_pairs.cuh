// Search of MBs in another half-size picture, sixteen by a warp: lanes 2c and 2c + 1 search MB c, 4
// rows each, one candidate after another. Equals lookahead_search_cpu.h (GPU suite `mini_gop`).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_LOOKAHEAD_PAIRS_CUH
#define ENCODER_LOOKAHEAD_LOOKAHEAD_PAIRS_CUH

#include "encoder/lookahead/lookahead_search.cuh"

namespace {

// Makes mv the best one if it beats the best so far. Returns 1 if it does. The whole warp must call
// it; a pair without a candidate has has_one 0.
template <bool SATD> __device__ int try_mv(Search *s, MotusMv mv, int has_one) {
    const uint32_t cost = candidate_cost<SATD>(s, &mv, &has_one);
    if (!has_one || cost >= s->cost) return 0;
    s->cost = cost;
    s->best = mv;
    return 1;
}

// As try_hexagon of lookahead_search_cpu.h; moves: 0 if the pair's descent has ended.
__device__ int try_hexagon(Search *s, int moved, int moves) {
    const MotusMv from = s->best;
    int best = -1;
#pragma unroll 1
    for (int k = 0; k < 3; k++) {
        const int i = motus_lookahead_new_point(moved, k);
        if (try_mv<false>(s, motus_lookahead_hexagon(from, i), moves)) best = i;
    }
    return best;
}

__device__ void descend_pairs(Search *s) {
    MotusMv from = s->best;
    int moved = -1;
#pragma unroll 1
    for (int i = 0; i < 6; i++)
        if (try_mv<false>(s, motus_lookahead_hexagon(from, i), 1)) moved = i;
#pragma unroll 1
    for (int step = 1; step < MOTUS_LOOKAHEAD_STEPS; step++) {
        const int moves = moved >= 0;
        if (!__any_sync(MOTUS_ALL_LANES, moves)) break;
        const int next = try_hexagon(s, moves ? moved : 0, moves);
        moved = next;
    }
    from = s->best;
#pragma unroll 1
    for (int i = 0; i < 8; i++) try_mv<false>(s, motus_lookahead_around(from, i), 1);
}

__device__ void refine_pairs(Search *s) {
    const MotusMv from = s->best;
    s->cost = UINT32_MAX;
#pragma unroll 1
    for (int i = 0; i < 10; i++)
        try_mv<true>(s, i < 9 ? motus_lookahead_next_to(from, i) : motus_lookahead_mv(0, 0), 1);
}

} // namespace

#endif
