// Choice of a block's levels by warps with costs of CABAC, by eight lanes of a warp (one level
// after another, or all at once: MOTUS_LEVELS_APART) or by one lane a block; and the choice between
// the two entropy coders. Equals choose_cabac (levels.c): suite `lanes`, and
// `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_CABAC_WARP_CUH
#define ENCODER_LEVELS_LEVELS_CABAC_WARP_CUH

#include "encoder/levels/levels_warp.cuh"

// ---- Eight lanes a block ------------------------------------------------------------------------

// Costs of a level in the state (motus_level_state_after) that has this lane's number of eight.
typedef struct __attribute__((aligned(16))) MotusStateCosts {
    uint32_t one, two, step; // of a level of 1, of 2, and what each further unit adds below 15
    uint32_t end;            // part of `two` that levels from 15 on do not have
} MotusStateCosts;

// Returns the costs of levels of a category. costs NULL: anything.
MOTUS_WARP MotusStateCosts motus_state_costs(const MotusCabacCosts *costs, int category) {
    MotusStateCosts own = {0, 0, 0, 0};
    if (!costs) return own;
    const int state = motus_lane() & 7;
    const uint16_t(*context)[2] = motus_level_costs(costs, category);
    const uint16_t *first = context[motus_level_first_context(state)],
                   *more = context[motus_level_more_context(state)];
    own.one = motus_level_cost(first, more, 1), own.two = motus_level_cost(first, more, 2);
    own.step = more[1], own.end = more[0];
    return own;
}

// Returns motus_level_cost. large: some level may be 15 or more.
MOTUS_WARP uint32_t motus_state_cost(const MotusStateCosts *level, int magnitude, int large) {
    uint32_t bits = magnitude == 1
                        ? level->one
                        : level->two + (uint32_t)(motus_min(magnitude, 15) - 2) * level->step;
    if (large && magnitude >= 15)
        bits +=
            MOTUS_BIT * (2 * (uint32_t)motus_bit_length((uint32_t)magnitude - 14) - 1) - level->end;
    return bits;
}

// Chooses between two levels by motus_level_lowers: with and less: their costs.
MOTUS_WARP int motus_state_lowers(int t, int magnitude, uint32_t with, uint32_t less,
                                  uint32_t rate) {
    const int loss = 512 * t - 65536 * (2 * magnitude - 1);
    return (int32_t)(motus_rate_of(with, rate) - motus_rate_of(less, rate)) > loss;
}

// Chooses the block's last level: the first one of `left` that stays while there is none before it.
// Its lane gets its magnitude. Returns its bits << 3 | the state behind it, or 0. *left: without
// those that were answered. with, without: costs of the flags of the lane's two positions with a
// level that is not the last one, and without one; those of the last one follow from the state
// before any level.
MOTUS_WARP uint32_t eight_last(MotusPairLevels *own, uint32_t with[2], uint32_t without[2],
                               uint32_t *left, const MotusStateCosts *level,
                               const MotusMapCosts *map, int first, uint32_t rate, int lowers,
                               int large) {
    const int lane = motus_lane(), group = lane & 24;
    const MotusStateCosts begin = {
        motus_lanes_shuffle(level->one, group), motus_lanes_shuffle(level->two, group),
        motus_lanes_shuffle(level->step, group), motus_lanes_shuffle(level->end, group)};
    uint32_t bits[2];
    int magnitude[2];
    for (int h = 0; h < 2; h++) {
        const int i = motus_max(0, motus_pair_position(h) - first);
        const uint32_t own_bit = 1u << (8 * h + (lane & 7)),
                       behind = *left & ~(own_bit | (own_bit - 1));
        const int next = behind ? motus_planes_first(behind) - first : 0;
        const MotusMapCosts at = map[i], below = map[next];
        const uint32_t between = at.zeros - (behind ? below.zeros + below.zero : 0u),
                       flag = (uint32_t)at.one + at.last[1],
                       after = between + flag + (behind ? below.last[0] : 0u);
        with[h] = between + at.one + at.last[0];
        without[h] = between + at.zero;
        const int m = motus_nearest_level(own->t[h]);
        const uint32_t cost = motus_state_cost(&begin, m, large),
                       cost_less = motus_state_cost(&begin, m - 1, large);
        const int lower = lowers && motus_state_lowers(own->t[h], m, cost + after,
                                                       m > 1    ? cost_less + after
                                                       : behind ? below.last[1]
                                                                : 0u,
                                                       rate);
        magnitude[h] = m - lower;
        bits[h] = (lower ? cost_less : cost) + flag + at.zeros;
    }
    const uint32_t stay = motus_eight_mask(magnitude[0] > 0, magnitude[1] > 0) & *left,
                   last = stay & (0u - stay);
    *left &= ~(last | (last - 1));
    const int place = last ? motus_bit_length(last) - 1 : 0, from = group + (place & 7);
    const int m = place & 8 ? magnitude[1] : magnitude[0];
    const uint32_t answer = motus_lanes_shuffle(
        (place & 8 ? bits[1] : bits[0]) << 3 | (uint32_t)motus_level_state_after(0, m), from);
    if (!last) *left = 0;
    if (last && lane == from) {
        if (place & 8)
            own->magnitude[1] = m;
        else
            own->magnitude[0] = m;
    }
    return last ? answer : 0;
}

