// Calls to CUDA: statuses as ours with CUDA's own words, and launches that begin early.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_CUDA_CALL_H
#define COMMON_CUDA_CALL_H

#include <cuda_runtime.h>
#include <stdint.h>
#include <time.h>

extern "C" {
#include "common/device.h"
#include "common/error.h"
#include "common/faults.h"
}

// MOTUS_OK, or the error that `what` met.
static inline MotusStatus motus_cuda_check(cudaError_t status, const char *what,
                                           MotusError *error) {
    if (status == cudaSuccess && motus_device_fault()) status = cudaErrorUnknown;
    if (status == cudaSuccess) return MOTUS_OK;
    (void)cudaGetLastError(); // told once: the next launch is not to meet it again
    MotusStatus ours = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver
                           ? MOTUS_ERR_NO_DEVICE
                       : status == cudaErrorMemoryAllocation ? MOTUS_ERR_MEMORY
                                                             : MOTUS_ERR_CUDA;
    return motus_fail(error, ours, "%s: %s", what, cudaGetErrorString(status));
}

// After a launch.
static inline MotusStatus motus_cuda_launched(const char *what, MotusError *error) {
    return motus_cuda_check(cudaGetLastError(), what, error);
}

// Waits for an event up to timeout_ms milliseconds, without end if that is negative. MOTUS_AGAIN:
// it has not come.
static inline MotusStatus motus_cuda_wait(cudaEvent_t event, int timeout_ms, const char *what,
                                          MotusError *error) {
    if (timeout_ms < 0) return motus_cuda_check(cudaEventSynchronize(event), what, error);
    struct timespec now, pause = {0, 50000}; // CUDA can only be asked
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t end =
        now.tv_sec * INT64_C(1000000000) + now.tv_nsec + timeout_ms * INT64_C(1000000);
    for (;;) {
        cudaError_t status = cudaEventQuery(event);
        if (status != cudaErrorNotReady) return motus_cuda_check(status, what, error);
        (void)cudaGetLastError(); // not to be taken for an error later
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec * INT64_C(1000000000) + now.tv_nsec >= end) return MOTUS_AGAIN;
        nanosleep(&pause, NULL);
    }
}

// ---- Early launches -----------------------------------------------------------------------------
//
// They may begin while the kernel before them in the stream is still finishing (programmatic
// dependent launch, from sm_90 on; elsewhere they are plain launches). Every kernel launched so
// calls motus_wait_for_predecessor before it touches what another kernel may use.
//
// One exception: a kernel may fetch its input without waiting where one before it, of the same job,
// has waited already and nothing from that one on writes the input. All blocks of the one that
// waited must do so before they call motus_let_successor_start: only then has whoever made the
// input finished by the time the later kernel's blocks begin.

// Waits until everything before this kernel in its stream has finished; until then only shared
// memory and what no kernel writes may be touched.
static __device__ __forceinline__ void motus_wait_for_predecessor(void) {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

// The next kernel's blocks may take their places as soon as all of this kernel's have said so or
// ended.
static __device__ __forceinline__ void motus_let_successor_start(void) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// T itself: so that arguments become what the kernel takes.
template <class T> struct MotusSame { typedef T type; };

// A launch, early if `early` is set: then the kernel has been compiled for sm_90 or newer
// (motus_decide_cuda_prepare, and below).
template <class... T>
static cudaError_t motus_launch(int early, dim3 blocks, dim3 threads, size_t shared,
                                cudaStream_t stream, void (*kernel)(T...),
                                typename MotusSame<T>::type... arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = threads, config.dynamicSmemBytes = shared,
    config.stream = stream;
    config.attrs = &attribute, config.numAttrs = early ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <class... T>
static MotusStatus motus_launch_early(dim3 blocks, dim3 threads, cudaStream_t stream,
                                      const char *what, MotusError *error, void (*kernel)(T...),
                                      T... arguments) {
    // Whether the kernel waits is settled where __CUDA_ARCH__ is: by the virtual architecture it
    // was compiled for. The binary's, like the device, may be newer, as PTX for sm_80 becomes a
    // binary for sm_90 on loading.
    cudaFuncAttributes compiled = {};
    MotusStatus status = motus_cuda_check(cudaFuncGetAttributes(&compiled, kernel), what, error);
    if (status) return status;
    return motus_cuda_check(
        motus_launch(compiled.ptxVersion >= 90, blocks, threads, 0, stream, kernel, arguments...),
        what, error);
}

#endif
