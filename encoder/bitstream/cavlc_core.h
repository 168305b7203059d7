// Codes of a residual block (9.2) and their lengths.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_CAVLC_CORE_H
#define ENCODER_BITSTREAM_CAVLC_CORE_H

#include "common/int_core.h"
#include "encoder/bitstream/cavlc_tables.h"
#include "encoder/mb/mb.h"

// Returns the token class of nC, a column of table 9-5: 0..1, 2..3, 4..7, 8 and more, -1 (chroma
// DC).
MOTUS_HD int motus_cavlc_token_class(int nc) {
    return nc < 0 ? MOTUS_TOKEN_CHROMA_DC : nc < 2 ? 0 : nc < 4 ? 1 : nc < 8 ? 2 : 3;
}

MOTUS_HD MotusVlc motus_cavlc_token(int token_class, int total_coeff, int trailing_ones) {
    if (token_class == 3) {
        uint32_t bits =
            total_coeff ? (uint32_t)(total_coeff - 1) << 2 | (uint32_t)trailing_ones : 3;
        return motus_vlc(bits, 6);
    }
    MotusVlcEntry e = motus_cavlc_token_entry(token_class, total_coeff, trailing_ones);
    return motus_vlc(e.bits, e.length);
}

// Returns level_prefix and level_suffix of a levelCode (9.2.2.1). Levels within +-MOTUS_MAX_LEVEL
// keep levelCode below 4096 + 30 at suffix_length 0 and below 4096 + (15 << suffix_length) else, so
// level_prefix is at most 15.
MOTUS_HD MotusVlc motus_cavlc_level(int level_code, int suffix_length) {
    int escape = suffix_length ? 15 << suffix_length : 30;
    if (level_code >= escape) return motus_vlc(1u << 12 | (uint32_t)(level_code - escape), 28);
    if (!suffix_length)
        return level_code < 14 ? motus_vlc(1, level_code + 1)
                               : motus_vlc(1u << 4 | (uint32_t)(level_code - 14), 19);
    uint32_t suffix = (uint32_t)level_code & ((1u << suffix_length) - 1);
    return motus_vlc(1u << suffix_length | suffix,
                     (level_code >> suffix_length) + 1 + suffix_length);
}

// Returns suffixLength after a level of this magnitude (9.2.2.1).
MOTUS_HD int motus_cavlc_next_suffix_length(int suffix_length, int magnitude) {
    if (!suffix_length) suffix_length = 1;
    return suffix_length < 6 && magnitude > 3 << (suffix_length - 1) ? suffix_length + 1
                                                                     : suffix_length;
}

// Positions of a block's nonzero levels and of its levels +-1: bit i stands for level[i].
typedef struct MotusCavlcShape {
    uint32_t nonzero, ones;
} MotusCavlcShape;

// Returns the shape of n levels. Written with branches: for shifted comparisons ptxas 13.0 -O2
// makes wrong masks on sm_90.
MOTUS_HD MotusCavlcShape motus_cavlc_shape(const int16_t *level, int n) {
    MotusCavlcShape shape = {0, 0};
    for (int i = 0; i < n; i++) {
        uint32_t magnitude = (uint32_t)motus_abs(level[i]), bit = 1u << i;
        if (magnitude) shape.nonzero |= bit;
        if (magnitude == 1) shape.ones |= bit;
    }
    return shape;
}

// Returns the number of set bits.
MOTUS_HD int motus_cavlc_total_coeff(uint32_t nonzero) {
#ifdef __CUDA_ARCH__
    return __popc(nonzero);
#elif defined(__POPCNT__)
    return __builtin_popcount(nonzero);
#else
    uint32_t pairs = nonzero - (nonzero >> 1 & 0x5555),
             fours = (pairs & 0x3333) + (pairs >> 2 & 0x3333);
    uint32_t bytes = (fours + (fours >> 4)) & 0x0F0F;
    return (int)((bytes + (bytes >> 8)) & 31);
#endif
}

// Returns the positions of the trailing ones (9.2.1): up to three last levels, all +-1.
MOTUS_HD uint32_t motus_cavlc_trailing_ones(MotusCavlcShape shape) {
    // First position after the last larger level.
    int from = motus_bit_length((shape.nonzero ^ shape.ones) << 1 | 1) - 1;
    uint32_t trailing = shape.ones >> from << from;
    for (int n = motus_cavlc_total_coeff(trailing); n > 3; n--) trailing &= trailing - 1;
    return trailing;
}

