// What motus/upload.h offers in a build without CUDA.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "motus/upload.h"

static MotusStatus refuse(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_cuda_alloc(void **memory, size_t bytes, MotusError *error) {
    (void)bytes;
    if (memory) *memory = NULL;
    return refuse(error);
}

void motus_cuda_free(void *memory) { (void)memory; }

MotusStatus motus_cuda_copy(void *dst, const void *src, size_t bytes, void *stream, MotusError *error) {
    (void)dst, (void)src, (void)bytes, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_ring_open(MotusCudaRing **ring, int slots, size_t in_bytes, size_t out_bytes, MotusError *error) {
    (void)slots, (void)in_bytes, (void)out_bytes;
    if (ring) *ring = NULL;
    return refuse(error);
}

MotusStatus motus_cuda_ring_open_device(MotusCudaRing **ring, int slots, size_t in_bytes, size_t out_bytes, MotusError *error) {
    return motus_cuda_ring_open(ring, slots, in_bytes, out_bytes, error);
}

MotusStatus motus_cuda_ring_input(MotusCudaRing *ring, void **input, MotusError *error) {
    (void)ring, (void)input;
    return refuse(error);
}

MotusStatus motus_cuda_ring_submit(MotusCudaRing *ring, MotusCudaJob *job, void *opaque, MotusError *error) {
    (void)ring, (void)job, (void)opaque;
    return refuse(error);
}

MotusStatus motus_cuda_ring_take(MotusCudaRing *ring, const void **output, MotusError *error) {
    (void)ring, (void)output;
    return refuse(error);
}

MotusStatus motus_cuda_ring_take_device(MotusCudaRing *ring, const void **d_output, void **stream, MotusError *error) {
    (void)ring, (void)d_output, (void)stream;
    return refuse(error);
}

void motus_cuda_ring_close(MotusCudaRing **ring) { (void)ring; }
