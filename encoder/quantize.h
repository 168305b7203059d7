// Choice of quantized levels by rate and distortion: rounding to the nearest level first, then lowering what costs more bits than it is worth.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_QUANTIZE_H
#define ENCODER_QUANTIZE_H

#include "encoder/trial.h"

// A block's levels (zigzag order), their bits and the squared error they leave, in MOTUS_ERROR_UNIT-ths of a squared sample difference.
#define MOTUS_ERROR_UNIT (4096 * 400)
typedef struct MotusLevels {
    int n;              // nonzero levels
    uint32_t bits;      // of residual_block_cavlc
    int64_t error;      // with these levels
    int64_t zero_error; // with none
} MotusLevels;

// Chooses levels for a 4x4 block of forward4x4 coefficients (raster order). first = 1 leaves out the DC (AC blocks: 15 levels from level[1]
// on). nc as in 9.2.1. lambda_ssd_q8 weighs the bits.
MotusLevels motus_quantize_block(const MotusCoding *coding, int16_t level[16], const int16_t coef[16], int qp, int first, int nc);

// Squared error of leaving out a block's coefficients from position `first` on.
int64_t motus_block_energy(const int16_t coef[16], int first);

// Cost in the same unit as MotusLevels.error of a number of bits.
static inline int64_t motus_bits_error(const MotusCoding *coding, uint32_t bits) {
    return (int64_t)bits * coding->lambda_ssd_q8 * (MOTUS_ERROR_UNIT / 256);
}

#endif
