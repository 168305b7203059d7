// libx264, loaded at run time where it is installed or carried along: frames in memory to a stream
// in memory. Only what every version since 2011 lays out alike is touched.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_PEERS_LIBX264_H
#define TOOLS_PEERS_LIBX264_H

#include "motus/frame.h"

typedef struct MotusLibX264 MotusLibX264;

// Loads the library in `path`; NULL: the newest that the loader finds. MOTUS_ERR_UNSUPPORTED: there
// is none. Once in a process; it stays loaded.
MotusStatus motus_libx264_open(MotusLibX264 **lib, const char *path, MotusError *error);
void motus_libx264_close(MotusLibX264 **lib);
int motus_libx264_build(const MotusLibX264 *lib); // 164 and the like

typedef struct MotusLibX264Job {
    const char *preset, *tune; // tune may be NULL
    int baseline;              // 1: Constrained Baseline profile, one reference
    const char *(
        *option)[2]; // names and values as x264's command line has them; ends with a NULL name
    MotusFrame *const *frame; // n_frames of one size, in host memory
    int n_frames, n;          // encodes n pictures: the frames again and again
    MotusRational fps;
    int psnr; // 1: measure it, which takes time
} MotusLibX264Job;

typedef struct MotusLibX264Run {
    double seconds; // from the first frame to the last bits, without opening
    uint64_t bytes; // without SEI
    double psnr;    // of luma, mean over pictures; 0: not asked for
} MotusLibX264Run;

MotusStatus motus_libx264_encode(const MotusLibX264 *lib, const MotusLibX264Job *job,
                                 MotusLibX264Run *run, MotusError *error);

#endif
