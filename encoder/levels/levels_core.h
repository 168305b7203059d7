// Levels of a block, chosen by rate and distortion: what the CPU and warps share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_CORE_H
#define ENCODER_LEVELS_LEVELS_CORE_H

#include "common/lanes.h"
#include "dct/dct_core.h"
#include "encoder/bitstream/cavlc_core.h"
#include "encoder/cabac/cabac_costs_core.h"
#include "encoder/mb/qp_core.h"
#include "encoder/preset/preset.h"
#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

// Settings of the choice beside the quantizer.
typedef struct MotusLevelChoice {
    const uint8_t *zero_runs;     // MOTUS_ZERO_RUNS entries
    int method;                   // MOTUS_LEVELS_*
    const MotusCabacCosts *costs; // NULL: CAVLC
} MotusLevelChoice;

// Returns the method for levels of intra MBs and their estimates. cavlc: the preset's, for CAVLC.
MOTUS_HD int motus_intra_levels(int cavlc, const MotusCabacCosts *costs) {
    return costs ? (int)MOTUS_LEVELS_APART : cavlc;
}

// Returns the method where types are chosen before samples. Guesses of Intra8x8 do not compare well
// with those of other types.
MOTUS_HD int motus_type_levels(int cavlc, const MotusCabacCosts *costs, int transform_8x8) {
    return costs || transform_8x8 ? motus_intra_levels(cavlc, costs) : (int)MOTUS_LEVELS_GUESSED;
}

// Returns the parts of a bit in which bits of levels and of Intra4x4 modes are counted.
MOTUS_HD uint32_t motus_unit_of(const MotusLevelChoice *choice) {
    return choice->costs ? MOTUS_BIT : 1;
}

// Result for a block. `ssd_drop` is the squared error that the levels remove, in 1/65536 of a
// squared step. It saturates at 2^26 (1,024 squared steps, more than the bits of any MB cost), so
// that the sum of 24 blocks fits in 32 bits.
typedef struct MotusLevels {
    int n;         // nonzero levels
    uint32_t bits; // of the block, each 1 / motus_unit_of
    int32_t ssd_drop;
} MotusLevels;

#define MOTUS_SSD_DROP_MAX (1 << 26)

// True if levels of up to 16 blocks are worth their bits, each 1 / motus_unit_of.
MOTUS_HD int motus_ssd_drop_pays(int32_t ssd_drop, uint32_t bits, uint32_t rate,
                                 const MotusLevelChoice *choice) {
    if (!choice->costs) return ssd_drop > (int32_t)(bits * rate);
    return ssd_drop > (int64_t)((uint64_t)bits * rate / MOTUS_BIT);
}

// Returns whole bits.
MOTUS_HD uint32_t motus_whole_bits(uint32_t bits, const MotusLevelChoice *choice) {
    const uint32_t unit = motus_unit_of(choice);
    return (bits + unit / 2) / unit;
}

// Returns the drop of SSD by one level, t^2 - (t - 256 * magnitude)^2, for a coefficient of t / 256
// levels. That of a level of 32 or more is at least MOTUS_SSD_DROP_MAX.
MOTUS_HD int32_t motus_level_ssd_drop(int t, int magnitude) {
    return magnitude < 32 ? 256 * magnitude * (2 * t - 256 * magnitude) : MOTUS_SSD_DROP_MAX;
}

// Returns the nearest level to a coefficient of t / 256 levels that is worth one.
MOTUS_HD int motus_nearest_level(int t) { return motus_clip(1, MOTUS_MAX_LEVEL, (t + 128) >> 8); }

// Returns the raster mask of a block's live coefficients: those that may become nonzero levels.
MOTUS_HD uint32_t motus_live_coefs(const int16_t coef[16], const MotusQuant *q) {
#if defined(__AVX2__) && !defined(__CUDACC__)
    const int16_t *t = q->threshold;
    __m256i least =
        _mm256_broadcastsi128_si256(_mm_setr_epi16(t[0], t[2], t[0], t[2], t[2], t[1], t[2], t[1]));
    __m256i under =
        _mm256_cmpgt_epi16(least, _mm256_abs_epi16(_mm256_loadu_si256((const __m256i *)coef)));
    return ~_pext_u32((uint32_t)_mm256_movemask_epi8(under), 0x55555555) & 0xFFFF;
#else
    uint32_t mask = 0;
    for (int i = 0; i < 16; i++)
        mask |= (uint32_t)(motus_abs(coef[i]) >= q->threshold[motus_coef_class(i)]) << i;
    return mask;
#endif
}

