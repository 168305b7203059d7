// Refinement of MOTUS_SUBPEL_BEST by the lanes of a warp; equals motus_refine_best: suite
// `lanes_search`.
// Lane 4g + t has row t of the 4x4 blocks g and g + 8 of the MB, as the tensor cores want them: two
// of their instructions give all Hadamard coefficients of an MB at one position. Four positions
// are summed up together, after which lane t of a quad has the SATDs of the t-th. It adds them up
// for the blocks of all modes by exchanging sums, and keeps their least keys in registers.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_REFINE_BEST_WARP_CUH
#define ME_SEARCH_REFINE_BEST_WARP_CUH

#include "me/search/refine_best_areas.cuh"

// ---- Sums ---------------------------------------------------------------------------------------

// Returns to lane t of a quad the sum of its lanes' v[t].
MOTUS_WARP uint32_t motus_rings_quad_sum(const uint32_t v[4]) {
    const int t = motus_rings_row();
    const uint32_t low = (t & 2 ? v[2] : v[0]) + motus_rings_from(t & 2 ? v[0] : v[2], 2),
                   high = (t & 2 ? v[3] : v[1]) + motus_rings_from(t & 2 ? v[1] : v[3], 2);
    return (t & 1 ? high : low) + motus_rings_from(t & 1 ? low : high, 1);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// Adds four Hadamard coefficients to a lane's `from`: numbers 2t and 2t + 1, counted from those of
// `sign`, of 4x4 blocks g and g + 8.
MOTUS_WARP void motus_rings_hadamard(const uint32_t row[2], uint32_t sign, const int from[4],
                                     int to[4]) {
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%7, %8, %9, %10};"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(row[0]), "r"(row[1]), "r"(sign), "r"(from[0]), "r"(from[1]), "r"(from[2]),
          "r"(from[3]));
}

// Prepares the lane's part of SATDs. A sign, a byte each, is that of sample 4t + i in coefficient g
// or g + 8: (-1)^(number of bits that both numbers have).
MOTUS_WARP void motus_rings_prepare(MotusRingsLane *lane) {
    const int g = motus_rings_cell(), t = motus_rings_row(), none[4] = {0, 0, 0, 0};
    uint32_t odd = 0;
    for (int i = 0; i < 4; i++) {
        const int both = (4 * t + i) & g;
        odd |= (uint32_t)((both ^ both >> 1 ^ both >> 2) & 1) << 8 * i;
    }
    for (int k = 0; k < 2; k++) {
        const uint32_t minus = k && t & 2 ? odd : odd ^ 0x01010101u;
        lane->sign[k] = (minus ^ 0x01010101u) * 254 + 0x01010101u;
        asm volatile("" : "+r"(lane->sign[k])); // the compiler would rather compute it again
        motus_rings_hadamard(lane->cur, minus * 254 + 0x01010101u, none, lane->minus[k]);
    }
}

// Returns to lane t of a quad the SATDs of its two 4x4 blocks, in the halves of a word, at the t-th
// of four positions; row: the lane's rows at each. Every lane adds up the magnitudes of four
// coefficients, each a sum over the prediction less one over the MB, of both blocks of its quad. A
// 4x4 block's SATD is at most 8160.
MOTUS_WARP uint32_t motus_rings_satds(const MotusRingsLane *lane, uint32_t row[4][2]) {
    uint32_t v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t sum[2] = {0, 0};
#pragma unroll
        for (int k = 0; k < 2; k++) {
            int c[4];
            motus_rings_hadamard(row[i], lane->sign[k], lane->minus[k], c);
#pragma unroll
            for (int j = 0; j < 4; j++) sum[j >> 1] = __sad(c[j], 0, sum[j >> 1]);
        }
        v[i] = sum[0] | sum[1] << 16;
    }
    return motus_rings_quad_sum(v) >> 1; // both halves are even
}
#else
MOTUS_WARP void motus_rings_prepare(MotusRingsLane *lane) { (void)lane; }

