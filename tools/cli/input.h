// The frames of a command's input: how many, until which signal, and what a cut one means.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_INPUT_H
#define TOOLS_CLI_INPUT_H

#include "yuv/io/reader.h"

typedef struct MotusInput {
    MotusReader *reader;
    int64_t limit;       // frames at most, 0: all
    int ignores_signals; // somebody else deals with them
    int64_t begun, read; // frames: whose reading has begun; that were handed out
    int cut;             // the input ended inside a frame, after whole ones: `warning` says so
    MotusError warning;
} MotusInput;

// Hands out a reference to the next frame. MOTUS_END: at the input's end and at the limit; after a
// signal, also where it broke off the read; and where the input ends inside a frame once there was
// a whole one.
MotusStatus motus_input_next(MotusInput *input, MotusFrame **frame, MotusError *error);

int motus_input_interrupted(const MotusInput *input); // whether a signal ends it

// Its steps, for who reads several frames at a time. The first as motus_reader_begin; then
// motus_reader_fill; last, in the order of the frames, what becomes of the status that they ended
// in and its cause, for who is handed the frame.
MotusStatus motus_input_begin(MotusInput *input, MotusFrame **frame, int64_t *at,
                              MotusError *cause);
MotusStatus motus_input_end(MotusInput *input, MotusStatus status, const MotusError *cause,
                            MotusError *error);

#endif
