// Costs of motion vectors, and MVs packed into words.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_COST_CORE_H
#define ME_PIXEL_COST_CORE_H

#include "common/int_core.h"
#include "motus/me.h"

// Returns the bits of the two se(v) codes of mv - predictor. Components differ by less than 2^15,
// so each code has an odd number of bits, 1..31, and the sum is even, 2..62.
MOTUS_HD int motus_mv_bits(MotusMv mv, MotusMv predictor) {
    return motus_se_bits(mv.x - predictor.x) + motus_se_bits(mv.y - predictor.y);
}

// Returns the MV's part of J, at most (65535 * 62) >> 8 = 15,871.
MOTUS_HD uint32_t motus_bits_cost(uint32_t lambda_q8, int bits) {
    return lambda_q8 * (uint32_t)bits >> 8;
}
MOTUS_HD uint32_t motus_mv_cost(uint32_t lambda_q8, MotusMv mv, MotusMv predictor) {
    return motus_bits_cost(lambda_q8, motus_mv_bits(mv, predictor));
}

// True if the MV points at full samples.
MOTUS_HD int motus_mv_is_whole(MotusMv mv) { return !((mv.x | mv.y) & 3); }

// Returns the MV rounded to whole samples, halves up.
MOTUS_HD MotusMv motus_mv_round(MotusMv mv) {
    mv.x = (int16_t)((mv.x + 2) & ~3);
    mv.y = (int16_t)((mv.y + 2) & ~3);
    return mv;
}

// For kernels: an MV in a word, x in the lower half.
MOTUS_HD uint32_t motus_mv_word(MotusMv mv) {
    return (uint16_t)mv.x | (uint32_t)(uint16_t)mv.y << 16;
}
MOTUS_HD MotusMv motus_mv_of_word(uint32_t word) {
    MotusMv mv;
    mv.x = (int16_t)(word & 0xFFFF);
    mv.y = (int16_t)(word >> 16);
    return mv;
}

// For kernels: dx and dy (-1, 0 or 1) of the k-th of eight neighbours, in raster order of (dy, dx).
MOTUS_HD int motus_neighbour_dx(int k) { return (k < 4 ? k : k + 1) % 3 - 1; }
MOTUS_HD int motus_neighbour_dy(int k) { return (k < 4 ? k : k + 1) / 3 - 1; }

#endif
