// Intra coding of one MB on the CPU, from its source and the reconstruction around it. The
// _warp.cuh files of this folder have the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_H
#define ENCODER_INTRA_INTRA_H

#include "common/cpu.h"
#include "encoder/intra/intra_trial_core.h"
#include "encoder/levels/levels.h"

#define MOTUS_I8_TRIALS 2 // Intra8x8 modes per block that get a trial

// Memory of a call, which need not be set.
typedef struct __attribute__((aligned(16))) MotusIntraScratch {
    union {
        uint8_t pred[4][256];              // by mode; 4x4 modes in the first one
        uint8_t pred8[MOTUS_I4_MODES][64]; // by Intra8x8 mode
    };
    uint8_t canvas[18 * MOTUS_CANVAS_STRIDE];
    MotusResidual residual;
    MotusIntraEdge edge[2];
    uint32_t cost[16];     // of modes
    uint32_t mode_cost[9]; // of bits of Intra4x4 modes, by rem_intra4x4_pred_mode; [8]: predicted
    int16_t level[MOTUS_I4_TRIALS][16]; // of a 4x4 block's trials
    uint8_t block[MOTUS_I4_TRIALS][16]; // their reconstructions, rows of 4
    uint8_t block8[MOTUS_I8_TRIALS][64];
    MotusBlockLevels levels8[MOTUS_I8_TRIALS];
} MotusIntraScratch;

// The functions, compiled for plain C and for AVX2, with equal results.
typedef struct MotusIntraOps {
    // Returns the cheapest coding of the MB, one of the three trials.
    MotusTrial *(*search)(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial trial[3]);

    // Returns SATD + lambda * bits of the best Intra16x16 mode, whose prediction is left in
    // s->pred[*mode].
    uint32_t (*estimate16x16)(const MotusIntraMb *in, MotusIntraScratch *s, int *mode);

    // Completes estimate16x16 to `search`. Returns NULL if the MB costs `bound` or more. bound: at
    // most the cost of I_PCM, or UINT32_MAX. Intra8x8 is tried if another type costs less than
    // `inter`.
    MotusTrial *(*estimate)(const MotusIntraMb *in, MotusIntraScratch *s, int mode, uint32_t bound,
                            uint32_t inter, MotusTrial trial[3]);

    // Return the type of least cost, by luma alone, or of least SATD, with its Intra16x16 mode.
    // in->rec: the source.
    MotusIntraType (*type)(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial *trial);
    MotusIntraType (*type_by_satd)(const MotusIntraMb *in, MotusIntraScratch *s);

    // Codes the MB as a type that was chosen before, its levels by MOTUS_LEVELS_GUESSED. True if it
    // would rather be I_PCM.
    int (*code_as)(const MotusIntraMb *in, MotusIntraType type, MotusIntraScratch *s,
                   MotusTrial *trial);
} MotusIntraOps;

extern const MotusIntraOps motus_intra_c, motus_intra_avx2;

#endif
