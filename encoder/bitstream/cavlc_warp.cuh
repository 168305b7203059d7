// Length of a block's CAVLC code from bit masks over its levels, in a fixed number of steps, so
// that no lane of a warp waits for the one with the fullest block. Equals motus_cavlc_block_bits
// (suite cavlc).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_CAVLC_WARP_CUH
#define ENCODER_BITSTREAM_CAVLC_WARP_CUH

#include "common/lanes.h"
#include "encoder/bitstream/cavlc_core.h"

// Returns the length of coeff_token of a luma class, without a branch for class 3.
MOTUS_WARP int motus_cavlc_token_length(int token_class, int total_coeff, int trailing_ones) {
    const int length =
        motus_cavlc_token_entry(motus_min(token_class, 2), total_coeff, trailing_ones).length;
    return token_class == 3 ? 6 : length;
}

// Returns the length of coeff_token of a block without levels.
MOTUS_WARP int motus_cavlc_empty_length(int token_class) {
    return (int)MOTUS_PACK8(4, 1, 2, 4, 6, 2, 0, 0, 0) >> (4 * token_class) & 15;
}

// Masks over the levels of a block. Bit 15 - i stands for zigzag position i: the level coded first
// has the lowest bit, which is cheaper to find and to clear than the highest.
typedef struct MotusLevelPlanes {
    uint32_t nonzero, negative;
    uint32_t large;    // |level| > 15
    uint32_t plane[4]; // bit p of |level| - 1, of levels that are neither zero nor large
} MotusLevelPlanes;

#define MOTUS_PLANES_MAX 15

MOTUS_WARP uint32_t motus_planes_bit(int i) { return 0x8000u >> i; }

// Returns the position coded first.
MOTUS_WARP int motus_planes_first(uint32_t mask) {
    return 16 - motus_bit_length(mask & (0u - mask));
}

// Returns the mask with bit i for position i, or back.
MOTUS_WARP uint32_t motus_planes_mirrored(uint32_t mask) {
#ifdef __CUDA_ARCH__
    return __brev(mask) >> 16;
#else
    uint32_t mirrored = 0;
    for (int i = 0; i < 16; i++) mirrored |= (mask >> i & 1) << (15 - i);
    return mirrored;
#endif
}

MOTUS_WARP uint32_t motus_with_bit(uint32_t mask, uint32_t bit, int set) {
    return set ? mask | bit : mask & ~bit;
}

// Sets |level| at position i; its sign stays.
MOTUS_WARP void motus_planes_set(MotusLevelPlanes *b, int i, int magnitude) {
    const uint32_t bit = motus_planes_bit(i);
    const int small = magnitude > 0 && magnitude <= MOTUS_PLANES_MAX, less = magnitude - 1;
    b->nonzero = motus_with_bit(b->nonzero, bit, magnitude > 0);
    b->large = motus_with_bit(b->large, bit, magnitude > MOTUS_PLANES_MAX);
    for (int p = 0; p < 4; p++)
        b->plane[p] = motus_with_bit(b->plane[p], bit, small && (less >> p & 1));
}

MOTUS_WARP MotusCavlcShape motus_planes_shape(const MotusLevelPlanes *b) {
    MotusCavlcShape shape;
    shape.nonzero = b->nonzero;
    shape.ones = b->nonzero & ~(b->large | b->plane[0] | b->plane[1] | b->plane[2] | b->plane[3]);
    return shape;
}

// Returns the levels of `coded` after the first level of `at`; none if `at` is empty.
MOTUS_WARP uint32_t motus_after(uint32_t coded, uint32_t at) { return coded & ~(at ^ (at - 1)); }

// Returns the number of bits set in two masks of 16.
MOTUS_WARP int motus_planes_count(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
    return __popc(a | b << 16);
#else
    return motus_cavlc_total_coeff(a) + motus_cavlc_total_coeff(b);
#endif
}

