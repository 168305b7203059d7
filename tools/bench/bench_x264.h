// motus bench encode --gop-coders --peers: libx264's presets beside ours, over the same frames:
// frames per second with all processors, and bits at equal PSNR.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_X264_H
#define TOOLS_BENCH_BENCH_X264_H

#include <cjson/cJSON.h>

#include "motus/encoder.h"
#include "tools/bench/bench_input.h"

typedef struct MotusBenchX264 {
    const MotusBenchClip *clip;
    MotusEncoderConfig config; // of our rows, but for preset, lanes, keyint and QP
    int presets;               // mask of 1 << MotusPreset
    double fps[MOTUS_PRESETS]; // ours, as they were measured with lanes
    const char *libx264;       // where the library is; NULL: where the loader finds it
    int print;                 // the table on stdout
    cJSON *report;             // gets "libx264" (its build) and "beside_x264" (rows)
} MotusBenchX264;

// Without the library: a note on stderr, and no table.
MotusStatus motus_bench_x264(const MotusBenchX264 *options, MotusError *error);

#endif
