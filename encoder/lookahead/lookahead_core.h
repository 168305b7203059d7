// Arithmetic of the lookahead's costs. Candidates are tried one after another:
// the first one of the least cost wins.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_LOOKAHEAD_CORE_H
#define ENCODER_LOOKAHEAD_LOOKAHEAD_CORE_H

#include "common/int_core.h"
#include "encoder/lookahead/lookahead_passes.h"
#include "encoder/mb/intra_core.h"

enum {
    MOTUS_LOOKAHEAD_MB = 8,           // samples of an MB's side at half size
    MOTUS_LOOKAHEAD_REACH = 24,       // half-size samples that a prediction may lie outside
    MOTUS_LOOKAHEAD_STEPS = 12,       // hexagon steps at most
    MOTUS_LOOKAHEAD_STARTS = 6,       // candidates that a search begins with
    MOTUS_LOOKAHEAD_LAMBDA = 2,       // cost of a bit, in SAD and SATD
    MOTUS_LOOKAHEAD_INTRA_BITS = 6,   // bits of an intra MB beside its residual
    MOTUS_LOOKAHEAD_MAX_COST = 65535, // of an MB
};

// ---- Half-size picture and costs ----------------------------------------------------------------

// Returns the mean of 2x2 samples from the sums of their columns.
MOTUS_HD uint8_t motus_half_mean(int left, int right) { return (uint8_t)((left + right + 2) >> 2); }

// Returns the neighbours that MB (x, y) has for intra prediction, a mask of MOTUS_HAS_*.
MOTUS_HD int motus_lookahead_has(int x, int y) {
    return (x ? MOTUS_HAS_LEFT : 0) | (y ? MOTUS_HAS_TOP : 0) | (x && y ? MOTUS_HAS_CORNER : 0);
}

MOTUS_HD uint16_t motus_lookahead_cost(uint32_t cost) {
    const uint32_t most = MOTUS_LOOKAHEAD_MAX_COST;
    return (uint16_t)(cost < most ? cost : most);
}

// ---- MVs, in samples of the full picture; those of the descent are even -------------------------

MOTUS_HD MotusMv motus_lookahead_mv(int x, int y) {
    MotusMv mv = {(int16_t)x, (int16_t)y};
    return mv;
}

MOTUS_HD uint32_t motus_lookahead_mv_cost(MotusMv mv, MotusMv predictor) {
    return MOTUS_LOOKAHEAD_LAMBDA *
           (uint32_t)(motus_se_bits(mv.x - predictor.x) + motus_se_bits(mv.y - predictor.y));
}

// True if the prediction by mv lies within reach of the picture. (x, y): the MB's first sample in
// the half-size picture, here and below.
MOTUS_HD int motus_lookahead_inside(const MotusHalfPicture *half, int x, int y, MotusMv mv) {
    const int u = x + (mv.x >> 1), v = y + (mv.y >> 1),
              most = MOTUS_LOOKAHEAD_REACH - MOTUS_LOOKAHEAD_MB;
    return u >= -MOTUS_LOOKAHEAD_REACH && v >= -MOTUS_LOOKAHEAD_REACH &&
           u <= MOTUS_LOOKAHEAD_MB * half->mb_width + most &&
           v <= MOTUS_LOOKAHEAD_MB * half->mb_height + most;
}

// Returns the first sample of the MB's prediction by mv.
MOTUS_HD const uint8_t *motus_lookahead_at(const MotusHalfPicture *half, int x, int y, MotusMv mv) {
    return half->plane[2 * (mv.y & 1) + (mv.x & 1)] + (y + (mv.y >> 1)) * half->stride + x +
           (mv.x >> 1);
}

// Sets *mv to start candidate i of the second pass: 0 the MB's MV of the first pass, 1 zero, 2..5
// the first pass's MVs of the MBs to the left, above, to the right and below. Returns 0 if there is
// none.
MOTUS_HD int motus_lookahead_start(MotusMv *mv, int i, const MotusMv *first,
                                   const MotusHalfPicture *half, int mb_x, int mb_y) {
    const int width = half->mb_width, at = mb_y * width + mb_x;
    const int there = i < 2 || (i == 2   ? mb_x > 0
                                : i == 3 ? mb_y > 0
                                : i == 4 ? mb_x + 1 < width
                                         : mb_y + 1 < half->mb_height);
    *mv = motus_lookahead_mv(0, 0);
    if (there && i != 1)
        *mv = first[i == 0   ? at
                    : i == 2 ? at - 1
                    : i == 3 ? at - width
                    : i == 4 ? at + 1
                             : at + width];
    return there;
}

// Returns the predictor of the second pass: the left MB's MV of the first.
MOTUS_HD MotusMv motus_lookahead_predictor(const MotusMv *first, int mb_width, int x, int y) {
    return x ? first[y * mb_width + x - 1] : motus_lookahead_mv(0, 0);
}

// Eight steps of -8..7 samples in a word, the first one in the lowest nibble, so that a lane finds
// its step by a shift.
#define MOTUS_NIBBLES(a, b, c, d, e, f, g, h)                                                      \
    (MOTUS_NIBBLE(a, 0) | MOTUS_NIBBLE(b, 1) | MOTUS_NIBBLE(c, 2) | MOTUS_NIBBLE(d, 3) |           \
     MOTUS_NIBBLE(e, 4) | MOTUS_NIBBLE(f, 5) | MOTUS_NIBBLE(g, 6) | MOTUS_NIBBLE(h, 7))
#define MOTUS_NIBBLE(v, i) ((uint32_t)((v) + 8) << (4 * (i)))

MOTUS_HD MotusMv motus_lookahead_step(MotusMv from, uint32_t x, uint32_t y, int i) {
    return motus_lookahead_mv(from.x + (int)(x >> (4 * i) & 15) - 8,
                              from.y + (int)(y >> (4 * i) & 15) - 8);
}

// Returns point i (0..5) of a wide hexagon around `from`.
MOTUS_HD MotusMv motus_lookahead_hexagon(MotusMv from, int i) {
    return motus_lookahead_step(from, MOTUS_NIBBLES(-4, -2, 2, 4, 2, -2, -8, -8),
                                MOTUS_NIBBLES(0, 4, 4, 0, -4, -4, -8, -8), i);
}

// Returns point i (0..2) of the hexagon around `from` that was not measured before the search moved
// there, to point `moved` of the hexagon before. Points are in the order of their indices.
MOTUS_HD int motus_lookahead_new_point(int moved, int i) {
    const uint32_t points = i == 0 ? 0x032100 : i == 1 ? 0x443211 : 0x554325;
    return (int)(points >> (4 * moved) & 15);
}

// Returns point i (0..7) of the even neighbours of `from`.
MOTUS_HD MotusMv motus_lookahead_around(MotusMv from, int i) {
    return motus_lookahead_step(from, MOTUS_NIBBLES(-2, 2, 0, 0, -2, 2, -2, 2),
                                MOTUS_NIBBLES(0, 0, -2, 2, -2, -2, 2, 2), i);
}

// Returns point i (0..8) of the square of whole samples around `from`, which is point 4.
MOTUS_HD MotusMv motus_lookahead_next_to(MotusMv from, int i) {
    return motus_lookahead_mv(from.x + i % 3 - 1, from.y + i / 3 - 1);
}

#endif
