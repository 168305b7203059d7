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
MOTUS_WARP uint32_t rings_quad_sum(const uint32_t v[4]) {
    const int t = rings_row();
    const uint32_t low = (t & 2 ? v[2] : v[0]) + rings_from(t & 2 ? v[0] : v[2], 2),
                   high = (t & 2 ? v[3] : v[1]) + rings_from(t & 2 ? v[1] : v[3], 2);
    return (t & 1 ? high : low) + rings_from(t & 1 ? low : high, 1);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// Adds four Hadamard coefficients to a lane's `from`: numbers 2t and 2t + 1, counted from those of
// `sign`, of 4x4 blocks g and g + 8.
MOTUS_WARP void rings_hadamard(const uint32_t row[2], uint32_t sign, const int from[4], int to[4]) {
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%7, %8, %9, %10};"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(row[0]), "r"(row[1]), "r"(sign), "r"(from[0]), "r"(from[1]), "r"(from[2]),
          "r"(from[3]));
}

// Prepares the lane's part of SATDs. A sign, a byte each, is that of sample 4t + i in coefficient g
// or g + 8: (-1)^(number of bits that both numbers have).
MOTUS_WARP void rings_prepare(RingsLane *lane) {
    const int g = rings_cell(), t = rings_row(), none[4] = {0, 0, 0, 0};
    uint32_t odd = 0;
    for (int i = 0; i < 4; i++) {
        const int both = (4 * t + i) & g;
        odd |= (uint32_t)((both ^ both >> 1 ^ both >> 2) & 1) << 8 * i;
    }
    for (int k = 0; k < 2; k++) {
        const uint32_t minus = k && t & 2 ? odd : odd ^ 0x01010101u;
        lane->sign[k] = (minus ^ 0x01010101u) * 254 + 0x01010101u;
        asm volatile("" : "+r"(lane->sign[k])); // the compiler would rather compute it again
        rings_hadamard(lane->cur, minus * 254 + 0x01010101u, none, lane->minus[k]);
    }
}

// Returns to lane t of a quad the SATDs of its two 4x4 blocks, in the halves of a word, at the t-th
// of four positions; row: the lane's rows at each. Every lane adds up the magnitudes of four
// coefficients, each a sum over the prediction less one over the MB, of both blocks of its quad. A
// 4x4 block's SATD is at most 8160.
MOTUS_WARP uint32_t rings_satds(const RingsLane *lane, uint32_t row[4][2]) {
    uint32_t v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t sum[2] = {0, 0};
#pragma unroll
        for (int k = 0; k < 2; k++) {
            int c[4];
            rings_hadamard(row[i], lane->sign[k], lane->minus[k], c);
#pragma unroll
            for (int j = 0; j < 4; j++) sum[j >> 1] = __sad(c[j], 0, sum[j >> 1]);
        }
        v[i] = sum[0] | sum[1] << 16;
    }
    return rings_quad_sum(v) >> 1; // both halves are even
}
#else
MOTUS_WARP void rings_prepare(RingsLane *lane) { (void)lane; }

