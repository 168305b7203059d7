// Stands in for the .cu files of the program in builds without the CUDA backend.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "tools/bench_me_cuda.h"
#include "tools/seeds.h"

MotusStatus motus_bench_me_cuda(const MotusBenchMeCuda *bench, MotusError *error) {
    (void)bench;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_seed_time_kernel(const MotusSeed *seed, const void *in, MotusSeedTime *time, MotusError *error) {
    (void)seed, (void)in, (void)time;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_seed_time_copies(double *device, double *up, double *down, MotusError *error) {
    (void)device, (void)up, (void)down;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_seed_time_stream(const MotusSeed *seed, const void *in, void *out, int overlapped, MotusSeedTime *time,
                                   MotusError *error) {
    (void)seed, (void)in, (void)out, (void)overlapped, (void)time;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_seed_time_npp(const MotusSeed *seed, const void *in, MotusSeedTime *time, MotusError *error) {
    (void)seed, (void)in, (void)time;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}
