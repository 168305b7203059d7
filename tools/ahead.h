// Frames of a file read some frames ahead, on a thread of its own: whoever encodes them on several GPUs has no time to wait for each.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_AHEAD_H
#define TOOLS_AHEAD_H

#include "tools/input.h"

typedef struct MotusAhead MotusAhead;

// Reads `input` until it ends or fails; until the close nobody else may use it but for motus_reader_time. NULL: there is no thread or memory for it.
MotusAhead *motus_ahead_open(MotusInput *input);

// As motus_input_next. A signal ends it at once.
MotusStatus motus_ahead_next(MotusAhead *ahead, MotusFrame **frame, MotusError *error);

// Waits for the frame that is being read; accepts NULL inside.
void motus_ahead_close(MotusAhead **ahead);

#endif
