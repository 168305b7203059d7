// Intra prediction of 4x4 blocks and chroma (8.3.1.2, 8.3.4) from edge samples, so that the same
// code serves the reconstruction and estimates over other pictures. Edges and 16x16 are in
// me/intra16_core.h.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_INTRA_CORE_H
#define ENCODER_MB_INTRA_CORE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

// The edge of a 4x4 block as one line around its corner: L3 L2 L1 L0 corner T0 .. T7, T7 once more
// (8.3.1.2.4 asks for it), 0. half[i] is the rounded mean of e[i] and e[i + 1], smooth[i] the (1 2
// 1) / 4 mean around e[i]. Every directional mode only places these values, four neighbours per
// row.
typedef struct MotusIntraLine {
    uint8_t e[16], half[16], smooth[16]; // half[0..13] and smooth[1..13] mean something
} MotusIntraLine;

enum { MOTUS_LINE_CORNER = 4, MOTUS_LINE_TOP = 5 };

MOTUS_HD void motus_intra_line(MotusIntraLine *line, const MotusIntraEdge *edge) {
    uint8_t *e = line->e;
    for (int i = 0; i < 4; i++) e[i] = edge->left[3 - i];
    e[MOTUS_LINE_CORNER] = edge->corner;
    memcpy(e + MOTUS_LINE_TOP, edge->top, 8);
    e[13] = edge->top[7];
    e[14] = e[15] = 0;
    line->half[15] = line->smooth[0] = line->smooth[15] = 0;
    for (int i = 0; i < 15; i++) line->half[i] = (uint8_t)((e[i] + e[i + 1] + 1) >> 1);
    for (int i = 1; i < 15; i++)
        line->smooth[i] = (uint8_t)((e[i - 1] + 2 * e[i] + e[i + 1] + 2) >> 2);
}

MOTUS_HD void motus_intra_row4(uint8_t *row, uint8_t first, const uint8_t *next3) {
    row[0] = first;
    memcpy(row + 1, next3, 3);
}

// 8.3.1.2.5: left edge and corner come in where the direction leaves the top.
MOTUS_HD void motus_intra4x4_vertical_right(uint8_t *pred, ptrdiff_t stride,
                                            const MotusIntraLine *line) {
    memcpy(pred, line->half + 4, 4);
    memcpy(pred + stride, line->smooth + 4, 4);
    motus_intra_row4(pred + 2 * stride, line->smooth[3], line->half + 4);
    motus_intra_row4(pred + 3 * stride, line->smooth[2], line->smooth + 4);
}

// 8.3.1.2.6: along the left edge upwards half and smooth values alternate, past the corner only
// smooth ones follow.
MOTUS_HD void motus_intra4x4_horizontal_down(uint8_t *pred, ptrdiff_t stride,
                                             const MotusIntraLine *line) {
    uint8_t run[10];
    for (int i = 0; i < 4; i++) run[2 * i] = line->half[i], run[2 * i + 1] = line->smooth[i + 1];
    run[8] = line->smooth[5], run[9] = line->smooth[6];
    for (int y = 0; y < 4; y++) memcpy(pred + y * stride, run + 2 * (3 - y), 4);
}

// 8.3.1.2.8: down the left edge half and smooth values alternate, then its last sample repeats.
MOTUS_HD void motus_intra4x4_horizontal_up(uint8_t *pred, ptrdiff_t stride,
                                           const MotusIntraLine *line) {
    const uint8_t last = line->e[0];
    uint8_t run[10];
    for (int i = 0; i < 3; i++)
        run[2 * i] = line->half[2 - i], run[2 * i + 1] = line->smooth[2 - i];
    run[5] = (uint8_t)((line->e[1] + 3 * last + 2) >> 2);
    run[6] = run[7] = run[8] = run[9] = last;
    for (int y = 0; y < 4; y++) memcpy(pred + y * stride, run + 2 * y, 4);
}

MOTUS_HD void motus_intra4x4_directional(uint8_t *pred, ptrdiff_t stride,
                                         const MotusIntraLine *line, int mode) {
    switch (mode) {
    case MOTUS_I4_DOWN_LEFT:
        for (int y = 0; y < 4; y++)
            memcpy(pred + y * stride, line->smooth + MOTUS_LINE_TOP + 1 + y, 4);
        break;
    case MOTUS_I4_DOWN_RIGHT:
        for (int y = 0; y < 4; y++)
            memcpy(pred + y * stride, line->smooth + MOTUS_LINE_CORNER - y, 4);
        break;
    case MOTUS_I4_VERTICAL_LEFT:
        for (int y = 0; y < 4; y += 2) {
            memcpy(pred + y * stride, line->half + MOTUS_LINE_TOP + y / 2, 4);
            memcpy(pred + (y + 1) * stride, line->smooth + MOTUS_LINE_TOP + 1 + y / 2, 4);
        }
        break;
    case MOTUS_I4_VERTICAL_RIGHT:
        motus_intra4x4_vertical_right(pred, stride, line);
        break;
    case MOTUS_I4_HORIZONTAL_DOWN:
        motus_intra4x4_horizontal_down(pred, stride, line);
        break;
    default:
        motus_intra4x4_horizontal_up(pred, stride, line);
        break;
    }
}

// 8.3.4.1..3: the mean of one 4x4 block (x, y in blocks). Off the diagonal one side is preferred:
// above for the upper right, left for the lower left.
MOTUS_HD int motus_intra_chroma_dc(const MotusIntraEdge *edge, int x, int y) {
    int has = edge->has & (MOTUS_HAS_LEFT | MOTUS_HAS_TOP);
    if (x > y && (has & MOTUS_HAS_TOP)) has = MOTUS_HAS_TOP;
    if (x < y && (has & MOTUS_HAS_LEFT)) has = MOTUS_HAS_LEFT;
    return motus_intra_dc(edge->top + 4 * x, edge->left + 4 * y, 2, has);
}

// Which neighbours 4x4 block blk (raster order) of an MB has for 4x4 prediction, given the MB's own
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
    // Inside the MB the block above to the right is coded later for column 1 in the lower row of an
    // 8x8 block, and outside for column 3.
    return x == 3 || (x == 1 && (y & 1)) ? has : has | MOTUS_HAS_TOP_RIGHT;
}

// Whether the neighbours in `has` allow a mode: those that it needs are a nibble of a constant, by
// mode.
MOTUS_HD int motus_intra4x4_allowed(int mode, int has) {
    return !((int)(0x127772012ULL >> (4 * mode) & 7) & ~has);
}
MOTUS_HD int motus_intra_chroma_allowed(int mode, int has) {
    return !((0x7210 >> (4 * mode) & 7) & ~has);
}

// A 4x4 prediction; `line` is motus_intra_line of the edge (not needed by vertical, horizontal and
// DC).
MOTUS_HD void motus_intra4x4(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge,
                             const MotusIntraLine *line, int mode) {
    if (mode == MOTUS_I4_VERTICAL)
        motus_intra_fill_rows(pred, stride, edge->top, 4);
    else if (mode == MOTUS_I4_HORIZONTAL)
        motus_intra_fill_columns(pred, stride, edge->left, 4);
    else if (mode == MOTUS_I4_DC)
        motus_intra_fill(pred, stride, motus_intra_dc(edge->top, edge->left, 2, edge->has), 4);
    else
        motus_intra4x4_directional(pred, stride, line, mode);
}

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
