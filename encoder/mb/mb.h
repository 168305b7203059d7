// What is known of a coded macroblock: everything the entropy coder, the deblocking filter and the
// neighbours need.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_MB_H
#define ENCODER_MB_MB_H

#include <stddef.h>
#include <stdint.h>

#include "common/int_core.h"
#include "motus/encoder.h"

// sub_mb_type of P MBs, table 7-17.
enum { MOTUS_SUB_8x8, MOTUS_SUB_8x4, MOTUS_SUB_4x8, MOTUS_SUB_4x4 };

// 4x4 blocks are numbered in raster order inside the MB (row * 4 + column), not in the order
// of 6.4.3; motus_blk_at() gives that order. 128 bytes, in vectors of 16, so that a warp moves one
// with a single access a lane; transform size, reference indices and a second list have their place
// in `reserved`.
typedef struct __attribute__((aligned(16))) MotusMb {
    MotusMv mv[16]; // one per 4x4 block, raster order; zero for intra
    // Of the 4x4 blocks as 9.2.1 counts them: luma 0..15 raster, Cb 16..19, Cr 20..23; all 16 for
    // I_PCM, DC levels not counted.
    uint8_t total_coeff[24];
    uint8_t intra4x4_pred_mode[16]; // raster order
    uint8_t type;                   // MotusMbKind
    uint8_t cbp; // coded_block_pattern: bits 0..3 luma 8x8 blocks, bits 4..5 chroma 0 none, 1 DC
                 // only, 2 DC and AC
    uint8_t qp;  // QP_Y; 0 for I_PCM as far as deblocking is concerned (8.7.2.2)
    uint8_t sub_type[4]; // P_8x8 only
    uint8_t intra16x16_pred_mode;
    uint8_t intra_chroma_pred_mode;
    uint8_t reserved[15];
} MotusMb;

// Quantized levels, each block in zigzag order. Of a block without levels (total_coeff 0, DC
// blocks: not covered by cbp) nothing is read.
typedef struct __attribute__((aligned(16))) MotusMbCoef {
    int16_t luma[16][16]; // raster order of blocks; [0] is zero for Intra16x16, whose DCs are in
                          // luma_dc
    int16_t chroma_ac[2][4][16]; // [0] is zero, the 15 AC levels follow in zigzag order
    int16_t luma_dc[16];         // Intra16x16, zigzag order over the 4x4 matrix of DCs
    int16_t chroma_dc[2][4];     // Cb, Cr; raster order (8.5.11.1)
} MotusMbCoef;

// Samples of an MB: the first one of each plane.
typedef struct MotusMbSource {
    const uint8_t *plane[3];
    ptrdiff_t stride[3];
} MotusMbSource;

// Neighbours of an MB that exist in the slice, else NULL (6.4.9): A left, B above, C above right, D
// above left.
typedef struct MotusNeighbours {
    const MotusMb *a, *b, *c, *d;
} MotusNeighbours;

// A picture's slices are stretches of MBs in raster order: `first`, per MB, is the first MB of its
// slice. NULL: the picture is one slice.
MOTUS_HD int motus_slice_first(const int *first, int i) { return first ? first[i] : 0; }

// Neighbours of MB (x, y) in a raster array; `first` is the first MB of its slice.
MOTUS_HD MotusNeighbours motus_neighbours(const MotusMb *mb, int mb_width, int x, int y,
                                          int first) {
    const int i = y * mb_width + x, above = i - mb_width; // below 0 in the first row
    MotusNeighbours n;
    n.a = x && i > first ? mb + i - 1 : NULL;
    n.b = above >= first ? mb + above : NULL;
    n.c = x + 1 < mb_width && above + 1 >= first ? mb + above + 1 : NULL;
    n.d = x && above > first ? mb + above - 1 : NULL;
    return n;
}

// Raster index of the i-th 4x4 luma block in coding order (6.4.3).
MOTUS_HD int motus_blk_at(int i) { return (i & 8) | (i & 4) >> 1 | (i & 2) << 1 | (i & 1); }

MOTUS_HD int motus_mb_is_intra(const MotusMb *mb) { return mb->type >= MOTUS_MB_I_4x4; }

MOTUS_HD int motus_mv_equal(MotusMv a, MotusMv b) { return a.x == b.x && a.y == b.y; }

#endif
