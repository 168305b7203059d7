// Bits of CABAC bins, for decisions: a table that is fixed before a picture begins, and the bits of
// a residual block's map and levels by it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_CABAC_COSTS_CORE_H
#define ENCODER_CABAC_CABAC_COSTS_CORE_H

#include "common/lanes.h"
#include "common/log2_core.h"
#include "encoder/bitstream/bits_core.h"
#include "encoder/cabac/cabac_mb_core.h"

#define MOTUS_BIT 256 // unit of costs

// ctxBlockCat; 4x4: 1 Intra16x16 AC, 2 luma, 4 chroma AC.
enum { MOTUS_CATEGORY_CHROMA_DC = 3, MOTUS_CATEGORY_8x8 = 5 };

// Costs of a map's flags at one position of a block, in coding order. The last position has no
// flags.
typedef struct __attribute__((aligned(16))) MotusMapCosts {
    uint32_t zeros;     // of significant_coeff_flag 0 at every position before
    uint16_t zero, one; // of significant_coeff_flag
    uint16_t last[2];   // of last_significant_coeff_flag
    uint32_t reserved;
} MotusMapCosts;

enum { MOTUS_MVD_COSTS = 10 }; // magnitudes 0 to 8, and from 9 on

// Costs of a 0 and of a 1 in each context, and what is derived from them.
typedef struct MotusCabacCosts {
    uint16_t bin[MOTUS_CONTEXTS][2];
    MotusMapCosts map4[5][16]; // by ctxBlockCat; categories 1 to 4
    MotusMapCosts map8[64];
    uint32_t mvd[2][MOTUS_MVD_COSTS]; // of a component of an MVD, x then y, by magnitude
} MotusCabacCosts;

// ---- Learning -----------------------------------------------------------------------------------

enum { MOTUS_PRIOR_BINS = 16 }; // what the cost before weighs

// Returns the cost of a bin that was n of the `all` bins of its context. cost: before.
MOTUS_HD uint16_t motus_cabac_cost_learnt(uint16_t cost, uint32_t n, uint32_t all) {
    const int octaves = motus_log2_q12(2 * (uint64_t)all + 2) - motus_log2_q12(2 * (uint64_t)n + 1);
    const uint32_t bits = (uint32_t)(octaves * MOTUS_BIT / MOTUS_OCTAVE);
    return (uint16_t)(((uint64_t)bits * all + (uint64_t)cost * MOTUS_PRIOR_BINS) /
                      (all + MOTUS_PRIOR_BINS));
}

// ---- Maps ---------------------------------------------------------------------------------------

// Returns the costs of a category's map by position.
MOTUS_HD const MotusMapCosts *motus_map_costs(const MotusCabacCosts *costs, int category) {
    return category == MOTUS_CATEGORY_8x8 ? costs->map8 : costs->map4[category];
}

// Returns the context of significant_coeff_flag at position i.
MOTUS_HD int motus_significant_context(int category, int i) {
    return category == MOTUS_CATEGORY_8x8
               ? motus_map8_significant(i)
               : MOTUS_CTX_SIGNIFICANT + motus_block_contexts(category).map + i;
}

// Returns the costs at position i of a block of `size` positions.
MOTUS_HD MotusMapCosts motus_map_costs_at(const uint16_t bin[][2], int category, int size, int i) {
    MotusMapCosts at = {0, 0, 0, {0, 0}, 0};
    for (int k = 0; k < i && k < size - 1; k++)
        at.zeros += bin[motus_significant_context(category, k)][0];
    if (i >= size - 1) return at;
    const int last_context = category == MOTUS_CATEGORY_8x8
                                 ? motus_map8_last(i)
                                 : MOTUS_CTX_LAST + motus_block_contexts(category).map + i;
    const uint16_t *flag = bin[motus_significant_context(category, i)], *last = bin[last_context];
    at.zero = flag[0], at.one = flag[1];
    at.last[0] = last[0], at.last[1] = last[1];
    return at;
}

enum { MOTUS_DERIVED_MAPS = 80 + 64, MOTUS_DERIVED_COSTS = 144 + 2 * MOTUS_MVD_COSTS };

