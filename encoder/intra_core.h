// Intra prediction (8.3.1.2, 8.3.3, 8.3.4) from edge samples, so that the same code serves the reconstruction and estimates over other pictures.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_CORE_H
#define ENCODER_INTRA_CORE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/int_core.h"

enum { MOTUS_HAS_LEFT = 1, MOTUS_HAS_TOP = 2, MOTUS_HAS_CORNER = 4, MOTUS_HAS_TOP_RIGHT = 8 };

enum { // tables 8-2, 8-4 and 8-5
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
enum { MOTUS_I16_VERTICAL, MOTUS_I16_HORIZONTAL, MOTUS_I16_DC, MOTUS_I16_PLANE, MOTUS_I16_MODES };
enum { MOTUS_IC_DC, MOTUS_IC_HORIZONTAL, MOTUS_IC_VERTICAL, MOTUS_IC_PLANE, MOTUS_IC_MODES };

// Samples around a block. Only those of `has` mean anything. top[] continues to the right of the block (4x4 blocks: 4 more).
typedef struct MotusIntraEdge {
    uint8_t corner, left[16], top[24];
    uint8_t has; // mask of MOTUS_HAS_*
} MotusIntraEdge;

// The edge of a 4x4 block as one line around its corner: L3 L2 L1 L0 corner T0 .. T7, T7 once more (8.3.1.2.4 asks for it), 0.
// half[i] is the rounded mean of e[i] and e[i + 1], smooth[i] the (1 2 1) / 4 mean around e[i]. Every directional mode only
// places these values, four neighbours per row.
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
    for (int i = 1; i < 15; i++) line->smooth[i] = (uint8_t)((e[i - 1] + 2 * e[i] + e[i + 1] + 2) >> 2);
}

MOTUS_HD void motus_intra_row4(uint8_t *row, uint8_t first, const uint8_t *next3) {
    row[0] = first;
    memcpy(row + 1, next3, 3);
}

// 8.3.1.2.5: left edge and corner come in where the direction leaves the top.
MOTUS_HD void motus_intra4x4_vertical_right(uint8_t *pred, ptrdiff_t stride, const MotusIntraLine *line) {
    memcpy(pred, line->half + 4, 4);
    memcpy(pred + stride, line->smooth + 4, 4);
    motus_intra_row4(pred + 2 * stride, line->smooth[3], line->half + 4);
    motus_intra_row4(pred + 3 * stride, line->smooth[2], line->smooth + 4);
}

// 8.3.1.2.6: along the left edge upwards half and smooth values alternate, past the corner only smooth ones follow.
MOTUS_HD void motus_intra4x4_horizontal_down(uint8_t *pred, ptrdiff_t stride, const MotusIntraLine *line) {
    uint8_t run[10];
    for (int i = 0; i < 4; i++) run[2 * i] = line->half[i], run[2 * i + 1] = line->smooth[i + 1];
    run[8] = line->smooth[5], run[9] = line->smooth[6];
    for (int y = 0; y < 4; y++) memcpy(pred + y * stride, run + 2 * (3 - y), 4);
}

// 8.3.1.2.8: down the left edge half and smooth values alternate, then its last sample repeats.
MOTUS_HD void motus_intra4x4_horizontal_up(uint8_t *pred, ptrdiff_t stride, const MotusIntraLine *line) {
    const uint8_t last = line->e[0];
    uint8_t run[10];
    for (int i = 0; i < 3; i++) run[2 * i] = line->half[2 - i], run[2 * i + 1] = line->smooth[2 - i];
    run[5] = (uint8_t)((line->e[1] + 3 * last + 2) >> 2);
    run[6] = run[7] = run[8] = run[9] = last;
    for (int y = 0; y < 4; y++) memcpy(pred + y * stride, run + 2 * y, 4);
}

