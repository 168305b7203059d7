// Choice of a block's levels by warps with costs of CABAC, by eight lanes of a warp or by one lane
// a block; and the choice between the two entropy coders.
// Equals motus_choose_levels_cabac (levels_cabac_cpu.h): suite `lanes`, and `gpu_decide` on a
// device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_LEVELS_CABAC_WARP_CUH
#define ENCODER_ANALYSE_LEVELS_CABAC_WARP_CUH

#include "encoder/analyse/levels_cabac_core.h"
#include "encoder/analyse/levels_warp.cuh"

// ---- Eight lanes a block ------------------------------------------------------------------------

// Costs of a level in the state (motus_level_state_after) that has this lane's number of eight.
typedef struct MotusStateCosts {
    uint16_t first[2], more[2];
} MotusStateCosts;

// Returns them for a category; costs NULL: anything.
MOTUS_WARP MotusStateCosts motus_state_costs(const MotusCabacCosts *costs, int category) {
    MotusStateCosts own = {{0, 0}, {0, 0}};
    if (!costs) return own;
    const int state = motus_lane() & 7;
    const uint16_t(*context)[2] = motus_level_costs(costs, category);
    for (int bin = 0; bin < 2; bin++) {
        own.first[bin] = context[motus_level_first_context(state)][bin];
        own.more[bin] = context[motus_level_more_context(state)][bin];
    }
    return own;
}

// Chooses the levels of the positions in `left` (motus_eight_mask), and returns their bits. Only
// the state of a block links one of its levels to the next. So each lane chooses for its own state,
// and the choice in the block's state is taken: one exchange is all that a level waits for.
MOTUS_WARP uint32_t motus_eight_walk(MotusPairLevels *own, uint32_t left,
                                     const MotusStateCosts *level, const MotusMapCosts *map,
                                     int first, uint32_t rate, int lowers) {
    const int lane = motus_lane(), is_last = (lane & 7) == 0;
    const MotusMapCosts none = {0, 0, 0, {0, 0}, 0};
    uint32_t bits = 0;
    int state = 0, i = left ? motus_planes_first(left) - first : 0;
    MotusMapCosts at = map[i];
    while (motus_lanes_ballot(left != 0)) {
        const int place = 15 - first - i, from = (lane & 24) + (place & 7), has = left != 0;
        left &= left - 1;
        const int next = left ? motus_planes_first(left) - first : 0;
        const MotusMapCosts below = left ? map[next] : none;
        const int t = (int)motus_lanes_shuffle((uint32_t)(place & 8 ? own->t[1] : own->t[0]), from),
                  magnitude = motus_nearest_level(t);
        const uint32_t with = motus_level_cost(level->first, level->more, magnitude),
                       less = magnitude > 1
                                  ? motus_level_cost(level->first, level->more, magnitude - 1)
                                  : 0;
        const int lower = lowers && motus_level_lowers(&at, &below, is_last, left != 0, t,
                                                       magnitude, with, less, rate);
        const int chosen = magnitude - lower;
        const uint32_t more =
            (lower ? less : with) + at.one + at.last[is_last] + (is_last ? at.zeros : 0u - at.zero);
        const int after = chosen ? motus_level_state_after(lane & 7, chosen) : lane & 7;
        const uint32_t taken = motus_lanes_shuffle(
            (chosen ? more << 4 : 0) | (uint32_t)lower << 3 | (uint32_t)after, (lane & 24) + state);
        if (has) {
            bits += (uint32_t)((int32_t)taken >> 4);
            state = (int)(taken & 7);
        }
        if (has && lane == from) {
            const int m = magnitude - (int)(taken >> 3 & 1);
            if (place & 8)
                own->magnitude[1] = m;
            else
                own->magnitude[0] = m;
        }
        i = next, at = below;
    }
    return bits;
}

// motus_eight_levels_cavlc for CABAC. context: of coded_block_flag; level: motus_state_costs.
MOTUS_WARP MotusLevels motus_eight_levels_cabac(int16_t *to, const int coef[2],
                                                const MotusLevelPair *pair, int active,
                                                int category, int context, const MotusQuant *q,
                                                const MotusLevelChoice *choice,
                                                const MotusStateCosts *level,
                                                MotusPairLevels *own) {
    const int first = category != 2;
    const uint16_t *flag = motus_flag_costs(choice->costs, category, context);
    const uint32_t none = flag[0], some = flag[1];
    int live[2];
    int32_t gain = 0;
    for (int h = 0; h < 2; h++) {
        const int size = motus_abs(coef[h]);
        live[h] = active && size >= pair->threshold[h] && motus_pair_position(h) >= first;
        own->t[h] = (int)((uint32_t)size * pair->scale[h] >> q->shift);
        own->negative[h] = coef[h] < 0;
        own->magnitude[h] = 0;
    }
    const uint32_t bits = motus_eight_walk(own, motus_eight_mask(live[0], live[1]), level,
                                           motus_map_costs(choice->costs, category), first, q->rate,
                                           choice->method == MOTUS_LEVELS_LOWERED);
    for (int h = 0; h < 2; h++) {
        to[motus_pair_position(h)] = motus_pair_level(own, h);
        if (own->magnitude[h]) gain += motus_level_gain(own->t[h], own->magnitude[h]);
    }
    gain = motus_min((int32_t)motus_lanes_group_sum((uint32_t)gain, 8), MOTUS_GAIN_MAX);
    MotusLevels levels = {
        motus_cavlc_total_coeff(motus_eight_mask(own->magnitude[0], own->magnitude[1])),
        some + bits, gain};
    const uint32_t dearer = some > none ? some - none : 0;
    if (levels.n && gain > (int32_t)motus_rate_of(bits + dearer, q->rate)) return levels;
    levels.n = 0, levels.bits = none, levels.gain = 0;
    return levels;
}

// ---- A lane a block -----------------------------------------------------------------------------

// motus_lane_levels_cavlc for CABAC. context: of coded_block_flag.
MOTUS_WARP MotusLevels motus_lane_levels_cabac(int16_t level[16], const int16_t coef[16],
                                               uint32_t live, int category, int context,
                                               const MotusQuant *q,
                                               const MotusLevelChoice *choice) {
    const int first = category != 2;
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

// Choose the levels of a block of this category. context: motus_count_context. level:
// motus_state_costs.
MOTUS_WARP MotusLevels motus_eight_levels(int16_t *to, const int coef[2],
                                          const MotusLevelPair *pair, int active, int category,
                                          int context, const MotusQuant *q,
                                          const MotusLevelChoice *choice,
                                          const MotusStateCosts *level, MotusPairLevels *own) {
    return choice->costs ? motus_eight_levels_cabac(to, coef, pair, active, category, context, q,
                                                    choice, level, own)
                         : motus_eight_levels_cavlc(to, coef, pair, active, category != 2, context,
                                                    q, choice, own);
}
MOTUS_WARP MotusLevels motus_lane_levels(int16_t level[16], const int16_t coef[16], uint32_t live,
                                         int category, int context, const MotusQuant *q,
                                         const MotusLevelChoice *choice) {
    return choice->costs
               ? motus_lane_levels_cabac(level, coef, live, category, context, q, choice)
               : motus_lane_levels_cavlc(level, coef, live, category != 2, context, q, choice);
}

// Returns the bits of a block without levels.
MOTUS_WARP uint32_t motus_no_levels_bits(int category, int context,
                                         const MotusLevelChoice *choice) {
    return choice->costs ? motus_flag_costs(choice->costs, category, context)[0]
                         : (uint32_t)motus_cavlc_empty_length(motus_cavlc_token_class(context));
}

#endif
