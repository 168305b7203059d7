// What motus bench me measures on a CUDA device beside the whole search.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_BENCH_ME_CUDA_H
#define TOOLS_BENCH_BENCH_ME_CUDA_H

#ifdef __cplusplus
extern "C" {
#endif
#include <cjson/cJSON.h>

#include "tools/bench/bench_input.h"

typedef struct MotusBenchMeCuda {
    const MotusBenchClip *clip;
    int range;
    int upload; // also the table of ways to upload
    int print;  // print lines, beside the report
    cJSON *report;
} MotusBenchMeCuda;

// Kernel times, the VABSDIFF4 limit and the copy bandwidths of the same run, the rate from host
// memory, and with `upload` the ways to upload.
MotusStatus motus_bench_me_cuda(const MotusBenchMeCuda *bench, MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
