// Deblocking (8.7): boundary strength (bS), thresholds, and the filter across one line of samples.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_DEBLOCK_CORE_H
#define ENCODER_MB_DEBLOCK_CORE_H

#include <stddef.h>

#include "common/int_core.h"
#include "dct/dct_core.h"
#include "encoder/mb/mb.h"

// Thresholds of an edge.
typedef struct MotusDeblockLimits {
    int alpha, beta; // alpha 0: the edge is not filtered
    uint8_t tc0[4];  // by bS 1..3; [0] is not used
} MotusDeblockLimits;

// Returns the thresholds at the mean QP of two MBs (tables 8-16 and 8-17, indexA = indexB = QP).
MOTUS_HD MotusDeblockLimits motus_deblock_limits(int qp) {
    static const uint8_t alpha[36] = {4,  4,  5,   6,   7,   8,   9,   10,  12,  13,  15,  17,
                                      20, 22, 25,  28,  32,  36,  40,  45,  50,  56,  63,  71,
                                      80, 90, 101, 113, 127, 144, 162, 182, 203, 226, 255, 255};
    static const uint8_t beta[36] = {2,  2,  2,  3,  3,  3,  3,  4,  4,  4,  6,  6,
                                     7,  7,  8,  8,  9,  9,  10, 10, 11, 11, 12, 12,
                                     13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18};
    static const uint8_t tc0[36][3] = {
        {0, 0, 0},   {0, 0, 1},   {0, 0, 1},   {0, 0, 1},    {0, 0, 1},    {0, 1, 1},
        {0, 1, 1},   {1, 1, 1},   {1, 1, 1},   {1, 1, 1},    {1, 1, 1},    {1, 1, 2},
        {1, 1, 2},   {1, 1, 2},   {1, 1, 2},   {1, 2, 3},    {1, 2, 3},    {2, 2, 3},
        {2, 2, 4},   {2, 3, 4},   {2, 3, 4},   {3, 3, 5},    {3, 4, 6},    {3, 4, 6},
        {4, 5, 7},   {4, 5, 8},   {4, 6, 9},   {5, 7, 10},   {6, 8, 11},   {6, 8, 13},
        {7, 10, 14}, {8, 11, 16}, {9, 12, 18}, {10, 13, 20}, {11, 15, 23}, {13, 17, 25}};
    MotusDeblockLimits limits = {0, 0, {0}};
    if (qp < 16) return limits; // the tables are zero below
    limits.alpha = alpha[qp - 16];
    limits.beta = beta[qp - 16];
    for (int i = 0; i < 3; i++) limits.tc0[i + 1] = tc0[qp - 16][i];
    return limits;
}

// True if the block has levels, or with the 8x8 transform its 8x8 block.
MOTUS_HD int deblock_has_levels(const MotusMb *mb, int blk) {
    return mb->transform_8x8 ? mb->cbp >> ((blk >> 2 & 2) | (blk >> 1 & 1)) & 1
                             : mb->total_coeff[blk];
}

enum { MOTUS_VERTICAL, MOTUS_HORIZONTAL }; // direction of an edge

// References of a picture's blocks: one; several in list 0; of a B picture, none in both lists and
// one in list 1.
enum { MOTUS_REFS_ONE, MOTUS_REFS_LIST0, MOTUS_REFS_B };

// Returns bS of edge 0..3 of a direction, from the left or the top, if it follows from the MB
// types, else -1. outside: MB beyond edge 0; NULL: that edge is not filtered.
MOTUS_HD int motus_deblock_strength_edge(const MotusMb *mb, const MotusMb *outside, int edge,
                                         int is_b) {
    if (edge == 0) {
        if (!outside) return 0;
        return motus_mb_is_intra(mb) || motus_mb_is_intra(outside) ? 4 : -1;
    }
    if (edge & mb->transform_8x8) return 0; // inside a block
    if (motus_mb_is_intra(mb)) return 3;
    if (is_b && edge == 2 && mb->direct) return -1; // its 8x8 blocks' MVs may differ
    const int one_mv = mb->type == MOTUS_MB_P_SKIP || mb->type == MOTUS_MB_P_16x16;
    return one_mv && !(mb->cbp & 15) ? 0 : -1;
}

