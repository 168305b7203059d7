// Search of MBs in another half-size picture, sixteen by a warp: lanes 2c and 2c + 1 search MB c, 4
// rows each. Points around an MV share the rows that they load. Equals lookahead_search_cpu.h (GPU
// suites `lookahead` and `mini_gop`). All functions must be called by the whole warp.
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

enum { MOTUS_PAIRS_BLOCK = 128 }; // threads of a block, two for an MB

// A lane's MB. Lanes behind the last MB repeat it.
struct Place {
    int i, x, y, is_there, is_one; // is_one: the lane writes the MB's results
};

__device__ Place find_place(const MotusHalfPicture &cur) {
    const int n = cur.mb_width * cur.mb_height,
              k = (int)(blockIdx.x * MOTUS_PAIRS_BLOCK + threadIdx.x) / 2, i = min(k, n - 1);
    return {i, i % cur.mb_width, i / cur.mb_width, k < n, k < n && !(threadIdx.x & 1)};
}

// Adds the warp's amounts to a sum of the picture.
__device__ void add_up(uint64_t *sum, uint32_t amount) {
    const uint32_t all = motus_lanes_sum(amount);
    if (!motus_lane()) atomicAdd((unsigned long long *)sum, (unsigned long long)all);
}

unsigned blocks_of(const MotusHalfPicture &cur) {
    const int pairs = MOTUS_PAIRS_BLOCK / 2;
    return (unsigned)((cur.mb_width * cur.mb_height + pairs - 1) / pairs);
}

// Returns the first of the lane's samples.
__device__ const uint8_t *lane_rows(const MotusHalfPicture &cur, const Place &at) {
    return cur.plane[0] + (MOTUS_LOOKAHEAD_MB * at.y + 4 * (motus_lane() & 1)) * cur.stride +
           MOTUS_LOOKAHEAD_MB * at.x;
}

// Search of an MB. All members but `row` are the same in both lanes.
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

// Returns the SATD of an MB, to both of its lanes.
__device__ uint32_t pair_satd(const uint32_t a[2][4], const uint32_t b[2][4]) {
    const uint32_t satd = motus_words_satd(a[0], b[0]) + motus_words_satd(a[1], b[1]);
    return satd + __shfl_xor_sync(MOTUS_ALL_LANES, satd, 1);
}

__device__ void begin_search(Search *s, const MotusHalfPicture &cur, const MotusHalfPicture &before,
                             const MotusHalfWeight *weight, const Place &at) {
    s->before = &before;
    s->x = MOTUS_LOOKAHEAD_MB * at.x, s->y = MOTUS_LOOKAHEAD_MB * at.y;
    s->cost = UINT32_MAX;
    s->weight = weight ? *weight : motus_half_no_weight();
    load_blocks(s->row, lane_rows(cur, at), cur.stride);
    for (int k = 0; k < 8 && s->weight.is_used; k++) { // divides the source by the weight
        uint32_t *word = &s->row[k >> 2][k & 3], samples = 0;
        for (int i = 0; i < 4; i++)
            samples |= (uint32_t)motus_half_unweigh(motus_word_sample(*word, i), &s->weight, 1)
                       << (8 * i);
        *word = samples;
    }
}

// ---- One candidate ------------------------------------------------------------------------------

// Returns the first of the lane's samples in a prediction by mv.
__device__ const uint8_t *lane_rows(const Search *s, MotusMv mv) {
    return motus_lookahead_at(s->before, s->x, s->y, mv) +
           4 * (motus_lane() & 1) * s->before->stride;
}

// Makes mv the best one if it costs less. Returns 1 if it does. is_tried: 0 in pairs that do not
// take part. error: of the MB's samples.
__device__ int take(Search *s, MotusMv mv, uint32_t error, int is_tried) {
    const uint32_t cost =
        motus_half_weigh_error(error, &s->weight) + motus_lookahead_mv_cost(mv, s->predictor);
    if (!is_tried || !motus_lookahead_inside(s->before, s->x, s->y, mv) || cost >= s->cost)
        return 0;
    s->cost = cost;
    s->best = mv;
    return 1;
}

template <bool SATD> __device__ int try_mv(Search *s, MotusMv mv, int is_tried) {
    const int is_inside = motus_lookahead_inside(s->before, s->x, s->y, mv);
    uint32_t ref[2][4], error = 0;
    load_blocks(ref, lane_rows(s, is_inside ? mv : motus_lookahead_mv(0, 0)), s->before->stride);
    if (SATD)
        error = pair_satd(s->row, ref);
    else {
        for (int i = 0; i < 8; i++)
            error = motus_sad4(s->row[i >> 2][i & 3], ref[i >> 2][i & 3], error);
        error += __shfl_xor_sync(MOTUS_ALL_LANES, error, 1);
    }
    return take(s, mv, error, is_tried && is_inside);
}

