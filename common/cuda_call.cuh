// Calls of the CUDA runtime: statuses with CUDA's own text, the current device, launches that begin
// early.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_CUDA_CALL_CUH
#define COMMON_CUDA_CALL_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include <time.h>

#include "common/launch_list.cuh"

extern "C" {
#include "common/device.h"
#include "common/error.h"
#include "common/faults.h"
}

// Returns MOTUS_OK, or the error that `what` met, with CUDA's text in *error.
static inline MotusStatus motus_cuda_check(cudaError_t status, const char *what,
                                           MotusError *error) {
    if (status == cudaSuccess && motus_device_fault()) status = cudaErrorUnknown;
    if (status == cudaSuccess) return MOTUS_OK;
    (void)cudaGetLastError(); // reported once: the next launch must not meet it again
    MotusStatus ours = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver
                           ? MOTUS_ERR_NO_DEVICE
                       : status == cudaErrorMemoryAllocation ? MOTUS_ERR_MEMORY
                                                             : MOTUS_ERR_CUDA;
    return motus_fail(error, ours, "%s: %s", what, cudaGetErrorString(status));
}

// Checks the launch just made.
static inline MotusStatus motus_cuda_launched(const char *what, MotusError *error) {
    return motus_cuda_check(cudaGetLastError(), what, error);
}

// Blocks until the event has occurred, for up to timeout_ms milliseconds (negative: any time).
// MOTUS_AGAIN: it has not occurred.
static inline MotusStatus motus_cuda_wait(cudaEvent_t event, int timeout_ms, const char *what,
                                          MotusError *error) {
    if (timeout_ms < 0) return motus_cuda_check(cudaEventSynchronize(event), what, error);
    struct timespec now, pause = {0, 50000}; // CUDA has no wait with a timeout
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t end =
        now.tv_sec * INT64_C(1000000000) + now.tv_nsec + timeout_ms * INT64_C(1000000);
    for (;;) {
        cudaError_t status = cudaEventQuery(event);
        if (status != cudaErrorNotReady) return motus_cuda_check(status, what, error);
        (void)cudaGetLastError(); // cudaErrorNotReady must not be taken for an error later
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec * INT64_C(1000000000) + now.tv_nsec >= end) return MOTUS_AGAIN;
        nanosleep(&pause, NULL);
    }
}

// Makes a device the current one while the object lives.
struct MotusOnDevice {
    int before;
    explicit MotusOnDevice(int device) : before(-1) {
        int now;
        if (cudaGetDevice(&now) == cudaSuccess && now != device &&
            cudaSetDevice(device) == cudaSuccess)
            before = now;
    }
    ~MotusOnDevice() {
        if (before >= 0) cudaSetDevice(before);
    }
    MotusOnDevice(const MotusOnDevice &) = delete;
    MotusOnDevice &operator=(const MotusOnDevice &) = delete;
};

// ---- Early launches -----------------------------------------------------------------------------
//
// An early launch may begin while the kernel before it in the stream is finishing (programmatic
// dependent launch, from sm_90 on; elsewhere it is a plain launch). Its kernel calls
// motus_wait_for_predecessor before it touches memory that another kernel may use.
//
// One exception: a kernel may load its input without waiting if an earlier kernel of the same job
// has waited and nothing since writes the input. All blocks of that kernel must wait before they
// call motus_let_successor_start: only then is the input complete when later blocks begin.

// Blocks until all that precedes the kernel in its stream is done. Before the call a kernel may
// touch shared memory, and memory that no kernel writes.
static __device__ __forceinline__ void motus_wait_for_predecessor(void) {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

// Lets the blocks of the next kernel begin once all blocks of this one have called it or ended.
static __device__ __forceinline__ void motus_let_successor_start(void) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Does both, for a kernel that has nothing to do before it waits.
static __device__ __forceinline__ void motus_begin_early(void) {
    motus_let_successor_start();
    motus_wait_for_predecessor();
}

// T, not deduced: arguments convert to the kernel's parameter types.
template <class T> struct MotusSame { typedef T type; };

// Launches a kernel; early if `early` is set, which needs code compiled for sm_90 or newer. If the
// thread has a list of launches, the kernel joins it, and never begins early.
template <class... T>
static cudaError_t motus_launch(int early, dim3 blocks, dim3 threads, size_t shared,
                                cudaStream_t stream, void (*kernel)(T...),
                                typename MotusSame<T>::type... arguments) {
    if (MotusLaunchList *list = motus_launch_list_of_thread()) {
        const cudaError_t status =
            motus_launch_list_add(list, (const void *)kernel, blocks, threads, shared,
                                  (int)sizeof...(T), (0 + ... + sizeof(T)));
        int k = 0;
        if (status == cudaSuccess) (motus_launch_list_put(list, k++, arguments), ...);
        return status;
    }
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks, config.blockDim = threads, config.dynamicSmemBytes = shared,
    config.stream = stream;
    config.attrs = &attribute, config.numAttrs = early ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// Returns an attribute of the current device; 0: it has none.
static inline int motus_device_attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&value, which, device) != cudaSuccess)
        (void)cudaGetLastError();
    return value;
}

// Returns the bytes of shared memory that a block on the current device may ask for.
static inline int motus_shared_bytes(void) {
    return motus_device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

// Loads kernels, so that their first launches do not wait.
template <class... K> static cudaError_t motus_load_kernels(K... kernel) {
    cudaFuncAttributes unused;
    cudaError_t status = cudaSuccess;
    ((status = status == cudaSuccess ? cudaFuncGetAttributes(&unused, kernel) : status), ...);
    return status;
}

// Launches a kernel early if it was compiled for sm_90 or newer.
template <class... T>
static MotusStatus motus_launch_early(dim3 blocks, dim3 threads, cudaStream_t stream,
                                      const char *what, MotusError *error, void (*kernel)(T...),
                                      T... arguments) {
    // __CUDA_ARCH__ is the virtual architecture (ptxVersion). The binary may be newer: PTX for
    // sm_80 becomes a binary for sm_90 on loading, without the wait.
    cudaFuncAttributes compiled = {};
    MotusStatus status = motus_cuda_check(cudaFuncGetAttributes(&compiled, kernel), what, error);
    if (status) return status;
    return motus_cuda_check(
        motus_launch(compiled.ptxVersion >= 90, blocks, threads, 0, stream, kernel, arguments...),
        what, error);
}

#endif