// Returns what its namesake above does, without tensor cores: a lane gets all rows of its position.
MOTUS_WARP uint32_t rings_satds(const RingsLane *lane, uint32_t row[4][2]) {
    const int t = rings_row();
    uint32_t satds = 0;
    for (int h = 0; h < 2; h++) {
        uint32_t cur[4], pred[4];
        for (int d = 0; d < 4; d++) {
            cur[d] = rings_from(lane->cur[h], d);
            pred[d] = rings_from(row[t ^ d][h], d); // row t ^ d of position t
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
MOTUS_WARP void rings_sums(uint32_t v, uint32_t sum[MOTUS_MODES]) {
    sum[MOTUS_MODE_4x4] = v;
    sum[MOTUS_MODE_8x4] = v + rings_from(v, 4);
    sum[MOTUS_MODE_4x8] = v + rings_from(v, 16);
    sum[MOTUS_MODE_8x8] = sum[MOTUS_MODE_8x4] + rings_from(sum[MOTUS_MODE_8x4], 16);
    sum[MOTUS_MODE_16x8] = sum[MOTUS_MODE_8x8] + rings_from(sum[MOTUS_MODE_8x8], 8);
    sum[MOTUS_MODE_8x16] = sum[MOTUS_MODE_8x8], sum[MOTUS_MODE_16x16] = sum[MOTUS_MODE_16x8];
}

// Returns 256 times the sum of a mode's upper or lower block.
MOTUS_HD uint32_t rings_part(uint32_t sum, int half) {
#ifdef __CUDA_ARCH__
    return __byte_perm(sum, 0, half ? 0x4324 : 0x4104);
#else
    return (half ? sum >> 16 : sum & 0xFFFF) << MOTUS_RINGS_CODE_BITS;
#endif
}
MOTUS_HD uint32_t rings_scaled(const uint32_t sum[MOTUS_MODES], int mode, int half) {
    return rings_part(sum[mode], half) + (rings_halves(mode) == 1 ? rings_part(sum[mode], 1) : 0);
}

// ---- Rounds -------------------------------------------------------------------------------------

// A round (step, n) is n MVs of the list (step 0), or the rings `step` quarter samples around them.
// Behind those of the last round (step 1) comes the predictor, unless it was a start, in whole
// samples. Positions are measured by fours, a ring by two.

MOTUS_HD uint32_t rings_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Finds what a round reads: the offsets of areas from plane 0. An area has the MB displaced by an
// MV of whole or half samples, of a ring also 1/2 sample to the left and up.
MOTUS_WARP void rings_find_round(const RingsMb *mb, RingsShared *s, int step, int n) {
    const MotusRefLuma *ref = mb->ref;
    const int areas = step ? 4 * n : (n + 3) & ~3, size = (int)(ref->plane[1] - ref->plane[0]);
    MOTUS_ONE_BODY
    for (int i = motus_lane(); i < areas; i += MOTUS_LANES) {
        const int k = motus_min(step ? i >> 2 : i, n - 1);
        const MotusMv mv = motus_mv_of_word(s->mv[k]);
        const int middle = rings_position(mb->x, mv.x, ref->width), x = middle - (step && i & 1),
                  y = rings_position(mb->y, mv.y, ref->height) - (step && i & 2);
        s->at[i] = (2 * (y & 1) + (x & 1)) * size + (y >> 1) * (int)ref->stride + (x >> 1 & ~15);
        if (!step || !(i & 3))
            s->place[step ? k : i] = (uint16_t)((middle >> 1 & 15) | ((middle - 1) >> 1 & 15) << 4 |
                                                (~(mv.x ^ mv.y) & 2) << 7);
    }
}

// Begins to fetch what fours from number `four` on need: one, or both of a ring. Its middle, area
// 0, is for averages. Eight lanes copy an area, half a row each; areas 2 and 3 have a 17th row.
MOTUS_WARP void rings_begin(const RingsMb *mb, RingsShared *s, int step, int n, int four) {
    const int stage = step ? four >> 1 : four, area = motus_lane() >> 3;
    motus_lanes_sync(); // the areas have been read
    if ((step ? stage < n : 4 * stage < n) && (step != 2 || area)) {
        const int row = motus_lane() >> 1 & 3, half = motus_lane() & 1,
                  stride = (int)mb->ref->stride;
        const uint8_t *from = mb->ref->plane[0] + s->at[4 * stage + area];
        uint8_t *to = s->area[stage & 1][area] + 32 * row + 16 * half;
        from += row * stride + 16 * half;
        for (int k = 0; k < 4; k++) rings_copy(to + rings_row_at(4 * k), from + 4 * k * stride);
        if (area >= 2 && !row) rings_copy(to + rings_row_at(16), from + 16 * stride);
    }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory"); // ends a stage of fetches, empty or not
#endif
}

// Returns the key of the lane's position without its SATD, and notes its MV: of those of eight
// fours from `four` on the one of its number, or (no four of the list) the predictor.
MOTUS_WARP uint32_t rings_keys(const RingsMb *mb, RingsShared *s, int step, int n, int four,
                               int fours) {
    int i = 4 * four + motus_lane();
    MotusMv mv = mb->predictor;
    if (four == fours) {
        i = MOTUS_RINGS_PREDICTOR;
    } else if (step) {
        const MotusMv middle = motus_mv_of_word(s->mv[motus_min(i >> 3, n - 1)]);
        mv.x = (int16_t)(middle.x + step * motus_neighbour_dx(i & 7));
        mv.y = (int16_t)(middle.y + step * motus_neighbour_dy(i & 7));
    } else {
        i = motus_min(i, n - 1);
        mv = motus_mv_of_word(s->mv[i]);
    }
    if (four < fours || motus_lane() == 0)
        s->position[four < fours ? 4 * four + motus_lane() : i] = motus_mv_word(mv);
    const uint32_t cost = motus_mv_cost(mb->lambda_q8, mv, mb->predictor);
    const int outside =
        motus_abs(mv.x - mb->centre.x) > mb->reach || motus_abs(mv.y - mb->centre.y) > mb->reach;
    return outside ? MOTUS_RINGS_OUTSIDE : cost << MOTUS_RINGS_CODE_BITS | (uint32_t)(i + 1);
}

// Measures a round. All rounds share one body: the instructions of several would not fit in the
// processor's cache.
MOTUS_WARP void rings_measure(const RingsMb *mb, RingsLane *lane, RingsShared *s, int step, int n) {
    const int fours = step ? 2 * n : (n + 3) >> 2, t = rings_row();
    const int end = fours + (step == 1 && !motus_mv_is_whole(mb->predictor));
    uint32_t keys = 0; // of 32 positions
    rings_find_round(mb, s, step, n);
    rings_begin(mb, s, step, n, 0);
    MOTUS_ONE_BODY
    for (int four = 0; four < end; four++) {
        const int turn = (step ? four >> 1 : four) & 1, below = four & 1;
        uint32_t row[4][2], sum[MOTUS_MODES];
        if (!step || !below) {
            rings_begin(mb, s, step, n, four + (step ? 2 : 1));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
            asm volatile("cp.async.wait_group 1;" ::: "memory"); // all stages but the last one
#endif
            motus_lanes_sync();
        }
        if (!(four & 7) || four == fours) keys = rings_keys(mb, s, step, n, four, fours);
        if (four == fours) {
            int32_t at[2];
            rings_find_taps(mb, mb->predictor, at);
            rings_load(mb, at, row[0]);
            for (int i = 1; i < 4; i++) row[i][0] = row[0][0], row[i][1] = row[0][1];
        } else if (step) {
            rings_load_half(s, lane, turn, s->place[four >> 1], step, below, row);
        } else {
            rings_load_four(s, lane, turn, s->place + 4 * four, row);
        }
        // The lane's is the t-th of four positions; of a ring's lower half the fourth comes first.
        const int of_ring = !below   ? t
                            : t == 3 ? 4
                                     : 5 + t,
                  number = step ? 4 * (four & ~1) + of_ring : 4 * four + t;
        const uint32_t key = motus_lanes_shuffle(keys, number & 31);
        rings_sums(rings_satds(lane, row), sum);
        for (int m = 0; m < MOTUS_MODES; m++)
            for (int h = 0; h < rings_halves(m); h++)
                lane->key[m][h] = rings_least(rings_scaled(sum, m, h) + key, lane->key[m][h]);
    }
}

// ---- Blocks -------------------------------------------------------------------------------------

// Lists the different MVs of some own blocks, in the order of the blocks, `most` at most. Writes
// each one's number in the list. Returns the number of MVs.
MOTUS_WARP int rings_list(RingsShared *s, const RingsOwn *own, const int some[2], int most,
                          int at[2]) {
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

// Finds the least keys of the own blocks after a round: their costs and their MVs. Keys are for the
// next round then.
MOTUS_WARP void rings_choose(RingsLane *lane, RingsShared *s, RingsOwn *own) {
    for (int m = 0; m < MOTUS_MODES; m++)
        for (int h = 0; h < rings_halves(m); h++) {
            const int cell = rings_cell() + 8 * h;
            uint32_t key = lane->key[m][h];
            key = rings_least(key, rings_from(key, 1));
            key = rings_least(key, rings_from(key, 2));
            if (rings_row() == 0 && rings_is_first(m, cell)) s->key[rings_block(m, cell)] = key;
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
MOTUS_HD uint32_t rings_sad(uint32_t a, uint32_t b) {
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
MOTUS_WARP void rings_measure_sads(const RingsMb *mb, const RingsLane *lane, RingsShared *s,
                                   RingsOwn *own) {
    int at[2] = {0, 0};
    for (int h = 0; h < 2; h++)
        own->moved[h] = own->wanted[h] && own->mv[h] != s->found[motus_lane() + 32 * h];
    const int n = rings_list(s, own, own->moved, MOTUS_BLOCKS, at);
    MOTUS_ONE_BODY
    for (int i = motus_lane(); i < ((n + 3) & ~3); i += MOTUS_LANES)
        rings_find_taps(mb, motus_mv_of_word(s->mv[motus_min(i, n - 1)]), s->at + 2 * i);
    motus_lanes_sync();
    MOTUS_ONE_BODY
    for (int first = 0; first < n; first += 4) {
        uint32_t v[4], sum[MOTUS_MODES];
        for (int i = 0; i < 4; i++) {
            uint32_t row[2];
            rings_load(mb, s->at + 2 * (first + i), row);
            v[i] = rings_sad(lane->cur[0], row[0]) | rings_sad(lane->cur[1], row[1]) << 16;
        }
        rings_sums(rings_quad_sum(v), sum);
        for (int m = 0; m < MOTUS_MODES; m++)
            for (int h = 0; h < rings_halves(m); h++) {
                const int cell = rings_cell() + 8 * h;
                if (rings_is_first(m, cell))
                    s->sad[rings_row()][rings_block(m, cell)] =
                        (uint16_t)(rings_scaled(sum, m, h) >> MOTUS_RINGS_CODE_BITS);
            }
        motus_lanes_sync();
        for (int h = 0; h < 2; h++)
            if (own->moved[h] && at[h] >= first && at[h] < first + 4)
                own->sad[h] = s->sad[at[h] - first][motus_lane() + 32 * h];
        motus_lanes_sync(); // before the next four overwrite them
    }
}

// Refines the own wanted blocks, at least one, from the search's MVs in whole samples. lane->cur is
// loaded.
MOTUS_WARP void rings_run(const RingsMb *mb, RingsLane *lane, RingsShared *s, RingsOwn *own) {
    // Blocks of which those wanted have rings of their own: all, or those above 4x4.
    const uint32_t wanted = motus_lanes_ballot(own->wanted[0]);
    const int around = wanted << (32 - MOTUS_BLOCK_4x4) >> (32 - MOTUS_BLOCK_4x4 + MOTUS_BLOCK_8x4)
                           ? MOTUS_BLOCK_4x4
                           : MOTUS_BLOCKS;
    const int cell = rings_cell();
    int rings = 0;
    uint32_t before = 0; // the first own block's MV before the last round
    rings_prepare(lane);
    lane->at = rings_row_at(4 * (cell >> 2) + rings_row()) + 4 * (cell & 3);
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(lane->at)); // the compiler would rather compute it again
#endif
    for (int h = 0; h < 2; h++)
        if (own->wanted[h]) s->found[motus_lane() + 32 * h] = own->mv[h];
    for (int m = 0; m < MOTUS_MODES; m++) lane->key[m][0] = lane->key[m][1] = UINT32_MAX;
    MOTUS_ONE_BODY
    for (int round = 0; round < 4; round++) {
        const int moved = own->mv[0] != before && motus_lane() < MOTUS_BLOCK_8x4;
        const int some[2] = {own->wanted[0] && motus_lane() < around && (round != 2 || moved),
                             own->wanted[1] && motus_lane() + 32 < around && round != 2};
        const int most = round == 2 ? MOTUS_RINGS_ENOUGH - rings : MOTUS_RINGS_MOST;
        int unused[2];
        before = own->mv[0];
        if (round) {
            rings = rings_list(s, own, some, most, unused);
        } else { // starts: the different MVs of the wanted blocks, the predictor in whole samples
            const uint32_t whole = motus_mv_word(motus_mv_round(mb->predictor));
            rings = rings_list(s, own, own->wanted, MOTUS_BLOCKS, unused);
            if (!motus_lanes_ballot((own->wanted[0] && own->mv[0] == whole) ||
                                    (own->wanted[1] && own->mv[1] == whole))) {
                if (motus_lane() == 0) s->mv[rings] = whole;
                motus_lanes_sync();
                rings++;
            }
        }
        if (rings <= 0) continue;
        rings_measure(mb, lane, s, round == 0 ? 0 : round == 3 ? 1 : 2, rings);
        rings_choose(lane, s, own);
    }
    rings_measure_sads(mb, lane, s, own);
}

#endif
