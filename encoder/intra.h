// Intra prediction (8.3.1.2, 8.3.3, 8.3.4) from edge samples, so that the same code serves the reconstruction and estimates over other pictures.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_H
#define ENCODER_INTRA_H

#include <stddef.h>
#include <stdint.h>

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

// Collects the edge of the size x size block whose top-left sample is at `at`, for the neighbours in `has`. For 4x4 blocks without MOTUS_HAS_TOP_RIGHT but with
// MOTUS_HAS_TOP, top[4..7] repeats top[3] (8.3.1.2) and MOTUS_HAS_TOP_RIGHT is set in edge->has.
void motus_intra_edge(MotusIntraEdge *edge, const uint8_t *at, ptrdiff_t stride, int size, int has);

// Whether the neighbours in `has` allow a mode.
int motus_intra4x4_allowed(int mode, int has);
int motus_intra16x16_allowed(int mode, int has);
int motus_intra_chroma_allowed(int mode, int has);

void motus_intra4x4(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode);
void motus_intra16x16(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode);
void motus_intra_chroma(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode); // 8x8

// Which neighbours 4x4 block blk (raster order) of an MB has for 4x4 prediction, given the MB's own (6.4.11.4 and the coding order).
int motus_intra4x4_has(int blk, int mb_has);

#endif
