// SPDX-License-Identifier: BSD-2-Clause
#include "common/slots.h"

#include "common/cuda_call.cuh"

static MotusStatus open_slot(MotusSlot *s, size_t device_bytes, size_t host_bytes,
                             cudaStream_t stream, MotusError *error) {
    cudaEvent_t *events[] = {&s->uploaded, &s->worked, &s->done};
    MotusStatus status =
        motus_cuda_check(cudaMalloc((void **)&s->device, device_bytes), "device memory", error);
    // Cleared: a job may write only part of it, and kernels read beyond the end of a row.
    if (!status)
        status = motus_cuda_check(cudaMemsetAsync(s->device, 0, device_bytes, stream),
                                  "device memory", error);
    if (!status && host_bytes)
        status =
            motus_cuda_check(cudaMallocHost((void **)&s->host, host_bytes), "pinned memory", error);
    for (int i = 0; i < 3 && !status; i++)
        status = motus_cuda_check(cudaEventCreateWithFlags(events[i], cudaEventDisableTiming),
                                  "event", error);
    return status;
}

MotusStatus motus_slots_open(MotusSlots *ring, int n, int n_streams, size_t device_bytes,
                             size_t host_bytes, MotusError *error) {
    *ring = {};
    ring->n = n, ring->n_streams = n_streams;
    MotusStatus status = MOTUS_OK;
    for (int i = 0; i < n_streams && !status; i++)
        status = motus_cuda_check(
            cudaStreamCreateWithFlags(&ring->stream[i], cudaStreamNonBlocking), "stream", error);
    for (int i = 0; i < n && !status; i++)
        status = open_slot(&ring->slot[i], device_bytes, host_bytes, ring->stream[0], error);
    // Blocks are clear before another stream uses them, and errors of clearing are reported here.
    if (!status)
        status = motus_cuda_check(cudaStreamSynchronize(ring->stream[0]), "device memory", error);
    if (status) motus_slots_close(ring);
    return status;
}

void motus_slots_close(MotusSlots *ring) {
    for (int i = 0; i < ring->n_streams; i++)
        if (ring->stream[i]) cudaStreamSynchronize(ring->stream[i]);
    for (MotusSlot *s = ring->slot; s < ring->slot + ring->n; s++) {
        cudaEvent_t events[] = {s->uploaded, s->worked, s->done};
        for (int i = 0; i < 3; i++)
            if (events[i]) cudaEventDestroy(events[i]);
        cudaFreeHost(s->host);
        cudaFree(s->device);
    }
    for (int i = 0; i < ring->n_streams; i++)
        if (ring->stream[i]) cudaStreamDestroy(ring->stream[i]);
    cudaGetLastError(); // a reported error must not reappear in the caller's own calls
    *ring = {};
}
