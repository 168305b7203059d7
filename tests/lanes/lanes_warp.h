// The warp formulations (*_warp.cuh) and shared loops (*_core.h) run by 32 emulated lanes a warp.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_LANES_LANES_WARP_H
#define TESTS_LANES_LANES_WARP_H

#include "encoder/analyse/b_core.h"
#include "encoder/intra/intra_trial_core.h"
#include "me/search/refine.h"

enum { LANES_INTER_WARPS = 4 }; // most warps of a team that decides an inter MB

// A function that lanes run, and the results that it sets.
typedef enum LanesFunction {
    LANES_INTRA16x16,     // estimate by SATD: satd, mode
    LANES_TYPE_BY_SATD,   // type
    LANES_INTRA,          // search by `warps`, 1, 3, or 4 with Intra8x8: trial
    LANES_INTER,          // decision of a P MB by `warps`: trial, choice, satd[0]
    LANES_SATDS,          // of an MB by mv of reference ref: satd
    LANES_NOTE_DECISION,  // about `decided`: mb, changed_at
    LANES_FIRST_GUESS,    // by mv: mb
    LANES_REFINE,         // MotusInterOps.refine of mb: taken, then trial
    LANES_TRANSFORM,      // motus_choose_transform of mb: mb, coef, rec, cost, taken
    LANES_B_CANDIDATES,   // found_b, whose first set's blocks are set
    LANES_B_FIRST_GUESS,  // by found_b: mb
    LANES_B_SKIP_IS_SURE, // taken, trial
    LANES_B,              // decision of a B MB: trial, b_choice (not if B_Skip is taken), satd[0]
} LanesFunction;

// Arguments and results of a call, as far as it has them.
typedef struct LanesCall {
    const MotusIntraMb *intra;
    const MotusInterMb *in;
    const MotusEffort *effort;
    const MotusLevelChoice *levels;
    const MotusCandidates *found;
    MotusBCandidates *found_b;
    const MotusMbMotion *motion; // refined, by reference
    const MotusMv *centre;
    const uint64_t *far; // masks of the blocks refined in further references
    const MotusDirectSource *direct;
    const MotusQuant8 *quant8;
    const MotusMb *decided;
    int warps;
    int shares; // 1: all warps evaluate a single type together
    int ref, now, most;
    MotusMv mv;
    uint32_t luma_bits;

    MotusMb mb;
    MotusMbCoef coef;
    __attribute__((aligned(16))) uint8_t rec[256];
    uint32_t cost, satd[16];
    MotusTrial trial;
    MotusChoice choice;
    MotusBChoice b_choice;
    MotusIntraType type;
    int mode, taken;
    uint16_t changed_at;
} LanesCall;

// Runs the function, with shared memory of random bytes. Returns NULL, or what the lanes did wrong.
const char *lanes_call(LanesFunction function, LanesCall *call);

// Returns NULL if packed tables agree with those that they are derived from.
const char *lanes_check_tables(void);

#endif
