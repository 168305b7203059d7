// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_EMULATED_LANES
// gcc does not see that only the first warp uses what only it has set (team_shared_trial).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "tests/lanes/lanes_warp.h"

#include "encoder/analyse/b_warp.cuh"
#include "encoder/analyse/inter_warp.cuh"
#include "encoder/analyse/rd_refine_warp.cuh"
#include "encoder/decide/decide_core.h"
#include "encoder/intra/intra8x8_warp.cuh"
#include "tests/lanes/emulated_lanes.h"
#include "tests/support/harness.h"

// Shared memory of the lanes.
static union Shared {
    struct {
        MotusTrial trial[2];
        MotusIntraShared scratch;
    } intra;
    MotusTypeShared type;
    MotusIntra8Team team8;
    struct {
        union {
            MotusInterTeam p;
            MotusBTeam b;
            MotusRdTeam rd;
        } team;
        MotusTrialCoefs coefs[EMULATED_WARPS];
        MotusTransformShared transforms[EMULATED_WARPS];
    } inter;
} shared;

static int is_last_lane(void) { return motus_lane() == MOTUS_LANES - 1; }

// ---- Intra --------------------------------------------------------------------------------------

static void estimate16x16(void *call) {
    LanesCall *c = call;
    int mode;
    const uint32_t satd = motus_intra16x16_estimate_warp(c->intra, &shared.intra.scratch.sides,
                                                         shared.intra.scratch.pred, &mode);
    if (is_last_lane()) c->satd[0] = satd, c->mode = mode;
}

static void choose_type(void *call) {
    LanesCall *c = call;
    const MotusIntraType type = motus_intra_type_by_satd_warp(c->intra, &shared.type);
    if (is_last_lane()) c->type = type;
}

static void search_alone(LanesCall *c) {
    MotusTrial *first = &shared.intra.trial[0], *second = &shared.intra.trial[1];
    motus_intra_begin_as(c->intra, first, MOTUS_MB_I_16x16);
    motus_intra_begin_as(c->intra, second, MOTUS_MB_I_4x4);
    const MotusIntraPart chroma = motus_intra_search16x16(c->intra, &shared.intra.scratch, first);
    const MotusTrial *best =
        motus_intra_search4x4(c->intra, &shared.intra.scratch, first, second, &chroma);
    if (is_last_lane()) c->trial = *best;
}

static void search_intra(void *call) {
    LanesCall *c = call;
    if (c->warps == 1) {
        search_alone(c);
        return;
    }
    const MotusIntraMb *in = c->intra;
    MotusIntra8Team *t = &shared.team8;
    MotusIntraTeam *team = &t->team;
    MotusI4Mb i4;
    MotusI8Mb i8;
    const int warp = emulated_warp();
    memset(&i4, 0, sizeof i4);
    memset(&i8, 0, sizeof i8);
    if (warp == MOTUS_ROLE_INTRA4X4) {
        motus_intra_begin_as(in, &team->trial[0], MOTUS_MB_I_16x16);
        motus_intra_begin_as(in, &team->trial[1], MOTUS_MB_I_4x4);
        i4 = motus_i4_prepare(in, &team->scratch[0]);
    }
    if (warp == MOTUS_ROLE_INTRA8X8) i8 = motus_intra8_begin(in, in->quant8, t);
    motus_team_sync();
    if (warp == MOTUS_ROLE_INTRA8X8)
        motus_intra_role8x8(in, t, &i8);
    else if (warp == MOTUS_ROLE_INTRA4X4)
        motus_intra_role4x4(in, team, &i4);
    else
        motus_intra_role_whole(in, team, warp);
    if (in->quant8 && warp == MOTUS_ROLE_CHROMA) motus_intra_copy_chroma(&t->trial, team->trial);
    motus_team_sync();
    if (warp > 0) return;
    const MotusTrial *best = motus_intra_join(in, team, in->quant8 ? t : NULL);
    if (is_last_lane()) c->trial = *best;
}

// ---- Inter --------------------------------------------------------------------------------------

static void decide_p(void *call) {
    LanesCall *c = call;
    MotusInterTeam *team = &shared.inter.team.p;
    const int warp = emulated_warp();
    const MotusEdge edge = motus_edge(&c->in->neighbours, c->in->refs, 1);
    MotusTeamLane own;
    uint32_t satd;
    motus_team_begin(&own, c->found, c->in->refs, &team->choice, &team->sums, warp, c->warps);
    const MotusTrial *best = motus_team_decide(
        c->in, own, &edge, c->found, c->effort, c->levels, team, shared.inter.coefs,
        c->in->quant8 ? shared.inter.transforms : NULL, warp, c->warps, c->shares, &satd);
    motus_team_sync();
    if (warp == 0 && is_last_lane()) c->trial = *best, c->choice = team->choice, c->satd[0] = satd;
}

static void measure(void *call) {
    LanesCall *c = call;
    c->satd[motus_lane() & 15] = motus_team_satd(c->in, c->ref, c->mv);
}

static void note_decision(void *call) {
    LanesCall *c = call;
    motus_note_decision(&c->mb, c->decided, &c->changed_at, c->now, 1);
}

