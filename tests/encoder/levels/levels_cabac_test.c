// Costs of CABAC's bins, and levels that are chosen by them: against the symbols of the same blocks
// and against what the coder writes. Levels of 8x8 blocks in CAVLC against its writer.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/residual_cpu.h"
#include "encoder/bitstream/cavlc_mb_core.h"
#include "encoder/cabac/cabac.h"
#include "encoder/levels/levels_core.h"
#include "tests/encoder/levels/random_costs.h"

#include <stdlib.h>
#include <string.h>

static MotusCabacCosts random_costs(void) {
    MotusCabacCosts costs;
    motus_random_costs(&costs, motus_test_range(0, 51));
    return costs;
}

static int random_coef(int spread) {
    return motus_test_range(0, 3) ? motus_test_range(-spread / 16, spread / 16)
                                  : motus_test_range(-spread, spread);
}

// Checks each level against its coefficient: the nearest one, one less where it may be lowered.
static void check_levels(const MotusBlockLevels *b, int lowered) {
    for (int i = 0; i < 64 && b->n; i++) {
        const int magnitude = abs(b->level[i]), nearest = (b->t[i] + 128) >> 8;
        if (!magnitude) continue;
        MOTUS_CHECK(b->t[i] >= MOTUS_LEVEL_FROM &&
                        (magnitude == motus_clip(1, MOTUS_MAX_LEVEL, nearest) ||
                         (lowered && magnitude == motus_min(nearest, MOTUS_MAX_LEVEL) - 1)),
                    "position %d: %d for %d / 256", i, magnitude, b->t[i]);
    }
}

static void costs_are_those_of_symbols(void) {
    for (int round = 0; round < 2000; round++) {
        const MotusCabacCosts costs = random_costs();
        const int qp = motus_test_range(0, 51), lowered = round & 1;
        const MotusQuant8 q = motus_quant8_at(qp, MOTUS_SLICE_P);
        const MotusLevelChoice choice = {
            NULL, lowered ? MOTUS_LEVELS_LOWERED : MOTUS_LEVELS_NEAREST, &costs};
        int coef[64];
        MotusBlockLevels b;
        MotusMbCoef mb;
        for (int i = 0; i < 64; i++) coef[i] = random_coef(20 << (qp / 6));
        motus_levels_c.block8(&b, coef, &q, &choice);
        check_levels(&b, lowered);
        if (!b.n) continue;
        for (int i = 0; i < 64; i++) mb.luma[motus_blk_at(8 + (i & 3))][i >> 2] = b.level[i];
        MotusSymbols s = {.cost = costs.bin};
        motus_put_block8_symbols(&s, &mb, 2);
        MOTUS_CHECK(s.bits == b.bits, "8x8 block: %u, symbols %u", b.bits, s.bits);
    }
}

// Bits of the four 4x4 blocks that CAVLC makes of an 8x8 block.
static void costs_are_those_of_cavlc(void) {
    static uint8_t zero_runs[MOTUS_ZERO_RUNS];
    motus_cavlc_zero_runs(zero_runs);
    for (int round = 0; round < 2000; round++) {
        const int qp = motus_test_range(0, 51), lowered = round & 1;
        const MotusQuant8 q = motus_quant8_at(qp, MOTUS_SLICE_P);
        const MotusLevelChoice choice = {
            zero_runs, lowered ? MOTUS_LEVELS_LOWERED : MOTUS_LEVELS_NEAREST, NULL};
        int coef[64];
        MotusBlockLevels b;
        MotusMb mb = {.type = MOTUS_MB_P_16x16};
        MotusMbCoef levels;
        for (int i = 0; i < 64; i++) coef[i] = random_coef((round % 7 ? 20 : 400) << (qp / 6));
        motus_levels_c.block8(&b, coef, &q, &choice);
        check_levels(&b, lowered);
        if (!b.n) continue;
        motus_store_block8(&mb, &levels, 1, &b, &choice);
        MotusBits bits;
        int n = 0;
        motus_bits_init(&bits, NULL, 0);
        for (int k = 0; k < 4; k++) {
            const int blk = motus_blk_at(4 + k);
            n += mb.total_coeff[blk];
            motus_cavlc_residual(&bits, levels.luma[blk], 16,
                                 (__builtin_popcountll(b.live) + 2) / 4);
        }
        MOTUS_CHECK(b.bits == MOTUS_BIT * motus_bits_count(&bits) && n == b.n,
                    "%d levels of %d, %u bits, written %zu", n, b.n, b.bits / MOTUS_BIT,
                    motus_bits_count(&bits));
    }
}

