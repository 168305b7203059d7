// The codes of one residual block (9.2), shared by the writer, the bit counter and GPU code.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_CAVLC_CORE_H
#define ENCODER_BITSTREAM_CAVLC_CORE_H

#include "common/int_core.h"
#include "encoder/bitstream/cavlc_tables.h"
#include "encoder/mb/mb.h"

MOTUS_HD MotusVlc motus_vlc(uint32_t bits, int length) {
    MotusVlc vlc = {bits, length};
    return vlc;
}

// Class of coeff_token codes: nc -1 is chroma DC, 0..1, 2..3, 4..7, 8 and more are the columns of
// table 9-5.
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

// Its length alone, for lanes of which some have class 3, without a branch.
MOTUS_HD int motus_cavlc_token_length(int token_class, int total_coeff, int trailing_ones) {
    const int length =
        motus_cavlc_token_entry(motus_min(token_class, 2), total_coeff, trailing_ones).length;
    return token_class == 3 ? 6 : length;
}

// The same for a block without levels.
MOTUS_HD int motus_cavlc_empty_length(int token_class) { return 0x26421 >> (4 * token_class) & 15; }

MOTUS_HD MotusVlc motus_cavlc_total_zeros(int token_class, int total_coeff, int total_zeros) {
    MotusVlcEntry e = token_class == MOTUS_TOKEN_CHROMA_DC
                          ? motus_cavlc_total_zeros_dc_entry(total_coeff, total_zeros)
                          : motus_cavlc_total_zeros_entry(total_coeff, total_zeros);
    return motus_vlc(e.bits, e.length);
}

MOTUS_HD MotusVlc motus_cavlc_run(int zeros_left, int run_before) {
    MotusVlcEntry e = motus_cavlc_run_entry(zeros_left, run_before);
    return motus_vlc(e.bits, e.length);
}

// level_prefix and level_suffix of a levelCode (9.2.2.1). level_prefix never passes 15: levelCode <
// 4096 + 30 at suffix_length 0 and < 4096 + (15 << suffix_length) else, which levels within
// +-MOTUS_MAX_LEVEL keep.
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

// suffixLength after a level of this magnitude (9.2.2.1).
MOTUS_HD int motus_cavlc_next_suffix_length(int suffix_length, int magnitude) {
    if (!suffix_length) suffix_length = 1;
    return suffix_length < 6 && magnitude > 3 << (suffix_length - 1) ? suffix_length + 1
                                                                     : suffix_length;
}

// Where a block's levels are not zero and where they are +-1: bit i stands for level[i].
typedef struct MotusCavlcShape {
    uint32_t nonzero, ones;
} MotusCavlcShape;

// (Written with branches: of the same as sums of comparisons shifted into place, ptxas 13.0 at -O2
// makes wrong masks for sm_90.)
MOTUS_HD MotusCavlcShape motus_cavlc_shape(const int16_t *level, int n) {
    MotusCavlcShape shape = {0, 0};
    for (int i = 0; i < n; i++) {
        uint32_t magnitude = (uint32_t)motus_abs(level[i]), bit = 1u << i;
        if (magnitude) shape.nonzero |= bit;
        if (magnitude == 1) shape.ones |= bit;
    }
    return shape;
}

// Nonzero levels of a block.
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

// Positions of the trailing ones (9.2.1): the last levels, up to three, that are all +-1.
MOTUS_HD uint32_t motus_cavlc_trailing_ones(MotusCavlcShape shape) {
    int from =
        motus_bit_length((shape.nonzero ^ shape.ones) << 1 | 1) - 1; // behind the last larger level
    uint32_t trailing = shape.ones >> from << from;
    for (int n = motus_cavlc_total_coeff(trailing); n > 3; n--) trailing &= trailing - 1;
    return trailing;
}

// Bits of the levels left in `nonzero`, last one first (9.2.2.1); level[at], should it come up,
// counts as `instead`.
MOTUS_HD int motus_cavlc_levels_bits(const int16_t *level, int at, int instead, uint32_t nonzero,
                                     int total_coeff, int trailing_ones) {
    int suffix_length = total_coeff > 10 && trailing_ones < 3;
    int offset = trailing_ones < 3 ? 2 : 0,
        bits = 0; // the first one can't be +-1, or it would be a trailing one
    while (nonzero) {
        int last = motus_bit_length(nonzero) - 1, value = last == at ? instead : level[last],
            magnitude = motus_abs(value);
        bits += motus_cavlc_level(2 * magnitude - 2 + (value < 0) - offset, suffix_length).length;
        suffix_length = motus_cavlc_next_suffix_length(suffix_length, magnitude);
        offset = 0;
        nonzero ^= 1u << last;
    }
    return bits;
}

// Bits of total_zeros and every run_before of a block of 15 or 16 levels: they follow from where
// its nonzero levels are. total_zeros counts although a full block has none.
MOTUS_HD int motus_cavlc_zero_run_bits(uint32_t nonzero) {
    int total_coeff = motus_cavlc_total_coeff(nonzero), last = motus_bit_length(nonzero) - 1,
        zeros_left = last + 1 - total_coeff;
    int bits = total_coeff < 16 ? motus_cavlc_total_zeros(0, total_coeff, zeros_left).length : 0;
    while (zeros_left > 0) {
        nonzero ^= 1u << last;
        if (!nonzero) break;
        int next = motus_bit_length(nonzero) - 1, run_before = last - next - 1;
        bits += motus_cavlc_run(zeros_left, run_before).length;
        zeros_left -= run_before;
        last = next;
    }
    return bits;
}

// Entries of a table of motus_cavlc_zero_run_bits by mask; [0] is not used. The longest is far
// below 256.
#define MOTUS_ZERO_RUNS 65536

// residual_block_cavlc's length for a block of n = 15 or 16 levels, level[at] taken as `instead`.
// zero_runs is such a table.
MOTUS_HD int motus_cavlc_block_bits_with(MotusCavlcShape shape, const int16_t *level, int at,
                                         int instead, int n, int token_class,
                                         const uint8_t *zero_runs) {
    if (!shape.nonzero) return motus_cavlc_token(token_class, 0, 0).length;
    uint32_t trailing = motus_cavlc_trailing_ones(shape);
    int total_coeff = motus_cavlc_total_coeff(shape.nonzero),
        trailing_ones = motus_cavlc_total_coeff(trailing);
    int bits = motus_cavlc_token(token_class, total_coeff, trailing_ones).length + trailing_ones;
    bits += motus_cavlc_levels_bits(level, at, instead, shape.nonzero ^ trailing, total_coeff,
                                    trailing_ones);
    return total_coeff < n ? bits + zero_runs[shape.nonzero] : bits;
}

// The same for the levels as they are.
MOTUS_HD int motus_cavlc_block_bits(MotusCavlcShape shape, const int16_t *level, int n,
                                    int token_class, const uint8_t *zero_runs) {
    return motus_cavlc_block_bits_with(shape, level, -1, 0, n, token_class, zero_runs);
}

// The same for the four levels of a chroma DC block.
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

// nC of a 4x4 block (9.2.1) from the counts of the left and upper neighbours; -1 = neighbour not
// available.
MOTUS_HD int motus_cavlc_nc(int left, int above) {
    if (left < 0) return above < 0 ? 0 : above;
    return above < 0 ? left : (left + above + 1) >> 1;
}

// nC of block blk: luma 0..15, or chroma 16..23, from the MB's own counts and its neighbours'.
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
