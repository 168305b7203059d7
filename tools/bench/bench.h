// motus bench: measurements of the search, the encoder and the filters on this machine.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_H
#define TOOLS_BENCH_BENCH_H

#ifdef __cplusplus
extern "C" {
#endif
#include <cjson/cJSON.h>

#include "motus/encoder.h"
#include "tools/cli/options.h"

// ---- Frames -------------------------------------------------------------------------------------

// Frames in memory, so that nothing is read during a measurement.
typedef struct MotusBenchClip {
    MotusFrame **frame;
    int n, width, height;
    MotusRational fps;
    char name[128]; // the file's, or "synthetic"
} MotusBenchClip;

// Copies the clip's frames to pinned host memory, or to the current device's memory, with rows
// without gaps. The caller frees them, also after a failure.
MotusStatus motus_bench_frames(MotusFrame ***frames, const MotusBenchClip *clip, int on_device,
                               MotusError *error);
void motus_bench_frames_free(MotusFrame ***frames, int n); // accepts *frames == NULL

// ---- What is measured ---------------------------------------------------------------------------

enum {
    MOTUS_BENCH_RUNS = 100, // most runs
    MOTUS_BENCH_VALUES = 8  // most values of an option
};

typedef struct MotusBenchList {
    int n, value[MOTUS_BENCH_VALUES], least, most;
} MotusBenchList;

// The options of all measurements (cmd_bench.c says what they mean), and what they measure.
typedef struct MotusBench {
    const char *what, *input, *libx264, *beside;
    int size[2], frames, range, threads, qp, runs;
    MotusBackend backend; // never AUTO while something is measured
    int json, peers, upload, all_presets, gop_coders, gops, references, pictures, settle, quick;
    int presets; // mask of 1 << MotusPreset
    MotusBenchList rates, encoders;
    MotusDeviceList devices;
    // Settings of encodes, without what the rows of a table vary (preset, GOP coders, keyint,
    // devices).
    MotusEncoderConfig config;
    MotusBenchClip clip;
    cJSON *report; // gets the figures
} MotusBench;

// Loads the clip by the options of `b`.
MotusStatus motus_bench_clip(MotusBench *b, MotusError *error);

// Measurements of motus bench. Each runs what its name says, prints its lines unless b->json, and
// adds its figures to the report.
typedef MotusStatus MotusMeasure(const MotusBench *b, MotusError *error);
MotusMeasure motus_bench_me, motus_bench_requests, motus_bench_encode, motus_bench_presets,
    motus_bench_gop_coders, motus_bench_devices, motus_bench_latency, motus_bench_filters;

#ifdef MOTUS_HAVE_CUDA
enum { MOTUS_BENCH_HAS_CUDA = 1 };
#else
enum { MOTUS_BENCH_HAS_CUDA = 0 }; // then these are not in the build and must not be called
#endif
MotusMeasure motus_bench_me_cuda;

// ---- Rows ---------------------------------------------------------------------------------------

// One figure of a row.
typedef struct MotusBenchField {
    const char *key;    // in JSON; NULL: not there
    const char *format; // prints `text`, else `value`; NULL: not printed
    double value;       // NAN: unknown: "-", and not in JSON
    const char *text;
    double scale; // of the printed value; 0: 1
    int is_bool;  // in JSON `value` is true or false, `text` is printed
} MotusBenchField;

// Prints the fields as a line, and adds them to the report: to a new object of its array `rows`, to
// its object of that name if the name begins with '.', or (NULL) to itself.
void motus_bench_row(const MotusBench *b, const char *rows, const MotusBenchField *field, int n);
#define MOTUS_BENCH_ROW(b, rows, fields)                                                           \
    motus_bench_row(b, rows, fields, (int)(sizeof(fields) / sizeof *(fields)))

// ---- Encodes (bench_encode.c) -------------------------------------------------------------------

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

// Returns the rate of the coded clip in kb/s.
double motus_clip_kbps(const MotusBenchClip *clip, uint64_t bytes);

// Sorts n > 0 values. Returns the one in the middle (the lower of two).
double motus_median_of(double *values, int n);

// Sessions: encoders with the same settings, each with a thread that sends a picture, takes its
// packet and waits until the next picture is due. Their pictures are due in turn (bench_latency.c).
typedef struct MotusBenchSessions {
    const MotusEncoderConfig *config;
    MotusFrame *const *frame; // n_frames, encoded to and fro
    int n_frames, on_device;
    int n;        // encoders
    int rate;     // pictures/s of each; 0: the next one is sent when the last one is done
    int pictures; // of each that are timed; some more go before them
} MotusBenchSessions;

// Milliseconds from a picture's call to its packet in host memory; if the picture before it took
// until after it was due, from when it was due. All 0: there was no picture.
typedef struct MotusLatency {
    double median, p99, worst;
} MotusLatency;

typedef struct MotusLatencies {
    MotusLatency all, p, i; // of all pictures, P pictures, I pictures
    double late;            // share of pictures that took longer than 1 / rate
} MotusLatencies;

// MOTUS_END, with a text: a signal came (if signals are caught).
MotusStatus motus_bench_sessions(const MotusBenchSessions *o, MotusLatencies *out,
                                 MotusError *error);

// motus bench encode --gop-coders --peers: libx264's presets beside motus's, whose best frames/s
// are `fps`: frames/s with all processors, bits at equal PSNR. Without libx264 a note on stderr.
MotusStatus motus_bench_libx264(const MotusBench *b, const double fps[MOTUS_PRESETS],
                                MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
