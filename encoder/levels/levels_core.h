// Levels of a block, chosen by rate and distortion: what levels_cpu.h, levels_cabac_core.h and
// levels_warp.cuh share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_CORE_H
#define ENCODER_LEVELS_LEVELS_CORE_H

#include "common/lanes.h"
#include "dct/dct_core.h"
#include "encoder/bitstream/cavlc_core.h"
#include "encoder/cabac/cabac_costs_core.h"
#include "encoder/levels/effort.h"
#include "encoder/mb/qp_core.h"
#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

// Settings of the choice beside the quantizer.
typedef struct MotusLevelChoice {
    const uint8_t *zero_runs;     // MOTUS_ZERO_RUNS entries
    int method;                   // MOTUS_LEVELS_*
    const MotusCabacCosts *costs; // NULL: CAVLC
} MotusLevelChoice;

// Returns the method for levels of intra MBs and their estimates. cavlc: the preset's, for CAVLC.
MOTUS_HD int motus_intra_levels(int cavlc, const MotusCabacCosts *costs) {
    return costs ? (int)MOTUS_LEVELS_APART : cavlc;
}

// Returns the method where types are chosen before samples. Guesses of Intra8x8 do not compare well
// with those of other types.
MOTUS_HD int motus_type_levels(int cavlc, const MotusCabacCosts *costs, int transform_8x8) {
    return costs || transform_8x8 ? motus_intra_levels(cavlc, costs) : (int)MOTUS_LEVELS_GUESSED;
}

// Returns the parts of a bit in which bits of levels and of Intra4x4 modes are counted.
MOTUS_HD uint32_t motus_unit_of(const MotusLevelChoice *choice) {
    return choice->costs ? MOTUS_BIT : 1;
}

// Result for a block. `gain` is the squared error that the levels remove, in 1/65536 of a squared
// step. It saturates at 2^26 (1,024 squared steps, more than the bits of any MB cost), so that the
// sum of 24 blocks fits in 32 bits.
typedef struct MotusLevels {
    int n;         // nonzero levels
    uint32_t bits; // of the block, each 1 / motus_unit_of
    int32_t gain;
} MotusLevels;

#define MOTUS_GAIN_MAX (1 << 26)

// True if the gain of up to 16 blocks is worth their bits, each 1 / motus_unit_of.
MOTUS_HD int motus_gain_pays(int32_t gain, uint32_t bits, uint32_t rate,
                             const MotusLevelChoice *choice) {
    if (!choice->costs) return gain > (int32_t)(bits * rate);
    return gain > (int64_t)((uint64_t)bits * rate / MOTUS_BIT);
}

// Returns whole bits.
MOTUS_HD uint32_t motus_whole_bits(uint32_t bits, const MotusLevelChoice *choice) {
    const uint32_t unit = motus_unit_of(choice);
    return (bits + unit / 2) / unit;
}

// Returns the gain of one level, t^2 - (t - 256 * magnitude)^2, for a coefficient of t / 256
// levels. A level of 32 or more gains at least MOTUS_GAIN_MAX.
MOTUS_HD int32_t motus_level_gain(int t, int magnitude) {
    return magnitude < 32 ? 256 * magnitude * (2 * t - 256 * magnitude) : MOTUS_GAIN_MAX;
}

// Returns the raster mask of a block's live coefficients: those that may become nonzero levels.
MOTUS_HD uint32_t motus_live_coefs(const int16_t coef[16], const MotusQuant *q) {
#if defined(__AVX2__) && !defined(__CUDACC__)
    const int16_t *t = q->threshold;
    __m256i least =
        _mm256_broadcastsi128_si256(_mm_setr_epi16(t[0], t[2], t[0], t[2], t[2], t[1], t[2], t[1]));
    __m256i under =
        _mm256_cmpgt_epi16(least, _mm256_abs_epi16(_mm256_loadu_si256((const __m256i *)coef)));
    return ~_pext_u32((uint32_t)_mm256_movemask_epi8(under), 0x55555555) & 0xFFFF;
#else
    uint32_t mask = 0;
    for (int i = 0; i < 16; i++)
        mask |= (uint32_t)(motus_abs(coef[i]) >= q->threshold[motus_coef_class(i)]) << i;
    return mask;
#endif
}

// Fills the masks of n blocks, and the count of live coefficients of each.
MOTUS_HD void motus_live_blocks(uint16_t *live, uint8_t *count, const int16_t (*coef)[16], int n,
                                const MotusQuant *q) {
    for (int blk = motus_lane(); blk < n; blk += MOTUS_LANES) {
        live[blk] = (uint16_t)motus_live_coefs(coef[blk], q);
        count[blk] = (uint8_t)motus_cavlc_total_coeff(live[blk]);
    }
    motus_lanes_sync();
}

#endif
