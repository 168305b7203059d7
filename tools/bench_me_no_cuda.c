// A build without the CUDA backend.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "tools/bench_me_cuda.h"

MotusStatus motus_bench_me_cuda(const MotusBenchMeCuda *bench, MotusError *error) {
    (void)bench;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}
