// A decided macroblock and its levels: input of the entropy coder, of deblocking and of the MBs
// that follow.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_MB_H
#define ENCODER_MB_MB_H

#include <stddef.h>
#include <stdint.h>

#include "common/int_core.h"
#include "motus/encoder.h"

// Types of slices, all of a picture's the same.
typedef enum MotusSliceType {
    MOTUS_SLICE_I,
    MOTUS_SLICE_P,
    MOTUS_SLICE_B,
    MOTUS_SLICE_TYPES,
} MotusSliceType;

// sub_mb_type of P MBs, table 7-17. 8x8 blocks of B MBs are not divided.
enum { MOTUS_SUB_8x8, MOTUS_SUB_8x4, MOTUS_SUB_4x8, MOTUS_SUB_4x4 };

// Reference lists that an 8x8 block is predicted from.
enum { MOTUS_PRED_L0, MOTUS_PRED_L1, MOTUS_PRED_BI };
enum { MOTUS_ALL_DIRECT = 15 };

MOTUS_HD int motus_pred_uses(int pred, int list) { return pred != 1 - list; }

// Macroblock. Its 4x4 blocks are numbered in raster order (row * 4 + column); motus_blk_at()
// converts from the order of 6.4.3; its 8x8 blocks are numbered in raster order. 128 bytes in
// vectors of 16, so that a warp moves one with a single access per lane. A zeroed one is a P MB.
//
// B MBs have the types of P MBs: P_SKIP stands for B_Skip, P_16x16 with all blocks direct for
// B_Direct_16x16, P_8x8 for B_8x8. All 8x8 blocks of a partition have the same pred, ref and MVs.
typedef struct __attribute__((aligned(16))) MotusMb {
    MotusMv mv[16];          // list 0, one per 4x4 block; zero for intra, and where it is not used
    uint8_t total_coeff[24]; // luma 0..15, Cb 16..19, Cr 20..23 (9.2.1), without the levels of DC
                             // blocks; all 16 for I_PCM
    union {
        uint8_t intra4x4_pred_mode[16]; // one per 4x4 block; Intra8x8: its 8x8 block's in all four
        MotusMv mv1[4];                 // B: list 1, one per 8x8 block; zero where it is not used
    };
    uint8_t type;        // MotusMbKind
    uint8_t cbp;         // bits 0..3: luma 8x8 blocks; 4..5: chroma 0 none, 1 DC, 2 + AC
    uint8_t qp;          // QP_Y; 0 for I_PCM once finalized (8.7.2.2)
    uint8_t sub_type[4]; // P_8x8
    uint8_t intra16x16_pred_mode;
    uint8_t intra_chroma_pred_mode;
    uint8_t transform_8x8; // transform_size_8x8_flag
    uint8_t direct;        // B: mask of the 8x8 blocks with MVs of 8.4.1.2; all for B_Skip
    uint8_t pred[4];       // B: MOTUS_PRED_* of each 8x8 block, direct ones included
    uint8_t ref[2][4];     // ref_idx of each list and 8x8 block; 0 where it is not used
    uint8_t reserved;
} MotusMb;

// Levels of a macroblock, each block in zigzag order. A block without levels (total_coeff 0; DC:
// not covered by cbp) is undefined and never read.
// With the 8x8 transform level 4i + k of a luma 8x8 block is level i of its 4x4 block k
// (7.3.5.3.2); all four are defined if cbp has the block. total_coeff: in CAVLC each one's own, in
// CABAC the same for all four.
typedef struct __attribute__((aligned(16))) MotusMbCoef {
    int16_t luma[16][16];        // blocks in raster order; Intra16x16: [0] is zero
    int16_t chroma_ac[2][4][16]; // [0] is zero
    int16_t luma_dc[16];         // Intra16x16: zigzag order over the 4x4 matrix of DCs
    int16_t chroma_dc[2][4];     // Cb, Cr; raster order (8.5.11.1)
} MotusMbCoef;

// Part of an MB that contexts of CABAC need besides MotusMb (9.3.3.1), its own and its neighbours'.
typedef struct __attribute__((aligned(16))) MotusMbContext {
    union {
        MotusMv mvd[16];     // P: mvd_l0 per 4x4 block; zero for intra and P_Skip
        MotusMv mvd_b[2][4]; // B: of each list and 8x8 block; zero if direct or not used
    };
    int16_t qp_delta; // mb_qp_delta; 0 without it
    uint8_t dc;       // coded_block_flag of DC blocks: bit 0 luma, 1 Cb, 2 Cr; all for I_PCM
    uint8_t reserved[13];
} MotusMbContext;

// Samples of an MB: the first one of each plane.
typedef struct MotusMbSource {
    const uint8_t *plane[3];
    ptrdiff_t stride[3];
} MotusMbSource;

// Neighbours of an MB (6.4.9): A left, B above, C above right, D above left; NULL if not in its
// slice.
typedef struct MotusNeighbours {
    const MotusMb *a, *b, *c, *d;
} MotusNeighbours;

// Returns the first MB of the slice of MB i. first: this number per MB; NULL: one slice.
MOTUS_HD int motus_slice_first(const int *first, int i) { return first ? first[i] : 0; }

// Returns the neighbours of MB (x, y). mb: raster array; first: first MB of its slice.
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

// Returns the raster index of luma4x4BlkIdx i (6.4.3).
MOTUS_HD int motus_blk_at(int i) { return (i & 8) | (i & 4) >> 1 | (i & 2) << 1 | (i & 1); }

// Returns the 8x8 block of 4x4 block blk.
MOTUS_HD int motus_8x8_of(int blk) { return (blk >> 2 & 2) | (blk >> 1 & 1); }
// Returns the first 4x4 block of 8x8 block q.
MOTUS_HD int motus_corner_of(int q) { return q / 2 * 8 + q % 2 * 2; }

MOTUS_HD int motus_mb_is_intra(const MotusMb *mb) { return mb->type >= MOTUS_MB_I_4x4; }

MOTUS_HD int motus_mv_equal(MotusMv a, MotusMv b) { return a.x == b.x && a.y == b.y; }

#endif