// The same without tensor cores: a lane gets all rows of its position.
MOTUS_WARP uint32_t motus_rings_satds(const MotusRingsLane *lane, uint32_t row[4][2]) {
    const int t = motus_rings_row();
    uint32_t satds = 0;
    for (int h = 0; h < 2; h++) {
        uint32_t cur[4], pred[4];
        for (int d = 0; d < 4; d++) {
            cur[d] = motus_rings_from(lane->cur[h], d);
            pred[d] = motus_rings_from(row[t ^ d][h], d); // row t ^ d of position t
        }
        const uint32_t swapped[2][4] = {{cur[t], cur[t ^ 1], cur[t ^ 2], cur[t ^ 3]},
                                        {pred[t], pred[t ^ 1], pred[t ^ 2], pred[t ^ 3]}};
        satds |= motus_words_satd(swapped[0], swapped[1]) << (16 * h);
    }
    return satds;
}
#endif

// Adds up the values of the lane's 4x4 blocks for each mode, in the halves of words. Those of
// blocks that have both halves are not added up yet. Sums of eight 4x4 blocks fit in 16 bits.
MOTUS_WARP void motus_rings_sums(uint32_t v, uint32_t sum[MOTUS_MODES]) {
    sum[MOTUS_MODE_4x4] = v;
    sum[MOTUS_MODE_8x4] = v + motus_rings_from(v, 4);
    sum[MOTUS_MODE_4x8] = v + motus_rings_from(v, 16);
    sum[MOTUS_MODE_8x8] = sum[MOTUS_MODE_8x4] + motus_rings_from(sum[MOTUS_MODE_8x4], 16);
    sum[MOTUS_MODE_16x8] = sum[MOTUS_MODE_8x8] + motus_rings_from(sum[MOTUS_MODE_8x8], 8);
    sum[MOTUS_MODE_8x16] = sum[MOTUS_MODE_8x8], sum[MOTUS_MODE_16x16] = sum[MOTUS_MODE_16x8];
}

// Returns 256 times the sum of a mode's upper or lower block.
MOTUS_HD uint32_t motus_rings_part(uint32_t sum, int half) {
#ifdef __CUDA_ARCH__
    return __byte_perm(sum, 0, half ? 0x4324 : 0x4104);
#else
    return (half ? sum >> 16 : sum & 0xFFFF) << MOTUS_RINGS_CODE_BITS;
#endif
}
MOTUS_HD uint32_t motus_rings_scaled(const uint32_t sum[MOTUS_MODES], int mode, int half) {
    return motus_rings_part(sum[mode], half) +
           (motus_rings_halves(mode) == 1 ? motus_rings_part(sum[mode], 1) : 0);
}

// ---- Positions ----------------------------------------------------------------------------------

// Returns the key of a position, which is number `n` of the round, without its SATD.
MOTUS_WARP uint32_t motus_rings_key(const MotusRingsMb *mb, MotusMv mv, int n) {
    const uint32_t cost = motus_mv_cost(mb->lambda_q8, mv, mb->predictor);
    const int outside =
        motus_abs(mv.x - mb->centre.x) > mb->reach || motus_abs(mv.y - mb->centre.y) > mb->reach;
    return outside ? MOTUS_RINGS_OUTSIDE : cost << MOTUS_RINGS_CODE_BITS | (uint32_t)(n + 1);
}

MOTUS_HD uint32_t motus_rings_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Offers the lane's position, the t-th of four, to its blocks.
MOTUS_WARP void motus_rings_offer(MotusRingsLane *lane, uint32_t row[4][2], uint32_t key) {
    uint32_t sum[MOTUS_MODES];
    motus_rings_sums(motus_rings_satds(lane, row), sum);
    for (int m = 0; m < MOTUS_MODES; m++)
        for (int h = 0; h < motus_rings_halves(m); h++)
            lane->key[m][h] =
                motus_rings_least(motus_rings_scaled(sum, m, h) + key, lane->key[m][h]);
}

// Returns the MV `step` quarter samples from the middle, k-th in raster order.
MOTUS_HD MotusMv motus_rings_mv(MotusMv middle, int step, int k) {
    MotusMv mv;
    mv.x = (int16_t)(middle.x + step * motus_neighbour_dx(k));
    mv.y = (int16_t)(middle.y + step * motus_neighbour_dy(k));
    return mv;
}

// Returns which of a ring's positions, in raster order, is the i-th of a half.
MOTUS_HD int motus_rings_position_of(int i, int below) { return !below ? i : i == 3 ? 4 : 5 + i; }

// A round: n MVs of the list (step 0), or the rings `step` quarter samples around them. Behind
// those of the last round (step 1) comes the predictor, unless it was a start, in whole samples.
// Positions are measured by fours, a ring by two.
typedef struct MotusRingsRound {
    int step, n;
} MotusRingsRound;

