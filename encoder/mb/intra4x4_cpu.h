// Intra prediction of 4x4 blocks on the CPU (8.3.1.2). The warp's version is in encoder/analyse.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_INTRA4X4_CPU_H
#define ENCODER_MB_INTRA4X4_CPU_H

#include <string.h>

#include "encoder/mb/intra_core.h"

// Edge of a 4x4 block as one line around its corner: L3 L2 L1 L0 corner T0 .. T7 T7 (8.3.1.2.4) 0.
// A row of a directional mode is four neighbouring values of `half` or `smooth`.
typedef struct MotusIntraLine {
    uint8_t e[16];
    uint8_t half[16];   // [0..13]: rounded mean of e[i] and e[i + 1]
    uint8_t smooth[16]; // [1..13]: (e[i - 1] + 2 e[i] + e[i + 1] + 2) / 4
} MotusIntraLine;

static inline void motus_intra_line(MotusIntraLine *line, const MotusIntraEdge *edge) {
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

static inline void motus_intra_row4(uint8_t *row, uint8_t first, const uint8_t *next3) {
    row[0] = first;
    memcpy(row + 1, next3, 3);
}

// Predicts 8.3.1.2.5. Rows 2 and 3 begin on the left edge.
static inline void motus_intra4x4_vertical_right(uint8_t *pred, ptrdiff_t stride,
                                                 const MotusIntraLine *line) {
    memcpy(pred, line->half + 4, 4);
    memcpy(pred + stride, line->smooth + 4, 4);
    motus_intra_row4(pred + 2 * stride, line->smooth[3], line->half + 4);
    motus_intra_row4(pred + 3 * stride, line->smooth[2], line->smooth + 4);
}

// Predicts 8.3.1.2.6: half and smooth values alternate up the left edge, smooth ones follow past
// the corner.
static inline void motus_intra4x4_horizontal_down(uint8_t *pred, ptrdiff_t stride,
                                                  const MotusIntraLine *line) {
    uint8_t run[10];
    for (int i = 0; i < 4; i++) run[2 * i] = line->half[i], run[2 * i + 1] = line->smooth[i + 1];
    run[8] = line->smooth[5], run[9] = line->smooth[6];
    for (int y = 0; y < 4; y++) memcpy(pred + y * stride, run + 2 * (3 - y), 4);
}

// Predicts 8.3.1.2.8: half and smooth values alternate down the left edge, then its last sample
// repeats.
static inline void motus_intra4x4_horizontal_up(uint8_t *pred, ptrdiff_t stride,
                                                const MotusIntraLine *line) {
    const uint8_t last = line->e[0];
    uint8_t run[10];
    for (int i = 0; i < 3; i++)
        run[2 * i] = line->half[2 - i], run[2 * i + 1] = line->smooth[2 - i];
    run[5] = (uint8_t)((line->e[1] + 3 * last + 2) >> 2);
    run[6] = run[7] = run[8] = run[9] = last;
    for (int y = 0; y < 4; y++) memcpy(pred + y * stride, run + 2 * y, 4);
}

static inline void motus_intra4x4_directional(uint8_t *pred, ptrdiff_t stride,
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

// Predicts a 4x4 block. line: motus_intra_line of the edge; not read for vertical, horizontal and
// DC.
static inline void motus_intra4x4(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge,
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

#endif
