// Choice of a block's levels on the CPU: the nearest level of each live coefficient, then levels
// are lowered where the bits saved outweigh the error added. levels_warp.cuh has the same for
// warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_CPU_H
#define ENCODER_LEVELS_LEVELS_CPU_H

#include "encoder/levels/levels_guess_core.h"

// A block whose levels are being chosen: levels and coefficients in zigzag order, coefficients in
// 1/256 of a level (below 2^20). Bit i of `shape` is position i.
typedef struct MotusLevelBlock {
    int16_t *level;
    int *t; // [16]
    MotusCavlcShape shape;
    int first; // 1 for AC blocks
} MotusLevelBlock;

// Sets zigzag position i to +-magnitude.
static inline void motus_level_set(MotusLevelBlock *b, int i, int magnitude, int negative) {
    const uint32_t bit = 1u << i;
    b->level[i] = (int16_t)(negative ? -magnitude : magnitude);
    b->shape.nonzero = magnitude ? b->shape.nonzero | bit : b->shape.nonzero & ~bit;
    b->shape.ones = magnitude == 1 ? b->shape.ones | bit : b->shape.ones & ~bit;
}

static inline uint32_t motus_level_block_bits(const MotusLevelBlock *b, int token_class,
                                              const uint8_t *zero_runs) {
    const MotusCavlcShape shape = {b->shape.nonzero >> b->first, b->shape.ones >> b->first};
    return (uint32_t)motus_cavlc_block_bits(shape, b->level + b->first, -1, 0, 16 - b->first,
                                            token_class, zero_runs);
}

// Lowers levels by one, from the highest frequency down, where that reduces the RD cost.
static inline void motus_lower_levels(MotusLevelBlock *b, MotusLevels *levels, const MotusQuant *q,
                                      int token_class, const uint8_t *zero_runs) {
    for (uint32_t left = b->shape.nonzero; left;) {
        const int i = motus_bit_length(left) - 1, negative = b->level[i] < 0,
                  magnitude = motus_abs(b->level[i]);
        left ^= 1u << i;
        const int loss = 512 * b->t[i] - 65536 * (2 * magnitude - 1); // of ssd_drop, below 2^30
        if (magnitude > 2 && loss > 0) continue; // large levels only lose what rounding up added
        motus_level_set(b, i, magnitude - 1, negative);
        const uint32_t bits = motus_level_block_bits(b, token_class, zero_runs);
        if (loss + (int32_t)(bits * q->rate) < (int32_t)(levels->bits * q->rate)) {
            levels->bits = bits;
            levels->n -= magnitude == 1;
        } else {
            motus_level_set(b, i, magnitude, negative);
        }
    }
}

// Chooses the levels of a 4x4 block of forward-transformed coefficients (raster order) from its
// live coefficients `live` (motus_live_coefs). first = 1 leaves out the DC. Writes level[16] in
// zigzag order, or nothing if the result has no levels.
static inline MotusLevels motus_choose_levels(int16_t level[16], const int16_t coef[16],
                                              uint32_t live, int first, int nc, const MotusQuant *q,
                                              const MotusLevelChoice *choice) {
    const int token_class = motus_cavlc_token_class(nc);
    const uint32_t zero_bits = (uint32_t)motus_cavlc_token(token_class, 0, 0).length;
    const MotusLevels none = {0, zero_bits, 0};
    if (first) live &= ~1u;
    if (!live) return none;
    int t[16];
    MotusLevelBlock b = {level, t, {0, 0}, first};
    for (int i = 0; i < 16; i++) level[i] = 0;
    for (; live; live &= live - 1) {
        const int at = motus_bit_length(live & -live) - 1, i = motus_zigzag_of(at);
        t[i] = (int)((uint32_t)motus_abs(coef[at]) * q->scale[motus_coef_class(at)] >> q->shift);
        motus_level_set(&b, i, motus_clip(1, MOTUS_MAX_LEVEL, (t[i] + 128) >> 8), coef[at] < 0);
    }
    MotusLevels levels = {motus_cavlc_total_coeff(b.shape.nonzero),
                          motus_level_block_bits(&b, token_class, choice->zero_runs), 0};
    if (choice->method == MOTUS_LEVELS_LOWERED)
        motus_lower_levels(&b, &levels, q, token_class, choice->zero_runs);
    int32_t ssd_drop = 0;
    for (uint32_t left = b.shape.nonzero; left; left &= left - 1) {
        const int i = motus_bit_length(left & -left) - 1;
        ssd_drop += motus_level_ssd_drop(t[i], motus_abs(level[i]));
    }
    levels.ssd_drop = motus_min(ssd_drop, MOTUS_SSD_DROP_MAX);
    return levels.ssd_drop > (int32_t)((levels.bits - zero_bits) * q->rate) ? levels : none;
}

// Chooses the levels of such a block by MOTUS_LEVELS_GUESSED. Writes level[16], or anything if the
// result has no levels.
static inline MotusLevels motus_guess_block(int16_t level[16], const int16_t coef[16],
                                            uint32_t live, int first, const MotusQuant *q,
                                            const MotusLevelChoice *choice) {
    uint32_t near = 0, nonzero = 0; // zigzag masks
    int t[16], sum = 0;
    int32_t ssd_drop = 0;
    if (first) live &= ~1u;
    memset(level, 0, 16 * sizeof *level);
    for (uint32_t left = live; left; left &= left - 1) {
        const int at = motus_bit_length(left & -left) - 1, i = motus_zigzag_of(at);
        t[i] = (int)((uint32_t)motus_abs(coef[at]) * q->scale[motus_coef_class(at)] >> q->shift);
        near |= 1u << i;
    }
    for (uint32_t left = near; left; left &= left - 1) {
        const int i = motus_bit_length(left & -left) - 1, magnitude = motus_guess_magnitude(t[i]),
                  gap =
                      i - motus_max(first, motus_bit_length((near & ((1u << i) - 1)) << 1 | 1) - 1);
        if (magnitude == 1 && motus_guess_drops(t[i], !(near >> i >> 1), gap, q->rate)) continue;
        level[i] = (int16_t)(coef[motus_zigzag_at(i)] < 0 ? -magnitude : magnitude);
        nonzero |= 1u << i;
        sum += motus_guess_level(magnitude);
        ssd_drop += motus_level_ssd_drop(t[i], magnitude);
    }
    const int n = motus_cavlc_total_coeff(nonzero),
              zeros = nonzero ? motus_bit_length(nonzero) - first - n : 0;
    return motus_guessed_levels(n, sum, zeros, motus_min(ssd_drop, MOTUS_SSD_DROP_MAX), q->rate,
                                choice);
}

#endif
