// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_EMULATED_LANES
#include "tests/lanes/emulated_lanes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "common/lanes.h"
#include "tests/support/harness.h"

#define STACK (128 << 10)
#define MOST (32 * EMULATED_WARPS)

enum {
    SYNC,
    TEAM = 100,
    ENDED
}; // what a lane waits for, beside the kinds of motus_emulated_gather

typedef struct Lane {
    ucontext_t context; // in which it begins
    void *resumed[5];   // for __builtin_setjmp, once it has begun
    uint8_t *stack;
    int waits_for, begun, ended;
} Lane;

typedef struct Team {
    Lane lane[MOST];
    ucontext_t caller;
    int n, current, n_ready, ready[MOST]; // lanes that can run
    int waiting[EMULATED_WARPS + 1]; // lanes at a barrier of each warp; the last one: of the team
    uint32_t slot[EMULATED_WARPS][2]
                 [32]; // of gathers in turn: a slow lane may still read the last one's
    int turn[EMULATED_WARPS];
    void (*body)(void *);
    void *argument;
    const char *failure;
} Team;

static Team team;

int emulated_warp(void) { return team.current / 32; }
int motus_emulated_lane(void) { return team.current % 32; }

// Goes on with a lane where it waits. A function of its own, since __builtin_longjmp may not stand
// beside __builtin_setjmp; not sanitized, since nothing of this stack ends.
__attribute__((noinline, noreturn, no_sanitize_address)) static void resume(Lane *lane) {
    __builtin_longjmp(lane->resumed, 1);
}

// Goes on with any lane that can run; with the caller where there is none. Other than swapcontext
// it makes no system call.
__attribute__((noinline)) static void switch_from(Lane *from) {
    if (!team.n_ready) {
        for (int i = 0; i < team.n; i++)
            if (!team.lane[i].ended) team.failure = "lanes wait for one another";
        setcontext(&team.caller);
    }
    int at = (int)(motus_test_random() % (uint32_t)team.n_ready);
    team.current = team.ready[at];
    team.ready[at] = team.ready[--team.n_ready];
    Lane *to = &team.lane[team.current];
    if (to == from || __builtin_setjmp(from->resumed)) return;
    if (to->begun) resume(to);
    to->begun = 1;
    setcontext(&to->context);
}

// Waits with all lanes of a warp, or of the team (group EMULATED_WARPS).
static void wait_in(int group, int what) {
    int first = group < EMULATED_WARPS ? 32 * group : 0, n = group < EMULATED_WARPS ? 32 : team.n;
    Lane *own = &team.lane[team.current];
    own->waits_for = what;
    if (++team.waiting[group] == n) {
        team.waiting[group] = 0;
        for (int i = first; i < first + n; i++) {
            if (team.lane[i].waits_for != what) team.failure = "lanes wait at different barriers";
            team.ready[team.n_ready++] = i;
        }
    }
    switch_from(own);
}

void motus_emulated_sync(void) { wait_in(emulated_warp(), SYNC); }
void motus_emulated_team_sync(void) { wait_in(EMULATED_WARPS, TEAM); }

const uint32_t *motus_emulated_gather(uint32_t v, int what) {
    int warp = emulated_warp(), lane = motus_emulated_lane(), turn = team.turn[warp];
    team.slot[warp][turn][lane] = v;
    if (team.waiting[warp] == 31) team.turn[warp] = !turn; // the last one turns
    wait_in(warp, what);
    return team.slot[warp][turn];
}

static void start(void) {
    team.body(team.argument);
    Lane *own = &team.lane[team.current];
    own->ended = 1;
    own->waits_for = ENDED;
    switch_from(own);
}

// A function of its own, as getcontext may come back twice for all that a compiler knows.
static void prepare(Lane *lane) {
    if (!lane->stack) lane->stack = malloc(STACK);
    if (!lane->stack) abort();
    getcontext(&lane->context);
    lane->context.uc_stack.ss_sp = lane->stack;
    lane->context.uc_stack.ss_size = STACK;
    lane->context.uc_link = NULL;
    lane->begun = lane->ended = 0;
    makecontext(&lane->context, start, 0);
}

const char *emulated_lanes_run(int warps, void (*body)(void *argument), void *argument) {
    team.n = 32 * warps;
    team.body = body;
    team.argument = argument;
    team.failure = NULL;
    memset(team.waiting, 0, sizeof team.waiting);
    team.n_ready = 0;
    for (int i = 0; i < team.n; i++) {
        prepare(&team.lane[i]);
        team.ready[team.n_ready++] = i;
    }
    team.current = team.ready[--team.n_ready];
    team.lane[team.current].begun = 1;
    swapcontext(&team.caller, &team.lane[team.current].context);
    return team.failure;
}
