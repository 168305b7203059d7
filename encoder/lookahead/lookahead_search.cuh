// Search of an MB in another half-size picture, by a warp: lanes 2c and 2c + 1 measure candidate c,
// 4 rows each. Equals lookahead_search_cpu.h (GPU suite `lookahead`).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_LOOKAHEAD_SEARCH_CUH
#define ENCODER_LOOKAHEAD_LOOKAHEAD_SEARCH_CUH

#include "common/lanes.h"
#include "encoder/lookahead/half_weights_core.h"
#include "encoder/lookahead/lookahead_core.h"
#include "me/pixel/cost_core.h"
#include "me/pixel/sad.cuh"
#include "me/pixel/words_warp.cuh"

namespace {

// Search of an MB. All members but `row` are uniform over the warp.
struct Search {
    const MotusHalfPicture *before;
    int x, y;           // the MB's first sample at half size
    uint32_t row[2][4]; // the lane's 4 rows: words of the left and the right 4x4 block
    MotusMv predictor, best;
    uint32_t cost;
    MotusHalfWeight weight; // of `before`
};

// Loads two 4x4 blocks side by side from any address. Reads only words that hold a sample of them.
__device__ void load_blocks(uint32_t row[2][4], const uint8_t *from, ptrdiff_t stride) {
    const int byte = (int)((uintptr_t)from & 3);
    const uint8_t *at = from - byte;
#pragma unroll
    for (int i = 0; i < 4; i++, at += stride) {
        const uint32_t a = motus_word_get(at), b = motus_word_get(at + 4),
                       c = motus_word_get(at + (byte ? 8 : 4));
        row[0][i] = __funnelshift_r(a, b, 8 * byte);
        row[1][i] = __funnelshift_r(b, c, 8 * byte);
    }
}

// Divides the source samples by the weight of the reference.
__device__ void unweigh(Search *s) {
    for (int k = 0; k < 8 && s->weight.is_used; k++) {
        uint32_t *word = &s->row[k >> 2][k & 3], samples = 0;
        for (int i = 0; i < 4; i++)
            samples |= (uint32_t)motus_half_unweigh(motus_word_sample(*word, i), &s->weight, 1)
                       << (8 * i);
        *word = samples;
    }
}

// Returns the cost, below 2^20, of the candidate of a pair of lanes. *has_one becomes 0 if it lies
// outside; *mv is then zero. The whole warp must call it.
template <bool SATD>
__device__ uint32_t candidate_cost(const Search *s, MotusMv *mv, int *has_one) {
    const MotusHalfPicture *half = s->before;
    const int lower = motus_lane() & 1;
    *has_one = *has_one && motus_lookahead_inside(half, s->x, s->y, *mv);
    if (!*has_one) *mv = motus_lookahead_mv(0, 0); // always readable
    uint32_t ref[2][4], cost = 0;
    load_blocks(ref, motus_lookahead_at(half, s->x, s->y, *mv) + 4 * lower * half->stride,
                half->stride);
    for (int k = 0; k < 2; k++) {
        if (SATD) cost += motus_words_satd(s->row[k], ref[k]);
        for (int i = 0; i < 4 && !SATD; i++) cost = motus_sad4(s->row[k][i], ref[k][i], cost);
    }
    cost += __shfl_xor_sync(MOTUS_ALL_LANES, cost, 1);
    return motus_half_weigh_error(cost, &s->weight) + motus_lookahead_mv_cost(*mv, s->predictor);
}

// Returns the key of the lane's candidate: cost, then index; UINT32_MAX if it has none or it lies
// outside. The whole warp must call it.
template <bool SATD> __device__ uint32_t measure(const Search *s, MotusMv *mv, int has_one) {
    const uint32_t cost = candidate_cost<SATD>(s, mv, &has_one);
    return has_one ? cost << 4 | (uint32_t)(motus_lane() >> 1) : UINT32_MAX;
}

// Makes the candidate of least key the best one if it beats the best so far. Returns 1 if it does.
__device__ int take(Search *s, uint32_t key, MotusMv mv) {
    const uint32_t least = motus_lanes_min(key);
    if (least >> 4 >= s->cost) return 0;
    s->cost = least >> 4;
    s->best =
        motus_mv_of_word(__shfl_sync(MOTUS_ALL_LANES, motus_mv_word(mv), 2 * (int)(least & 15)));
    return 1;
}

// Descends by SAD as lookahead_cost.c does. Each round measures the hexagon and the eight even
// neighbours at once, because a round's latency counts and 16 candidates fit.
__device__ void descend(Search *s) {
    const int c = motus_lane() >> 1;
    for (int step = 0; step <= MOTUS_LOOKAHEAD_STEPS; step++) {
        MotusMv mv = c < 6 ? motus_lookahead_hexagon(s->best, c)
                           : motus_lookahead_around(s->best, (c - 6) & 7);
        const uint32_t key = measure<false>(s, &mv, c < 14);
        if (step < MOTUS_LOOKAHEAD_STEPS && take(s, c < 6 ? key : UINT32_MAX, mv)) continue;
        take(s, c < 6 ? UINT32_MAX : key, mv);
        return;
    }
}

// mv: the lane's start candidate.
__device__ void search(Search *s, MotusMv mv, int has_one) {
    const int c = motus_lane() >> 1;
    s->cost = UINT32_MAX;
    const uint32_t start = measure<false>(s, &mv, has_one);
    take(s, start, mv);
    descend(s);
    mv = c < 9 ? motus_lookahead_next_to(s->best, c) : motus_lookahead_mv(0, 0);
    s->cost = UINT32_MAX;
    const uint32_t last = measure<true>(s, &mv, c < 10);
    take(s, last, mv);
}

} // namespace

#endif
