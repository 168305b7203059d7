// The cores' functions that lanes share, compiled twice: for one lane, as the CPU runs them, and
// for the 32 of a warp (tests/lanes/emulated_lanes.h).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_LANES_CALLS_H
#define TESTS_LANES_CALLS_H

#include "encoder/analyse/trial_lanes_core.h"
#include "encoder/decide/decide.h"

enum { LANES_INTER_WARPS = 4 }; // of a team that decides an inter MB, at most

typedef struct InterTeamMemory {
    MotusInterTeam team;
    MotusTrialCoefs coefs[LANES_INTER_WARPS];
} InterTeamMemory;

// Working memory, and what came out: one of the two trials.
typedef struct LanesMemory {
    MotusTrial trial[2];
    MotusIntraScratch intra;
    MotusIntraTeam team;
    MotusDecideScratch decide;
    InterTeamMemory inter_team;
    MotusTrial *best;
    uint32_t satd;
    int mode;
    const char *failure; // of the lanes, or NULL
} LanesMemory;

typedef struct LanesCalls {
    void (*intra_search)(const MotusIntraMb *in, LanesMemory *m);
    void (*intra_team)(
        const MotusIntraMb *in,
        LanesMemory *m); // the same result by three warps side by side; not for one lane
    void (*intra16x16_estimate)(const MotusIntraMb *in, LanesMemory *m); // satd, mode
    void (*decide_inter)(
        const MotusInterMb *in, const MotusCandidates *found, const MotusEffort *effort,
        const MotusLevelChoice *levels, int warps, int shares,
        LanesMemory *m); // best, satd; one lane takes no notice of `warps` and `shares`
    void (*note)(MotusMb *to, const MotusMb *decided, uint16_t *changed_at,
                 LanesMemory *m); // in pass 7
    void (*first_guess)(MotusMb *mb, MotusMv mv, LanesMemory *m);
    void (*satd_mb)(const MotusInterMb *in, MotusMv mv, uint16_t satd[16], LanesMemory *m);
} LanesCalls;

extern const LanesCalls lanes_calls_1, lanes_calls_32;

#endif
