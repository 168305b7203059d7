// Choice of an 8x8 block's levels on the CPU, with costs of CABAC: each level is the nearest one or
// the one below, in the order in which levels are coded, last one first.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_LEVELS8_CPU_H
#define ENCODER_ANALYSE_LEVELS8_CPU_H

#include "dct/transform8_core.h"
#include "encoder/analyse/effort.h"
#include "encoder/bitstream/cabac_costs.h"
#include "encoder/bitstream/cabac_mb_core.h"
#include "encoder/mb/qp_core.h"

// A block whose levels are being chosen. Arrays are in zigzag order.
typedef struct MotusLevels8 {
    int16_t level[64];
    int t[64]; // coefficient in 1/256 of a level
    int n;     // nonzero levels
    uint32_t bits;
    int64_t gain; // squared error that the levels remove, in 1/65536 of a squared step
} MotusLevels8;

static inline uint32_t motus_level8_cost(const MotusCabacCosts *costs, int value,
                                         MotusLevelCounts *counts) {
    MotusSymbols s = {.cost = costs->bin};
    motus_put_level_symbol(&s, value, MOTUS_CTX_LEVEL_8x8, 4, counts);
    return s.bits;
}

// Returns the cost of the map at positions (before, i] if i has a level. The last level of a block
// has none behind it, and no map there. before: the next lower position that may have one, or -1.
static inline uint32_t motus_map8_cost(const MotusCabacCosts *costs, int before, int i,
                                       int is_last) {
    uint32_t bits = 0;
    for (int p = before + 1; p < i; p++) bits += costs->bin[motus_map8_significant(p)][0];
    if (i < 63)
        bits += costs->bin[motus_map8_significant(i)][1] + costs->bin[motus_map8_last(i)][is_last];
    return bits;
}

static inline uint32_t motus_block8_cost(const MotusCabacCosts *costs, const int16_t level[64]) {
    MotusLevelCounts counts = {0, 0};
    uint32_t bits = 0;
    int last = -1;
    for (int i = 63; i >= 0; i--)
        if (level[i]) bits += motus_level8_cost(costs, level[i], &counts);
    for (int i = 63; i >= 0 && last < 0; i--)
        if (level[i]) last = i;
    for (int i = 0, before = -1; i <= last; i++)
        if (level[i]) {
            bits += motus_map8_cost(costs, before, i, i == last);
            before = i;
        }
    return bits;
}

static inline int64_t motus_level8_gain(int t, int magnitude) {
    return (int64_t)256 * magnitude * (2 * t - 256 * magnitude);
}

// Lowers levels by one, from the last one on, where that costs less.
static inline void motus_lower_levels8(MotusLevels8 *b, const MotusQuant8 *q,
                                       const MotusCabacCosts *costs) {
    MotusLevelCounts counts = {0, 0};
    int is_last = 1, next = 63;
    while (next >= 0 && !b->level[next]) next--;
    while (next >= 0) {
        const int i = next, value = b->level[i], magnitude = motus_abs(value);
        for (next = i - 1; next >= 0 && !b->level[next];) next--;
        int64_t best = INT64_MIN;
        int chosen = magnitude;
        for (int m = magnitude; m >= motus_max(0, magnitude - 1); m--) {
            MotusLevelCounts after = counts;
            uint32_t bits = 0;
            if (m) {
                bits =
                    motus_level8_cost(costs, m, &after) + motus_map8_cost(costs, next, i, is_last);
                if (is_last && next >= 0) bits += costs->bin[motus_map8_last(next)][0];
            } else if (!is_last) {
                for (int p = next + 1; p <= i; p++)
                    bits += costs->bin[motus_map8_significant(p)][0];
            } else if (next >= 0) {
                bits = costs->bin[motus_map8_last(next)][1];
            }
            const int64_t gain =
                motus_level8_gain(b->t[i], m) - (int64_t)((uint64_t)bits * q->rate / MOTUS_BIT);
            if (gain > best) best = gain, chosen = m;
        }
        b->level[i] = (int16_t)(value < 0 ? -chosen : chosen);
        if (chosen) {
            motus_level8_cost(costs, chosen, &counts);
            is_last = 0;
        }
    }
}

// Chooses the levels of a block of forward-transformed coefficients (raster order).
static inline void motus_choose_levels8(MotusLevels8 *b, const int coef[64], const MotusQuant8 *q,
                                        const MotusCabacCosts *costs, int method) {
    for (int i = 0; i < 64; i++) {
        const int at = motus_zigzag8_at(i);
        b->t[i] = (int)((uint64_t)(uint32_t)motus_abs(coef[at]) * q->scale[motus_coef8_class(at)] >>
                        q->shift);
        const int magnitude =
            b->t[i] < MOTUS_LEVEL_FROM ? 0 : motus_clip(1, MOTUS_MAX_LEVEL, (b->t[i] + 128) >> 8);
        b->level[i] = (int16_t)(coef[at] < 0 ? -magnitude : magnitude);
    }
    if (method == MOTUS_LEVELS_LOWERED) motus_lower_levels8(b, q, costs);
    b->n = 0, b->gain = 0;
    for (int i = 0; i < 64; i++) {
        b->n += b->level[i] != 0;
        b->gain += motus_level8_gain(b->t[i], motus_abs(b->level[i]));
    }
    b->bits = motus_block8_cost(costs, b->level);
}

#endif