// ---- Points around an MV ------------------------------------------------------------------------

// Loads 12 samples from any address, as words.
__device__ void load_row(uint32_t word[3], const uint8_t *from) {
    const int byte = (int)((uintptr_t)from & 3);
    const uint8_t *at = from - byte;
    uint32_t w[4];
    for (int i = 0; i < 4; i++) w[i] = motus_word_get(at + 4 * i); // the border is wide enough
    for (int i = 0; i < 3; i++) word[i] = __funnelshift_r(w[i], w[i + 1], 8 * byte);
}

// Adds to sad the differences of the lane's row r and the samples from `shift` (0..4) on.
__device__ __forceinline__ void add_row(uint32_t *sad, const Search *s, int r,
                                        const uint32_t word[3], int shift) {
    const uint32_t left = shift == 4 ? word[1] : __funnelshift_r(word[0], word[1], 8 * shift),
                   right = shift == 4 ? word[2] : __funnelshift_r(word[1], word[2], 8 * shift);
    *sad = motus_sad4(s->row[1][r], right, motus_sad4(s->row[0][r], left, *sad));
}

// Adds up the SADs of both lanes of n points, 16 bits each, and weighs them.
template <int N> __device__ void add_lanes(const Search *s, uint32_t sad[N]) {
    for (int i = 0; i < N; i += 2) {
        uint32_t both = sad[i] | sad[i + 1] << 16;
        both += __shfl_xor_sync(MOTUS_ALL_LANES, both, 1);
        sad[i] = both & 0xFFFF, sad[i + 1] = both >> 16;
    }
    for (int i = 0; i < N && s->weight.is_used; i++)
        sad[i] = motus_half_weigh_error(sad[i], &s->weight);
}

// Costs of the components of MVs around one, by their steps. Those that lie out of reach cost so
// much that none of their points is taken.
struct StepCosts {
    uint32_t x[3], y[3];
};

enum { OUT_OF_REACH = 1 << 26 }; // errors are below 2^21

// from: the MB's first sample. size: of the half-size picture.
__device__ uint32_t step_cost(int v, int predictor, int from, int size) {
    const unsigned place = (unsigned)(from + (v >> 1) + MOTUS_LOOKAHEAD_REACH),
                   most = (unsigned)(size + 2 * MOTUS_LOOKAHEAD_REACH - MOTUS_LOOKAHEAD_MB);
    return MOTUS_LOOKAHEAD_LAMBDA * (uint32_t)motus_se_bits(v - predictor) +
           (place > most ? OUT_OF_REACH : 0);
}

// Steps: -unit, 0, unit.
__device__ StepCosts step_costs(const Search *s, int unit) {
    StepCosts costs;
    for (int i = 0; i < 3; i++) {
        const int step = (i - 1) * unit;
        costs.x[i] = step_cost(s->best.x + step, s->predictor.x, s->x,
                               MOTUS_LOOKAHEAD_MB * s->before->mb_width);
        costs.y[i] = step_cost(s->best.y + step, s->predictor.y, s->y,
                               MOTUS_LOOKAHEAD_MB * s->before->mb_height);
    }
    return costs;
}

// Returns the cost and number of point i; those of the best MV so far are cost << 4. The least one
// is the first of the best.
__device__ uint32_t point_key(uint32_t cost, int i) { return cost << 4 | (uint32_t)(i + 1); }

// Tries the hexagon around the best MV. Returns the point that becomes the best one; -1: none.
__device__ int try_first_hexagon(Search *s, int moves) {
    const MotusMv from = s->best;
    const ptrdiff_t stride = s->before->stride;
    const uint8_t *at = lane_rows(s, from);
    uint32_t sad[6] = {};
#pragma unroll
    for (int r = 0; r < 4; r++) {
        uint32_t word[3];
        load_row(word, at + r * stride - 2);
        add_row(&sad[0], s, r, word, 0), add_row(&sad[3], s, r, word, 4);
        load_row(word, at + (r + 2) * stride - 1);
        add_row(&sad[1], s, r, word, 0), add_row(&sad[2], s, r, word, 2);
        load_row(word, at + (r - 2) * stride - 1);
        add_row(&sad[5], s, r, word, 0), add_row(&sad[4], s, r, word, 2);
    }
    add_lanes<6>(s, sad);
    const StepCosts near = step_costs(s, 2), far = step_costs(s, 4);
    uint32_t key = s->cost << 4;
    key = min(key, point_key(sad[0] + far.x[0] + near.y[1], 0));
    key = min(key, point_key(sad[1] + near.x[0] + far.y[2], 1));
    key = min(key, point_key(sad[2] + near.x[2] + far.y[2], 2));
    key = min(key, point_key(sad[3] + far.x[2] + near.y[1], 3));
    key = min(key, point_key(sad[4] + near.x[2] + far.y[0], 4));
    key = min(key, point_key(sad[5] + near.x[0] + far.y[0], 5));
    const int best = moves ? (int)(key & 15) - 1 : -1;
    if (best < 0) return -1;
    s->cost = key >> 4;
    s->best = motus_lookahead_hexagon(from, best);
    return best;
}

