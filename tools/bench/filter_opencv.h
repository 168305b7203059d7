// OpenCV's CPU functions doing the jobs of motus bench filters, in a build with -DMOTUS_OPENCV=ON.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_FILTER_OPENCV_H
#define TOOLS_BENCH_FILTER_OPENCV_H

#include "tools/bench/filter_jobs.h"

#ifdef __cplusplus
extern "C" {
#endif

const char *motus_opencv_version(void);

// Runs the job with OpenCV, input and output as in motus_filter_job_run. threads 0: OpenCV's
// choice. MOTUS_ERR_UNSUPPORTED: OpenCV has nothing for the job. MOTUS_ERR_MEMORY: it threw.
MotusStatus motus_opencv_run(const MotusFilterJob *job, const void *in, void *out, void *scratch,
                             int threads);

#ifdef __cplusplus
}
#endif
#endif
