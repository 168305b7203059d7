// SPDX-License-Identifier: BSD-2-Clause
#include "common/stage_clock.h"

const char *motus_stage_name(MotusStage stage) {
    static const char *const names[MOTUS_STAGES] = {"reference", "search",  "candidates", "decide",
                                                    "intra",     "entropy", "deblock"};
    return (unsigned)stage < MOTUS_STAGES ? names[stage] : "unknown";
}

void motus_stages_begin(MotusStageClock *clock) {
    if (!clock) return;
    *clock = (MotusStageClock){{0}, {0}};
    clock_gettime(CLOCK_MONOTONIC, &clock->since);
}

void motus_stage_ended(MotusStageClock *clock, MotusStage stage) {
    if (!clock) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock->us[stage] += (float)((double)(now.tv_sec - clock->since.tv_sec) * 1e6 +
                                (double)(now.tv_nsec - clock->since.tv_nsec) * 1e-3);
    clock->since = now;
}
