// Refinement of MOTUS_SUBPEL_BEST by the lanes of a warp; equals motus_refine_best: suite
// `lanes_search`.
// Lanes 0..15 and 16..31 have the sixteen 4x4 blocks of the MB; each half of the warp measures
// other positions. A lane adds up the SATDs of the seven blocks, one of each mode, that contain its
// 4x4 block by exchanging sums, and keeps their best positions: nothing is in memory.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_REFINE_BEST_WARP_CUH
#define ME_SEARCH_REFINE_BEST_WARP_CUH

#include "common/lanes.h"
#include "me/pixel/cost_core.h"
#include "me/pixel/ref_luma.h"
#include "me/pixel/words_warp.cuh"

enum {
    MOTUS_RINGS = 6,      // rounds; round 0 measures the starts
    MOTUS_PLACE_BITS = 11 // of a component of a place, counted from the least x and y that count
};

#define MOTUS_NO_PLACE 0xFFFFFFFFu

// The MB of a warp.
typedef struct MotusRingsMb {
    const MotusRefLuma *ref; // its planes are read
    int x, y;                // its corner
    MotusMv centre, predictor;
    uint32_t lambda_q8;
    int reach; // 4 * range + 3
} MotusRingsMb;

// A lane: the samples of its 4x4 block, and what is known of the seven blocks that contain it.
typedef struct MotusRingsLane {
    uint32_t cur[4];
    uint32_t wanted;                             // mask of their modes
    uint32_t cost[MOTUS_MODES], at[MOTUS_MODES]; // at: round << 2 * MOTUS_PLACE_BITS | place
} MotusRingsLane;

// Values of two positions, in the halves of a word, summed up for each mode; the 16x16 block's own.
typedef struct MotusRingsSums {
    uint32_t of[MOTUS_MODES], whole[2];
} MotusRingsSums;

// Returns the block of a mode that contains the 4x4 block `cell`.
MOTUS_HD int motus_rings_block(int mode, int cell) {
    const int x = cell & 3, y = cell >> 2;
    switch (mode) {
    case MOTUS_MODE_16x16:
        return MOTUS_BLOCK_16x16;
    case MOTUS_MODE_16x8:
        return MOTUS_BLOCK_16x8 + (y >> 1);
    case MOTUS_MODE_8x16:
        return MOTUS_BLOCK_8x16 + (x >> 1);
    case MOTUS_MODE_8x8:
        return MOTUS_BLOCK_8x8 + (y & 2) + (x >> 1);
    case MOTUS_MODE_8x4:
        return MOTUS_BLOCK_8x4 + 2 * y + (x >> 1);
    case MOTUS_MODE_4x8:
        return MOTUS_BLOCK_4x8 + 4 * (y >> 1) + x;
    default:
        return MOTUS_BLOCK_4x4 + cell;
    }
}

// True if `cell` is the first 4x4 block of its block of this mode.
MOTUS_HD int motus_rings_is_first(int mode, int cell) {
    const int before = mode == MOTUS_MODE_16x16  ? 15
                       : mode == MOTUS_MODE_16x8 ? 7
                       : mode == MOTUS_MODE_8x16 ? 13
                       : mode == MOTUS_MODE_8x8  ? 5
                       : mode == MOTUS_MODE_8x4  ? 1
                       : mode == MOTUS_MODE_4x8  ? 4
                                                 : 0;
    return !(cell & before);
}

MOTUS_HD uint32_t motus_rings_place(const MotusRingsMb *mb, MotusMv mv) {
    const int x = mv.x - mb->centre.x + mb->reach, y = mv.y - mb->centre.y + mb->reach;
    if (x < 0 || y < 0 || x > 2 * mb->reach || y > 2 * mb->reach) return MOTUS_NO_PLACE;
    return (uint32_t)y << MOTUS_PLACE_BITS | (uint32_t)x;
}

// Returns the place beside a place.
MOTUS_HD uint32_t motus_rings_beside(const MotusRingsMb *mb, uint32_t place, int dx, int dy) {
    const int x = (int)(place & ((1u << MOTUS_PLACE_BITS) - 1)) + dx,
              y = (int)(place >> MOTUS_PLACE_BITS) + dy;
    if (x < 0 || y < 0 || x > 2 * mb->reach || y > 2 * mb->reach) return MOTUS_NO_PLACE;
    return (uint32_t)y << MOTUS_PLACE_BITS | (uint32_t)x;
}

MOTUS_HD uint32_t motus_rings_place_of(uint32_t at) {
    return at & ((1u << 2 * MOTUS_PLACE_BITS) - 1);
}

MOTUS_HD MotusMv motus_rings_mv(const MotusRingsMb *mb, uint32_t place) {
    MotusMv mv;
    mv.x = (int16_t)(mb->centre.x - mb->reach + (int)(place & ((1u << MOTUS_PLACE_BITS) - 1)));
    mv.y = (int16_t)(mb->centre.y - mb->reach + (int)(place >> MOTUS_PLACE_BITS));
    return mv;
}

