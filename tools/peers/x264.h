// The program x264: its version, an encode, and what a stream came to.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_PEERS_X264_H
#define TOOLS_PEERS_X264_H

#include "motus/frame.h"

enum { MOTUS_X264_WORDS = 96 }; // of a command line, at most

// An encode of a .y4m file to an Annex B stream: one IDR picture, P pictures only, one reference,
// Baseline, tuned for PSNR, as far as `words` do not say otherwise.
typedef struct MotusX264Job {
    const char *program;      // found on the PATH, or where its name says
    const char *const *words; // further options, which win over the above; NULL or ends with NULL
    const char *preset;       // NULL: medium
    int qp, threads, range;   // range 0: x264's own
    const char *input, *output;
    const char *log; // where what it prints goes
    int frames;      // that it has to encode
} MotusX264Job;

// Its version, "0.164.3095 baee400", as it says it itself; MOTUS_ERR_UNSUPPORTED: there is no such
// program. `log`: a file to write to.
MotusStatus motus_x264_version(const char *program, const char *log, char *text, size_t size,
                               MotusError *error);

// *seconds is the encode time that x264 reports: from the first frame it reads to the last bits it
// writes, without starting the program. Where it fails, error has its own message.
MotusStatus motus_x264_encode(const MotusX264Job *job, double *seconds, MotusError *error);

// What a stream came to.
typedef struct MotusQuality {
    uint64_t bytes;    // without SEI (x264 writes its settings into one)
    uint64_t luma_ssd; // of all pictures
    double ssim;       // sum over pictures
    int frames;
} MotusQuality;

// Source frame n, valid until the next call.
typedef MotusStatus MotusSourceFrame(void *opaque, int n, const MotusFrame **frame,
                                     MotusError *error);

// Decodes the stream in `path` and compares its pictures with `frames` source frames.
// MOTUS_ERR_UNSUPPORTED: this build has no decoder; quality->bytes is right all the same.
MotusStatus motus_stream_measure(const char *path, int frames, MotusSourceFrame *source,
                                 void *opaque, MotusQuality *quality, MotusError *error);

#endif