// Returns the bits of the levels in `nonzero`, last one first (9.2.2.1). level[at] counts as
// `instead`; at -1: none does.
MOTUS_HD int motus_cavlc_levels_bits(const int16_t *level, int at, int instead, uint32_t nonzero,
                                     int total_coeff, int trailing_ones) {
    int suffix_length = total_coeff > 10 && trailing_ones < 3;
    int offset = trailing_ones < 3 ? 2 : 0; // the first one is not +-1, or it would be trailing
    int bits = 0;
    while (nonzero) {
        int last = motus_bit_length(nonzero) - 1, value = last == at ? instead : level[last],
            magnitude = motus_abs(value);
        bits += motus_cavlc_level(2 * magnitude - 2 + (value < 0) - offset, suffix_length).length;
        suffix_length = motus_cavlc_next_suffix_length(suffix_length, magnitude);
        offset = 0;
        // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): nonzero, so last >= 0
        nonzero ^= 1u << last;
    }
    return bits;
}

#define MOTUS_ZERO_RUNS 65536

#ifdef __cplusplus
extern "C" {
#endif

// Fills a table of the bits of total_zeros and every run_before of a block of 15 or 16 levels, by
// the mask of its nonzero levels; table[0] is 0.
void motus_cavlc_zero_runs(uint8_t table[MOTUS_ZERO_RUNS]);

#ifdef __cplusplus
}
#endif

// Returns the bits of residual_block_cavlc for n = 15 or 16 levels; level[at] counts as `instead`,
// at -1: none does. zero_runs: motus_cavlc_zero_runs.
MOTUS_HD int motus_cavlc_block_bits(MotusCavlcShape shape, const int16_t *level, int at,
                                    int instead, int n, int token_class, const uint8_t *zero_runs) {
    if (!shape.nonzero) return motus_cavlc_token(token_class, 0, 0).length;
    uint32_t trailing = motus_cavlc_trailing_ones(shape);
    int total_coeff = motus_cavlc_total_coeff(shape.nonzero),
        trailing_ones = motus_cavlc_total_coeff(trailing);
    int bits = motus_cavlc_token(token_class, total_coeff, trailing_ones).length + trailing_ones;
    bits += motus_cavlc_levels_bits(level, at, instead, shape.nonzero ^ trailing, total_coeff,
                                    trailing_ones);
    return total_coeff < n ? bits + zero_runs[shape.nonzero] : bits;
}

// Returns the bits of residual_block_cavlc for the four levels of a chroma DC block.
MOTUS_HD int motus_cavlc_chroma_dc_bits(const int16_t level[4]) {
    MotusCavlcShape shape = motus_cavlc_shape(level, 4);
    int bits = motus_cavlc_token(MOTUS_TOKEN_CHROMA_DC, 0, 0).length,
        last = motus_bit_length(shape.nonzero | 1) - 1;
    if (!shape.nonzero) return bits;
    uint32_t trailing = motus_cavlc_trailing_ones(shape), left = shape.nonzero;
    int total_coeff = motus_cavlc_total_coeff(left),
        trailing_ones = motus_cavlc_total_coeff(trailing);
    int zeros_left = last + 1 - total_coeff;
    bits =
        motus_cavlc_token(MOTUS_TOKEN_CHROMA_DC, total_coeff, trailing_ones).length + trailing_ones;
    bits += motus_cavlc_levels_bits(level, -1, 0, left ^ trailing, total_coeff, trailing_ones);
    if (total_coeff < 4)
        bits += motus_cavlc_total_zeros(MOTUS_TOKEN_CHROMA_DC, total_coeff, zeros_left).length;
    while (zeros_left > 0 && (left ^= 1u << last)) {
        int next = motus_bit_length(left) - 1;
        bits += motus_cavlc_run(zeros_left, last - next - 1).length;
        zeros_left -= last - next - 1;
        last = next;
    }
    return bits;
}

// Returns nC of a 4x4 block (9.2.1) from total_coeff of the blocks to the left and above; -1: not
// available.
MOTUS_HD int motus_cavlc_nc(int left, int above) {
    if (left < 0) return above < 0 ? 0 : above;
    return above < 0 ? left : (left + above + 1) >> 1;
}

// Returns nC of block blk, luma 0..15 or chroma 16..23, from the counts of the MB and its
// neighbours.
MOTUS_HD int motus_cavlc_nc_at(const uint8_t total_coeff[24], const MotusNeighbours *neighbours,
                               int blk) {
    int side = blk < 16 ? 4 : 2; // blocks per row and column of the component
    int x = blk & (side - 1), y = (blk & (side * side - 1)) / side;
    int left = x               ? total_coeff[blk - 1]
               : neighbours->a ? neighbours->a->total_coeff[blk + side - 1]
                               : -1;
    int above = y               ? total_coeff[blk - side]
                : neighbours->b ? neighbours->b->total_coeff[blk + side * (side - 1)]
                                : -1;
    return motus_cavlc_nc(left, above);
}

#endif
