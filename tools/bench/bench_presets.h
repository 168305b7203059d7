// motus bench encode: the encoder in memory, and the table of its presets beside x264.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_PRESETS_H
#define TOOLS_BENCH_BENCH_PRESETS_H

#include <cjson/cJSON.h>

#include "motus/encoder.h"
#include "tools/bench/bench_input.h"

#define MOTUS_BENCH_RUNS 100 // at most

typedef struct MotusEncodeRun {
    double seconds; // from opening the encoder to its last picture
    uint64_t bytes, luma_ssd;
} MotusEncodeRun;

// Encodes the whole clip once. MOTUS_END, with words: a signal came (where signals are caught).
MotusStatus motus_bench_encode_once(const MotusEncoderConfig *config, const MotusBenchClip *clip,
                                    MotusEncodeRun *run, MotusError *error);

typedef struct MotusBenchPresets {
    const MotusBenchClip *clip;
    MotusEncoderConfig config; // for every row but for its preset; threads count, not 0
    int runs;  // timed at config.qp, 1..MOTUS_BENCH_RUNS; all rows take turns, so that a slow spell
               // of the machine hits all of them
    int peers; // x264's rows too, and BD-rate against it; a note on stderr where there is no x264
    int print; // the table on stdout
    cJSON *report; // gets "x264", "rows"
} MotusBenchPresets;

MotusStatus motus_bench_presets(const MotusBenchPresets *options, MotusError *error);

#endif