// Returns bS of block k (0..3) of an edge for which motus_deblock_strength_edge returns -1
// (8.7.2.1). outside: the MB that edge 0 is shared with; refs: MOTUS_REFS_*; copies: of LIST0:
// ref_idx 1 to here are the picture of ref_idx 0.
MOTUS_HD int motus_deblock_strength_block(const MotusMb *mb, const MotusMb *outside, int direction,
                                          int edge, int k, int refs, int copies) {
    const int across = direction == MOTUS_VERTICAL ? 1 : 4,
              q_blk = k * (5 - across) + edge * across,
              p_blk = edge ? q_blk - across : q_blk + 3 * across;
    const MotusMb *before = edge ? mb : outside;
    if (deblock_has_levels(before, p_blk) | deblock_has_levels(mb, q_blk)) return 2;
    const MotusMv a = before->mv[p_blk], b = mb->mv[q_blk];
    const int far = motus_abs(a.x - b.x) >= 4 || motus_abs(a.y - b.y) >= 4,
              p8 = motus_8x8_of(p_blk), q8 = motus_8x8_of(q_blk);
    if (refs == MOTUS_REFS_ONE || far) return far;
    const int p = before->ref[0][p8], q = mb->ref[0][q8];
    if (refs == MOTUS_REFS_LIST0) return motus_max(p, copies) != motus_max(q, copies);
    const MotusMv a1 = before->mv1[p8], b1 = mb->mv1[q8]; // 0 where list 1 is not used
    return before->pred[p8] != mb->pred[q8] || p != q || motus_abs(a1.x - b1.x) >= 4 ||
           motus_abs(a1.y - b1.y) >= 4;
}

// ---- Thresholds and lines -----------------------------------------------------------------------

// Returns the QP of an edge between p and q, which may be the same MB (8.7.2.2).
MOTUS_HD int motus_deblock_qp(const MotusMb *p, const MotusMb *q, int chroma) {
    if (chroma) return (motus_chroma_qp_of(p->qp) + motus_chroma_qp_of(q->qp) + 1) >> 1;
    return (p->qp + q->qp + 1) >> 1;
}

// Returns filterSamplesFlag for bS > 0. s: q0; samples of the line are `step` apart.
MOTUS_HD int deblock_wanted(const uint8_t *s, ptrdiff_t step, const MotusDeblockLimits *limits) {
    const int p0 = s[-step], q0 = s[0];
    return motus_abs(p0 - q0) < limits->alpha && motus_abs(s[-2 * step] - p0) < limits->beta &&
           motus_abs(s[step] - q0) < limits->beta;
}

// Filters a line with bS 1..3 (8.7.2.3). Chroma changes p0 and q0 and reads p1..q1.
MOTUS_HD void motus_deblock_normal(uint8_t *s, ptrdiff_t step, int chroma, int tc0,
                                   const MotusDeblockLimits *limits) {
    if (!deblock_wanted(s, step, limits)) return;
    const int p1 = s[-2 * step], p0 = s[-step], q0 = s[0], q1 = s[step];
    int tc = tc0 + 1;
    if (!chroma) {
        const int p2 = s[-3 * step], q2 = s[2 * step], mean = (p0 + q0 + 1) >> 1;
        const int ap = motus_abs(p2 - p0) < limits->beta, aq = motus_abs(q2 - q0) < limits->beta;
        if (ap) s[-2 * step] = (uint8_t)(p1 + motus_clip(-tc0, tc0, (p2 + mean - 2 * p1) >> 1));
        if (aq) s[step] = (uint8_t)(q1 + motus_clip(-tc0, tc0, (q2 + mean - 2 * q1) >> 1));
        tc = tc0 + ap + aq;
    }
    const int delta = motus_clip(-tc, tc, (4 * (q0 - p0) + (p1 - q1) + 4) >> 3);
    s[-step] = motus_clip_u8(p0 + delta);
    s[0] = motus_clip_u8(q0 - delta);
}

// Filters one side of a line with bS 4 (8.7.2.4). a: this side, b: the other one. s: a0; a1 and a2
// follow at distance `out`.
MOTUS_HD void deblock_side_strong(uint8_t *s, ptrdiff_t out, int a0, int a1, int b0, int b1,
                                  int near, int beta) {
    const int a2 = near ? s[2 * out] : 0;
    if (near && motus_abs(a2 - a0) < beta) {
        const int a3 = s[3 * out];
        s[0] = (uint8_t)((a2 + 2 * a1 + 2 * a0 + 2 * b0 + b1 + 4) >> 3);
        s[out] = (uint8_t)((a2 + a1 + a0 + b0 + 2) >> 2);
        s[2 * out] = (uint8_t)((2 * a3 + 3 * a2 + a1 + a0 + b0 + 4) >> 3);
    } else {
        s[0] = (uint8_t)((2 * a1 + a0 + b1 + 2) >> 2);
    }
}

// Filters a line with bS 4. Chroma changes p0 and q0 and reads p1..q1.
MOTUS_HD void motus_deblock_strong(uint8_t *s, ptrdiff_t step, int chroma,
                                   const MotusDeblockLimits *limits) {
    if (!deblock_wanted(s, step, limits)) return;
    const int p1 = s[-2 * step], p0 = s[-step], q0 = s[0], q1 = s[step];
    const int near = !chroma && motus_abs(p0 - q0) < (limits->alpha >> 2) + 2;
    deblock_side_strong(s - step, -step, p0, p1, q0, q1, near, limits->beta);
    deblock_side_strong(s, step, q0, q1, p0, p1, near, limits->beta);
}

#endif
