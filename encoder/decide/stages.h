// How long the stages of a picture take, on the CPU.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_STAGES_H
#define ENCODER_DECIDE_STAGES_H

#include <time.h>

#include "motus/encoder.h"

typedef struct MotusStageClock {
    struct timespec since;
    float us[MOTUS_STAGES];
} MotusStageClock;

// Where `clock` is NULL nothing is timed. A stage begins where the one before has ended.
void motus_stages_begin(MotusStageClock *clock);
void motus_stage_ended(MotusStageClock *clock, MotusStage stage);

#endif
