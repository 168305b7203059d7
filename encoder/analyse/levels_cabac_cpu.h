// Choice of a block's levels on the CPU with costs of CABAC, for 4x4 and 8x8 blocks: each level is
// the nearest one or the one below, in the order in which levels are coded, last one first.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_LEVELS_CABAC_CPU_H
#define ENCODER_ANALYSE_LEVELS_CABAC_CPU_H

#include "dct/transform8_core.h"
#include "encoder/analyse/levels_core.h"
#include "encoder/bitstream/cabac_costs.h"
#include "encoder/bitstream/cabac_mb_core.h"
#include "encoder/mb/qp_core.h"

enum { MOTUS_CATEGORY_8x8 = 5 }; // ctxBlockCat; 4x4: 1 Intra16x16 AC, 2 luma, 4 chroma AC

// A block whose levels are being chosen. Arrays are in coding order.
typedef struct MotusBlockLevels {
    int category;
    int size;          // levels it may have: 15, 16 or 64
    uint32_t rate;     // cost of a bit in 1/65536 of a squared step
    int16_t level[64]; // 0, or the nearest one
    int t[64];         // coefficient in 1/256 of a level; defined where `level` is not 0
    int n;             // nonzero levels
    uint32_t bits;     // of the map and the levels, in 1/256 bit
    int64_t gain;      // squared error that the levels remove, in 1/65536 of a squared step
} MotusBlockLevels;

// ---- Costs --------------------------------------------------------------------------------------

// Costs of significant_coeff_flag and last_significant_coeff_flag at position i.
static inline const uint16_t *motus_significant_costs(const MotusCabacCosts *costs,
                                                      const MotusBlockLevels *b, int i) {
    return costs->bin[b->category == MOTUS_CATEGORY_8x8
                          ? motus_map8_significant(i)
                          : MOTUS_CTX_SIGNIFICANT + motus_block_contexts(b->category).map + i];
}
static inline const uint16_t *motus_last_costs(const MotusCabacCosts *costs,
                                               const MotusBlockLevels *b, int i) {
    return costs->bin[b->category == MOTUS_CATEGORY_8x8
                          ? motus_map8_last(i)
                          : MOTUS_CTX_LAST + motus_block_contexts(b->category).map + i];
}

// Returns the cost of a level and counts it.
static inline uint32_t motus_level_cost(const MotusCabacCosts *costs, const MotusBlockLevels *b,
                                        int value, MotusLevelCounts *counts) {
    const int is8 = b->category == MOTUS_CATEGORY_8x8;
    MotusSymbols s = {.cost = costs->bin};
    motus_put_level_symbol(&s, value,
                           is8 ? MOTUS_CTX_LEVEL_8x8
                               : MOTUS_CTX_LEVEL + motus_block_contexts(b->category).level,
                           4, counts);
    return s.bits;
}

static inline uint32_t motus_zeros_cost(const MotusCabacCosts *costs, const MotusBlockLevels *b,
                                        int from, int to) {
    uint32_t bits = 0;
    for (int i = from; i < to; i++) bits += motus_significant_costs(costs, b, i)[0];
    return bits;
}

// Returns the cost of the map at positions (before, i] if i has a level, the last one or not.
static inline uint32_t motus_map_cost(const MotusCabacCosts *costs, const MotusBlockLevels *b,
                                      int before, int i, int is_last) {
    uint32_t bits = motus_zeros_cost(costs, b, before + 1, i);
    if (i < b->size - 1)
        bits += (uint32_t)motus_significant_costs(costs, b, i)[1] +
                motus_last_costs(costs, b, i)[is_last];
    return bits;
}

static inline int motus_next_level(const MotusBlockLevels *b, int i) {
    do i--;
    while (i >= 0 && !b->level[i]);
    return i;
}

// ---- Choice -------------------------------------------------------------------------------------

static inline int64_t motus_gain_of(int t, int magnitude) {
    return (int64_t)256 * magnitude * (2 * t - 256 * magnitude);
}

// Returns the cost of magnitude m at position i, where only lower positions are open. before: the
// next one that may have a level, or -1.
static inline uint32_t motus_position_cost(const MotusCabacCosts *costs, const MotusBlockLevels *b,
                                           int before, int i, int m, int is_last,
                                           MotusLevelCounts counts) {
    if (m)
        return motus_level_cost(costs, b, m, &counts) +
               motus_map_cost(costs, b, before, i, is_last) +
               (is_last && before >= 0 ? motus_last_costs(costs, b, before)[0] : 0);
    if (!is_last) return motus_zeros_cost(costs, b, before + 1, i + 1);
    return before >= 0 ? motus_last_costs(costs, b, before)[1] : 0;
}

