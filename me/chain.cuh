// A chain of copies and kernels on a stream of its own, ordered with the caller's stream by events.
// `caller` is that stream, or NULL.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CHAIN_CUH
#define ME_CHAIN_CUH

#include "common/cuda_call.cuh"
#include "motus/me.h"
#include "yuv/pad.h"

typedef struct MotusChain {
    cudaStream_t stream;
    cudaEvent_t begun; // on the caller's stream, before the chain
    cudaEvent_t done;  // at the end of the chain: its memory is free again
} MotusChain;

static inline MotusStatus motus_chain_open(MotusChain *chain, MotusError *error) {
    MotusStatus status = motus_cuda_check(
        cudaStreamCreateWithFlags(&chain->stream, cudaStreamNonBlocking), "stream", error);
    if (!status)
        status = motus_cuda_check(cudaEventCreateWithFlags(&chain->begun, cudaEventDisableTiming),
                                  "event", error);
    if (!status)
        status = motus_cuda_check(cudaEventCreateWithFlags(&chain->done, cudaEventDisableTiming),
                                  "event", error);
    return status;
}

// Accepts a half-open chain. Does not wait for its work.
static inline void motus_chain_close(MotusChain *chain) {
    if (chain->begun) cudaEventDestroy(chain->begun);
    if (chain->done) cudaEventDestroy(chain->done);
    if (chain->stream) cudaStreamDestroy(chain->stream);
}

// Lets the chain wait for what is on the caller's stream.
static inline MotusStatus motus_chain_begin(const MotusChain *chain, void *caller,
                                            MotusError *error) {
    if (!caller) return MOTUS_OK;
    MotusStatus status =
        motus_cuda_check(cudaEventRecord(chain->begun, (cudaStream_t)caller), "record", error);
    return status ? status
                  : motus_cuda_check(cudaStreamWaitEvent(chain->stream, chain->begun, 0), "wait",
                                     error);
}

// Ends the chain, and lets the caller's stream wait for it.
static inline MotusStatus motus_chain_end(const MotusChain *chain, void *caller,
                                          MotusError *error) {
    MotusStatus status =
        motus_cuda_check(cudaEventRecord(chain->done, chain->stream), "record", error);
    if (status || !caller) return status;
    return motus_cuda_check(cudaStreamWaitEvent((cudaStream_t)caller, chain->done, 0), "wait",
                            error);
}

static inline MotusStatus motus_chain_copy(const MotusChain *chain, void *to, const void *from,
                                           size_t bytes, const char *what, MotusError *error) {
    return motus_cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, chain->stream),
                            what, error);
}

// Copies the caller's plane to *whole, padded to whole MBs.
static inline MotusStatus motus_chain_copy_padded(const MotusChain *chain, const MotusPlane *whole,
                                                  const MotusPlane *plane, MotusMemory memory,
                                                  MotusError *error) {
    if (memory == MOTUS_MEMORY_DEVICE)
        return motus_planes_copy_padded_cuda(whole, plane, 1, chain->stream, error);
    const MotusPlane planes[3] = {*whole};
    MotusStatus status = motus_cuda_check(
        cudaMemcpy2DAsync(whole->data, (size_t)whole->stride, plane->data, (size_t)plane->stride,
                          (size_t)plane->width, (size_t)plane->height, cudaMemcpyHostToDevice,
                          chain->stream),
        "upload", error);
    return status ? status
                  : motus_planes_pad_cuda(planes, 0, 1, plane->width, plane->height, chain->stream,
                                          error);
}

#endif
