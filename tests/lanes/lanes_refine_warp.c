// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_EMULATED_LANES
#include "tests/lanes/lanes_refine_warp.h"

#include "encoder/analyse/rd_refine_warp.cuh"
#include "tests/lanes/emulated_lanes.h"
#include "tests/support/harness.h"

// Shared memory of the lanes.
static struct Shared {
    MotusRdTeam team;
    MotusTrialCoefs coefs[MOTUS_RD_WARPS];
    MotusTransformShared transforms[MOTUS_RD_WARPS];
} shared;

typedef struct Call {
    const MotusInterMb *in;
    const MotusLevelChoice *levels;
    int most;
    uint32_t cost;
    int *any;
    const MotusQuant8 *quant8;
    uint32_t luma_bits;
    LanesTransformed *mb;
} Call;

static void refine_body(void *argument) {
    const Call *c = argument;
    const int warp = emulated_warp(),
              any = motus_rd_team_refine(c->in, c->levels, c->most, c->cost, &shared.team,
                                         shared.coefs, c->in->quant8 ? shared.transforms : NULL,
                                         warp);
    motus_team_sync();
    if (warp == MOTUS_RD_WARPS - 1 && motus_lane() == 0) *c->any = any;
}

const char *lanes_rd_refine(const MotusInterMb *in, const MotusLevelChoice *levels, int most,
                            const MotusMb *mb, uint32_t cost, MotusTrial *trial, int *any) {
    Call c = {.in = in, .levels = levels, .most = most, .cost = cost, .any = any};
    motus_test_fill(&shared, sizeof shared);
    shared.team.mb = *mb;
    const char *failure = emulated_lanes_run(MOTUS_RD_WARPS, refine_body, &c);
    *trial = shared.team.trial[0];
    return failure;
}

static void transform_body(void *argument) {
    const Call *c = argument;
    uint32_t cost = c->mb->cost;
    const int taken =
        motus_choose_transform_warp(c->in, c->levels, c->quant8, &shared.transforms[0],
                                    &c->mb->coef, c->mb->rec, 16, c->luma_bits, &cost);
    motus_lanes_sync();
    if (motus_lane() == MOTUS_LANES - 1) c->mb->taken = taken, c->mb->cost = cost;
}

const char *lanes_choose_transform(const MotusInterMb *in, const MotusLevelChoice *levels,
                                   const MotusQuant8 *quant8, uint32_t luma_bits,
                                   LanesTransformed *mb) {
    Call c = {.in = in, .levels = levels, .quant8 = quant8, .luma_bits = luma_bits, .mb = mb};
    motus_test_fill(&shared, sizeof shared);
    shared.transforms[0].mb = mb->mb;
    const char *failure = emulated_lanes_run(1, transform_body, &c);
    mb->mb = shared.transforms[0].mb;
    return failure;
}
