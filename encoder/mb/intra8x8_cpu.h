// Intra prediction of luma 8x8 blocks on the CPU (8.3.2).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_INTRA8X8_CPU_H
#define ENCODER_MB_INTRA8X8_CPU_H

#include <string.h>

#include "encoder/mb/intra_core.h"

// Positions in the filtered edge of an 8x8 block as one line: L7 .. L0 corner T0 .. T15.
enum { MOTUS_LINE8_CORNER = 8, MOTUS_LINE8_TOP = 9, MOTUS_LINE8_SIZE = 25 };

typedef struct MotusIntraLine8 {
    uint8_t e[MOTUS_LINE8_SIZE];      // p' of 8.3.2.2.1
    uint8_t half[MOTUS_LINE8_SIZE];   // [0..23]: rounded mean of e[i] and e[i + 1]
    uint8_t smooth[MOTUS_LINE8_SIZE]; // [1..23]: (e[i - 1] + 2 e[i] + e[i + 1] + 2) / 4
    int has;
} MotusIntraLine8;

static inline uint8_t motus_smooth3(int a, int b, int c) {
    return (uint8_t)((a + 2 * b + c + 2) >> 2);
}

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
    for (int i = 1; i < MOTUS_LINE8_SIZE - 1; i++) e[i] = motus_smooth3(p[i - 1], p[i], p[i + 1]);
    e[0] = motus_smooth3(p[0], p[0], p[1]);
    e[24] = motus_smooth3(p[23], p[24], p[24]);
    if (!corner) e[7] = motus_smooth3(p[6], p[7], p[7]), e[9] = motus_smooth3(p[9], p[9], p[10]);
    if (!top) e[8] = motus_smooth3(p[7], p[8], p[8]);
    if (!left) e[8] = motus_smooth3(p[8], p[8], p[9]);
    line->has = has;
    for (int i = 0; i < 24; i++) line->half[i] = (uint8_t)((e[i] + e[i + 1] + 1) >> 1);
    for (int i = 1; i < 24; i++) line->smooth[i] = motus_smooth3(e[i - 1], e[i], e[i + 1]);
    line->half[24] = line->smooth[0] = line->smooth[24] = 0;
}

static inline int motus_intra8x8_dc(const MotusIntraLine8 *line) {
    int left = 0, top = 0;
    for (int i = 0; i < 8; i++) left += line->e[i], top += line->e[MOTUS_LINE8_TOP + i];
    if (line->has & MOTUS_HAS_LEFT && line->has & MOTUS_HAS_TOP) return (left + top + 8) >> 4;
    if (line->has & MOTUS_HAS_LEFT) return (left + 4) >> 3;
    return line->has & MOTUS_HAS_TOP ? (top + 4) >> 3 : 128;
}

// Returns sample (x, y) of a directional mode (8.3.2.2.5 to 8.3.2.2.10).
static inline int motus_intra8x8_sample(const MotusIntraLine8 *line, int mode, int x, int y) {
    const uint8_t *half = line->half, *smooth = line->smooth, *e = line->e;
    const int corner = MOTUS_LINE8_CORNER, top = MOTUS_LINE8_TOP;
    int z;
    switch (mode) {
    case MOTUS_I4_DOWN_LEFT:
        return x + y == 14 ? motus_smooth3(e[23], e[24], e[24]) : smooth[top + x + y + 1];
    case MOTUS_I4_DOWN_RIGHT:
        return smooth[corner + x - y];
    case MOTUS_I4_VERTICAL_RIGHT:
        z = 2 * x - y;
        if (z < 0) return smooth[corner + z + 1];
        return z & 1 ? smooth[corner + x - (y >> 1)] : half[corner + x - (y >> 1)];
    case MOTUS_I4_HORIZONTAL_DOWN:
        z = 2 * y - x;
        if (z < 0) return smooth[corner - z - 1];
        return z & 1 ? smooth[corner - y + (x >> 1)] : half[corner - 1 - y + (x >> 1)];
    case MOTUS_I4_VERTICAL_LEFT:
        return y & 1 ? smooth[top + x + (y >> 1) + 1] : half[top + x + (y >> 1)];
    default: // horizontal up
        z = x + 2 * y;
        if (z > 13) return e[0];
        if (z == 13) return motus_smooth3(e[1], e[0], e[0]);
        return z & 1 ? smooth[6 - y - (x >> 1)] : half[6 - y - (x >> 1)];
    }
}

// Predicts a block by a MOTUS_I4_* mode that its neighbours allow (motus_intra4x4_allowed).
static inline void motus_intra8x8(uint8_t *pred, ptrdiff_t stride, const MotusIntraLine8 *line,
                                  int mode) {
    for (int y = 0; y < 8; y++, pred += stride) {
        if (mode == MOTUS_I4_VERTICAL)
            memcpy(pred, line->e + MOTUS_LINE8_TOP, 8);
        else if (mode == MOTUS_I4_HORIZONTAL)
            memset(pred, line->e[7 - y], 8);
        else if (mode == MOTUS_I4_DC)
            memset(pred, motus_intra8x8_dc(line), 8);
        else
            for (int x = 0; x < 8; x++) pred[x] = (uint8_t)motus_intra8x8_sample(line, mode, x, y);
    }
}

#endif
