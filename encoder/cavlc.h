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

// residual_block_cavlc: `n` levels (4, 15 or 16) in coding order; nc -1 is chroma DC.
void motus_cavlc_residual(MotusBits *bits, const int16_t *level, int n, int nc);

// macroblock_layer() of a not skipped MB (the caller writes mb_skip_run). mvd: vector differences in coding order, as many as the MB's type has
// vectors. pcm: 384 samples (256 luma raster, 64 Cb, 64 Cr) for I_PCM, else NULL. p_slice: mb_type is of table 7-13, else of table 7-11.
// qp_delta: mb_qp_delta. Adds to *count where not NULL.
void motus_cavlc_mb(MotusBits *bits, const MotusMb *mb, const MotusMbCoef *coef, const MotusNeighbours *neighbours,
                    const MotusMv *mvd, const uint8_t *pcm, int p_slice, int qp_delta, MotusMbBits *count);

#endif