static void blocks_of_4x4(void) {
    static const int categories[3] = {1, 2, 4};
    for (int round = 0; round < 5000; round++) {
        const MotusCabacCosts costs = random_costs();
        const int qp = motus_test_range(0, 51), category = categories[round % 3],
                  first = category != 2, context = motus_test_range(0, 3);
        const MotusQp q = motus_qp_at(qp, MOTUS_SLICE_P);
        int16_t coef[16], level[16];
        for (int i = 0; i < 16; i++) coef[i] = (int16_t)random_coef(40 << (qp / 6));
        const uint32_t live = motus_live_coefs(coef, &q.luma);
        const MotusLevelChoice choice = {NULL, round & 1, &costs};
        const MotusLevels levels =
            motus_levels_c.block(level, coef, live, category, context, &q.luma, &choice);
        const MotusBlockContexts contexts = motus_block_contexts(category);
        MotusSymbols s = {.cost = costs.bin};
        motus_put_bin(&s, MOTUS_CTX_CODED_BLOCK + contexts.coded + context, levels.n);
        uint32_t nonzero = 0;
        for (int i = first; i < 16 && levels.n; i++) nonzero |= (level[i] != 0) << (i - first);
        if (levels.n) {
            motus_put_map_symbols(&s, contexts.map, nonzero, 16 - first);
            motus_put_level_symbols(&s, level + first, nonzero, contexts);
        }
        MOTUS_CHECK(s.bits == levels.bits && __builtin_popcount(nonzero) == levels.n,
                    "category %d: %d levels, %u bits, symbols %u", category, levels.n, levels.bits,
                    s.bits);
        MOTUS_CHECK(!first || !levels.n || !level[0], "a DC in category %d", category);
    }
}

// Each level of MOTUS_LEVELS_APART is chosen, and its symbols are counted, as if those before it
// were the nearest ones.
static void levels_apart(void) {
    int lowered = 0, dropped = 0;
    for (int round = 0; round < 5000; round++) {
        const MotusCabacCosts costs = random_costs();
        const int qp = motus_test_range(0, 51), context = motus_test_range(0, 3);
        const MotusQuant q = motus_qp_at(qp, MOTUS_SLICE_P).luma;
        const MotusMapCosts none = {0, 0, 0, {0, 0}, 0}, *map = motus_map_costs(&costs, 2);
        const MotusBlockContexts contexts = motus_block_contexts(2);
        int16_t coef[16], level[16];
        int t[16], next[16], lowest = -1;
        for (int i = 0; i < 16; i++) coef[i] = (int16_t)random_coef(40 << (qp / 6));
        const uint32_t live = motus_live_coefs(coef, &q);
        const MotusLevelChoice choice = {NULL, MOTUS_LEVELS_APART, &costs};
        const MotusLevels levels = motus_levels_c.block(level, coef, live, 2, context, &q, &choice);
        for (int i = 0; i < 16; i++) {
            const int at = motus_zigzag_at(i);
            t[i] = abs(coef[at]) * q.scale[motus_coef_class(at)] >> q.shift;
            next[i] = lowest;
            if (live >> at & 1) lowest = i;
        }
        MotusLevelCounts counts = {0, 0};
        MotusSymbols s = {.cost = costs.bin};
        uint32_t nonzero = 0;
        for (int i = 15; i >= 0; i--) {
            if (!(live >> motus_zigzag_at(i) & 1)) continue;
            const int nearest = motus_clip(1, MOTUS_MAX_LEVEL, (t[i] + 128) >> 8),
                      is_last = !counts.ones && !counts.larger;
            MotusLevelCounts unused = counts;
            MotusSymbols with = {.cost = costs.bin}, less = with;
            if (nearest > 1)
                motus_put_level_symbol(&less, nearest - 1, MOTUS_CTX_LEVEL + contexts.level, 4,
                                       &unused);
            motus_put_level_symbol(&with, nearest, MOTUS_CTX_LEVEL + contexts.level, 4, &counts);
            const int lowers =
                motus_level_lowers(&map[i], next[i] < 0 ? &none : &map[next[i]], is_last,
                                   next[i] >= 0, t[i], nearest, with.bits, less.bits, q.rate);
            lowered += lowers;
            if (nearest > lowers) s.bits += lowers ? less.bits : with.bits, nonzero |= 1u << i;
            MOTUS_CHECK(!levels.n || abs(level[i]) == nearest - lowers, "position %d: %d, not %d",
                        i, level[i], nearest - lowers);
        }
        motus_put_bin(&s, MOTUS_CTX_CODED_BLOCK + contexts.coded + context, levels.n != 0);
        if (nonzero) motus_put_map_symbols(&s, contexts.map, nonzero, 16);
        MOTUS_CHECK(!levels.n || (levels.bits == s.bits && levels.n == __builtin_popcount(nonzero)),
                    "%d levels, %u bits, not %u", levels.n, levels.bits, s.bits);
        dropped += nonzero && !levels.n;
    }
    CU_ASSERT_TRUE(lowered > 0 && dropped > 0);
}

