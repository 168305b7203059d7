// Choice of a block's levels with costs of CABAC: each level is the nearest one or the one below,
// in the order in which levels are coded, last one first. The CPU and a lane of a warp run it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_CABAC_CORE_H
#define ENCODER_LEVELS_LEVELS_CABAC_CORE_H

#include "encoder/levels/levels_core.h"

// A block whose levels are being chosen, and the sums of those that have been.
typedef struct MotusLevelWalk {
    const MotusMapCosts *map;     // of the block's category
    const uint16_t (*context)[2]; // motus_level_costs
    uint32_t rate;                // cost of a bit in 1/65536 of a squared step
    int method;                   // MOTUS_LEVELS_*
    int state;                    // motus_level_state_after; APART: of the nearest levels
    int n;                        // levels other than 0
    uint32_t bits;                // of the map and the levels, in 1/256 bit
    int32_t ssd_drop;             // as in MotusLevels
} MotusLevelWalk;

MOTUS_HD MotusLevelWalk motus_level_walk(const MotusCabacCosts *costs, int category, uint32_t rate,
                                         int method) {
    MotusLevelWalk walk = {motus_map_costs(costs, category),
                           motus_level_costs(costs, category),
                           rate,
                           method,
                           0,
                           0,
                           0,
                           0};
    return walk;
}

// Returns the RD cost of bits in 1/256 of one, in 1/65536 of a squared step.
MOTUS_HD uint32_t motus_rate_of(uint32_t bits, uint32_t rate) {
    return (uint32_t)((uint64_t)bits * rate / MOTUS_BIT);
}

// True if magnitude - 1 costs less than `magnitude` for a coefficient of t / 256 levels. at: costs
// of its position; next: of the next position below that may have a level, zeros if there is none.
// with, less: costs of the two levels themselves.
MOTUS_HD int motus_level_lowers(const MotusMapCosts *at, const MotusMapCosts *next, int is_last,
                                int has_next, int t, int magnitude, uint32_t with, uint32_t less,
                                uint32_t rate) {
    const int loss = 512 * t - 65536 * (2 * magnitude - 1); // of ssd_drop, below 2^30
    const uint32_t between = at->zeros - next->zeros - (has_next ? next->zero : 0u);
    const uint32_t flags = between + at->one + at->last[is_last] + (is_last ? next->last[0] : 0u);
    with += flags;
    if (magnitude > 1)
        less += flags;
    else
        less = is_last ? next->last[1] : between + at->zero;
    return (int32_t)(motus_rate_of(with, rate) - motus_rate_of(less, rate)) > loss;
}

// Chooses the level at position i, which has a coefficient of t / 256 levels, and returns its
// magnitude. Positions come from the last one on. next: the position after it, or -1.
MOTUS_HD int motus_walk_level(MotusLevelWalk *walk, int i, int next, int t) {
    const int magnitude = motus_nearest_level(t);
    const uint16_t *first = walk->context[motus_level_first_context(walk->state)],
                   *more = walk->context[motus_level_more_context(walk->state)];
    const MotusMapCosts *at = &walk->map[i];
    uint32_t bits = motus_level_cost(first, more, magnitude);
    int chosen = magnitude;
    if (walk->method != MOTUS_LEVELS_NEAREST) {
        const MotusMapCosts none = {0, 0, 0, {0, 0}, 0};
        const uint32_t less = magnitude > 1 ? motus_level_cost(first, more, magnitude - 1) : 0;
        if (motus_level_lowers(at, next >= 0 ? &walk->map[next] : &none, !walk->state, next >= 0, t,
                               magnitude, bits, less, walk->rate))
            chosen--, bits = less;
    }
    if (chosen || walk->method == MOTUS_LEVELS_APART)
        walk->state = motus_level_state_after(
            walk->state, walk->method == MOTUS_LEVELS_APART ? magnitude : chosen);
    if (!chosen) return 0;
    const int is_last = !walk->n++;
    walk->bits += bits + at->one + at->last[is_last] + (is_last ? at->zeros : 0u - at->zero);
    walk->ssd_drop =
        motus_min(walk->ssd_drop + motus_level_ssd_drop(t, chosen), MOTUS_SSD_DROP_MAX);
    return chosen;
}