MOTUS_HD void motus_intra4x4_directional(uint8_t *pred, ptrdiff_t stride, const MotusIntraLine *line, int mode) {
    switch (mode) {
    case MOTUS_I4_DOWN_LEFT:
        for (int y = 0; y < 4; y++) memcpy(pred + y * stride, line->smooth + MOTUS_LINE_TOP + 1 + y, 4);
        break;
    case MOTUS_I4_DOWN_RIGHT:
        for (int y = 0; y < 4; y++) memcpy(pred + y * stride, line->smooth + MOTUS_LINE_CORNER - y, 4);
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

MOTUS_HD int motus_intra_sum(const uint8_t *sample, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += sample[i];
    return sum;
}

// Mean of the n top and n left samples that exist, 128 where none does; n = 1 << log2_n.
MOTUS_HD int motus_intra_dc(const uint8_t *top, const uint8_t *left, int log2_n, int has) {
    const int n = 1 << log2_n;
    switch (has & (MOTUS_HAS_LEFT | MOTUS_HAS_TOP)) {
    case MOTUS_HAS_LEFT | MOTUS_HAS_TOP:
        return (motus_intra_sum(top, n) + motus_intra_sum(left, n) + n) >> (log2_n + 1);
    case MOTUS_HAS_LEFT:
        return (motus_intra_sum(left, n) + n / 2) >> log2_n;
    case MOTUS_HAS_TOP:
        return (motus_intra_sum(top, n) + n / 2) >> log2_n;
    default:
        return 128;
    }
}

// 8.3.4.1..3: the mean of one 4x4 block (x, y in blocks). Off the diagonal one side is preferred: above for the upper right,
// left for the lower left.
MOTUS_HD int motus_intra_chroma_dc(const MotusIntraEdge *edge, int x, int y) {
    int has = edge->has & (MOTUS_HAS_LEFT | MOTUS_HAS_TOP);
    if (x > y && (has & MOTUS_HAS_TOP)) has = MOTUS_HAS_TOP;
    if (x < y && (has & MOTUS_HAS_LEFT)) has = MOTUS_HAS_LEFT;
    return motus_intra_dc(edge->top + 4 * x, edge->left + 4 * y, 2, has);
}

// Plane prediction (8.3.3.4, 8.3.4.4): sample (x, y) = clip((base + b * x + c * y) >> 5).
typedef struct MotusIntraPlane {
    int base, b, c; // |b|, |c| <= 717 (size 16), 1355 (size 8): every partial sum stays within +-20,000
} MotusIntraPlane;

// Slope along one side of size 2 * half: `side` are its samples, the corner stands before the first.
MOTUS_HD int motus_intra_slope(const uint8_t *side, int corner, int half) {
    int sum = half * (side[2 * half - 1] - corner);
    for (int i = 1; i < half; i++) sum += i * (side[half - 1 + i] - side[half - 1 - i]);
    return half == 8 ? (5 * sum + 32) >> 6 : (34 * sum + 32) >> 6;
}

MOTUS_HD MotusIntraPlane motus_intra_plane(const MotusIntraEdge *edge, int size) {
    MotusIntraPlane p;
    p.b = motus_intra_slope(edge->top, edge->corner, size / 2);
    p.c = motus_intra_slope(edge->left, edge->corner, size / 2);
    p.base = 16 * (edge->top[size - 1] + edge->left[size - 1]) + 16 - (size / 2 - 1) * (p.b + p.c);
    return p;
}

MOTUS_HD void motus_intra_plane_row(uint8_t *row, const MotusIntraPlane *p, int y, int size) {
    const int16_t start = (int16_t)(p->base + p->c * y), step = (int16_t)p->b;
    for (int x = 0; x < size; x++) {
        const int16_t v = (int16_t)((int16_t)(start + step * x) >> 5);
        row[x] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

// Collects the edge of the size x size block whose top-left sample is at `at`, for the neighbours in `has`. For 4x4 blocks without MOTUS_HAS_TOP_RIGHT but with
// MOTUS_HAS_TOP, top[4..7] repeats top[3] (8.3.1.2) and MOTUS_HAS_TOP_RIGHT is set in edge->has.
MOTUS_HD void motus_intra_edge(MotusIntraEdge *edge, const uint8_t *at, ptrdiff_t stride, int size, int has) {
    for (int y = 0; y < size; y++) edge->left[y] = has & MOTUS_HAS_LEFT ? at[y * stride - 1] : 0;
    for (int x = 0; x < size; x++) edge->top[x] = has & MOTUS_HAS_TOP ? at[x - stride] : 0;
    edge->corner = has & MOTUS_HAS_CORNER ? at[-stride - 1] : 0;
    if (size == 4) {
        for (int x = 4; x < 8; x++) edge->top[x] = has & MOTUS_HAS_TOP_RIGHT ? at[x - stride] : edge->top[3];
        if (has & MOTUS_HAS_TOP) has |= MOTUS_HAS_TOP_RIGHT;
    }
    edge->has = (uint8_t)has;
}

// Which neighbours 4x4 block blk (raster order) of an MB has for 4x4 prediction, given the MB's own (6.4.11.4 and the coding order).
MOTUS_HD int motus_intra4x4_has(int blk, int mb_has) {
    const int x = blk & 3, y = blk >> 2;
    int has = 0;
    if (x > 0 || (mb_has & MOTUS_HAS_LEFT)) has |= MOTUS_HAS_LEFT;
    if (y > 0 || (mb_has & MOTUS_HAS_TOP)) has |= MOTUS_HAS_TOP;
    const int corner_from = x > 0 ? MOTUS_HAS_TOP : y > 0 ? MOTUS_HAS_LEFT : MOTUS_HAS_CORNER;
    if ((x > 0 && y > 0) || (mb_has & corner_from)) has |= MOTUS_HAS_CORNER;
    const int right_from = x < 3 ? MOTUS_HAS_TOP : MOTUS_HAS_TOP_RIGHT;
    if (y == 0) return mb_has & right_from ? has | MOTUS_HAS_TOP_RIGHT : has;
    // Inside the MB the block above to the right is coded later for column 1 in the lower row of an 8x8 block, and outside for column 3.
    return x == 3 || (x == 1 && (y & 1)) ? has : has | MOTUS_HAS_TOP_RIGHT;
}

// Whether the neighbours in `has` allow a mode: those that it needs are a nibble of a constant, by mode.
MOTUS_HD int motus_intra4x4_allowed(int mode, int has) { return !((int)(0x127772012ULL >> (4 * mode) & 7) & ~has); }
MOTUS_HD int motus_intra16x16_allowed(int mode, int has) { return !((0x7012 >> (4 * mode) & 7) & ~has); }
MOTUS_HD int motus_intra_chroma_allowed(int mode, int has) { return !((0x7210 >> (4 * mode) & 7) & ~has); }

// The constant `size` of every call makes these loops plain stores.
MOTUS_HD void motus_intra_fill_rows(uint8_t *pred, ptrdiff_t stride, const uint8_t *row, int size) {
    for (int y = 0; y < size; y++) memcpy(pred + y * stride, row, (size_t)size);
}

MOTUS_HD void motus_intra_fill_columns(uint8_t *pred, ptrdiff_t stride, const uint8_t *column, int size) {
    for (int y = 0; y < size; y++) memset(pred + y * stride, column[y], (size_t)size);
}

MOTUS_HD void motus_intra_fill(uint8_t *pred, ptrdiff_t stride, int value, int size) {
    for (int y = 0; y < size; y++) memset(pred + y * stride, value, (size_t)size);
}

MOTUS_HD void motus_intra_fill_plane(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int size) {
    const MotusIntraPlane plane = motus_intra_plane(edge, size);
    for (int y = 0; y < size; y++) motus_intra_plane_row(pred + y * stride, &plane, y, size);
}

// A 4x4 prediction; `line` is motus_intra_line of the edge (not needed by vertical, horizontal and DC).
MOTUS_HD void motus_intra4x4_of_line(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, const MotusIntraLine *line,
                                     int mode) {
    if (mode == MOTUS_I4_VERTICAL)
        motus_intra_fill_rows(pred, stride, edge->top, 4);
    else if (mode == MOTUS_I4_HORIZONTAL)
        motus_intra_fill_columns(pred, stride, edge->left, 4);
    else if (mode == MOTUS_I4_DC)
        motus_intra_fill(pred, stride, motus_intra_dc(edge->top, edge->left, 2, edge->has), 4);
    else
        motus_intra4x4_directional(pred, stride, line, mode);
}

MOTUS_HD void motus_intra4x4(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode) {
    MotusIntraLine line;
    if (mode > MOTUS_I4_DC) motus_intra_line(&line, edge);
    motus_intra4x4_of_line(pred, stride, edge, &line, mode);
}

MOTUS_HD void motus_intra16x16(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode) {
    switch (mode) {
    case MOTUS_I16_VERTICAL:
        motus_intra_fill_rows(pred, stride, edge->top, 16);
        break;
    case MOTUS_I16_HORIZONTAL:
        motus_intra_fill_columns(pred, stride, edge->left, 16);
        break;
    case MOTUS_I16_DC:
        motus_intra_fill(pred, stride, motus_intra_dc(edge->top, edge->left, 4, edge->has), 16);
        break;
    default:
        motus_intra_fill_plane(pred, stride, edge, 16);
        break;
    }
}

MOTUS_HD void motus_intra_chroma(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode) {
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
            motus_intra_fill(pred + 4 * (y * stride + x), stride, motus_intra_chroma_dc(edge, x, y), 4);
        }
        break;
    }
}

#endif