// Fills the masks of n blocks, and the count of live coefficients of each.
MOTUS_HD void motus_live_blocks(uint16_t *live, uint8_t *count, const int16_t (*coef)[16], int n,
                                const MotusQuant *q) {
    for (int blk = motus_lane(); blk < n; blk += MOTUS_LANES) {
        live[blk] = (uint16_t)motus_live_coefs(coef[blk], q);
        count[blk] = (uint8_t)motus_cavlc_total_coeff(live[blk]);
    }
    motus_lanes_sync();
}

// ---- Guessed bits -------------------------------------------------------------------------------

// Levels of intra MBs whose types are known (MOTUS_LEVELS_GUESSED): no level waits for another, and
// bits are guessed from counts, alike for CAVLC and CABAC.

// Guessed bits of an MB's levels up to which its true bits are taken to be below
// MOTUS_MB_BITS_LIMIT, 3.25 times as many: few blocks take three times their guess. Above, they are
// counted.
#define MOTUS_GUESS_TRUSTED 800

// Guesses, in 1/4 of a bit, of a block without levels and of one with some; of each zero below the
// last level.
enum {
    MOTUS_GUESS_NONE = 16,
    MOTUS_GUESS_SOME = 22,
    MOTUS_GUESS_ZERO = 3,
    MOTUS_GUESS_SOME8 = 8, // of an 8x8 block; 0 without levels
    MOTUS_GUESS_ZERO8 = 2,
};

// Returns the nearest level to a coefficient of t / 256 levels that may have one, with a dead zone.
MOTUS_HD int motus_guess_magnitude(int t) { return motus_clip(1, MOTUS_MAX_LEVEL, (t + 115) >> 8); }

// Returns the guess for a level, in 1/4 of a bit.
MOTUS_HD int motus_guess_level(int magnitude) {
    return 6 + 6 * motus_min(magnitude, 16) + 4 * (motus_bit_length((uint32_t)magnitude | 15) - 4);
}

// True if a level of 1 of a 4x4 block lowers SSD by less than its bits cost. gap: zeros between it
// and the next coefficient below that may have a level.
MOTUS_HD int motus_guess_drops(int t, int is_last, int gap, uint32_t rate) {
    return motus_level_ssd_drop(t, 1) <= (int32_t)(rate * (uint32_t)(is_last ? 19 + gap : 12) / 4);
}

// Returns a number of 1/4 bits in parts of a bit of motus_unit_of.
MOTUS_HD uint32_t motus_guess_in(int quarters, const MotusLevelChoice *choice) {
    return (uint32_t)quarters * motus_unit_of(choice) / 4;
}

// Returns the result for a 4x4 block. n, sum, ssd_drop: number, guesses and drop of SSD of its
// levels; zeros: below the last one.
MOTUS_HD MotusLevels motus_guessed_levels(int n, int sum, int zeros, int32_t ssd_drop,
                                          uint32_t rate, const MotusLevelChoice *choice) {
    const uint32_t none = motus_guess_in(MOTUS_GUESS_NONE, choice),
                   some = motus_guess_in(MOTUS_GUESS_SOME + sum + MOTUS_GUESS_ZERO * zeros, choice);
    const int pays = n && motus_ssd_drop_pays(ssd_drop, some - none, rate, choice);
    const MotusLevels levels = {pays ? n : 0, pays ? some : none, pays ? ssd_drop : 0};
    return levels;
}

// Returns the guess for an 8x8 block, in 1/256 bit.
MOTUS_HD uint32_t motus_guessed_bits8(int sum, int zeros) {
    return (uint32_t)(MOTUS_GUESS_SOME8 + sum + MOTUS_GUESS_ZERO8 * zeros) * MOTUS_BIT / 4;
}

// ---- Levels with costs of CABAC -----------------------------------------------------------------

// Each level is the nearest one or the one below, in the order in which levels are coded, last one
// first. The CPU and a lane of a warp run it.

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
