// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_EMULATED_LANES
#include "tests/lanes/lanes_b_warp.h"

#include "encoder/analyse/b_warp.cuh"
#include "encoder/decide/decide_core.h"
#include "tests/lanes/emulated_lanes.h"
#include "tests/support/harness.h"

// Shared memory of the lanes.
static struct Shared {
    MotusBTeam team;
    MotusTrialCoefs coefs[MOTUS_B_WARPS];
    MotusTransformShared transforms[MOTUS_B_WARPS];
} shared;

typedef struct Call {
    const MotusInterMb *in;
    const MotusBCandidates *found;
    MotusBCandidates *to;
    const MotusEffort *effort;
    const MotusLevelChoice *levels;
    const MotusBFields *fields;
    const MotusDirectSource *source;
    MotusTrial *trial;
    MotusBChoice *choice;
    MotusMb *mb;
    uint32_t *satd;
    int *is_sure;
} Call;

static const char *run(int warps, void (*body)(void *), Call *c) {
    motus_test_fill(&shared, sizeof shared);
    return emulated_lanes_run(warps, body, c);
}

static void candidates_body(void *argument) {
    const Call *c = argument;
    motus_b_candidates_warp(c->in, c->effort, c->fields, c->in->qp->lambda_q8, c->to);
}

const char *lanes_b_candidates(const MotusInterMb *in, const MotusEffort *effort,
                               const MotusMbMotion motion[], const MotusMv centre[],
                               const uint64_t far[], MotusBCandidates found[MOTUS_B_SETS]) {
    const MotusMv *mv[MOTUS_MAX_REFERENCES], *centres[MOTUS_MAX_REFERENCES];
    const uint32_t *cost[MOTUS_MAX_REFERENCES];
    for (int ref = 0; ref <= in->refs; ref++)
        mv[ref] = motion[ref].mv, centres[ref] = &centre[ref], cost[ref] = motion[ref].cost;
    const MotusBFields fields = {mv, centres, cost, far, 0, 1};
    Call c = {.in = in, .effort = effort, .fields = &fields, .to = found};
    return run(1, candidates_body, &c);
}

static void guess_body(void *argument) {
    const Call *c = argument;
    motus_b_first_guess(c->mb, c->found);
}

const char *lanes_b_first_guess(MotusMb *mb, const MotusBCandidates *found) {
    Call c = {.mb = mb, .found = found};
    return run(1, guess_body, &c);
}

static void decide_body(void *argument) {
    const Call *c = argument;
    const int warp = emulated_warp();
    uint32_t satd;
    const MotusTrial *best =
        motus_b_team_decide(c->in, c->found, c->source, 0, c->effort, c->levels, &shared.team,
                            shared.coefs, c->in->quant8 ? shared.transforms : NULL, warp, &satd);
    motus_team_sync();
    if (warp == 0 && motus_lane() == MOTUS_LANES - 1)
        *c->trial = *best, *c->choice = shared.team.choice, *c->satd = satd;
}

const char *lanes_decide_b(const MotusInterMb *in, const MotusBCandidates *found,
                           const MotusDirectSource *source, const MotusEffort *effort,
                           const MotusLevelChoice *levels, MotusTrial *trial, MotusBChoice *choice,
                           uint32_t *satd) {
    Call c = {.in = in,
              .found = found,
              .source = source,
              .effort = effort,
              .levels = levels,
              .trial = trial,
              .choice = choice,
              .satd = satd};
    return run(MOTUS_B_WARPS, decide_body, &c);
}

static void sure_body(void *argument) {
    const Call *c = argument;
    MotusTrial *skip = &shared.team.skip;
    const int is_sure =
        motus_b_warp_skip_is_sure(c->in, c->source->fixed, c->effort, c->levels, skip);
    if (motus_lane() == MOTUS_LANES - 1) *c->trial = *skip, *c->is_sure = is_sure;
}

const char *lanes_b_skip_is_sure(const MotusInterMb *in, const MotusDirect *direct,
                                 const MotusEffort *effort, const MotusLevelChoice *levels,
                                 MotusTrial *trial, int *is_sure) {
    const MotusDirectSource source = {direct, NULL};
    Call c = {.in = in,
              .source = &source,
              .effort = effort,
              .levels = levels,
              .trial = trial,
              .is_sure = is_sure};
    return run(1, sure_body, &c);
}
