// Launches that may begin while the kernel before them in the stream is still finishing (programmatic dependent launch, from sm_90 on; elsewhere they
// are plain launches). Every kernel launched so calls motus_wait_for_predecessor before it touches what another kernel may use.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_CUDA_LAUNCH_H
#define COMMON_CUDA_LAUNCH_H

#include <cuda_runtime.h>

#include "common/cuda_check.h"

// Waits until everything before this kernel in its stream has finished; until then only shared memory and what no kernel writes may be touched.
static __device__ __forceinline__ void motus_wait_for_predecessor(void) {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

// The next kernel's blocks may take their places as soon as all of this kernel's have said so or ended.
static __device__ __forceinline__ void motus_let_successor_start(void) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

template <class... T>
static MotusStatus motus_launch_early(dim3 blocks, int threads, cudaStream_t stream, const char *what, MotusError *error,
                                      void (*kernel)(T...), T... arguments) {
    int device = 0, major = 0;
    MotusStatus status = motus_cuda_check(cudaGetDevice(&device), what, error);
    if (!status)
        status = motus_cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), what, error);
    if (status) return status;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = dim3((unsigned)threads), config.stream = stream;
    config.attrs = &early, config.numAttrs = major >= 9 ? 1 : 0;
    return motus_cuda_check(cudaLaunchKernelEx(&config, kernel, arguments...), what, error);
}

#endif
