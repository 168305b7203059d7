// libx264, loaded at run time: encodes frames in memory. Uses only the parts of its interface that
// have the same layout in every version since 2011.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_X264_LIBX264_H
#define TOOLS_X264_LIBX264_H

#include "motus/frame.h"

typedef struct MotusLibX264 MotusLibX264;

// Loads the library from `path`, NULL: the newest that the loader finds. It stays loaded.
// MOTUS_ERR_UNSUPPORTED: there is none.
MotusStatus motus_libx264_open(MotusLibX264 **lib, const char *path, MotusError *error);
void motus_libx264_close(MotusLibX264 **lib);
int motus_libx264_build(const MotusLibX264 *lib); // X264_BUILD: 164 ...

typedef struct MotusLibX264Job {
    const char *preset, *tune; // tune may be NULL
    int baseline;              // 1: Constrained Baseline profile, one reference
    const char *(*option)[2];  // names and values as on x264's command line; a NULL name ends it
    MotusFrame *const *frame;  // n_frames of one size, in host memory
    int n_frames, n;           // encodes n pictures: the frames over and over
    MotusRational fps;
    int psnr; // 1: measure it, which takes time
} MotusLibX264Job;

typedef struct MotusLibX264Run {
    double seconds; // from the first frame to the last packet, without opening
    uint64_t bytes; // without SEI
    double psnr;    // of luma, mean over pictures; 0: not measured
} MotusLibX264Run;

MotusStatus motus_libx264_encode(const MotusLibX264 *lib, const MotusLibX264Job *job,
                                 MotusLibX264Run *run, MotusError *error);

#endif
