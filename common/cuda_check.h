// CUDA's status as ours, with CUDA's own words.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_CUDA_CHECK_H
#define COMMON_CUDA_CHECK_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "common/device.h"
#include "common/error.h"

// MOTUS_OK, or the error that `what` met.
static inline MotusStatus motus_cuda_check(cudaError_t status, const char *what, MotusError *error) {
    if (status == cudaSuccess && motus_device_fault()) status = cudaErrorUnknown;
    if (status == cudaSuccess) return MOTUS_OK;
    (void)cudaGetLastError(); // told once: the next launch is not to meet it again
    MotusStatus ours =
        status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ? MOTUS_ERR_NO_DEVICE : MOTUS_ERR_CUDA;
    return motus_fail(error, ours, "%s: %s", what, cudaGetErrorString(status));
}

// After a launch.
static inline MotusStatus motus_cuda_launched(const char *what, MotusError *error) {
    return motus_cuda_check(cudaGetLastError(), what, error);
}

#ifdef __cplusplus
}
#endif
#endif