// Finds what a round reads.
MOTUS_WARP void motus_rings_find_round(const MotusRingsMb *mb, MotusRingsShared *s,
                                       MotusRingsRound r) {
    const int areas = r.step ? 4 * r.n : (r.n + 3) & ~3;
    MOTUS_ONE_BODY
    for (int i = motus_lane(); i < areas; i += MOTUS_LANES) {
        const int n = motus_min(r.step ? i >> 2 : i, r.n - 1);
        const MotusMv mv = motus_mv_of_word(s->mv[n]);
        s->at[i] = motus_rings_find(mb, mv, r.step && i & 1, r.step && i & 2);
        if (!r.step || !(i & 3)) s->place[r.step ? n : i] = (uint16_t)motus_rings_place(mb, mv);
    }
}

// Begins to fetch what fours from number `four` on need: one, or both of a ring. Its middle, area
// 0, is for averages.
MOTUS_WARP void motus_rings_begin(const MotusRingsMb *mb, MotusRingsShared *s, MotusRingsRound r,
                                  int four) {
    const int stage = r.step ? four >> 1 : four, area = motus_lane() >> 3;
    motus_lanes_sync(); // the areas have been read
    if ((r.step ? stage < r.n : 4 * stage < r.n) && (r.step != 2 || area))
        motus_rings_fetch(mb, s, stage & 1, mb->ref->plane[0] + s->at[4 * stage + area]);
    motus_rings_commit();
}

// Returns the key of the lane's position, and notes its MV: of those of eight fours from `four` on
// the one of its number, or (no four of the list) the predictor.
MOTUS_WARP uint32_t motus_rings_keys(const MotusRingsMb *mb, MotusRingsShared *s, MotusRingsRound r,
                                     int four, int fours) {
    int i = 4 * four + motus_lane();
    MotusMv mv = mb->predictor;
    if (four == fours) {
        i = MOTUS_RINGS_PREDICTOR;
    } else if (r.step) {
        mv = motus_rings_mv(motus_mv_of_word(s->mv[motus_min(i >> 3, r.n - 1)]), r.step, i & 7);
    } else {
        i = motus_min(i, r.n - 1);
        mv = motus_mv_of_word(s->mv[i]);
    }
    if (four < fours || motus_lane() == 0)
        s->position[four < fours ? 4 * four + motus_lane() : i] = motus_mv_word(mv);
    return motus_rings_key(mb, mv, i);
}

// Measures a round. All rounds share one body: the instructions of several would not fit in the
// processor's cache.
MOTUS_WARP void motus_rings_measure(const MotusRingsMb *mb, MotusRingsLane *lane,
                                    MotusRingsShared *s, MotusRingsRound r) {
    const int fours = r.step ? 2 * r.n : (r.n + 3) >> 2, t = motus_rings_row();
    const int end = fours + (r.step == 1 && !motus_mv_is_whole(mb->predictor));
    uint32_t keys = 0; // of 32 positions
    motus_rings_find_round(mb, s, r);
    motus_rings_begin(mb, s, r, 0);
    MOTUS_ONE_BODY
    for (int four = 0; four < end; four++) {
        const int turn = (r.step ? four >> 1 : four) & 1, below = four & 1;
        uint32_t row[4][2];
        if (!r.step || !below) {
            motus_rings_begin(mb, s, r, four + (r.step ? 2 : 1));
            motus_rings_fetched();
        }
        if (!(four & 7) || four == fours) keys = motus_rings_keys(mb, s, r, four, fours);
        if (four == fours) {
            int32_t at[2];
            motus_rings_find_taps(mb, mb->predictor, at);
            motus_rings_load(mb, at, row[0]);
            for (int i = 1; i < 4; i++) row[i][0] = row[0][0], row[i][1] = row[0][1];
        } else if (r.step) {
            motus_rings_load_half(s, lane, turn, s->place[four >> 1], r.step, below, row);
        } else {
            motus_rings_load_four(s, lane, turn, s->place + 4 * four, row);
        }
        const int number =
            r.step ? 4 * (four & ~1) + motus_rings_position_of(t, below) : 4 * four + t;
        motus_rings_offer(lane, row, motus_lanes_shuffle(keys, number & 31));
    }
}

// ---- Blocks -------------------------------------------------------------------------------------

