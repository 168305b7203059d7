// The warp formulations for B MBs run by 32 emulated lanes a warp.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_LANES_LANES_B_WARP_H
#define TESTS_LANES_LANES_B_WARP_H

#include "encoder/analyse/b_core.h"
#include "me/search/refine.h"

// Each call returns NULL, or what the lanes did wrong.

// Fills `found`, whose first set's blocks are set, from refined MVs and costs by reference. far:
// masks of the blocks refined in further references.
const char *lanes_b_candidates(const MotusInterMb *in, const MotusEffort *effort,
                               const MotusMbMotion motion[], const MotusMv centre[],
                               const uint64_t far[], MotusBCandidates found[MOTUS_B_SETS]);
const char *lanes_b_first_guess(MotusMb *mb, const MotusBCandidates *found);

const char *lanes_b_skip_is_sure(const MotusInterMb *in, const MotusDirect *direct,
                                 const MotusEffort *effort, const MotusLevelChoice *levels,
                                 MotusTrial *trial, int *is_sure);

// Decides an MB into *trial, *choice and *satd; *choice is undefined where B_Skip is taken at once.
const char *lanes_decide_b(const MotusInterMb *in, const MotusBCandidates *found,
                           const MotusDirectSource *source, const MotusEffort *effort,
                           const MotusLevelChoice *levels, MotusTrial *trial, MotusBChoice *choice,
                           uint32_t *satd);

#endif