// The cost of a level in each state is that of its symbols, and a map's zeros are those of its
// flags.
static void closed_forms(void) {
    static const int categories[4] = {1, 2, 4, MOTUS_CATEGORY_8x8};
    for (int round = 0; round < 200; round++) {
        const MotusCabacCosts costs = random_costs();
        const int category = categories[round % 4],
                  size = category == 5 ? 64 : 15 + (category == 2);
        const uint16_t(*level)[2] = motus_level_costs(&costs, category);
        const MotusMapCosts *map = motus_map_costs(&costs, category);
        MotusLevelCounts counts = {0, 0};
        int state = 0;
        for (int i = 0; i < 12; i++) {
            const int magnitude = motus_test_range(0, 1)   ? 1
                                  : motus_test_range(0, 3) ? motus_test_range(2, 20)
                                                           : motus_test_range(21, MOTUS_MAX_LEVEL);
            MotusSymbols s = {.cost = costs.bin};
            motus_put_level_symbol(&s, -magnitude, (int)(level - costs.bin), 4, &counts);
            const uint32_t bits =
                motus_level_cost(level[motus_level_first_context(state)],
                                 level[motus_level_more_context(state)], magnitude);
            MOTUS_CHECK(s.bits == bits, "category %d, state %d: level %d costs %u, symbols %u",
                        category, state, magnitude, bits, s.bits);
            state = motus_level_state_after(state, magnitude);
        }
        uint32_t zeros = 0;
        for (int i = 0; i < size; i++) {
            MOTUS_CHECK(map[i].zeros == zeros, "category %d, position %d: %u, not %u", category, i,
                        map[i].zeros, zeros);
            if (i < size - 1) zeros += costs.bin[motus_significant_context(category, i)][0];
        }
    }
}

// Costs learnt from a string of bins add up to what the coder needs for another one like it.
static void learnt_costs_are_true(void) {
    static uint16_t symbol[60000];
    static uint8_t data[sizeof symbol];
    for (int round = 0; round < 20; round++) {
        MotusCabac cabac;
        MotusCabacCosts costs;
        int share[20];
        motus_cabac_costs_set(&costs, 1, 30);
        for (int i = 0; i < 20; i++) share[i] = motus_test_range(3, 97); // per cent of ones
        uint64_t expected = 0;
        for (int part = 0; part < 2; part++) {
            MotusSymbols symbols = {.symbol = symbol}, cost = {.cost = costs.bin};
            for (int i = 0; i < 50000; i++) {
                const int k = motus_test_range(0, 19), bin = motus_test_range(0, 99) < share[k];
                motus_put_bin(&symbols, MOTUS_CTX_SIGNIFICANT + k, bin);
                motus_put_bin(&cost, MOTUS_CTX_SIGNIFICANT + k, bin);
            }
            motus_cabac_begin(&cabac, 1, 30, data, sizeof data);
            motus_cabac_code(&cabac, &symbols);
            if (!part) motus_cabac_costs_learn(&costs, &cabac.counts);
            expected = cost.bits / MOTUS_BIT;
        }
        const size_t bits = motus_cabac_bits(&cabac);
        // The coder's states follow the last bins, which costs some per cent with steady shares.
        MOTUS_CHECK(bits > expected * 98 / 100 && bits < expected * 108 / 100,
                    "%zu bits, expected %llu", bits, (unsigned long long)expected);
    }
}

MOTUS_SUITE("levels_cabac", TEST(costs_are_those_of_symbols), TEST(costs_are_those_of_cavlc),
            TEST(blocks_of_4x4), TEST(levels_apart), TEST(closed_forms),
            TEST(learnt_costs_are_true))