// Loads the prediction of the lane's 4x4 block.
MOTUS_WARP void motus_rings_load(const MotusRingsMb *mb, MotusMv mv, uint32_t row[4]) {
    const MotusRefLuma *ref = mb->ref;
    const int cell = motus_lane() & 15;
    const int x = motus_ref_luma_clip(ref->width, mb->x + (mv.x >> 2)) + 4 * (cell & 3),
              y = motus_ref_luma_clip(ref->height, mb->y + (mv.y >> 2)) + 4 * (cell >> 2);
    const uint8_t *full = ref->plane[0] + y * ref->stride + x;
    const ptrdiff_t *tap = ref->tap[4 * (mv.y & 3) + (mv.x & 3)];
    uint32_t other[4];
    motus_words_load(row, 4, full + tap[0], ref->stride, 4);
    if (tap[0] == tap[1]) return;
    motus_words_load(other, 4, full + tap[1], ref->stride, 4);
    for (int i = 0; i < 4; i++) row[i] = motus_words_average(row[i], other[i]);
}

MOTUS_WARP uint32_t motus_rings_from(uint32_t v, int distance) {
    return motus_lanes_shuffle(v, motus_lane() ^ distance);
}

// Sums the lanes' values of two positions. A 4x4 block's are at most 8160, so that the sums of
// eight fit in 16 bits.
MOTUS_WARP MotusRingsSums motus_rings_sums(uint32_t v) {
    MotusRingsSums s;
    s.of[MOTUS_MODE_4x4] = v;
    s.of[MOTUS_MODE_8x4] = v + motus_rings_from(v, 1);
    s.of[MOTUS_MODE_4x8] = v + motus_rings_from(v, 4);
    v = s.of[MOTUS_MODE_8x4];
    v = s.of[MOTUS_MODE_8x8] = v + motus_rings_from(v, 4);
    s.of[MOTUS_MODE_8x16] = v + motus_rings_from(v, 8);
    v = s.of[MOTUS_MODE_16x8] = v + motus_rings_from(v, 2);
    s.of[MOTUS_MODE_16x16] = 0;
    const uint32_t other = motus_rings_from(v, 8);
    s.whole[0] = (v & 0xFFFF) + (other & 0xFFFF);
    s.whole[1] = (v >> 16) + (other >> 16);
    return s;
}

MOTUS_HD void motus_rings_offer(MotusRingsLane *lane, int mode, uint32_t cost, uint32_t at) {
    const int wins = cost < lane->cost[mode] || (cost == lane->cost[mode] && at < lane->at[mode]);
    lane->cost[mode] = wins ? cost : lane->cost[mode];
    lane->at[mode] = wins ? at : lane->at[mode];
}

// Measures two places, others in each half of the warp, and offers them to the lane's blocks.
// MOTUS_NO_PLACE is none.
MOTUS_WARP void motus_rings_try(const MotusRingsMb *mb, MotusRingsLane *lane,
                                const uint32_t place[2], int round) {
    uint32_t satds = 0, mv_cost[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        if (place[i] == MOTUS_NO_PLACE) continue;
        const MotusMv mv = motus_rings_mv(mb, place[i]);
        uint32_t row[4];
        motus_rings_load(mb, mv, row);
        satds |= motus_words_satd(lane->cur, row) << (16 * i);
        mv_cost[i] = motus_mv_cost(mb->lambda_q8, mv, mb->predictor);
    }
    const MotusRingsSums sums = motus_rings_sums(satds);
    for (int i = 0; i < 2; i++) {
        if (place[i] == MOTUS_NO_PLACE) continue;
        const uint32_t at = (uint32_t)round << 2 * MOTUS_PLACE_BITS | place[i];
        for (int m = 0; m < MOTUS_MODES; m++)
            motus_rings_offer(
                lane, m, (m ? sums.of[m] >> (16 * i) & 0xFFFF : sums.whole[i]) + mv_cost[i], at);
    }
}

// Gives both halves of the warp the better of their positions.
MOTUS_WARP void motus_rings_join(MotusRingsLane *lane) {
    for (int m = 0; m < MOTUS_MODES; m++) {
        const uint32_t cost = motus_rings_from(lane->cost[m], 16),
                       at = motus_rings_from(lane->at[m], 16);
        motus_rings_offer(lane, m, cost, at);
    }
}

// Returns the number of the lowest bit set.
MOTUS_HD int motus_rings_lowest(uint32_t bits) {
#ifdef __CUDA_ARCH__
    return __ffs((int)bits) - 1;
#else
    return __builtin_ctz(bits);
#endif
}