// Derives entry k of map4, map8 and mvd from `bin`, which may be a copy.
MOTUS_HD void motus_cabac_cost_derive(MotusCabacCosts *costs, const uint16_t bin[][2], int k) {
    const int mvd = k - MOTUS_DERIVED_MAPS;
    if (mvd >= 0) {
        const int component = mvd / MOTUS_MVD_COSTS, magnitude = mvd % MOTUS_MVD_COSTS;
        MotusSymbols s = {NULL, 0, 0, bin, 0, 0};
        // Its neighbours' sum is taken to be small, but not zero.
        motus_put_mvd_component(&s, MOTUS_CTX_MVD + 7 * component, magnitude, 3);
        costs->mvd[component][magnitude] = s.bits;
        return;
    }
    const int category = k >> 4, size = category == 0                          ? 0
                                        : category == MOTUS_CATEGORY_CHROMA_DC ? 4
                                        : category == 2                        ? 16
                                                                               : 15;
    if (k < 80)
        costs->map4[category][k & 15] = motus_map_costs_at(bin, category, size, k & 15);
    else
        costs->map8[k - 80] = motus_map_costs_at(bin, MOTUS_CATEGORY_8x8, 64, k - 80);
}

// Derives the rest of the table from `bin`. A warp may call it, or one thread of a CPU.
MOTUS_HD void motus_cabac_costs_derive(MotusCabacCosts *costs) {
    for (int k = motus_lane(); k < MOTUS_DERIVED_COSTS; k += MOTUS_LANES)
        motus_cabac_cost_derive(costs, costs->bin, k);
    motus_lanes_sync();
}

// ---- MVs ----------------------------------------------------------------------------------------

// Returns the cost of a component of an MVD: 0 is x, 1 is y.
MOTUS_HD uint32_t motus_mvd_cost(const MotusCabacCosts *costs, int component, int value) {
    const int magnitude = motus_abs(value), most = MOTUS_MVD_COSTS - 1,
              rest = motus_max(0, magnitude - most);
    return costs->mvd[component][motus_min(magnitude, most)] +
           2 * MOTUS_BIT * (uint32_t)(motus_bit_length(((uint32_t)rest >> 3) + 1) - 1);
}

// ---- Levels -------------------------------------------------------------------------------------

// The levels coded so far in a block choose the contexts of the next one. That makes eight states:
// 0 none; 1, 2 and 3 so many ones, or more; 4 to 7 one to four levels above 1, or more.
MOTUS_HD int motus_level_state_after(int state, int magnitude) {
    if (magnitude == 1) return state < 3 ? state + 1 : state;
    return state < 4 ? 4 : motus_min(7, state + 1);
}

// Returns the costs of coeff_abs_level_minus1 of a category, by context.
MOTUS_HD const uint16_t (*motus_level_costs(const MotusCabacCosts *costs, int category))[2] {
    return costs->bin + (category == MOTUS_CATEGORY_8x8
                             ? MOTUS_CTX_LEVEL_8x8
                             : MOTUS_CTX_LEVEL + motus_block_contexts(category).level);
}

// Returns the first context of a level in a state, and that of the bins behind its first one.
MOTUS_HD int motus_level_first_context(int state) { return state < 4 ? state + 1 : 0; }
MOTUS_HD int motus_level_more_context(int state) { return state < 4 ? 5 : state + 2; }

// Returns the cost of a level with its sign (motus_put_level_symbol). first, more: the costs in its
// two contexts.
MOTUS_HD uint32_t motus_level_cost(const uint16_t first[2], const uint16_t more[2], int magnitude) {
    if (magnitude == 1) return (uint32_t)first[0] + MOTUS_BIT;
    const uint32_t begun = (uint32_t)first[1] + MOTUS_BIT;
    if (magnitude < 15) return begun + (uint32_t)(magnitude - 2) * more[1] + more[0];
    return begun + 13 * (uint32_t)more[1] +
           MOTUS_BIT * (2 * (uint32_t)motus_bit_length((uint32_t)magnitude - 14) - 1);
}

// ---- Host ---------------------------------------------------------------------------------------

#ifdef __cplusplus
extern "C" {
#endif

// Sets the costs of a GOP's first pictures: the mean ones of I pictures (table 0), those of the
// initial states of P slices (1 + cabac_init_idc).
void motus_cabac_costs_set(MotusCabacCosts *costs, int table, int slice_qp);

// Moves the costs to those of the bins that a picture had. Costs of contexts with few bins hardly
// change.
void motus_cabac_costs_learn(MotusCabacCosts *costs, const MotusBinCounts *counts);

#ifdef __cplusplus
}
#endif

#endif
