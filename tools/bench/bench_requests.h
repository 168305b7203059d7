// motus bench me --references: one picture searched in several references, by single searches and
// by requests.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_REQUESTS_H
#define TOOLS_BENCH_BENCH_REQUESTS_H

#include <cjson/cJSON.h>

#include "motus/me_request.h"
#include "tools/bench/bench_input.h"

typedef struct MotusBenchRequests {
    const MotusBenchClip *clip;
    int range, threads, most; // most: references of a request; the table has 1, 2, 4, ... of them
    MotusBackend backend;     // never AUTO
    int print;                // print lines, beside the report
    cJSON *report;
} MotusBenchRequests;

// Searches a second (a picture in one reference, quarter samples, all 41 blocks, vectors and
// costs), and pictures a second of what requests give beside a search.
MotusStatus motus_bench_requests(const MotusBenchRequests *bench, MotusError *error);

#endif
