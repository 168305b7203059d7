// The program x264: its version, an encode, and the quality of a stream.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_X264_X264_H
#define TOOLS_X264_X264_H

#include "motus/frame.h"
#include "tools/cli/system.h"

enum { MOTUS_X264_WORDS = 96 }; // most words of a command line

// An encode of a .y4m file to an Annex B stream: one IDR picture, P pictures only, one reference,
// Baseline, tuned for PSNR, unless `shipped` or `words` override it.
typedef struct MotusX264Job {
    const char *program;      // a path, or a name on the PATH
    const char *const *words; // further options; NULL, or ends with NULL
    const char *preset;       // NULL: medium
    int shipped;              // 1: profile, references, B pictures and weights are the preset's
    int qp, threads, range;   // range 0: x264's own
    const char *input, *output;
    const char *log; // file for its output
    int frames;      // it has to encode
} MotusX264Job;

// Gets its version, "0.164.3095 baee400". `log`: a file to write to. *start (may be NULL): times of
// the program's start and end, which an encode has too. MOTUS_ERR_UNSUPPORTED: there is no such
// program.
MotusStatus motus_x264_version(const char *program, const char *log, char *text, size_t size,
                               MotusTimes *start, MotusError *error);

// Times of an encode.
typedef struct MotusX264Times {
    double seconds;     // as x264 reports them, from the first frame read to the last bits written
    MotusTimes program; // of the whole program, its start included
} MotusX264Times;

// Encodes. On failure *error has x264's message.
MotusStatus motus_x264_encode(const MotusX264Job *job, MotusX264Times *times, MotusError *error);

typedef struct MotusQuality {
    uint64_t bytes;    // without SEI (x264 writes its settings into one)
    uint64_t luma_ssd; // of all pictures
    double ssim;       // sum over pictures
    int frames;
} MotusQuality;

// Gets source frame n, valid until the next call.
typedef MotusStatus MotusSourceFrame(void *opaque, int n, const MotusFrame **frame,
                                     MotusError *error);

// Decodes a stream and compares its pictures with `frames` source frames. MOTUS_ERR_UNSUPPORTED:
// this build has no decoder; quality->bytes is set.
MotusStatus motus_stream_measure(const char *path, int frames, MotusSourceFrame *source,
                                 void *opaque, MotusQuality *quality, MotusError *error);

#endif
