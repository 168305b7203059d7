// Compiled twice, see lanes_calls.h.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/lanes/lanes_calls.h"

#include <string.h>

#include "encoder/analyse/schedule_core.h"

#ifdef MOTUS_EMULATED_LANES
#include "tests/lanes/emulated_lanes.h"
#define CALLS lanes_calls_32
static const char *run(int warps, void (*body)(void *), void *argument) {
    return emulated_lanes_run(warps, body, argument);
}
#else
#define CALLS lanes_calls_1
static const char *run(int warps, void (*body)(void *), void *argument) {
    (void)warps;
    body(argument);
    return NULL;
}
#endif

typedef struct Arguments {
    const MotusIntraMb *intra;
    const MotusInterMb *inter;
    const MotusCandidates *found;
    const MotusEffort *effort;
    const MotusLevelChoice *levels;
    MotusMv mv;
    MotusMb *to;
    const MotusMb *decided;
    uint16_t *satd, *changed_at;
    int warps, shares;
    LanesMemory *m;
} Arguments;

static void search_body(void *argument) {
    const Arguments *a = argument;
    MotusTrial *best = motus_intra_search(a->intra, &a->m->intra, &a->m->trial[0], &a->m->trial[1]);
    if (motus_lane() == MOTUS_LANES - 1) a->m->best = best;
}

static void intra_search(const MotusIntraMb *in, LanesMemory *m) {
    Arguments a = {.intra = in, .m = m};
    m->failure = run(1, search_body, &a);
}

#ifdef MOTUS_EMULATED_LANES

// As the kernel does it, with one warp for each part.
static void team_body(void *argument) {
    const Arguments *a = argument;
    MotusIntraTeam *team = &a->m->team;
    MotusI4Mb i4;
    const int warp = emulated_warp();
    memset(&i4, 0, sizeof i4);
    if (warp == 0) {
        motus_intra_begin(a->intra, &team->trial[0], &team->trial[1]);
        i4 = motus_i4_prepare(a->intra, &team->scratch[0]);
    }
    motus_emulated_team_sync();
    motus_intra_role(a->intra, team, warp, &i4);
    motus_emulated_team_sync();
    if (warp > 0) return;
    MotusTrial *best = motus_intra_join(a->intra, team);
    if (motus_lane() == MOTUS_LANES - 1) a->m->best = best;
}

static void intra_team(const MotusIntraMb *in, LanesMemory *m) {
    Arguments a = {.intra = in, .m = m};
    m->failure = run(MOTUS_INTRA_ROLES, team_body, &a);
}

#else
#define intra_team NULL
#endif

static void estimate_body(void *argument) {
    const Arguments *a = argument;
    int mode;
    uint32_t satd = motus_intra16x16_estimate(a->intra, &a->m->intra, &mode);
    if (motus_lane() == MOTUS_LANES - 1) a->m->satd = satd, a->m->mode = mode;
}

static void intra16x16_estimate(const MotusIntraMb *in, LanesMemory *m) {
    Arguments a = {.intra = in, .m = m};
    m->failure = run(1, estimate_body, &a);
}

#ifdef MOTUS_EMULATED_LANES
// As the kernel does it.
static void inter_team_body(void *argument) {
    const Arguments *a = argument;
    InterTeamMemory *team = &a->m->inter_team;
    const int warp = emulated_warp();
    const MotusTeamEdge edge = motus_team_edge(&a->inter->neighbours);
    MotusTeamLane own;
    uint32_t satd;
    motus_team_begin(&own, a->found, &team->team.choose.choice, &team->team.of.sums, warp,
                     a->warps);
    MotusTrial *best =
        motus_team_decide(a->inter, own, &edge, a->found, a->effort, a->levels, &team->team,
                          team->coefs, warp, a->warps, a->shares, &satd);
    motus_team_sync();
    if (motus_lane() == MOTUS_LANES - 1) a->m->best = best, a->m->satd = satd;
}

static void decide_inter(const MotusInterMb *in, const MotusCandidates *found,
                         const MotusEffort *effort, const MotusLevelChoice *levels, int warps,
                         int shares, LanesMemory *m) {
    Arguments a = {.inter = in,
                   .found = found,
                   .effort = effort,
                   .levels = levels,
                   .warps = warps,
                   .shares = shares,
                   .m = m};
    m->failure = run(warps, inter_team_body, &a);
}
#else
static void decide_inter(const MotusInterMb *in, const MotusCandidates *found,
                         const MotusEffort *effort, const MotusLevelChoice *levels, int warps,
                         int shares, LanesMemory *m) {
    (void)warps, (void)shares;
    m->best = motus_decide_inter(in, found, effort, levels, &m->decide, &m->satd);
    m->failure = NULL;
}
#endif

static void note_body(void *argument) {
    const Arguments *a = argument;
    motus_note_decision(a->to, a->decided, a->changed_at, 7);
}

static void note(MotusMb *to, const MotusMb *decided, uint16_t *changed_at, LanesMemory *m) {
    Arguments a = {.to = to, .decided = decided, .changed_at = changed_at};
    m->failure = run(1, note_body, &a);
}

static void guess_body(void *argument) {
    const Arguments *a = argument;
    motus_first_guess(a->to, a->mv);
}

static void first_guess(MotusMb *mb, MotusMv mv, LanesMemory *m) {
    Arguments a = {.to = mb, .mv = mv};
    m->failure = run(1, guess_body, &a);
}

static void satd_body(void *argument) {
    const Arguments *a = argument;
    const MotusInterMb *in = a->inter;
    motus_satd_mb(a->satd, in->src.plane[0], in->src.stride[0], in->ref, 16 * in->x, 16 * in->y,
                  a->mv);
}

static void satd_mb(const MotusInterMb *in, MotusMv mv, uint16_t satd[16], LanesMemory *m) {
    Arguments a = {.inter = in, .mv = mv, .satd = satd, .m = m};
    m->failure = run(1, satd_body, &a);
}

const LanesCalls CALLS = {intra_search, intra_team, intra16x16_estimate, decide_inter, note,
                          first_guess,  satd_mb};
