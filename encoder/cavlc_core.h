// The codes of one residual block (9.2), shared by the writer, the bit counter and GPU code.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CAVLC_CORE_H
#define ENCODER_CAVLC_CORE_H

#include "common/int_core.h"
#include "encoder/cavlc_tables.h"

MOTUS_HD MotusVlc motus_vlc(uint32_t bits, int length) {
    MotusVlc vlc = {bits, length};
    return vlc;
}

// Class of coeff_token codes: nc -1 is chroma DC, 0..1, 2..3, 4..7, 8 and more are the columns of table 9-5.
MOTUS_HD int motus_cavlc_token_class(int nc) { return nc < 0 ? MOTUS_TOKEN_CHROMA_DC : nc < 2 ? 0 : nc < 4 ? 1 : nc < 8 ? 2 : 3; }

MOTUS_HD MotusVlc motus_cavlc_token(int token_class, int total_coeff, int trailing_ones) {
    if (token_class == 3) {
        uint32_t bits = total_coeff ? (uint32_t)(total_coeff - 1) << 2 | (uint32_t)trailing_ones : 3;
        return motus_vlc(bits, 6);
    }
    MotusVlcEntry e = motus_cavlc_token_entry(token_class, total_coeff, trailing_ones);
    return motus_vlc(e.bits, e.length);
}

MOTUS_HD MotusVlc motus_cavlc_total_zeros(int token_class, int total_coeff, int total_zeros) {
    MotusVlcEntry e = token_class == MOTUS_TOKEN_CHROMA_DC ? motus_cavlc_total_zeros_dc_entry(total_coeff, total_zeros)
                                                           : motus_cavlc_total_zeros_entry(total_coeff, total_zeros);
    return motus_vlc(e.bits, e.length);
}

MOTUS_HD MotusVlc motus_cavlc_run(int zeros_left, int run_before) {
    MotusVlcEntry e = motus_cavlc_run_entry(zeros_left, run_before);
    return motus_vlc(e.bits, e.length);
}

// level_prefix and level_suffix of a levelCode (9.2.2.1). level_prefix never passes 15: levelCode < 4096 + 30 at suffix_length 0 and
// < 4096 + (15 << suffix_length) else, which levels within +-MOTUS_MAX_LEVEL keep.
MOTUS_HD MotusVlc motus_cavlc_level(int level_code, int suffix_length) {
    int escape = suffix_length ? 15 << suffix_length : 30;
    if (level_code >= escape) return motus_vlc(1u << 12 | (uint32_t)(level_code - escape), 28);
    if (!suffix_length)
        return level_code < 14 ? motus_vlc(1, level_code + 1) : motus_vlc(1u << 4 | (uint32_t)(level_code - 14), 19);
    uint32_t suffix = (uint32_t)level_code & ((1u << suffix_length) - 1);
    return motus_vlc(1u << suffix_length | suffix, (level_code >> suffix_length) + 1 + suffix_length);
}

// suffixLength after a level of this magnitude (9.2.2.1).
MOTUS_HD int motus_cavlc_next_suffix_length(int suffix_length, int magnitude) {
    if (!suffix_length) suffix_length = 1;
    return suffix_length < 6 && magnitude > 3 << (suffix_length - 1) ? suffix_length + 1 : suffix_length;
}

// Where a block's levels are not zero and where they are +-1: bit i stands for level[i].
typedef struct MotusCavlcShape {
    uint32_t nonzero, ones;
} MotusCavlcShape;

MOTUS_HD MotusCavlcShape motus_cavlc_shape(const int16_t *level, int n) {
    MotusCavlcShape shape = {0, 0};
    for (int i = 0; i < n; i++) {
        shape.nonzero |= (uint32_t)(level[i] != 0) << i;
        shape.ones |= (uint32_t)(level[i] == 1 || level[i] == -1) << i;
    }
    return shape;
}

// Nonzero levels of a block.
MOTUS_HD int motus_cavlc_total_coeff(uint32_t nonzero) {
    uint32_t pairs = nonzero - (nonzero >> 1 & 0x5555), fours = (pairs & 0x3333) + (pairs >> 2 & 0x3333);
    uint32_t bytes = (fours + (fours >> 4)) & 0x0F0F;
    return (int)((bytes + (bytes >> 8)) & 31);
}

// Positions of the trailing ones (9.2.1): the last levels, up to three, that are all +-1.
MOTUS_HD uint32_t motus_cavlc_trailing_ones(MotusCavlcShape shape) {
    int from = motus_bit_length((shape.nonzero ^ shape.ones) << 1 | 1) - 1; // behind the last larger level
    uint32_t trailing = shape.ones >> from << from;
    for (int n = motus_cavlc_total_coeff(trailing); n > 3; n--) trailing &= trailing - 1;
    return trailing;
}

#endif
