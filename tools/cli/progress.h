// The live line of a long job: on a terminal only, never in a pipe.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_PROGRESS_H
#define TOOLS_CLI_PROGRESS_H

#include <stdint.h>

typedef struct MotusProgress {
    int on;
    int64_t total;       // frames to come in all, -1 = unknown
    double start, shown; // motus_seconds
} MotusProgress;

// Begins on stderr, where that is a terminal and `quiet` is 0.
MotusProgress motus_progress_begin(int64_t total, int quiet);

// Shows the state at most ten times a second: frames done, and `more` (kb/s, PSNR, ...).
void motus_progress_show(MotusProgress *progress, int64_t done, const char *more);

// Wipes the line for one that stays; the live line comes again by itself.
void motus_progress_wipe(const MotusProgress *progress);

// Wipes the line for good, so that what is printed next starts at its beginning.
void motus_progress_end(MotusProgress *progress);

#endif