// Tries the eight even neighbours of the best MV.
__device__ void try_around(Search *s, int moves) {
    const MotusMv from = s->best;
    const uint8_t *at = lane_rows(s, from) - 1;
    uint32_t sad[8] = {};
#pragma unroll
    for (int v = -1; v <= 4; v++) {
        uint32_t word[3];
        load_row(word, at + v * s->before->stride);
        if (v < 3) // from above
            add_row(&sad[4], s, v + 1, word, 0), add_row(&sad[2], s, v + 1, word, 1),
                add_row(&sad[5], s, v + 1, word, 2);
        if (v >= 0 && v < 4) add_row(&sad[0], s, v, word, 0), add_row(&sad[1], s, v, word, 2);
        if (v > 0) // from below
            add_row(&sad[6], s, v - 1, word, 0), add_row(&sad[3], s, v - 1, word, 1),
                add_row(&sad[7], s, v - 1, word, 2);
    }
    add_lanes<8>(s, sad);
    const StepCosts costs = step_costs(s, 2);
    uint32_t key = s->cost << 4;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const MotusMv step = motus_lookahead_around(motus_lookahead_mv(2, 2), i);
        key = min(key, point_key(sad[i] + costs.x[step.x / 2] + costs.y[step.y / 2], i));
    }
    const int best = moves ? (int)(key & 15) - 1 : -1;
    if (best < 0) return;
    s->cost = key >> 4;
    s->best = motus_lookahead_around(from, best);
}

// Tries the whole samples around the best MV, which is even.
__device__ void try_square(Search *s) {
    const MotusMv from = s->best;
    const ptrdiff_t stride = s->before->stride;
    const uint8_t *right = lane_rows(s, motus_lookahead_mv(from.x + 1, from.y)),
                  *below = lane_rows(s, motus_lookahead_mv(from.x, from.y + 1)),
                  *diagonal = lane_rows(s, motus_lookahead_mv(from.x + 1, from.y + 1));
    uint32_t sad[10] = {}; // [9] is none
#pragma unroll
    for (int r = -1; r < 4; r++) {
        uint32_t word[3];
        if (r >= 0) {
            load_row(word, right + r * stride - 1);
            add_row(&sad[3], s, r, word, 0), add_row(&sad[5], s, r, word, 1);
        }
        load_row(word, below + r * stride);
        if (r < 3) add_row(&sad[1], s, r + 1, word, 0);
        if (r >= 0) add_row(&sad[7], s, r, word, 0);
        load_row(word, diagonal + r * stride - 1);
        if (r < 3) add_row(&sad[0], s, r + 1, word, 0), add_row(&sad[2], s, r + 1, word, 1);
        if (r >= 0) add_row(&sad[6], s, r, word, 0), add_row(&sad[8], s, r, word, 1);
    }
    add_lanes<10>(s, sad);
    const StepCosts costs = step_costs(s, 1);
    uint32_t key = s->cost << 4;
#pragma unroll
    for (int i = 0; i < 9; i++) // the centre is the best one
        if (i != 4) key = min(key, point_key(sad[i] + costs.x[i % 3] + costs.y[i / 3], i));
    const int best = (int)(key & 15) - 1;
    if (best < 0) return;
    s->cost = key >> 4;
    s->best = motus_lookahead_next_to(from, best);
}

// ---- The search ---------------------------------------------------------------------------------

// moves: 0 if the pair keeps its MV.
__device__ void descend(Search *s, int moves) {
    if (!__any_sync(MOTUS_ALL_LANES, moves)) return;
    int moved = try_first_hexagon(s, moves);
#pragma unroll 1
    for (int step = 1; step < MOTUS_LOOKAHEAD_STEPS; step++) {
        if (!__any_sync(MOTUS_ALL_LANES, moved >= 0)) break;
        // Tries the hexagon around the point that moved.
        const MotusMv from = s->best;
        const int at = motus_max(moved, 0), moves_on = moved >= 0;
        moved = -1;
#pragma unroll 1
        for (int k = 0; k < 3; k++) {
            const int i = motus_lookahead_new_point(at, k);
            if (try_mv<false>(s, motus_lookahead_hexagon(from, i), moves_on)) moved = i;
        }
    }
    try_around(s, moves);
}

__device__ void refine(Search *s) {
    try_square(s);
    s->cost = UINT32_MAX;
    try_mv<true>(s, s->best, 1);
}

} // namespace

#endif
