// What the executors of look-ahead's costs share: the picture of half the size, where a search
// looks and what vectors cost. The CPU tries candidates one after another (lookahead_cost.c), a GPU
// sixteen at a time (lookahead_cost.cu); the least cost wins, and the first candidate among equals.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_LOOKAHEAD_CORE_H
#define ENCODER_RATE_LOOKAHEAD_CORE_H

#include "encoder/rate/lookahead_cost.h"

#include "common/int_core.h"
#include "encoder/mb/intra_core.h"

enum {
    MOTUS_LOOKAHEAD_MB = 8,            // samples of an MB in a row at half the size
    MOTUS_LOOKAHEAD_REACH = 24,        // an MB may be taken from this far outside the picture
    MOTUS_LOOKAHEAD_STEPS = 12,        // of the descent
    MOTUS_LOOKAHEAD_STARTS = 6,        // candidates that a search begins with
    MOTUS_LOOKAHEAD_LAMBDA = 2,        // of a bit, in SAD and SATD
    MOTUS_LOOKAHEAD_INTRA_BITS = 6,    // what an intra MB costs beside its residual
    MOTUS_LOOKAHEAD_MOST_COST = 65535, // of an MB
};

// What decides about a picture's type beside its costs.
typedef struct MotusLookaheadType {
    int begins,
        force_idr; // it is the first of the stream or of a part; the caller wants an IDR picture
    int keyint, min_keyint, scenecut; // as in MotusLookaheadSettings
} MotusLookaheadType;

// A cut is seen where the picture before saves little; how little is enough grows with the distance
// from the last IDR picture.
MOTUS_HD int motus_lookahead_is_cut(const MotusLookaheadType *t, int since_idr, uint64_t intra,
                                    uint64_t inter) {
    if (!t->scenecut || since_idr < motus_max(t->min_keyint, 1)) return 0;
    const int longest = t->keyint ? t->keyint : 250, from = motus_min(t->min_keyint, longest - 1);
    const int way = motus_min(longest - from, since_idr - from);
    const int64_t bias =
        (int64_t)t->scenecut * 256 * (longest - from + 3 * way) / (400 * (longest - from)); // 1/256
    return (int64_t)inter * 256 >= (int64_t)intra * (256 - bias);
}

// Pictures since the last IDR picture began, itself included, of a picture with these sums of
// costs; since_idr: of the one before. 1: it is an IDR picture.
MOTUS_HD int motus_lookahead_since_idr(const MotusLookaheadType *t, int since_idr, uint64_t intra,
                                       uint64_t inter) {
    const int full = t->keyint && since_idr >= t->keyint;
    return t->begins || full || t->force_idr || motus_lookahead_is_cut(t, since_idr, intra, inter)
               ? 1
               : since_idr + 1;
}

// The mean of 2x2 samples, from the sums of its columns.
MOTUS_HD uint8_t motus_half_mean(int left, int right) { return (uint8_t)((left + right + 2) >> 2); }

// Neighbours that MB (x, y) has for intra prediction.
MOTUS_HD int motus_lookahead_has(int x, int y) {
    return (x ? MOTUS_HAS_LEFT : 0) | (y ? MOTUS_HAS_TOP : 0) | (x && y ? MOTUS_HAS_CORNER : 0);
}

MOTUS_HD uint16_t motus_lookahead_cost(uint32_t cost) {
    const uint32_t most = MOTUS_LOOKAHEAD_MOST_COST;
    return (uint16_t)(cost < most ? cost : most);
}

// ---- Vectors, in samples of the full picture; those of the descent are even ---------------------

MOTUS_HD MotusMv motus_lookahead_mv(int x, int y) {
    MotusMv mv = {(int16_t)x, (int16_t)y};
    return mv;
}
MOTUS_HD MotusMv motus_lookahead_even(MotusMv mv) {
    return motus_lookahead_mv(mv.x & ~1, mv.y & ~1);
}

MOTUS_HD uint32_t motus_lookahead_vector_cost(MotusMv mv, MotusMv predicted) {
    return MOTUS_LOOKAHEAD_LAMBDA *
           (uint32_t)(motus_se_bits(mv.x - predicted.x) + motus_se_bits(mv.y - predicted.y));
}

// (x, y): the MB's first sample in the half picture, here and below.
MOTUS_HD int motus_lookahead_inside(const MotusHalfPicture *half, int x, int y, MotusMv mv) {
    const int u = x + (mv.x >> 1), v = y + (mv.y >> 1),
              most = MOTUS_LOOKAHEAD_REACH - MOTUS_LOOKAHEAD_MB;
    return u >= -MOTUS_LOOKAHEAD_REACH && v >= -MOTUS_LOOKAHEAD_REACH &&
           u <= MOTUS_LOOKAHEAD_MB * half->mb_width + most &&
           v <= MOTUS_LOOKAHEAD_MB * half->mb_height + most;
}

// The sample that the MB's first one is predicted from.
MOTUS_HD const uint8_t *motus_lookahead_at(const MotusHalfPicture *half, int x, int y, MotusMv mv) {
    return half->plane[2 * (mv.y & 1) + (mv.x & 1)] + (y + (mv.y >> 1)) * half->stride + x +
           (mv.x >> 1);
}

// Candidate i of the MOTUS_LOOKAHEAD_STARTS that a search begins with: zero, the MB to the left,
// and the picture before. 0: there is none.
MOTUS_HD int motus_lookahead_start(MotusMv *mv, int i, MotusMv predicted, const MotusMv *earlier,
                                   const MotusHalfPicture *half, int mb_x, int mb_y) {
    const int width = half->mb_width, at = mb_y * width + mb_x;
    *mv = motus_lookahead_mv(0, 0);
    if (i == 1) *mv = motus_lookahead_even(predicted);
    if (i < 2) return 1;
    if (!earlier || i >= MOTUS_LOOKAHEAD_STARTS) return 0;
    const int there = i == 2 || (i == 3   ? mb_x + 1 < width
                                 : i == 4 ? mb_y > 0
                                          : mb_y + 1 < half->mb_height);
    if (there)
        *mv = motus_lookahead_even(earlier[i == 2   ? at
                                           : i == 3 ? at + 1
                                           : i == 4 ? at - width
                                                    : at + width]);
    return there;
}

// Steps are the nibbles of constants, 8 for none.
MOTUS_HD MotusMv motus_lookahead_step(MotusMv from, uint32_t x, uint32_t y, int i) {
    return motus_lookahead_mv(from.x + (int)(x >> (4 * i) & 15) - 8,
                              from.y + (int)(y >> (4 * i) & 15) - 8);
}

// The six points of a wide hexagon, the eight even neighbours, and the nine points of the square
// around a vector, itself in the middle.
MOTUS_HD MotusMv motus_lookahead_hexagon(MotusMv from, int i) {
    return motus_lookahead_step(from, 0x6ACA64, 0x448CC8, i);
}
MOTUS_HD MotusMv motus_lookahead_around(MotusMv from, int i) {
    return motus_lookahead_step(from, 0xA6A688A6, 0xAA66A688, i);
}
MOTUS_HD MotusMv motus_lookahead_next_to(MotusMv from, int i) {
    return motus_lookahead_mv(from.x + i % 3 - 1, from.y + i / 3 - 1);
}

#endif
