// Choice of a block's quantized levels by rate and distortion: the nearest level first, then
// lowering what costs more bits than it is worth.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_LEVELS_CORE_H
#define ENCODER_ANALYSE_LEVELS_CORE_H

#include <string.h>

#include "common/lanes.h"
#include "encoder/analyse/effort.h"
#include "encoder/bitstream/cavlc_planes_core.h"
#include "encoder/mb/qp_core.h"
#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

// What choosing levels needs beside the quantizer.
typedef struct MotusLevelChoice {
    const uint8_t *zero_runs; // MOTUS_ZERO_RUNS entries
    int method;               // MOTUS_LEVELS_*
} MotusLevelChoice;

// What a block's levels are worth. `gain` is the squared error they take away against a block of
// zeros, in 1/65536 of a squared step: from 2^26 on (1,024 squared steps, more than any MB's bits
// cost) it is not counted further, so that 24 blocks fit in 32 bits.
typedef struct MotusLevels {
    int n;         // nonzero levels
    uint32_t bits; // of residual_block_cavlc
    int32_t gain;
} MotusLevels;

#define MOTUS_GAIN_MAX (1 << 26)

// Gain of one level: t^2 - (t - 256 l)^2. Levels from 32 on take away MOTUS_GAIN_MAX at least.
MOTUS_HD int32_t motus_level_gain(int t, int magnitude) {
    return magnitude < 32 ? 256 * magnitude * (2 * t - 256 * magnitude) : MOTUS_GAIN_MAX;
}

// Raster mask of the coefficients of a block that may become levels.
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

// The same for n blocks, and how many each has.
MOTUS_HD void motus_live_blocks(uint16_t *live, uint8_t *count, const int16_t (*coef)[16], int n,
                                const MotusQuant *q) {
    for (int blk = motus_lane(); blk < n; blk += MOTUS_LANES) {
        live[blk] = (uint16_t)motus_live_coefs(coef[blk], q);
        count[blk] = (uint8_t)motus_cavlc_total_coeff(live[blk]);
    }
    motus_lanes_sync();
}

// A block on its way: levels in zigzag order, what its nonzero positions and its ones are, and each
// coefficient in 1/256 of a level. A lane of many counts bits by planes: the fullest block of an MB
// is what the others wait for.
typedef struct MotusLevelBlock {
    int16_t *level;
    int *t; // [16], up to 2^20; apart, as an index that is not constant keeps what lies beside it
            // out of registers
#if MOTUS_LANES > 1
    MotusLevelPlanes shape;
#else
    MotusCavlcShape shape;
#endif
    int first, n; // 1 and 15 for AC blocks
} MotusLevelBlock;

MOTUS_HD uint32_t motus_level_block_bits(const MotusLevelBlock *b, int token_class,
                                         const uint8_t *zero_runs) {
#if MOTUS_LANES > 1
    return motus_planes_block_bits(&b->shape, b->level, -1, 0, b->first, token_class, zero_runs);
#else
    MotusCavlcShape shape;
    shape.nonzero = b->shape.nonzero >> b->first;
    shape.ones = b->shape.ones >> b->first;
    return (uint32_t)motus_cavlc_block_bits(shape, b->level + b->first, b->n, token_class,
                                            zero_runs);
#endif
}

// Sets zigzag position i to sign * magnitude.
MOTUS_HD void motus_level_set(MotusLevelBlock *b, int i, int magnitude, int negative) {
    b->level[i] = (int16_t)(negative ? -magnitude : magnitude);
#if MOTUS_LANES > 1
    motus_planes_set(&b->shape, i, magnitude);
    b->shape.negative = motus_with_bit(b->shape.negative, motus_planes_bit(i), negative);
#else
    uint32_t bit = 1u << i;
    b->shape.nonzero = magnitude ? b->shape.nonzero | bit : b->shape.nonzero & ~bit;
    b->shape.ones = magnitude == 1 ? b->shape.ones | bit : b->shape.ones & ~bit;
#endif
}

// The position in `left`, a mask of the block's shape, that is coded first.
MOTUS_HD int motus_level_first(uint32_t left) {
#if MOTUS_LANES > 1
    return motus_planes_first(left);
#else
    return motus_bit_length(left) - 1;
#endif
}

// A block without levels yet, which are to stand in level[] (16 zeros as it begins) and t16[16].
MOTUS_HD MotusLevelBlock motus_level_block(int16_t *level, int *t16, int first) {
    MotusLevelBlock b;
    b.level = level;
    b.t = t16;
    memset(&b.shape, 0, sizeof b.shape);
    b.first = first;
    b.n = 16 - first;
    return b;
}

