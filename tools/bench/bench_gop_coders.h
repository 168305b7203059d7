// motus bench encode --gop-coders: frames per second by the number of lanes, how long one picture
// takes alone, and each of its stages.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_GOP_CODERS_H
#define TOOLS_BENCH_BENCH_GOP_CODERS_H

#include <cjson/cJSON.h>

#include "motus/encoder.h"
#include "tools/bench/bench_input.h"

typedef struct MotusBenchGopCoders {
    const MotusBenchClip *clip; // encoded again and again, as one closed GOP each time
    MotusEncoderConfig config;  // for every row but for preset, lanes and keyint
    int presets;                // mask of 1 << MotusPreset
    int most;                   // lanes: 1, 2, 4, ... up to this
    int runs, gops;             // that are timed; GOPs that each lane codes in one
    int print;                  // the table on stdout
    cJSON *report;              // gets "rows", "latency" and "stages_us"
    double *fps; // of MOTUS_PRESETS: gets the most frames/s of each, from host memory; may be NULL
} MotusBenchGopCoders;

MotusStatus motus_bench_gop_coders(const MotusBenchGopCoders *options, MotusError *error);

#endif
