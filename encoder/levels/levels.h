// Choice of a block's levels by rate and distortion, on the CPU: each coefficient gets the nearest
// level, or the one below where the bits saved outweigh the error added. levels_warp.cuh and
// levels_cabac_warp.cuh have the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_H
#define ENCODER_LEVELS_LEVELS_H

#include "common/cpu.h"
#include "encoder/levels/levels_core.h"

// Levels of an 8x8 block in coding order.
typedef struct MotusBlockLevels {
    int16_t level[64]; // of a block that pays
    int t[64];         // coefficients in 1/256 of a level, at the positions of `live`
    uint64_t live;     // positions that may have a level
    int n;             // levels other than 0
    uint32_t bits;     // of the map and the levels, in 1/256 bit
    int32_t ssd_drop;  // as in MotusLevels
} MotusBlockLevels;

// The functions, compiled for plain C and for AVX2, with equal results. Coefficients are those of
// the forward transform, in raster order.
typedef struct MotusLevelsOps {
    // Chooses the levels of a 4x4 block of category 1, 2 or 4 from its live coefficients
    // (motus_live_coefs). context: nC, or that of coded_block_flag in its category. Writes
    // level[16] in zigzag order, or anything if the result has no levels.
    MotusLevels (*block)(int16_t level[16], const int16_t coef[16], uint32_t live, int category,
                         int context, const MotusQuant *q, const MotusLevelChoice *choice);

    // Chooses the levels of a chroma plane's DCs behind their 2x2 transform, with CABAC.
    MotusLevels (*chroma_dc)(int16_t level[4], const int dc[4], const MotusQuant *q,
                             const MotusCabacCosts *costs);

    // Chooses the levels of an 8x8 block. True if they are worth their bits. CAVLC codes every
    // fourth one as a 4x4 block of its own; nC is taken to be the mean count of live coefficients.
    int (*block8)(MotusBlockLevels *b, const int coef[64], const MotusQuant8 *q,
                  const MotusLevelChoice *choice);
} MotusLevelsOps;

extern const MotusLevelsOps motus_levels_c, motus_levels_avx2;

#endif
