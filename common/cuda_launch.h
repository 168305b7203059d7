// Launches that may begin while the kernel before them in the stream is still finishing (programmatic dependent launch, from sm_90 on; elsewhere they
// are plain launches). Every kernel launched so calls motus_wait_for_predecessor before it touches what another kernel may use.
//
// One exception: a kernel may fetch its input without waiting where one before it, of the same job, has waited already and nothing from that one on
// writes the input. All blocks of the one that waited must do so before they call motus_let_successor_start: only then has whoever made the input
// finished by the time the later kernel's blocks begin.
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
static MotusStatus motus_launch_early(dim3 blocks, dim3 threads, cudaStream_t stream, const char *what, MotusError *error,
                                      void (*kernel)(T...), T... arguments) {
    // Whether the kernel waits is settled where __CUDA_ARCH__ is: by the virtual architecture it was compiled for. The binary's, like the device,
    // may be newer, as PTX for sm_80 becomes a binary for sm_90 on loading.
    cudaFuncAttributes compiled = {};
    MotusStatus status = motus_cuda_check(cudaFuncGetAttributes(&compiled, kernel), what, error);
    if (status) return status;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = threads, config.stream = stream;
    config.attrs = &early, config.numAttrs = compiled.ptxVersion >= 90 ? 1 : 0;
    return motus_cuda_check(cudaLaunchKernelEx(&config, kernel, arguments...), what, error);
}

#endif