// Returns the bits of the levels in `coded` (9.2.2.1), none of them large. At suffixLength s >= 1 a
// level takes ((|level| - 1) >> (s - 1)) + s + 1 bits; escapes begin at 16. s is 1 up to the first
// level above 3, then 2 up to the next one above 6, then 3 up to the next one above 12. The first
// level differs.
MOTUS_WARP int motus_planes_levels_bits(const MotusLevelPlanes *b, uint32_t coded, int total_coeff,
                                        int trailing_ones) {
    const uint32_t b0 = b->plane[0], b1 = b->plane[1], b2 = b->plane[2], b3 = b->plane[3];
    uint32_t from2 = motus_after(coded, coded & (b3 | b2 | (b1 & b0)));
    uint32_t from3 = motus_after(from2, from2 & (b3 | (b2 & b1))),
             s4 = motus_after(from3, from3 & b3 & b2);
    uint32_t s1 = coded ^ from2, s2 = from2 ^ from3, s3 = from3 ^ s4;
    uint32_t by1 = (b0 & s1) | (b1 & s2) | (b2 & s3) | (b3 & s4),
             by2 = (b1 & s1) | (b2 & s2) | (b3 & s3);
    uint32_t by4 = (b2 & s1) | (b3 & s2), by8 = b3 & s1;
    int bits = 2 * motus_planes_count(coded, by2) + motus_planes_count(from2, from3) +
               motus_planes_count(s4, by1) + 4 * motus_cavlc_total_coeff(by4) +
               8 * motus_cavlc_total_coeff(by8);
    uint32_t at = coded & (0u - coded); // first level, counted as if at suffixLength 1
    int less = (b0 & at ? 1 : 0) | (b1 & at ? 2 : 0) | (b2 & at ? 4 : 0) | (b3 & at ? 8 : 0);
    int code = 2 * less + (b->negative & at ? 1 : 0) - (trailing_ones < 3 ? 2 : 0);
    int all = total_coeff > 10 && trailing_ones < 3
                  ? bits - 1
                  : bits - (less + 2) + (code < 14 ? code + 1 : 19);
    return coded ? all : 0;
}

// Returns the bits of residual_block_cavlc for the 16 - first levels from position `first` on,
// without a branch. Large levels are not allowed.
MOTUS_WARP uint32_t motus_planes_small_bits(const MotusLevelPlanes *b, int first, int token_class,
                                            const uint8_t *zero_runs) {
    const MotusCavlcShape shape = motus_planes_shape(b);
    // Ones coded before any larger level; the first three of them are trailing ones.
    const uint32_t larger = shape.nonzero ^ shape.ones;
    uint32_t ones = shape.ones & (larger - 1) & ~larger, rest = ones;
    for (int k = 0; k < 3; k++) rest &= rest - 1;
    const int total_coeff = motus_cavlc_total_coeff(shape.nonzero),
              trailing_ones = motus_min(motus_cavlc_total_coeff(ones), 3);
    int bits = motus_cavlc_token_length(token_class, total_coeff, trailing_ones) + trailing_ones;
    if (total_coeff && total_coeff < 16 - first)
        bits += zero_runs[motus_planes_mirrored(shape.nonzero) >> first];
    bits += motus_planes_levels_bits(b, shape.nonzero ^ ones ^ rest, total_coeff, trailing_ones);
    return (uint32_t)bits;
}

// Returns the bits of a block with large levels, read from `level`. level[at] counts as `instead`;
// at -1: none does.
MOTUS_WARP_RARE uint32_t motus_planes_large_bits(MotusCavlcShape shape, const int16_t *level,
                                                 int at, int instead, int first, int token_class,
                                                 const uint8_t *zero_runs) {
    shape.nonzero = motus_planes_mirrored(shape.nonzero) >> first;
    shape.ones = motus_planes_mirrored(shape.ones) >> first;
    return (uint32_t)motus_cavlc_block_bits(shape, level + first, at - first, instead, 16 - first,
                                            token_class, zero_runs);
}

// Returns the bits of residual_block_cavlc. `level` is read only if there are large levels.
MOTUS_WARP uint32_t motus_planes_block_bits(const MotusLevelPlanes *b, const int16_t *level, int at,
                                            int instead, int first, int token_class,
                                            const uint8_t *zero_runs) {
    if (b->large)
        return motus_planes_large_bits(motus_planes_shape(b), level, at, instead, first,
                                       token_class, zero_runs);
    return motus_planes_small_bits(b, first, token_class, zero_runs);
}

#endif