// Gives zigzag position i the level nearest to a live coefficient of a class, but a nonzero one.
MOTUS_HD void motus_level_nearest(MotusLevelBlock *b, int i, int coef, int coef_class,
                                  const MotusQuant *q) {
    b->t[i] = (int)((uint32_t)motus_abs(coef) * q->scale[coef_class] >> q->shift);
    motus_level_set(b, i, motus_clip(1, MOTUS_MAX_LEVEL, (b->t[i] + 128) >> 8), coef < 0);
}

// Lowers levels from the highest frequency down wherever the bits saved outweigh the error added.
MOTUS_HD void motus_lower_levels(MotusLevelBlock *b, MotusLevels *levels, const MotusQuant *q,
                                 int token_class, const uint8_t *zero_runs) {
    for (uint32_t left = b->shape.nonzero; left;) {
        int i = motus_level_first(left), negative = b->level[i] < 0,
            magnitude = motus_abs(b->level[i]);
#if MOTUS_LANES > 1
        left &= left - 1;
#else
        left ^= 1u << i;
#endif
        int loss = 512 * b->t[i] - 65536 * (2 * magnitude - 1); // of lowering by one; below 2^30
        if (magnitude > 2 && loss > 0)
            continue; // large levels only give up what rounding had added
#if MOTUS_LANES > 1   // nothing to be set back by lanes whose level stays
        const int16_t less = (int16_t)(negative ? 1 - magnitude : magnitude - 1);
        MotusLevelPlanes with = b->shape;
        motus_planes_set(&with, i, magnitude - 1);
        uint32_t bits =
            motus_planes_block_bits(&with, b->level, i, less, b->first, token_class, zero_runs);
#else
        motus_level_set(b, i, magnitude - 1, negative);
        uint32_t bits = motus_level_block_bits(b, token_class, zero_runs);
#endif
        if (loss + (int32_t)(bits * q->rate) < (int32_t)(levels->bits * q->rate)) {
            levels->bits = bits;
            levels->n -= magnitude == 1;
#if MOTUS_LANES > 1
            b->shape = with;
            b->level[i] = less;
        }
#else
        } else {
            motus_level_set(b, i, magnitude, negative);
        }
#endif
    }
}

// Lowers the levels that b has, if that is how levels are chosen, and drops them where they are not
// worth their bits.
MOTUS_HD MotusLevels motus_weigh_levels(MotusLevelBlock *b, const MotusQuant *q, int token_class,
                                        int method, const uint8_t *zero_runs) {
    const uint32_t zero_bits = (uint32_t)motus_cavlc_token(token_class, 0, 0).length;
    MotusLevels levels = {motus_cavlc_total_coeff(b->shape.nonzero),
                          motus_level_block_bits(b, token_class, zero_runs), 0};
    if (method == MOTUS_LEVELS_LOWERED) motus_lower_levels(b, &levels, q, token_class, zero_runs);
    int32_t gain = 0;
    for (uint32_t left = b->shape.nonzero; left; left &= left - 1) {
        int i = motus_level_first(left & -left);
        gain += motus_level_gain(b->t[i], motus_abs(b->level[i]));
    }
    levels.gain = motus_min(gain, MOTUS_GAIN_MAX);
    if (levels.n && levels.gain <= (int32_t)((levels.bits - zero_bits) * q->rate)) {
        levels.n = 0;
        levels.gain = 0;
    }
    if (!levels.n) levels.bits = zero_bits;
    return levels;
}

// Chooses levels for a 4x4 block of forward-transformed coefficients (raster order) whose live ones
// (motus_live_coefs) are in `live`. first = 1 leaves out the DC. Writes level[16] in zigzag order
// where levels.n is not 0, else nothing.
MOTUS_HD MotusLevels motus_choose_levels(int16_t level[16], const int16_t coef[16], uint32_t live,
                                         int first, int nc, const MotusQuant *q, int method,
                                         const uint8_t *zero_runs) {
    int token_class = motus_cavlc_token_class(nc);
    MotusLevels none = {0, (uint32_t)motus_cavlc_token(token_class, 0, 0).length, 0};
    if (first) live &= ~1u;
    if (!live) return none;
    int t16[16];
    MotusLevelBlock b = motus_level_block(level, t16, first);
    for (int i = 0; i < 16; i++) level[i] = 0;
    for (; live; live &= live - 1) {
        int at = motus_bit_length(live & -live) - 1;
        motus_level_nearest(&b, motus_zigzag_of(at), coef[at], motus_coef_class(at), q);
    }
    return motus_weigh_levels(&b, q, token_class, method, zero_runs);
}

#endif
