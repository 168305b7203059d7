// The frames of a command's input: up to a limit, until a signal, one by one or read ahead.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_INPUT_H
#define TOOLS_CLI_INPUT_H

#include "yuv/io/reader.h"

typedef struct MotusInput {
    MotusReader *reader;
    int64_t limit;       // most frames, 0: all
    int64_t duration;    // microseconds from the first frame on, 0: all
    int ignores_signals; // 1: signals do not end it
    int64_t first;       // time of the first frame
    int shortened;       // the limit or the duration ended it
    int64_t begun, read; // frames whose reading has begun; frames handed out
    int cut;             // the input ended inside a frame, after whole ones: see `warning`
    MotusError warning;
} MotusInput;

// Hands out a reference to the next frame. MOTUS_END: the input has ended, the limit is reached, or
// a signal came (also one that broke off the read). An input that ends inside a frame ends with
// MOTUS_END, too, once a whole frame was handed out.
MotusStatus motus_input_next(MotusInput *input, MotusFrame **frame, MotusError *error);

// Reads the frames of a file ahead, on several threads: a single one copies some 1,500 pictures of
// 1080p a second, as many as a GPU codes.
typedef struct MotusReadAhead MotusReadAhead;

// True if the input can be read ahead: its pictures lie in a file as plain samples.
int motus_read_ahead_suits(const MotusSequenceInfo *info);

// Starts reading `input` until it ends or fails. Until the close nobody else may use it, except for
// motus_reader_time. device: number of the CUDA device that the frames' pinned memory is for, -1:
// none. Returns NULL if the input does not suit, or without a thread or memory.
MotusReadAhead *motus_read_ahead_open(MotusInput *input, int threads, int device);

// Hands out the next frame as motus_input_next does. A signal ends it at once.
MotusStatus motus_read_ahead_next(MotusReadAhead *ahead, MotusFrame **frame, MotusError *error);

// Blocks until frames that are being read are there, then frees all; accepts *ahead == NULL.
void motus_read_ahead_close(MotusReadAhead **ahead);

#endif