// Chooses the levels of the positions in `left` (motus_eight_mask), and returns their bits. Only
// the state of a block links a level to those behind it. So each lane chooses for its own state,
// and the choice in the block's state is taken: one exchange is all that a level waits for.
MOTUS_WARP uint32_t eight_walk(MotusPairLevels *own, uint32_t left, const MotusStateCosts *level,
                               const MotusMapCosts *map, int first, uint32_t rate, int lowers) {
    const int lane = motus_lane(), group = lane & 24;
    const int large = motus_lanes_ballot(own->t[0] >= 256 * 14 || own->t[1] >= 256 * 14) != 0;
    const int after_one = motus_level_state_after(lane & 7, 1),
              after_more = motus_level_state_after(lane & 7, 2);
    uint32_t with_flags[2], without_flags[2];
    const uint32_t last =
        eight_last(own, with_flags, without_flags, &left, level, map, first, rate, lowers, large);
    uint32_t bits = last >> 3;
    int state = (int)(last & 7);
    while (motus_lanes_ballot(left != 0)) {
        const int has = left != 0, place = has ? motus_bit_length(left & (0u - left)) - 1 : 0,
                  h = place >> 3, from = group + (place & 7);
        const int t = (int)motus_lanes_shuffle((uint32_t)(h ? own->t[1] : own->t[0]), from);
        const uint32_t with = motus_lanes_shuffle(h ? with_flags[1] : with_flags[0], from),
                       without = motus_lanes_shuffle(h ? without_flags[1] : without_flags[0], from);
        const int m = motus_nearest_level(t);
        const uint32_t cost = motus_state_cost(level, m, large),
                       cost_less = motus_state_cost(level, m - 1, large);
        const int lower = lowers && motus_state_lowers(t, m, cost + with,
                                                       m > 1 ? cost_less + with : without, rate);
        const int chosen = m - lower, after = chosen > 1 ? after_more
                                              : chosen   ? after_one
                                                         : lane & 7;
        const uint32_t added = chosen ? (lower ? cost_less : cost) + with - without : 0;
        const uint32_t taken =
            motus_lanes_shuffle(added << 4 | (uint32_t)lower << 3 | (uint32_t)after, group + state);
        left &= left - 1;
        if (!has) continue;
        bits += (uint32_t)((int32_t)taken >> 4);
        state = (int)(taken & 7);
        if (lane != from) continue;
        if (h)
            own->magnitude[1] = m - (int)(taken >> 3 & 1);
        else
            own->magnitude[0] = m - (int)(taken >> 3 & 1);
    }
    return bits;
}

// Chooses the levels of a block of this category. context: motus_count_context. level:
// motus_state_costs.
MOTUS_WARP MotusLevels motus_eight_levels(int16_t *to, const int coef[2],
                                          const MotusLevelPair *pair, int active, int category,
                                          int context, const MotusQuant *q,
                                          const MotusLevelChoice *choice,
                                          const MotusStateCosts *level, MotusPairLevels *own) {
    const int first = category != 2;
    if (!choice->costs)
        return motus_eight_levels_cavlc(to, coef, pair, active, first, context, q, choice, own);
    const uint16_t *flag = motus_flag_costs(choice->costs, category, context);
    const uint32_t none = flag[0], some = flag[1];
    int live[2];
    int32_t ssd_drop = 0;
    own->magnitude[0] = own->magnitude[1] = 0;
    motus_pair_load(own, live, coef, pair, active, first, q);
    const uint32_t bits = eight_walk(own, motus_eight_mask(live[0], live[1]), level,
                                     motus_map_costs(choice->costs, category), first, q->rate,
                                     choice->method == MOTUS_LEVELS_LOWERED);
    for (int h = 0; h < 2; h++) {
        to[motus_pair_position(h)] = motus_pair_level(own, h);
        if (own->magnitude[h]) ssd_drop += motus_level_ssd_drop(own->t[h], own->magnitude[h]);
    }
    ssd_drop = motus_min((int32_t)motus_lanes_group_sum((uint32_t)ssd_drop, 8), MOTUS_SSD_DROP_MAX);
    MotusLevels levels = {
        motus_cavlc_total_coeff(motus_eight_mask(own->magnitude[0], own->magnitude[1])),
        some + bits, ssd_drop};
    const uint32_t dearer = some > none ? some - none : 0;
    if (levels.n && ssd_drop > (int32_t)motus_rate_of(bits + dearer, q->rate)) return levels;
    levels.n = 0, levels.bits = none, levels.ssd_drop = 0;
    return levels;
}