static void first_guess(void *call) {
    LanesCall *c = call;
    motus_first_guess(&c->mb, c->mv);
}

static void refine(void *call) {
    LanesCall *c = call;
    MotusRdTeam *team = &shared.inter.team.rd;
    const int warp = emulated_warp();
    if (warp == 0 && is_last_lane()) team->mb = c->mb;
    motus_team_sync();
    const int any =
        motus_rd_team_refine(c->in, c->levels, c->most, c->cost, team, shared.inter.coefs,
                             c->in->quant8 ? shared.inter.transforms : NULL, warp);
    motus_team_sync();
    if (warp == MOTUS_RD_WARPS - 1 && motus_lane() == 0) c->taken = any, c->trial = team->trial[0];
}

static void choose_transform(void *call) {
    LanesCall *c = call;
    MotusTransformShared *s = &shared.inter.transforms[0];
    uint32_t cost = c->cost;
    if (is_last_lane()) s->mb = c->mb;
    motus_lanes_sync();
    const int taken = motus_choose_transform_warp(c->in, c->levels, c->quant8, s, &c->coef, c->rec,
                                                  16, c->luma_bits, &cost);
    motus_lanes_sync();
    if (is_last_lane()) c->taken = taken, c->cost = cost, c->mb = s->mb;
}

// ---- B ------------------------------------------------------------------------------------------

static void find_b_candidates(void *call) {
    LanesCall *c = call;
    const MotusMv *mv[MOTUS_MAX_REFERENCES], *centre[MOTUS_MAX_REFERENCES];
    const uint32_t *cost[MOTUS_MAX_REFERENCES];
    for (int ref = 0; ref <= c->in->refs; ref++)
        mv[ref] = c->motion[ref].mv, centre[ref] = &c->centre[ref], cost[ref] = c->motion[ref].cost;
    const MotusBFields fields = {mv, centre, cost, c->far, 0, 1};
    motus_b_candidates_warp(c->in, c->effort, &fields, c->in->qp->lambda_q8, c->found_b);
}

static void first_b_guess(void *call) {
    LanesCall *c = call;
    motus_b_first_guess(&c->mb, c->found_b);
}

static void is_sure(void *call) {
    LanesCall *c = call;
    MotusTrial *skip = &shared.inter.team.b.skip;
    const int sure = motus_b_warp_skip_is_sure(c->in, c->direct->fixed, c->effort, c->levels, skip);
    if (is_last_lane()) c->trial = *skip, c->taken = sure;
}

static void decide_b(void *call) {
    LanesCall *c = call;
    MotusBTeam *team = &shared.inter.team.b;
    const int warp = emulated_warp();
    uint32_t satd;
    const MotusTrial *best = motus_b_team_decide(
        c->in, c->found_b, c->direct, 0, c->effort, c->levels, team, shared.inter.coefs,
        c->in->quant8 ? shared.inter.transforms : NULL, warp, &satd);
    motus_team_sync();
    if (warp == 0 && is_last_lane())
        c->trial = *best, c->b_choice = team->choice, c->satd[0] = satd;
}

// ---- Calls --------------------------------------------------------------------------------------

const char *lanes_call(LanesFunction function, LanesCall *call) {
    static const struct {
        void (*body)(void *call);
        int warps; // 0: the call's
    } functions[] = {[LANES_INTRA16x16] = {estimate16x16, 1},
                     [LANES_TYPE_BY_SATD] = {choose_type, 1},
                     [LANES_INTRA] = {search_intra, 0},
                     [LANES_INTER] = {decide_p, 0},
                     [LANES_SATDS] = {measure, 1},
                     [LANES_NOTE_DECISION] = {note_decision, 1},
                     [LANES_FIRST_GUESS] = {first_guess, 1},
                     [LANES_REFINE] = {refine, MOTUS_RD_WARPS},
                     [LANES_TRANSFORM] = {choose_transform, 1},
                     [LANES_B_CANDIDATES] = {find_b_candidates, 1},
                     [LANES_B_FIRST_GUESS] = {first_b_guess, 1},
                     [LANES_B_SKIP_IS_SURE] = {is_sure, 1},
                     [LANES_B] = {decide_b, MOTUS_B_WARPS}};
    const int warps = functions[function].warps;
    motus_test_fill(&shared, sizeof shared);
    return emulated_lanes_run(warps ? warps : call->warps, functions[function].body, call);
}

const char *lanes_check_tables(void) {
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) {
            const int at = 4 * y + x, g = 8 * (y & 1) + 4 * (y >> 1) + x;
            if (motus_pairs_coded_at(g) != 15 - motus_zigzag_of(at)) return "coding order";
            if (motus_pairs_class(g) != motus_coef_class(at)) return "coefficient class";
            if (motus_pairs_of_raster(at) != motus_pairs_at(g)) return "index of a coefficient";
        }
    for (int sub = 0; sub < 4; sub++)
        for (int q = 0; q < 4; q++)
            for (int i = 0; i < motus_sub_partitions(sub); i++)
                if (lane_sub_partition(sub, q, i).block != motus_sub_partition(sub, q, i).block)
                    return "first block of a sub type";
    return NULL;
}
