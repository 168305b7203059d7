// The measurements of motus bench me and motus bench encode.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_H
#define TOOLS_BENCH_BENCH_H

#ifdef __cplusplus
extern "C" {
#endif
#include <cjson/cJSON.h>

#include "motus/encoder.h"
#include "tools/cli/options.h"

// ---- Frames (bench_clip.c) ----------------------------------------------------------------------

// Frames in memory, so that nothing is read during a measurement.
typedef struct MotusBenchClip {
    MotusFrame **frame;
    int n, width, height;
    MotusRational fps;
    char name[128]; // the file's, or "synthetic"
} MotusBenchClip;

// Loads up to `frames` frames of `path`, or makes them (NULL) with motus synth's generator at this
// size. Odd sizes lose a row or column.
MotusStatus motus_clip_load(MotusBenchClip *clip, const char *path, const int size[2], int frames,
                            MotusError *error);
void motus_clip_free(MotusBenchClip *clip);

// Copies the clip's frames to pinned host memory, or to the current device's memory, with rows
// without gaps. The caller frees them, also after a failure.
MotusStatus motus_bench_frames(MotusFrame ***frames, const MotusBenchClip *clip, int on_device,
                               MotusError *error);
void motus_bench_frames_free(MotusFrame ***frames, int n); // accepts *frames == NULL

// The frames of a pass, and their encoder.
typedef struct MotusBenchPass {
    MotusEncoder *encoder;
    MotusFrame *const *frame; // n_frames, encoded over and over
    int n_frames, on_device;
    void (*take)(void *opaque, MotusPacket *packet); // gets each packet over; NULL: dropped
    void *opaque;                                    // for take
} MotusBenchPass;

// Sends n frames, from the first one on, and takes n packets.
MotusStatus motus_bench_pass(const MotusBenchPass *pass, int n, MotusError *error);

// Returns the rate of the coded clip, or of its first `pictures`, in kb/s.
double motus_clip_kbps(const MotusBenchClip *clip, uint64_t bytes, int pictures);

// Sorts n > 0 values. Returns the one in the middle (the lower of two).
double motus_median_of(double *values, int n);

// ---- Measurements -------------------------------------------------------------------------------

// The settings that all measurements share.
typedef struct MotusBench {
    const MotusBenchClip *clip;
    MotusBackend backend; // never AUTO
    int range, threads;   // of a search
    // Settings of encodes, without what the rows of a table vary (preset, GOP coders, keyint,
    // devices).
    MotusEncoderConfig config;
    int presets;   // mask of 1 << MotusPreset
    int print;     // 1: tables on stdout
    cJSON *report; // gets the figures
} MotusBench;

#define MOTUS_BENCH_RUNS 100 // most runs

// motus bench me: searches of all 41 blocks, at full samples and at quarter samples. peers: also
// ffmpeg's search. upload: also ways to upload to a GPU.
MotusStatus motus_bench_me(const MotusBench *bench, int peers, int upload, MotusError *error);

// --references: one picture searched in 1, 2, 4, ... up to `most` references, by calls and by
// requests: searches per second (quarter samples, all 41 blocks, MVs and costs).
MotusStatus motus_bench_requests(const MotusBench *bench, int most, MotusError *error);

#ifdef MOTUS_HAVE_CUDA
// Times the kernels of a search, the limit by VABSDIFF4, copies, and a search from host memory.
MotusStatus motus_bench_me_cuda(const MotusBench *bench, int upload, MotusError *error);
#endif

// motus bench encode: the whole clip, `runs` times.
MotusStatus motus_bench_encode(const MotusBench *bench, int runs, MotusError *error);

typedef struct MotusEncodeRun {
    double seconds; // from opening the encoder to its last picture
    uint64_t bytes, luma_ssd;
} MotusEncodeRun;

// Encodes the whole clip once. MOTUS_END, with a text: a signal came (if signals are caught).
MotusStatus motus_bench_encode_once(const MotusEncoderConfig *config, const MotusBenchClip *clip,
                                    MotusEncodeRun *run, MotusError *error);

// --presets: all presets, timed `runs` times in turn. peers: also the program x264, and BD-rates
// against it; without it a note on stderr.
MotusStatus motus_bench_presets(const MotusBench *bench, int runs, int peers, MotusError *error);

typedef struct MotusBenchGopCoders {
    int most;       // GOP coders: 1, 2, 4, ... up to this
    int runs, gops; // runs that are timed; GOPs per GOP coder in one
    int pictures;   // coded one at a time for the latency
} MotusBenchGopCoders;

// --gop-coders: frames/s by the number of GOP coders, the latency of one picture, and its stages.
// fps[preset] gets the best frames/s from host memory.
MotusStatus motus_bench_gop_coders(const MotusBench *bench, const MotusBenchGopCoders *settings,
                                   double fps[MOTUS_PRESETS], MotusError *error);

// --gop-coders --peers: libx264's presets beside motus's (whose frames/s are `fps`): frames/s with
// all processors, bits at equal PSNR. libx264: path, NULL: the loader's. Without it a note on
// stderr.
MotusStatus motus_bench_x264(const MotusBench *bench, const double fps[MOTUS_PRESETS],
                             const char *libx264, MotusError *error);

typedef struct MotusBenchDevices {
    const MotusDeviceList *devices; // the first one, the first two, four, ..., all
    int gop_coders;                 // per device
    int pictures;                   // timed in each row, whole GOPs for every encoder
} MotusBenchDevices;

// --devices: frames/s by the number of GPUs, as one encoder on all of them and as an encoder for
// each in one process. Fails also if a row's stream differs from the first row's.
MotusStatus motus_bench_devices(const MotusBench *bench, const MotusBenchDevices *settings,
                                MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
