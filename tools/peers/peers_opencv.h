// OpenCV's CPU functions at the jobs of `motus bench filters`, in a build with -DMOTUS_OPENCV=ON.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_PEERS_PEERS_OPENCV_H
#define TOOLS_PEERS_PEERS_OPENCV_H

#include "tools/bench/filter_jobs.h"

#ifdef __cplusplus
extern "C" {
#endif

const char *motus_opencv_version(void); // NULL: this build has none

// The job with OpenCV, input and output as in motus_filter_job_run; threads 0: as many as OpenCV
// takes by itself. MOTUS_ERR_UNSUPPORTED: no OpenCV in this build, or it has nothing for the job.
// MOTUS_ERR_MEMORY: it threw.
MotusStatus motus_opencv_run(const MotusFilterJob *job, const void *in, void *out, void *scratch,
                             int threads);

#ifdef __cplusplus
}
#endif
#endif
