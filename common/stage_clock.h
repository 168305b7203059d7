// Times of the stages of a picture.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_STAGE_CLOCK_H
#define COMMON_STAGE_CLOCK_H

#include <time.h>

#include "motus/encoder.h"

// Clock of a picture's stages. A stage begins where the one before it ended. NULL: nothing is
// timed.
typedef struct MotusStageClock {
    struct timespec since;
    float us[MOTUS_STAGES];
} MotusStageClock;

void motus_stages_begin(MotusStageClock *clock);
void motus_stage_ended(MotusStageClock *clock, MotusStage stage);

#endif