// ---- Eight lanes a block, levels apart ----------------------------------------------------------

// Costs of a category of 4x4 blocks in shared memory: acquiring a neighbour's state empties the L1
// cache.
typedef struct MotusApartCosts {
    MotusMapCosts map[17];    // by position; the last one: zeros, below the lowest level
    MotusStateCosts state[8]; // by motus_level_state_after
    uint16_t flag[4][2];      // of coded_block_flag, by context
} MotusApartCosts;

// Loads the costs of a category. CAVLC has none.
MOTUS_WARP void motus_apart_costs_load(MotusApartCosts *to, const MotusCabacCosts *costs,
                                       int category) {
    if (!costs) return;
    const int lane = motus_lane();
    const MotusMapCosts none = {0, 0, 0, {0, 0}, 0};
    if (lane < 17) to->map[lane] = lane < 16 ? motus_map_costs(costs, category)[lane] : none;
    if (lane < 8) to->state[lane] = motus_state_costs(costs, category);
    if (lane < 8)
        to->flag[lane >> 1][lane & 1] = motus_flag_costs(costs, category, lane >> 1)[lane & 1];
    motus_lanes_sync(); // the costs are written
}

// Chooses the level of a coefficient of t / 256 levels, and returns its bits without those of the
// map. before, larger: nearest levels coded before it, and those of them above 1. at, below: costs
// at its position and at the next one below with a level. large: t may be 14 levels or more.
MOTUS_WARP uint32_t motus_apart_level(int *magnitude, int t, int before, int larger,
                                      const MotusMapCosts *at, const MotusMapCosts *below,
                                      const MotusStateCosts *state, uint32_t rate, int large) {
    const MotusStateCosts level = state[larger ? motus_min(7, 3 + larger) : motus_min(3, before)];
    const int m = motus_nearest_level(t), is_last = !before;
    const uint32_t cost = motus_state_cost(&level, m, large),
                   cost_less = motus_state_cost(&level, m - 1, large),
                   between = at->zeros - below->zeros - below->zero,
                   flags =
                       between + at->one +
                       (is_last ? (uint32_t)at->last[1] + below->last[0] : (uint32_t)at->last[0]),
                   without = is_last ? below->last[1] : between + at->zero;
    const int lower =
        motus_state_lowers(t, m, cost + flags, m > 1 ? cost_less + flags : without, rate);
    *magnitude = m - lower;
    return lower ? cost_less : cost;
}

// Returns the bits of the map at a level's position.
MOTUS_WARP uint32_t motus_apart_map_bits(const MotusMapCosts *at, int is_last) {
    return at->one + (is_last ? at->last[1] + at->zeros : (uint32_t)at->last[0] - at->zero);
}

