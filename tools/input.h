// The frames of a command's input: how many, until which signal, and what a cut one means.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_INPUT_H
#define TOOLS_INPUT_H

#include "yuv/reader.h"

typedef struct MotusInput {
    MotusReader *reader;
    int limit;    // frames at most, 0: all
    int64_t read; // frames handed out
    int cut;      // the input ended inside a frame, after whole ones: `warning` says so
    MotusError warning;
} MotusInput;

// Hands out a reference to the next frame. MOTUS_END: at the input's end and at the limit; after a signal, also where it broke off the read; and
// where the input ends inside a frame once there was a whole one.
MotusStatus motus_input_next(MotusInput *input, MotusFrame **frame, MotusError *error);

#endif
