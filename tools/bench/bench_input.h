// Frames in memory, so that a measurement holds no reading.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_INPUT_H
#define TOOLS_BENCH_BENCH_INPUT_H

#include "motus/frame.h"

typedef struct MotusBenchClip {
    MotusFrame **frame;
    int n, width, height;
    MotusRational fps;
    char name[128]; // the file's, or "synthetic"
} MotusBenchClip;

// Loads up to `frames` frames of `path`; NULL: makes them with motus synth's generator at this
// size. Even sizes only: odd ones lose a row or column.
MotusStatus motus_clip_load(MotusBenchClip *clip, const char *path, const int size[2], int frames,
                            MotusError *error);
void motus_clip_free(MotusBenchClip *clip);

// A copy of a frame where an encoder finds it at its best, rows without gaps: in pinned memory, or
// in the current device's memory.
MotusStatus motus_bench_frame(MotusFrame **out, const MotusFrame *from, int on_device,
                              MotusError *error);

// Sorts n > 0 values and returns the one in the middle (the lower of two).
double motus_median_of(double *values, int n);

#endif