// Lists the different MVs of some own blocks, in the order of the blocks, `most` at most. Writes
// each one's number in the list. Returns the number of MVs.
MOTUS_WARP int motus_rings_list(MotusRingsShared *s, const MotusRingsOwn *own, const int some[2],
                                int most, int at[2]) {
    const uint32_t all = motus_lanes_ballot(some[0]);
    const uint32_t same = motus_lanes_match(own->mv[0]) & all, first = same & (0u - same);
    const int is_first = some[0] && first >> motus_lane() == 1;
    const uint32_t firsts = motus_lanes_ballot(is_first);
    uint32_t left = motus_lanes_ballot(some[1]);
    at[0] = motus_lanes_count(firsts & (first - 1));
    int n = motus_min(motus_lanes_count(firsts), most);
    motus_lanes_sync(); // the last list has been read
    if (is_first && at[0] < most) s->mv[at[0]] = own->mv[0];
    MOTUS_ONE_BODY
    while (left && n < most) {
        const uint32_t mv =
            motus_lanes_shuffle(own->mv[1], motus_bit_length(left & (0u - left)) - 1);
        const uint32_t known = motus_lanes_ballot(is_first && own->mv[0] == mv);
        const int i = known ? motus_lanes_count(firsts & (known - 1)) : n++;
        const int is_same = some[1] && own->mv[1] == mv;
        if (motus_lane() == 0 && !known) s->mv[i] = mv;
        if (is_same) at[1] = i;
        left &= ~motus_lanes_ballot(is_same);
    }
    motus_lanes_sync();
    return n;
}

// Returns the number of blocks of which those wanted have rings of their own: motus_ring_blocks.
MOTUS_WARP int motus_rings_around(const MotusRingsOwn *own) {
    const uint32_t wanted = motus_lanes_ballot(own->wanted[0]);
    return wanted << (32 - MOTUS_BLOCK_4x4) >> (32 - MOTUS_BLOCK_4x4 + MOTUS_BLOCK_8x4)
               ? MOTUS_BLOCK_4x4
               : MOTUS_BLOCKS;
}

// Finds the least keys of the own blocks after a round: their costs and their MVs. Keys are for the
// next round then.
MOTUS_WARP void motus_rings_choose(MotusRingsLane *lane, MotusRingsShared *s, MotusRingsOwn *own) {
    for (int m = 0; m < MOTUS_MODES; m++)
        for (int h = 0; h < motus_rings_halves(m); h++) {
            const int cell = motus_rings_cell() + 8 * h;
            uint32_t key = lane->key[m][h];
            key = motus_rings_least(key, motus_rings_from(key, 1));
            key = motus_rings_least(key, motus_rings_from(key, 2));
            if (motus_rings_row() == 0 && motus_rings_is_first(m, cell))
                s->key[motus_rings_block(m, cell)] = key;
            lane->key[m][h] = key >> MOTUS_RINGS_CODE_BITS << MOTUS_RINGS_CODE_BITS;
        }
    motus_lanes_sync();
    for (int h = 0; h < 2; h++) {
        if (!own->wanted[h]) continue;
        const uint32_t key = s->key[motus_lane() + 32 * h];
        const int n = (int)(key & ((1u << MOTUS_RINGS_CODE_BITS) - 1)) - 1;
        own->cost[h] = key >> MOTUS_RINGS_CODE_BITS;
        if (n >= 0) own->mv[h] = s->position[n];
    }
}

// Returns the sum of the absolute differences of four samples.
MOTUS_HD uint32_t motus_rings_sad(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    return __vsadu4(a, b);
#else
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (uint32_t)motus_abs(motus_word_sample(a, i) - motus_word_sample(b, i));
    return sum;
#endif
}

