// Intra modes of 4x4 blocks and chroma: available neighbours, allowed modes, chroma prediction
// (8.3.1, 8.3.4). Prediction reads edge samples (MotusIntraEdge, me/intra16_core.h), of the
// reconstruction or of another picture for an estimate.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_INTRA_CORE_H
#define ENCODER_MB_INTRA_CORE_H

#include "common/int_core.h"
#include "me/intra16_core.h"

enum { // tables 8-2 and 8-5
    MOTUS_I4_VERTICAL,
    MOTUS_I4_HORIZONTAL,
    MOTUS_I4_DC,
    MOTUS_I4_DOWN_LEFT,
    MOTUS_I4_DOWN_RIGHT,
    MOTUS_I4_VERTICAL_RIGHT,
    MOTUS_I4_HORIZONTAL_DOWN,
    MOTUS_I4_VERTICAL_LEFT,
    MOTUS_I4_HORIZONTAL_UP,
    MOTUS_I4_MODES
};
enum { MOTUS_IC_DC, MOTUS_IC_HORIZONTAL, MOTUS_IC_VERTICAL, MOTUS_IC_PLANE, MOTUS_IC_MODES };

// Positions in the edge of a 4x4 block as one line: L3 L2 L1 L0 corner T0 .. T7.
enum { MOTUS_LINE_CORNER = 4, MOTUS_LINE_TOP = 5 };

// Returns the DC of 4x4 chroma block (x, y), in blocks (8.3.4.1 to 8.3.4.3). Off the diagonal one
// side is preferred: above for the upper right block, left for the lower left one.
MOTUS_HD int motus_intra_chroma_dc(const MotusIntraEdge *edge, int x, int y) {
    int has = edge->has & (MOTUS_HAS_LEFT | MOTUS_HAS_TOP);
    if (x > y && (has & MOTUS_HAS_TOP)) has = MOTUS_HAS_TOP;
    if (x < y && (has & MOTUS_HAS_LEFT)) has = MOTUS_HAS_LEFT;
    return motus_intra_dc(edge->top + 4 * x, edge->left + 4 * y, 2, has);
}

// Returns the neighbours that 4x4 block blk (raster order) has for prediction, from those of the MB
// (6.4.11.4 and the coding order).
MOTUS_HD int motus_intra4x4_has(int blk, int mb_has) {
    const int x = blk & 3, y = blk >> 2;
    int has = 0;
    if (x > 0 || (mb_has & MOTUS_HAS_LEFT)) has |= MOTUS_HAS_LEFT;
    if (y > 0 || (mb_has & MOTUS_HAS_TOP)) has |= MOTUS_HAS_TOP;
    const int corner_from = x > 0 ? MOTUS_HAS_TOP : y > 0 ? MOTUS_HAS_LEFT : MOTUS_HAS_CORNER;
    if ((x > 0 && y > 0) || (mb_has & corner_from)) has |= MOTUS_HAS_CORNER;
    const int right_from = x < 3 ? MOTUS_HAS_TOP : MOTUS_HAS_TOP_RIGHT;
    if (y == 0) return mb_has & right_from ? has | MOTUS_HAS_TOP_RIGHT : has;
    // The block above right is coded later: inside the MB for the lower right block of an 8x8
    // block, outside for column 3.
    return x == 3 || (x == 1 && (y & 1)) ? has : has | MOTUS_HAS_TOP_RIGHT;
}

// True if the neighbours in `has` allow a mode. The table holds the neighbours that each mode
// needs (8.3.1.2).
MOTUS_HD int motus_intra4x4_allowed(int mode, int has) {
    enum { L = MOTUS_HAS_LEFT, T = MOTUS_HAS_TOP };
    enum { ALL = L | T | MOTUS_HAS_CORNER };
    const uint64_t needs = MOTUS_PACK16(4, T, L, 0, T, ALL, ALL, ALL, T, L, 0, 0, 0, 0, 0, 0, 0);
    return !((int)(needs >> (4 * mode) & 15) & (has ^ ALL));
}

// True if an Intra4x4 mode reads the samples above right.
MOTUS_HD int motus_intra4x4_reads_right(int mode) {
    return mode == MOTUS_I4_DOWN_LEFT || mode == MOTUS_I4_VERTICAL_LEFT;
}

// Returns the neighbours that luma 8x8 block q has for prediction, from those of the MB.
MOTUS_HD int motus_intra8x8_has(int q, int mb_has) {
    const int left = q & 1 || mb_has & MOTUS_HAS_LEFT, top = q & 2 || mb_has & MOTUS_HAS_TOP;
    const int corner = q == 0   ? mb_has & MOTUS_HAS_CORNER
                       : q == 1 ? mb_has & MOTUS_HAS_TOP
                       : q == 2 ? mb_has & MOTUS_HAS_LEFT
                                : 1;
    const int right = q == 0   ? mb_has & MOTUS_HAS_TOP
                      : q == 1 ? mb_has & MOTUS_HAS_TOP_RIGHT
                               : q == 2;
    return (left ? MOTUS_HAS_LEFT : 0) | (top ? MOTUS_HAS_TOP : 0) |
           (corner ? MOTUS_HAS_CORNER : 0) | (right ? MOTUS_HAS_TOP_RIGHT : 0);
}

MOTUS_HD int motus_intra_chroma_allowed(int mode, int has) {
    enum { L = MOTUS_HAS_LEFT, T = MOTUS_HAS_TOP, ALL = L | T | MOTUS_HAS_CORNER };
    const int needs = (int)MOTUS_PACK8(4, 0, L, T, ALL, 0, 0, 0, 0);
    return !((needs >> (4 * mode) & 7) & ~has);
}

// Predicts an 8x8 chroma block.
MOTUS_HD void motus_intra_chroma(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge,
                                 int mode) {
    switch (mode) {
    case MOTUS_IC_VERTICAL:
        motus_intra_fill_rows(pred, stride, edge->top, 8);
        break;
    case MOTUS_IC_HORIZONTAL:
        motus_intra_fill_columns(pred, stride, edge->left, 8);
        break;
    case MOTUS_IC_PLANE:
        motus_intra_fill_plane(pred, stride, edge, 8);
        break;
    default:
        for (int blk = 0; blk < 4; blk++) {
            const int x = blk & 1, y = blk >> 1;
            motus_intra_fill(pred + 4 * (y * stride + x), stride, motus_intra_chroma_dc(edge, x, y),
                             4);
        }
        break;
    }
}

#endif
