// Intra prediction of luma 8x8 blocks on the CPU (8.3.2).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA8X8_CPU_H
#define ENCODER_INTRA_INTRA8X8_CPU_H

#include <string.h>

#include "encoder/mb/intra_core.h"

// Positions in the filtered edge of an 8x8 block as one line: L7 .. L0 corner T0 .. T15.
enum { MOTUS_LINE8_CORNER = 8, MOTUS_LINE8_TOP = 9, MOTUS_LINE8_SIZE = 25 };

// The filtered edge, and lines made from it: each row of a directional mode is eight samples in
// succession of one of them.
typedef struct MotusIntraLine8 {
    uint8_t e[MOTUS_LINE8_SIZE];      // p' of 8.3.2.2.1
    uint8_t half[MOTUS_LINE8_SIZE];   // [0..23]: rounded mean of e[i] and e[i + 1]
    uint8_t smooth[MOTUS_LINE8_SIZE]; // (e[i - 1] + 2 e[i] + e[i + 1] + 2) / 4; ends repeat e
    uint8_t right[2][11];             // vertical right (8.3.2.2.7): even rows, odd rows
    uint8_t down[22];                 // horizontal down (8.3.2.2.8)
    uint8_t up[22];                   // horizontal up (8.3.2.2.10)
    int has;
} MotusIntraLine8;

static inline uint8_t smooth3(int a, int b, int c) { return (uint8_t)((a + 2 * b + c + 2) >> 2); }

// Collects and filters the neighbours in `has` of the block at `at` (8.3.2.2.1). Others are 0.
static inline void motus_intra_line8(MotusIntraLine8 *line, const uint8_t *at, ptrdiff_t stride,
                                     int has) {
    uint8_t p[MOTUS_LINE8_SIZE] = {0}, *e = line->e;
    const int left = has & MOTUS_HAS_LEFT, top = has & MOTUS_HAS_TOP,
              corner = has & MOTUS_HAS_CORNER;
    const uint8_t *above = at - stride;
    for (int i = 0; i < 8 && left; i++) p[7 - i] = at[i * stride - 1];
    if (corner) p[MOTUS_LINE8_CORNER] = above[-1];
    for (int i = 0; i < 16 && top; i++)
        p[MOTUS_LINE8_TOP + i] = above[has & MOTUS_HAS_TOP_RIGHT ? i : motus_min(i, 7)];
    memset(e, 0, sizeof line->e);
    for (int i = 1; i < MOTUS_LINE8_SIZE - 1; i++) e[i] = smooth3(p[i - 1], p[i], p[i + 1]);
    e[0] = smooth3(p[0], p[0], p[1]);
    e[24] = smooth3(p[23], p[24], p[24]);
    if (!corner) e[7] = smooth3(p[6], p[7], p[7]), e[9] = smooth3(p[9], p[9], p[10]);
    if (!top) e[8] = smooth3(p[7], p[8], p[8]);
    if (!left) e[8] = smooth3(p[8], p[8], p[9]);
    line->has = has;
    // The lines that are made from e.
    uint8_t *half = line->half, *smooth = line->smooth;
    for (int i = 0; i < 24; i++) half[i] = (uint8_t)((e[i] + e[i + 1] + 1) >> 1);
    for (int i = 1; i < 24; i++) smooth[i] = smooth3(e[i - 1], e[i], e[i + 1]);
    half[24] = 0;
    smooth[0] = smooth3(e[0], e[0], e[1]), smooth[24] = smooth3(e[23], e[24], e[24]);
    for (int i = 0; i < 3; i++)
        line->right[0][i] = smooth[2 * i + 3], line->right[1][i] = smooth[2 * i + 2];
    memcpy(line->right[0] + 3, half + MOTUS_LINE8_CORNER, 8);
    memcpy(line->right[1] + 3, smooth + MOTUS_LINE8_CORNER, 8);
    for (int i = 0; i < 7; i++) {
        line->down[2 * i] = half[i], line->down[2 * i + 1] = smooth[i + 1];
        line->up[2 * i] = half[6 - i], line->up[2 * i + 1] = smooth[6 - i];
    }
    line->down[14] = half[7];
    memcpy(line->down + 15, smooth + MOTUS_LINE8_CORNER, 7);
    memset(line->up + 14, e[0], 8);
}

// Predicts a block by a MOTUS_I4_* mode that its neighbours allow (motus_intra4x4_allowed).
static inline void motus_intra8x8(uint8_t *pred, ptrdiff_t stride, const MotusIntraLine8 *line,
                                  int mode) {
    const uint8_t *corner = line->smooth + MOTUS_LINE8_CORNER, *top = line->e + MOTUS_LINE8_TOP,
                  *half = line->half + MOTUS_LINE8_TOP, *smooth = line->smooth + MOTUS_LINE8_TOP;
    const int has = line->has & (MOTUS_HAS_LEFT | MOTUS_HAS_TOP);
    // Row y begins at even or odd + y / 2 * step.
    const uint8_t *even = line->up, *odd = line->up + 2;
    int step = 4, left = 0, above = 0, dc = 128;
    switch (mode) {
    case MOTUS_I4_HORIZONTAL:
        for (int y = 0; y < 8; y++) memset(pred + y * stride, line->e[7 - y], 8);
        return;
    case MOTUS_I4_DC:
        for (int i = 0; i < 8; i++) left += line->e[i], above += top[i];
        if (has == (MOTUS_HAS_LEFT | MOTUS_HAS_TOP))
            dc = (left + above + 8) >> 4;
        else if (has)
            dc = ((has & MOTUS_HAS_LEFT ? left : above) + 4) >> 3;
        for (int y = 0; y < 8; y++) memset(pred + y * stride, dc, 8);
        return;
    case MOTUS_I4_VERTICAL:
        even = odd = top, step = 0;
        break;
    case MOTUS_I4_DOWN_LEFT:
        even = smooth + 1, odd = smooth + 2, step = 2;
        break;
    case MOTUS_I4_DOWN_RIGHT:
        even = corner, odd = corner - 1, step = -2;
        break;
    case MOTUS_I4_VERTICAL_RIGHT:
        even = line->right[0] + 3, odd = line->right[1] + 3, step = -1;
        break;
    case MOTUS_I4_HORIZONTAL_DOWN:
        even = line->down + 14, odd = line->down + 12, step = -4;
        break;
    case MOTUS_I4_VERTICAL_LEFT:
        even = half, odd = smooth + 1, step = 1;
        break;
    default: // horizontal up
        break;
    }
    for (int y = 0; y < 8; y++)
        memcpy(pred + y * stride, (y & 1 ? odd : even) + (y >> 1) * step, 8);
}

#endif