// Measures the SADs of the own blocks that moved.
MOTUS_WARP void motus_rings_measure_sads(const MotusRingsMb *mb, const MotusRingsLane *lane,
                                         MotusRingsShared *s, MotusRingsOwn *own) {
    int at[2] = {0, 0};
    for (int h = 0; h < 2; h++)
        own->moved[h] = own->wanted[h] && own->mv[h] != s->found[motus_lane() + 32 * h];
    const int n = motus_rings_list(s, own, own->moved, MOTUS_BLOCKS, at);
    MOTUS_ONE_BODY
    for (int i = motus_lane(); i < ((n + 3) & ~3); i += MOTUS_LANES)
        motus_rings_find_taps(mb, motus_mv_of_word(s->mv[motus_min(i, n - 1)]), s->at + 2 * i);
    motus_lanes_sync();
    MOTUS_ONE_BODY
    for (int first = 0; first < n; first += 4) {
        uint32_t v[4], sum[MOTUS_MODES];
        for (int i = 0; i < 4; i++) {
            uint32_t row[2];
            motus_rings_load(mb, s->at + 2 * (first + i), row);
            v[i] = motus_rings_sad(lane->cur[0], row[0]) | motus_rings_sad(lane->cur[1], row[1])
                                                               << 16;
        }
        motus_rings_sums(motus_rings_quad_sum(v), sum);
        for (int m = 0; m < MOTUS_MODES; m++)
            for (int h = 0; h < motus_rings_halves(m); h++) {
                const int cell = motus_rings_cell() + 8 * h;
                if (motus_rings_is_first(m, cell))
                    s->sad[motus_rings_row()][motus_rings_block(m, cell)] =
                        (uint16_t)(motus_rings_scaled(sum, m, h) >> MOTUS_RINGS_CODE_BITS);
            }
        motus_lanes_sync();
        for (int h = 0; h < 2; h++)
            if (own->moved[h] && at[h] >= first && at[h] < first + 4)
                own->sad[h] = s->sad[at[h] - first][motus_lane() + 32 * h];
        motus_lanes_sync(); // before the next four overwrite them
    }
}

// Lists the starts: the different MVs of the wanted blocks, and the predictor in whole samples.
// Returns their number.
MOTUS_WARP int motus_rings_list_starts(const MotusRingsMb *mb, MotusRingsShared *s,
                                       const MotusRingsOwn *own) {
    const uint32_t whole = motus_mv_word(motus_mv_round(mb->predictor));
    int unused[2];
    const int n = motus_rings_list(s, own, own->wanted, MOTUS_BLOCKS, unused);
    if (motus_lanes_ballot((own->wanted[0] && own->mv[0] == whole) ||
                           (own->wanted[1] && own->mv[1] == whole)))
        return n;
    if (motus_lane() == 0) s->mv[n] = whole;
    motus_lanes_sync();
    return n + 1;
}

// Measures a round, unless it is empty, and finds the own blocks' best positions.
MOTUS_WARP void motus_rings_round(const MotusRingsMb *mb, MotusRingsLane *lane, MotusRingsShared *s,
                                  MotusRingsOwn *own, MotusRingsRound r) {
    if (r.n <= 0) return;
    motus_rings_measure(mb, lane, s, r);
    motus_rings_choose(lane, s, own);
}

// Refines the own wanted blocks, at least one, from the search's MVs in whole samples. lane->cur is
// loaded.
MOTUS_WARP void motus_rings_run(const MotusRingsMb *mb, MotusRingsLane *lane, MotusRingsShared *s,
                                MotusRingsOwn *own) {
    const int around = motus_rings_around(own); // blocks that have rings
    int rings = 0;
    uint32_t before = 0; // the first own block's MV before the last round
    motus_rings_prepare(lane);
    lane->at = motus_rings_own_at();
    for (int h = 0; h < 2; h++)
        if (own->wanted[h]) s->found[motus_lane() + 32 * h] = own->mv[h];
    for (int m = 0; m < MOTUS_MODES; m++) lane->key[m][0] = lane->key[m][1] = UINT32_MAX;
    MOTUS_ONE_BODY
    for (int round = 0; round < 4; round++) {
        const int moved = own->mv[0] != before && motus_lane() < MOTUS_BLOCK_8x4;
        const int some[2] = {own->wanted[0] && motus_lane() < around && (round != 2 || moved),
                             own->wanted[1] && motus_lane() + 32 < around && round != 2};
        const int most = round == 2 ? MOTUS_RINGS_ENOUGH - rings : MOTUS_RINGS_MOST;
        MotusRingsRound r = {round == 0 ? 0 : round == 3 ? 1 : 2, 0};
        int unused[2];
        before = own->mv[0];
        r.n = round ? motus_rings_list(s, own, some, most, unused)
                    : motus_rings_list_starts(mb, s, own);
        rings = r.n;
        motus_rings_round(mb, lane, s, own, r);
    }
    motus_rings_measure_sads(mb, lane, s, own);
}

#endif
