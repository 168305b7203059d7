// Decision of a B MB on the CPU: its candidates, from the search, then B_Skip, the choice of lists
// and MVs of each type by SATD + lambda * bits, and trials of the types that come close to the best
// one. b_candidates_warp.cuh and b_warp.cuh have the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_H
#define ENCODER_ANALYSE_B_H

#include "common/cpu.h"
#include "encoder/analyse/b_core.h"
#include "me/search/refine.h"

// A B MB to search, and where.
typedef struct MotusBJob {
    int refs; // of list 0; list 1's only one follows them
    const MotusReference *ref;
    const MotusRefLuma *const *ref_luma;
    const MotusRefineOps *ops;
    MotusSubpel subpel;
    const MotusEffort *effort;
    const MotusInterLimits *limits;
    uint32_t lambda_q8;
    MotusMbSource src;
    MotusMv centre[MOTUS_MAX_REFERENCES]; // predictors of the costs
    int x, y;                             // MBs
} MotusBJob;

// Memory of a decision, which need not be set.
typedef struct MotusBDecideScratch {
    MotusTrial trial[2];
    MotusBChoice choice;
    MotusResidual residual;
    MotusRefineCur cur;
    MotusMvGrid grid[2];           // of each list
    MotusBNear near[MOTUS_B_NEAR]; // of the grids as they are loaded
    uint32_t direct_satd[4];       // of each 8x8 block
} MotusBDecideScratch;

// The functions, compiled for plain C and for AVX2, with equal results.
typedef struct MotusBOps {
    // Finds the candidates of an MB from the whole-sample MVs and costs in the references of list
    // 0, and behind them in that of list 1.
    void (*candidates)(const MotusBJob *in, MotusMbMotion motion[],
                       MotusBCandidates found[MOTUS_B_SETS]);

    // True if B_Skip is taken at once whatever the MB's neighbours are; it is left in the trial
    // then. direct: does not depend on them.
    int (*skip_is_sure)(const MotusInterMb *in, const MotusDirect *direct,
                        const MotusEffort *effort, const MotusLevelChoice *levels,
                        MotusTrial *trial);

    // Begins the decision of an MB: evaluates B_Skip, which becomes the first trial, and measures
    // the prediction that it shares with direct blocks. source, i: of motus_direct_of. True if it
    // is taken at once: then there is no need of candidates.
    int (*skip)(const MotusInterMb *in, const MotusDirectSource *source, int i,
                const MotusEffort *effort, const MotusLevelChoice *levels,
                const MotusRefineOps *ops, MotusBDecideScratch *s);

    // Completes it: returns the cheapest inter coding of the MB, one of the scratch's two trials.
    // *satd becomes the cost of the best type by SATD.
    MotusTrial *(*types)(const MotusInterMb *in, const MotusBCandidates *found,
                         const MotusEffort *effort, const MotusLevelChoice *levels,
                         const MotusRefineOps *ops, MotusBDecideScratch *s, uint32_t *satd);
} MotusBOps;

extern const MotusBOps motus_b_c, motus_b_avx2;

#endif