// Gets a place of those that lanes have pending (a mask of modes) and removes it from all.
// Returns 0 if there is none.
MOTUS_WARP int motus_rings_next(const uint32_t of[MOTUS_MODES], uint32_t *pending,
                                uint32_t *place) {
    const uint32_t lanes = motus_lanes_ballot(*pending != 0);
    if (!lanes) return 0;
    uint32_t own = 0;
    for (int m = MOTUS_MODES - 1; m >= 0; m--)
        if (*pending >> m & 1) own = of[m];
    *place = motus_lanes_shuffle(own, motus_rings_lowest(lanes));
    for (int m = 0; m < MOTUS_MODES; m++)
        if (of[m] == *place) *pending &= ~(1u << m);
    return 1;
}

// Measures the starts: the search's MVs of the lane's blocks, the predictor and zero.
MOTUS_WARP void motus_rings_start(const MotusRingsMb *mb, MotusRingsLane *lane,
                                  const MotusMv found[MOTUS_MODES]) {
    const int half = motus_lane() >> 4;
    const MotusMv zero = {0, 0};
    uint32_t of[MOTUS_MODES], pending = lane->wanted, place[2] = {MOTUS_NO_PLACE, MOTUS_NO_PLACE};
    for (int m = 0; m < MOTUS_MODES; m++) {
        of[m] = motus_rings_place(mb, found[m]);
        lane->cost[m] = UINT32_MAX, lane->at[m] = 0;
    }
    place[0] = motus_rings_place(mb, half ? mb->predictor : zero);
    motus_rings_try(mb, lane, place, 0);
    for (uint32_t first, second; motus_rings_next(of, &pending, &first);) {
        if (!motus_rings_next(of, &pending, &second)) second = MOTUS_NO_PLACE;
        place[0] = half ? second : first;
        motus_rings_try(mb, lane, place, 0);
    }
    motus_rings_join(lane);
}

// Measures the ring of a round around the best places of all blocks. Those that were the best ones
// before a round of the same step have been measured.
MOTUS_WARP void motus_rings_round(const MotusRingsMb *mb, MotusRingsLane *lane, int round) {
    const int step = round == 1 ? 8 : round < 4 ? 2 : 1, again = round == 3 || round == 5;
    uint32_t of[MOTUS_MODES], pending = lane->wanted, from;
    for (int m = 0; m < MOTUS_MODES; m++) {
        of[m] = motus_rings_place_of(lane->at[m]);
        if (again && (int)(lane->at[m] >> 2 * MOTUS_PLACE_BITS) < round - 1) pending &= ~(1u << m);
    }
    while (motus_rings_next(of, &pending, &from))
        for (int i = 0; i < 4; i += 2) {
            const int k = (motus_lane() >> 4) * 4 + i;
            const uint32_t place[2] = {motus_rings_beside(mb, from, step * motus_neighbour_dx(k),
                                                          step * motus_neighbour_dy(k)),
                                       motus_rings_beside(mb, from,
                                                          step * motus_neighbour_dx(k + 1),
                                                          step * motus_neighbour_dy(k + 1))};
            motus_rings_try(mb, lane, place, round);
        }
    motus_rings_join(lane);
}

// Refines the lane's wanted blocks, from the MVs that the search found.
MOTUS_WARP void motus_rings_run(const MotusRingsMb *mb, MotusRingsLane *lane,
                                const MotusMv found[MOTUS_MODES]) {
    motus_rings_start(mb, lane, found);
    for (int round = 1; round < MOTUS_RINGS; round++) motus_rings_round(mb, lane, round);
}

// Returns sum + the absolute differences of four samples.
MOTUS_HD uint32_t motus_rings_sad(uint32_t a, uint32_t b, uint32_t sum) {
#ifdef __CUDA_ARCH__
    return sum + __vsadu4(a, b);
#else
    for (int i = 0; i < 4; i++)
        sum += (uint32_t)motus_abs(motus_word_sample(a, i) - motus_word_sample(b, i));
    return sum;
#endif
}

// Writes the SADs of the lane's wanted blocks at their best places.
MOTUS_WARP void motus_rings_sads(const MotusRingsMb *mb, const MotusRingsLane *lane,
                                 uint32_t sad[MOTUS_MODES]) {
    uint32_t of[MOTUS_MODES], pending = lane->wanted, place;
    for (int m = 0; m < MOTUS_MODES; m++) of[m] = motus_rings_place_of(lane->at[m]), sad[m] = 0;
    while (motus_rings_next(of, &pending, &place)) {
        uint32_t row[4], sum = 0;
        motus_rings_load(mb, motus_rings_mv(mb, place), row);
        for (int i = 0; i < 4; i++) sum = motus_rings_sad(lane->cur[i], row[i], sum);
        const MotusRingsSums sums = motus_rings_sums(sum);
        for (int m = 0; m < MOTUS_MODES; m++)
            if (of[m] == place) sad[m] = m ? sums.of[m] : sums.whole[0];
    }
}

#endif
