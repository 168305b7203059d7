// The program x264: its version, an encode, and the quality of a stream.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_X264_X264_H
#define TOOLS_X264_X264_H

#include "motus/frame.h"
#include "motus/status.h"
#include "tools/cli/system.h"

// Other programs: running them, and a temporary folder for their files.

// Runs a program (a path, or a name on the PATH) and waits for it. Its stdout and stderr go to the
// file `log` (NULL: nowhere). A signal that this program has caught is passed on to it. Returns its
// exit status: 127 if it could not be started, 126 if a signal ended it. *times (may be NULL): its
// own, with its start.
int motus_spawn(char *const argv[], const char *log, MotusTimes *times);

// A folder in $TMPDIR, else /tmp.
typedef struct MotusWorkFolder {
    char path[512];
    char clip[544];   // name for a .y4m
    char stream[544]; // name for a coded stream
    char log[544];    // name for a program's output
} MotusWorkFolder;

// Makes the folder, empty.
MotusStatus motus_work_folder_make(MotusWorkFolder *folder, MotusError *error);

// Makes the folder and writes n frames into its clip. On failure nothing is left behind.
MotusStatus motus_work_folder_make_clip(MotusWorkFolder *folder, MotusFrame *const *frames, int n,
                                        MotusRational fps, MotusError *error);

// Removes the folder with its three files; accepts a zeroed one.
void motus_work_folder_remove(MotusWorkFolder *folder);

// Measures ffmpeg's exhaustive search over n frames on one thread, in frames per second: filter
// mestimate, method esa (16x16 blocks, full samples, no MV cost, both directions).
// MOTUS_ERR_UNSUPPORTED: there is no such program or filter.
MotusStatus motus_ffmpeg_search(MotusFrame *const *frames, int n, int range, double *fps,
                                MotusError *error);

// libx264, loaded at run time: encodes frames in memory. Uses only the parts of its interface that
// have the same layout in every version since 2011.

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

// BD-rate: the bits that a test encoder needs beyond an anchor for the same PSNR, in per cent,
// averaged over the PSNR range that both cover.

#define MOTUS_RD_POINTS 16 // most points of a curve

typedef struct MotusRdPoint {
    double kbps, psnr; // kb/s > 0; dB
} MotusRdPoint;

// Integrates log10(rate) over PSNR by monotone piecewise cubics (Fritsch-Carlson slopes), as the
// spreadsheets of JCT-VC do. *percent < 0: `test` needs fewer bits. Points may be in any order.
// MOTUS_ERR_ARGUMENT (*percent unchanged): a curve has fewer than 4 or more than MOTUS_RD_POINTS
// points or does not rise strictly, or the two share no range of PSNR.
MotusStatus motus_bd_rate(const MotusRdPoint *anchor, int n_anchor, const MotusRdPoint *test,
                          int n_test, double *percent);

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
