// The cost of a vector, the order that makes the best one unique, and a vector as a word.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SAMPLES_COST_CORE_H
#define ME_SAMPLES_COST_CORE_H

#include "common/int_core.h"
#include "motus/me.h"

// Bits of the two se(v) codes of mv - predictor: each 1..31 and odd (components differ by less than
// 2^15), so the sum is even, 2..62.
MOTUS_HD int motus_mv_bits(MotusMv mv, MotusMv predictor) {
    return motus_se_bits(mv.x - predictor.x) + motus_se_bits(mv.y - predictor.y);
}

// Vector part of J: at most (65535 * 62) >> 8 = 15,871.
MOTUS_HD uint32_t motus_bits_cost(uint32_t lambda_q8, int bits) {
    return lambda_q8 * (uint32_t)bits >> 8;
}

MOTUS_HD uint32_t motus_mv_cost(uint32_t lambda_q8, MotusMv mv, MotusMv predictor) {
    return motus_bits_cost(lambda_q8, motus_mv_bits(mv, predictor));
}

// A vector in a word, x in the lower half: as lanes hand it on and compare it.
MOTUS_HD uint32_t motus_mv_word(MotusMv mv) {
    return (uint16_t)mv.x | (uint32_t)(uint16_t)mv.y << 16;
}
MOTUS_HD MotusMv motus_mv_of_word(uint32_t word) {
    MotusMv mv;
    mv.x = (int16_t)(word & 0xFFFF);
    mv.y = (int16_t)(word >> 16);
    return mv;
}

// Whether a vector leads to whole samples.
MOTUS_HD int motus_mv_is_whole(MotusMv mv) { return !((mv.x | mv.y) & 3); }

// The k-th of the eight neighbours, in raster order of (dy, dx): dx and dy are -1, 0 or 1.
MOTUS_HD int motus_neighbour_dx(int k) { return (k < 4 ? k : k + 1) % 3 - 1; }
MOTUS_HD int motus_neighbour_dy(int k) { return (k < 4 ? k : k + 1) / 3 - 1; }

#endif
