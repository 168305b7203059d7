// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_EMULATED_LANES
// gcc does not see that only the first warp uses what only it has set (team_shared_trial).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "tests/lanes/lanes_warp.h"

#include "encoder/analyse/inter_warp.cuh"
#include "encoder/decide/decide_core.h"
#include "encoder/intra/intra8x8_warp.cuh"
#include "tests/lanes/emulated_lanes.h"
#include "tests/support/harness.h"

// Shared memory of the lanes.
static struct Shared {
    MotusTrial trial[2];
    MotusIntraShared intra;
    MotusTypeShared type;
    MotusIntra8Team team8;
    MotusInterTeam inter;
    MotusTrialCoefs coefs[LANES_INTER_WARPS];
    MotusTransformShared transforms[LANES_INTER_WARPS];
} shared;

typedef struct Arguments {
    const MotusIntraMb *intra;
    const MotusInterMb *inter;
    const MotusCandidates *found;
    const MotusEffort *effort;
    const MotusLevelChoice *levels;
    int warps, shares;
    LanesResult *r;
    int ref, now;
    MotusMv mv;
    MotusMb *to;
    const MotusMb *decided;
    uint16_t *satd, *changed_at;
} Arguments;

static const char *run(int warps, void (*body)(void *), Arguments *a) {
    motus_test_fill(&shared, sizeof shared);
    return emulated_lanes_run(warps, body, a);
}

// ---- Intra --------------------------------------------------------------------------------------

static void estimate_body(void *argument) {
    const Arguments *a = argument;
    int mode;
    const uint32_t satd =
        motus_intra16x16_estimate_warp(a->intra, &shared.intra.sides, shared.intra.pred, &mode);
    if (motus_lane() == MOTUS_LANES - 1) a->r->satd = satd, a->r->mode = mode;
}

void lanes_intra16x16_estimate(const MotusIntraMb *in, LanesResult *r) {
    Arguments a = {.intra = in, .r = r};
    r->failure = run(1, estimate_body, &a);
}

static void type_body(void *argument) {
    const Arguments *a = argument;
    const MotusIntraType type = motus_intra_type_by_satd_warp(a->intra, &shared.type);
    if (motus_lane() == MOTUS_LANES - 1) a->r->type = type;
}

void lanes_intra_type_by_satd(const MotusIntraMb *in, LanesResult *r) {
    Arguments a = {.intra = in, .r = r};
    r->failure = run(1, type_body, &a);
}

static void search_body(void *argument) {
    const Arguments *a = argument;
    MotusTrial *first = &shared.trial[0], *second = &shared.trial[1];
    motus_intra_begin_as(a->intra, first, MOTUS_MB_I_16x16);
    motus_intra_begin_as(a->intra, second, MOTUS_MB_I_4x4);
    const MotusIntraPart chroma = motus_intra_search16x16(a->intra, &shared.intra, first);
    const MotusTrial *best = motus_intra_search4x4(a->intra, &shared.intra, first, second, &chroma);
    if (motus_lane() == MOTUS_LANES - 1) a->r->trial = *best;
}

static void intra_team_body(void *argument) {
    const Arguments *a = argument;
    const MotusIntraMb *in = a->intra;
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
    if (motus_lane() == MOTUS_LANES - 1) a->r->trial = *best;
}

void lanes_intra_search(const MotusIntraMb *in, int warps, LanesResult *r) {
    Arguments a = {.intra = in, .r = r};
    r->failure = run(warps, warps > 1 ? intra_team_body : search_body, &a);
}

// ---- Inter --------------------------------------------------------------------------------------

static void inter_team_body(void *argument) {
    const Arguments *a = argument;
    MotusInterTeam *team = &shared.inter;
    const int warp = emulated_warp();
    const MotusEdge edge = motus_edge(&a->inter->neighbours, a->inter->refs, 1);
    MotusTeamLane own;
    uint32_t satd;
    motus_team_begin(&own, a->found, a->inter->refs, &team->choice, &team->sums, warp, a->warps);
    const MotusTrial *best = motus_team_decide(
        a->inter, own, &edge, a->found, a->effort, a->levels, team, shared.coefs,
        a->inter->quant8 ? shared.transforms : NULL, warp, a->warps, a->shares, &satd);
    motus_team_sync();
    if (warp == 0 && motus_lane() == MOTUS_LANES - 1)
        a->r->trial = *best, a->r->choice = team->choice, a->r->satd = satd;
}

void lanes_decide_inter(const MotusInterMb *in, const MotusCandidates *found,
                        const MotusEffort *effort, const MotusLevelChoice *levels, int warps,
                        int shares, LanesResult *r) {
    Arguments a = {NULL, in, found, effort, levels, warps, shares, r, .ref = 0};
    r->failure = run(warps, inter_team_body, &a);
}

static void satd_body(void *argument) {
    const Arguments *c = argument;
    c->satd[motus_lane() & 15] = (uint16_t)motus_team_satd(c->inter, c->ref, c->mv);
}

const char *lanes_satd_mb(const MotusInterMb *in, int ref, MotusMv mv, uint16_t satd[16]) {
    Arguments c = {.inter = in, .ref = ref, .mv = mv, .satd = satd};
    return run(1, satd_body, &c);
}

static void note_body(void *argument) {
    const Arguments *c = argument;
    motus_note_decision(c->to, c->decided, c->changed_at, c->now, 1);
}

const char *lanes_note_decision(MotusMb *to, const MotusMb *decided, uint16_t *changed_at,
                                int now) {
    Arguments c = {.to = to, .decided = decided, .changed_at = changed_at, .now = now};
    return run(1, note_body, &c);
}

static void guess_body(void *argument) {
    const Arguments *c = argument;
    motus_first_guess(c->to, c->mv);
}

const char *lanes_first_guess(MotusMb *mb, MotusMv mv) {
    Arguments c = {.to = mb, .mv = mv};
    return run(1, guess_body, &c);
}

// ---- Tables -------------------------------------------------------------------------------------

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
