// Residual of an MB: transform, choice of levels, reconstruction. Prediction stands in trial->luma / trial->chroma and is replaced by the
// reconstruction; coef, cbp and total_coeff of trial->mb are filled; the return value is the number of residual bits.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RESIDUAL_H
#define ENCODER_RESIDUAL_H

#include "encoder/trial.h"

// Luma of an inter MB: an 8x8 quarter whose levels do not pay for their bits is left out of cbp.
uint32_t motus_code_inter_luma(const MotusCoding *coding, const MotusMbAround *around, const MotusMbSource *src,
                               MotusTrial *trial);

// Luma of an Intra16x16 MB: AC is coded for all blocks or none (cbp 15 or 0), the DCs always.
uint32_t motus_code_intra16x16_luma(const MotusCoding *coding, const MotusMbAround *around, const MotusMbSource *src,
                                    MotusTrial *trial);

// Both chroma planes; cbp's chroma bits.
uint32_t motus_code_chroma(const MotusCoding *coding, const MotusMbAround *around, const MotusMbSource *src, MotusTrial *trial);

// One 4x4 luma block with its prediction at `at` (stride MOTUS_LUMA_STRIDE), for Intra4x4. Writes level[16] (zigzag) and the reconstruction; *n is the
// number of nonzero levels. Returns the bits.
uint32_t motus_code_intra4x4_block(const MotusCoding *coding, const uint8_t *src, ptrdiff_t src_stride, uint8_t *at,
                                   int16_t level[16], int nc, int *n);

#endif
