// The warp formulations (*_warp.cuh) and shared loops (*_core.h) run by 32 emulated lanes a warp.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_LANES_LANES_WARP_H
#define TESTS_LANES_LANES_WARP_H

#include "encoder/analyse/inter_core.h"
#include "encoder/intra/intra_trial_core.h"

enum { LANES_INTER_WARPS = 4 }; // most warps of a team that decides an inter MB

// Results of a call, as far as it has them. `failure` says what the lanes did wrong, or is NULL.
typedef struct LanesResult {
    MotusTrial trial;
    MotusChoice choice;
    MotusIntraType type;
    uint32_t satd;
    int mode;
    const char *failure;
} LanesResult;

// Each call fills the lanes' shared memory with random bytes first.
void lanes_intra16x16_estimate(const MotusIntraMb *in, LanesResult *r); // satd, mode
void lanes_intra_type_by_satd(const MotusIntraMb *in, LanesResult *r);  // type
// warps: 1, 3, or 4 with Intra8x8.
void lanes_intra_search(const MotusIntraMb *in, int warps, LanesResult *r);
// `shares`: all warps evaluate a single type together.
void lanes_decide_inter(const MotusInterMb *in, const MotusCandidates *found,
                        const MotusEffort *effort, const MotusLevelChoice *levels, int warps,
                        int shares, LanesResult *r);
const char *lanes_satd_mb(const MotusInterMb *in, int ref, MotusMv mv, uint16_t satd[16]);
const char *lanes_note_decision(MotusMb *to, const MotusMb *decided, uint16_t *changed_at, int now);
const char *lanes_first_guess(MotusMb *mb, MotusMv mv);

// Returns NULL if packed tables agree with those that they are derived from.
const char *lanes_check_tables(void);

#endif