// Chooses the levels of a block of intra MBs: by MOTUS_LEVELS_APART with CABAC, unless its bits are
// guessed.
MOTUS_WARP MotusLevels motus_eight_levels_intra(int16_t *to, const int coef[2],
                                                const MotusLevelPair *pair, int active,
                                                int category, int context, const MotusQuant *q,
                                                const MotusLevelChoice *choice,
                                                const MotusApartCosts *costs,
                                                MotusPairLevels *own) {
    const int first = category != 2, k = motus_lane() & 7;
    if (choice->method == MOTUS_LEVELS_GUESSED)
        return motus_eight_levels_guessed(to, coef, pair, active, first, q, choice, own);
    if (!choice->costs)
        return motus_eight_levels_cavlc(to, coef, pair, active, first, context, q, choice, own);
    const uint32_t none = costs->flag[context][0], some = costs->flag[context][1];
    MotusMapCosts at[2];
    uint32_t bits[2], sum = 0;
    int32_t ssd_drop = 0;
    int live[2];
    motus_pair_load(own, live, coef, pair, active, first, q);
    for (int h = 0; h < 2; h++) at[h] = costs->map[motus_max(0, motus_pair_position(h) - first)];
    const uint32_t near = motus_eight_mask(live[0], live[1]),
                   larger = motus_eight_mask(live[0] && own->t[0] >= 384, // round to 2
                                             live[1] && own->t[1] >= 384);
    const int large = motus_lanes_ballot(own->t[0] >= 256 * 14 || own->t[1] >= 256 * 14) != 0;
    for (int h = 0; h < 2; h++) {
        const uint32_t bit = 1u << (8 * h + k), behind = near & ~(bit | (bit - 1));
        const MotusMapCosts below = costs->map[behind ? motus_planes_first(behind) - first : 16];
        bits[h] = motus_apart_level(
            &own->magnitude[h], own->t[h], motus_lanes_count(near & (bit - 1)),
            motus_lanes_count(larger & (bit - 1)), &at[h], &below, costs->state, q->rate, large);
        if (!live[h]) own->magnitude[h] = 0;
    }
    const uint32_t nonzero = motus_eight_mask(own->magnitude[0] > 0, own->magnitude[1] > 0);
    for (int h = 0; h < 2; h++) {
        const int is_last = !(nonzero & ((1u << (8 * h + k)) - 1));
        to[motus_pair_position(h)] = motus_pair_level(own, h);
        if (!own->magnitude[h]) continue;
        sum += bits[h] + motus_apart_map_bits(&at[h], is_last);
        ssd_drop += motus_level_ssd_drop(own->t[h], own->magnitude[h]);
    }
    sum = motus_lanes_group_sum(sum, 8);
    ssd_drop = motus_min((int32_t)motus_lanes_group_sum((uint32_t)ssd_drop, 8), MOTUS_SSD_DROP_MAX);
    MotusLevels levels = {motus_cavlc_total_coeff(nonzero), some + sum, ssd_drop};
    const uint32_t dearer = some > none ? some - none : 0;
    if (levels.n && ssd_drop > (int32_t)motus_rate_of(sum + dearer, q->rate)) return levels;
    levels.n = 0, levels.bits = none, levels.ssd_drop = 0;
    return levels;
}

// ---- A lane a block -----------------------------------------------------------------------------

// Chooses the levels of a block of this category by one lane. context: motus_count_context.
MOTUS_WARP MotusLevels motus_lane_levels(int16_t level[16], const int16_t coef[16], uint32_t live,
                                         int category, int context, const MotusQuant *q,
                                         const MotusLevelChoice *choice) {
    const int first = category != 2;
    if (!choice->costs)
        return motus_lane_levels_cavlc(level, coef, live, first, context, q, choice);
    MotusLevelWalk walk = motus_level_walk(choice->costs, category, q->rate, choice->method);
    uint32_t left = 0; // in coding order: bit 0 is position 15
    for (int i = 0; i < 16 && live; i += 2) motus_word_put(level + i, 0);
    for (; live; live &= live - 1)
        left |= 1u << motus_pairs_coded_at(motus_bit_length(live & (0u - live)) - 1);
    while (left) {
        const int i = motus_planes_first(left) - first, at = motus_zigzag_at(i + first);
        const int value = coef[motus_pairs_of_raster(at)];
        left &= left - 1;
        const int t =
            (int)((uint32_t)motus_abs(value) * q->scale[motus_coef_class(at)] >> q->shift);
        const int magnitude =
            motus_walk_level(&walk, i, left ? motus_planes_first(left) - first : -1, t);
        level[i + first] = (int16_t)(value < 0 ? -magnitude : magnitude);
    }
    return motus_walked_levels(&walk, motus_flag_costs(choice->costs, category, context));
}

// ---- Either entropy coder -----------------------------------------------------------------------

// Returns the context that a block's bits depend on, from the counts to the left and above, -1
// where there is no MB: nC, or the context of coded_block_flag.
MOTUS_WARP int motus_count_context(int left, int above, int intra, const MotusLevelChoice *choice) {
    if (!choice->costs) return motus_cavlc_nc(left, above);
    return intra ? (left != 0) + 2 * (above != 0) : (left > 0) + 2 * (above > 0);
}

// Returns the bits of an intra MB's block without levels.
MOTUS_WARP uint32_t motus_no_levels_bits(int category, int context,
                                         const MotusLevelChoice *choice) {
    if (choice->method == MOTUS_LEVELS_GUESSED) return motus_guess_in(MOTUS_GUESS_NONE, choice);
    return choice->costs ? motus_flag_costs(choice->costs, category, context)[0]
                         : (uint32_t)motus_cavlc_empty_length(motus_cavlc_token_class(context));
}

#endif