// True if the levels are worth their bits and `more` bits.
MOTUS_HD int walk_pays(const MotusLevelWalk *walk, uint32_t more) {
    return walk->n &&
           walk->ssd_drop > (int64_t)((uint64_t)(walk->bits + more) * walk->rate / MOTUS_BIT);
}

// Returns the result for a 4x4 block with these levels. flag: costs of coded_block_flag.
MOTUS_HD MotusLevels motus_walked_levels(const MotusLevelWalk *walk, const uint16_t flag[2]) {
    const MotusLevels levels = {walk->n, flag[1] + walk->bits, walk->ssd_drop},
                      none = {0, flag[0], 0};
    return walk_pays(walk, (uint32_t)motus_max(0, flag[1] - flag[0])) ? levels : none;
}

// Returns the costs of coded_block_flag of a 4x4 block. context: in its category.
MOTUS_HD const uint16_t *motus_flag_costs(const MotusCabacCosts *costs, int category, int context) {
    return costs->bin[MOTUS_CTX_CODED_BLOCK + motus_block_contexts(category).coded + context];
}

// ---- Chroma's DCs -------------------------------------------------------------------------------

// Returns a DC behind its 2x2 transform in 1/256 of a level; below 2^21.
MOTUS_HD int motus_dc_scaled(int dc, const MotusQuant *q) {
    return (int)((uint32_t)motus_abs(dc) * q->scale[0] >> (q->shift + 1));
}

MOTUS_HD MotusLevelWalk motus_dc_walk(const MotusCabacCosts *costs, const MotusQuant *q) {
    return motus_level_walk(costs, MOTUS_CATEGORY_CHROMA_DC, q->rate, MOTUS_LEVELS_LOWERED);
}

// Returns the result for the DCs of one plane. Its neighbours' are taken to have no levels.
MOTUS_HD MotusLevels motus_dc_levels(const MotusLevelWalk *walk, const MotusCabacCosts *costs) {
    return motus_walked_levels(walk, motus_flag_costs(costs, MOTUS_CATEGORY_CHROMA_DC, 0));
}

// Choice of chroma's part of coded_block_pattern.
typedef struct MotusChromaChoice {
    int dc_pays;     // 1: DCs are coded without AC rather than nothing
    int32_t ac_from; // AC is coded if its ssd_drop is above the cost of its bits by more
} MotusChromaChoice;

// Returns the choice for an MB. dc: sums of both planes.
MOTUS_HD MotusChromaChoice motus_chroma_choice(const MotusLevels *dc, const MotusCabacCosts *costs,
                                               const MotusNeighbours *neighbours, uint32_t rate) {
    int32_t cost[3]; // of each part with the DCs' levels
    for (int chroma = 0; chroma < 3; chroma++) {
        MotusSymbols s = {NULL, 0, 0, costs->bin, 0, 0};
        motus_put_cbp_chroma(&s, neighbours->a, neighbours->b, chroma);
        cost[chroma] = (int32_t)motus_rate_of(s.bits + (chroma ? dc->bits : 0), rate) -
                       (chroma ? dc->ssd_drop : 0);
    }
    MotusChromaChoice choice;
    choice.dc_pays = dc->n && cost[1] < cost[0];
    choice.ac_from = cost[2] - cost[!!choice.dc_pays];
    return choice;
}

// True if AC is coded: ac: sums of its blocks.
MOTUS_HD int motus_chroma_ac_pays(const MotusChromaChoice *choice, int32_t ssd_drop, uint32_t bits,
                                  uint32_t rate) {
    return ssd_drop > 0 && ssd_drop > (int32_t)motus_rate_of(bits, rate) + choice->ac_from;
}

#endif
