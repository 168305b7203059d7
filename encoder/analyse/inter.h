// Decision of an inter MB on the CPU: choice of its partitions and MVs by SATD, then trials of the
// types that come close to the best one; RD refinement of its MVs. inter_choice_warp.cuh,
// inter_warp.cuh and rd_refine_warp.cuh have the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_H
#define ENCODER_ANALYSE_INTER_H

#include "common/cpu.h"
#include "encoder/analyse/inter_core.h"

// MVs to choose from, and the SATD of each of the 41 blocks with each: of the blocks between 16x16
// and 4x4 once all MVs are listed.
typedef struct MotusChoices {
    int n;
    int16_t x[MOTUS_CHOICES], y[MOTUS_CHOICES];
    uint8_t ref[MOTUS_CHOICES];                // ref_idx
    uint32_t sum[MOTUS_BLOCKS][MOTUS_CHOICES]; // at most 130,560
} MotusChoices;

// Memory of a decision, which need not be set.
typedef struct MotusDecideScratch {
    MotusTrial trial[2];
    MotusChoice choice;
    MotusResidual residual;
    MotusChoices choices;
    MotusMvGrid grid;
    MotusMb sub; // its 8x8 blocks have the sub type that is tried
} MotusDecideScratch;

// The functions, compiled for plain C and for AVX2, with equal results.
typedef struct MotusInterOps {
    // Begins the decision of a P MB: evaluates P_Skip, which becomes the first trial. True if it is
    // taken at once: then there is no need of candidates.
    int (*skip)(const MotusInterMb *in, const MotusEffort *effort, const MotusLevelChoice *levels,
                MotusDecideScratch *s);

    // Completes it: returns the cheapest inter coding of the MB, one of the scratch's two trials.
    // *satd becomes the cost of the best type by SATD.
    MotusTrial *(*types)(const MotusInterMb *in, const MotusCandidates *found,
                         const MotusEffort *effort, const MotusLevelChoice *levels,
                         MotusDecideScratch *s, uint32_t *satd);

    // Evaluates `mb`, P or B, with the MVs that it has. skip: P_Skip's MV. A trial that may be too
    // large for an MB costs too much.
    void (*evaluate)(const MotusInterMb *in, const MotusLevelChoice *levels, MotusMv skip,
                     const MotusMb *mb, MotusResidual *residual, MotusTrial *trial);

    // Refines the MVs of a decided MB, P or B, that costs `cost`, in turn until none moves, at most
    // `most` of them: each moves to the neighbour that costs least, if that is less. Returns 1 if
    // the MB has become cheaper: *trial is its coding then.
    int (*refine)(const MotusInterMb *in, const MotusLevelChoice *levels, int most,
                  const MotusMb *decided, uint32_t cost, MotusResidual *residual,
                  MotusTrial *trial);
} MotusInterOps;

extern const MotusInterOps motus_inter_c, motus_inter_avx2;

#endif
