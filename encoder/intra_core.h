// Arithmetic of intra prediction (8.3.1.2, 8.3.3, 8.3.4).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_CORE_H
#define ENCODER_INTRA_CORE_H

#include <string.h>

#include "common/int_core.h"
#include "encoder/intra.h"

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

// 8.3.4.1..3: the mean of one 4x4 quarter (x, y in quarters). Off the diagonal one side is preferred: above for the upper right,
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

#endif
