// Frames of a file read some frames ahead by several threads: one thread copies some 1,500 pictures
// of 1080p a second from memory, which a GPU codes as fast.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_READ_AHEAD_H
#define TOOLS_CLI_READ_AHEAD_H

#include "tools/cli/input.h"

typedef struct MotusReadAhead MotusReadAhead;

// Reads `input`, several frames at a time, until it ends or fails; until the close nobody else may
// use it but for motus_reader_time. device: CUDA's number of one that the frames are for, which
// pins their memory (a thread that asks another device for it would open that first); -1: none, or
// the first. NULL: it is no file of plain pictures (a decoder has threads of its own, a pipe gives
// one frame after the other), or there is no thread or memory for it.
MotusReadAhead *motus_read_ahead_open(MotusInput *input, int threads, int device);

// Whether an input's pictures can be read so: they lie in a file as they are, and any of them is
// found at once.
int motus_read_ahead_suits(const MotusSequenceInfo *info);

// As motus_input_next. A signal ends it at once.
MotusStatus motus_read_ahead_next(MotusReadAhead *ahead, MotusFrame **frame, MotusError *error);

// Waits for the frames that are being read; accepts NULL inside.
void motus_read_ahead_close(MotusReadAhead **ahead);

#endif
