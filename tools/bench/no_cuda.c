// Stands in for the .cu files of the program in builds without the CUDA backend.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "tools/bench/bench_me_cuda.h"
#include "tools/bench/filter_jobs.h"

MotusStatus motus_bench_me_cuda(const MotusBenchMeCuda *bench, MotusError *error) {
    (void)bench;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_filter_time_kernel(const MotusFilterJob *job, const void *in,
                                     MotusFilterTime *time, MotusError *error) {
    (void)job, (void)in, (void)time;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_filter_time_copies(double *device, double *up, double *down, MotusError *error) {
    (void)device, (void)up, (void)down;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_filter_time_stream(const MotusFilterJob *job, const void *in, void *out,
                                     int overlapped, MotusFilterTime *time, MotusError *error) {
    (void)job, (void)in, (void)out, (void)overlapped, (void)time;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_filter_time_npp(const MotusFilterJob *job, const void *in, MotusFilterTime *time,
                                  MotusError *error) {
    (void)job, (void)in, (void)time;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}