// Lowers levels by one, from the last one on, where that costs less.
static inline void motus_lower_block(MotusBlockLevels *b, const MotusCabacCosts *costs) {
    MotusLevelCounts counts = {0, 0};
    int is_last = 1;
    for (int i = motus_next_level(b, b->size), before; i >= 0; i = before) {
        const int value = b->level[i], magnitude = motus_abs(value);
        int64_t best = INT64_MIN;
        int chosen = magnitude;
        before = motus_next_level(b, i);
        for (int m = magnitude; m >= magnitude - 1; m--) {
            const uint32_t bits = motus_position_cost(costs, b, before, i, m, is_last, counts);
            const int64_t gain =
                motus_gain_of(b->t[i], m) - (int64_t)((uint64_t)bits * b->rate / MOTUS_BIT);
            if (gain > best) best = gain, chosen = m;
        }
        b->level[i] = (int16_t)(value < 0 ? -chosen : chosen);
        if (!chosen) continue;
        motus_level_cost(costs, b, chosen, &counts);
        is_last = 0;
    }
}

// Sets n, bits and gain of the levels.
static inline void motus_measure_block(MotusBlockLevels *b, const MotusCabacCosts *costs) {
    MotusLevelCounts counts = {0, 0};
    const int last = motus_next_level(b, b->size);
    b->n = 0, b->bits = 0, b->gain = 0;
    for (int i = last, before; i >= 0; i = before) {
        before = motus_next_level(b, i);
        b->n++;
        b->gain += motus_gain_of(b->t[i], motus_abs(b->level[i]));
        b->bits += motus_level_cost(costs, b, b->level[i], &counts) +
                   motus_map_cost(costs, b, before, i, i == last);
    }
}

// Sets the level at position i to the nearest one of a coefficient.
static inline void motus_nearest_level(MotusBlockLevels *b, int i, int coef, int scale, int shift) {
    const int t = (int)((uint64_t)(uint32_t)motus_abs(coef) * (uint32_t)scale >> shift);
    const int magnitude = t < MOTUS_LEVEL_FROM ? 0 : motus_clip(1, MOTUS_MAX_LEVEL, (t + 128) >> 8);
    b->t[i] = t;
    b->level[i] = (int16_t)(coef < 0 ? -magnitude : magnitude);
}

// True if the levels are worth their bits and `more` bits.
static inline int motus_block_pays(const MotusBlockLevels *b, uint32_t more) {
    return b->n && b->gain > (int64_t)((uint64_t)(b->bits + more) * b->rate / MOTUS_BIT);
}

// Chooses the levels of a 4x4 block of forward-transformed coefficients (raster order), of category
// 1, 2 or 4, from its live ones. flag_context: of coded_block_flag in its category. Writes
// level[16] in zigzag order, or nothing if the result has no levels. Its bits are 1/256 ones.
static inline MotusLevels motus_choose_levels_cabac(int16_t level[16], const int16_t coef[16],
                                                    uint32_t live, int category, int flag_context,
                                                    const MotusQuant *q,
                                                    const MotusCabacCosts *costs, int method) {
    const int first = category != 2;
    const uint16_t *flag =
        costs->bin[MOTUS_CTX_CODED_BLOCK + motus_block_contexts(category).coded + flag_context];
    const MotusLevels none = {0, flag[0], 0};
    MotusBlockLevels b = {.category = category, .size = 16 - first, .rate = q->rate};
    if (first) live &= ~1u;
    if (!live) return none;
    for (; live; live &= live - 1) {
        const int at = motus_bit_length(live & -live) - 1;
        motus_nearest_level(&b, motus_zigzag_of(at) - first, coef[at],
                            q->scale[motus_coef_class(at)], q->shift);
    }
    if (method == MOTUS_LEVELS_LOWERED) motus_lower_block(&b, costs);
    motus_measure_block(&b, costs);
    if (!motus_block_pays(&b, (uint32_t)motus_max(0, flag[1] - flag[0]))) return none;
    level[0] = 0;
    for (int i = 0; i < b.size; i++) level[i + first] = b.level[i];
    return (MotusLevels){b.n, flag[1] + b.bits,
                         (int32_t)(b.gain < MOTUS_GAIN_MAX ? b.gain : MOTUS_GAIN_MAX)};
}

// Chooses the levels of an 8x8 block of forward-transformed coefficients (raster order).
static inline void motus_choose_levels8(MotusBlockLevels *b, const int coef[64],
                                        const MotusQuant8 *q, const MotusCabacCosts *costs,
                                        int method) {
    b->category = MOTUS_CATEGORY_8x8, b->size = 64, b->rate = q->rate;
    uint32_t live = 0;
    b->n = 0, b->bits = 0, b->gain = 0;
    for (int i = 0; i < 64; i++) {
        motus_nearest_level(b, i, coef[motus_zigzag8_at(i)], q->scale[i], q->shift);
        live |= (uint32_t)(uint16_t)b->level[i];
    }
    if (!live) return;
    if (method == MOTUS_LEVELS_LOWERED) motus_lower_block(b, costs);
    motus_measure_block(b, costs);
}

#endif
