// Macroblock syntax (7.3.5) with CAVLC residuals (9.2).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CAVLC_H
#define ENCODER_CAVLC_H

#include "encoder/bits.h"
#include "encoder/mb.h"

// Bits of one MB by kind, added up.
typedef struct MotusMbBits {
    uint32_t mode, mv, luma, chroma;
} MotusMbBits;

// nC of a 4x4 block (9.2.1) from the counts of the left and upper neighbours; -1 = neighbour not available.
int motus_cavlc_nc(int left, int above);

// nC of block blk: luma 0..15, or chroma 16..23 (motus total_coeff numbering), read off mb->total_coeff and its neighbours'.
int motus_cavlc_nc_at(const MotusMb *mb, const MotusMbAround *around, int blk);

// residual_block_cavlc: `n` levels (4, 15 or 16) in coding order; nc -1 is chroma DC. Writes / only counts bits. Equal by construction.
void motus_cavlc_residual(MotusBits *bits, const int16_t *level, int n, int nc);
int motus_cavlc_residual_bits(const int16_t *level, int n, int nc);

// Predicted intra4x4 mode of block blk (8.3.1.1).
int motus_intra4x4_predicted_mode(const MotusMb *mb, const MotusMbAround *around, int blk);

// macroblock_layer() of a not skipped MB (the caller writes mb_skip_run). mvd: vector differences in coding order, as many as the MB's type has
// vectors. pcm: 384 samples (256 luma raster, 64 Cb, 64 Cr) for I_PCM, else NULL. p_slice: mb_type is of table 7-13, else of table 7-11.
// qp_delta: mb_qp_delta. Adds to *count where not NULL.
void motus_cavlc_mb(MotusBits *bits, const MotusMb *mb, const MotusMbCoef *coef, const MotusMbAround *around, const MotusMv *mvd,
                    const uint8_t *pcm, int p_slice, int qp_delta, MotusMbBits *count);

#endif
