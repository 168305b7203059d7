// Device and pinned memory, and a ring of pictures that are uploaded, processed and downloaded,
// several in flight at once.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/upload.h"

#include <stdint.h>

#include "common/cuda_call.cuh"
#include "common/slots.h"

extern "C" {
#include "common/alloc.h"
}

extern "C" MotusStatus motus_cuda_alloc(void **memory, size_t bytes, MotusError *error) {
    const char *what = "device memory";
    MotusStatus status = motus_cuda_check(cudaMalloc(memory, bytes), what, error);
    if (status) return status;
    status = motus_cuda_check(cudaMemset(*memory, 0, bytes), what, error);
    if (!status) status = motus_cuda_check(cudaStreamSynchronize(0), what, error);
    if (status) motus_cuda_free(*memory), *memory = NULL;
    return status;
}

extern "C" void motus_cuda_free(void *memory) { cudaFree(memory); }

extern "C" MotusStatus motus_cuda_copy(void *dst, const void *src, size_t bytes, void *stream,
                                       MotusError *error) {
    return motus_cuda_check(
        cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, (cudaStream_t)stream), "copy", error);
}

// A header before the memory tells if it is pinned: when it is freed, the device may have failed.
static constexpr size_t HEAD = 64;

extern "C" void *motus_host_alloc(size_t size) {
    uint8_t *memory = NULL;
    int pinned = motus_device_check(NULL) == MOTUS_OK;
    if (size > SIZE_MAX - HEAD) return NULL;
    if (!pinned)
        memory = (uint8_t *)motus_alloc(size + HEAD, 1);
    else if (cudaMallocHost((void **)&memory, size + HEAD) != cudaSuccess)
        memory = NULL, cudaGetLastError();
    if (!memory) return NULL;
    *memory = (uint8_t)pinned;
    return memory + HEAD;
}

extern "C" void motus_host_free(void *memory) {
    if (!memory) return;
    uint8_t *head = (uint8_t *)memory - HEAD;
    if (*head)
        cudaFreeHost(head);
    else
        motus_free(head);
}

// ---- The ring -----------------------------------------------------------------------------------

enum { UPLOAD, WORK, DOWNLOAD }; // streams; DOWNLOAD: the reader's, if results stay on the device

// A slot's event `done`: the result has been downloaded, or read on the device.
struct MotusCudaRing {
    MotusSlots slots;
    int down; // results are downloaded
    size_t in_bytes, out_bytes;
    size_t
        out; // offset of the output in a slot's device memory, and in its pinned memory if `down`
};

extern "C" MotusStatus motus_cuda_ring_open(MotusCudaRing **ring, int slots, size_t in_bytes,
                                            size_t out_bytes, int on_device, MotusError *error) {
    if (ring) *ring = NULL;
    if (!ring || slots < 2 || slots > MOTUS_MAX_SLOTS || !in_bytes || !out_bytes ||
        in_bytes > SIZE_MAX / 4 || out_bytes > SIZE_MAX / 4)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "picture ring: parameter out of range");
    MotusStatus status = motus_device_check(error);
    if (status) return status;
    MotusCudaRing *r = (MotusCudaRing *)motus_alloc(1, sizeof *r);
    if (!r) return motus_fail(error, MOTUS_ERR_MEMORY, "picture ring: out of memory");
    size_t end = 0;
    r->down = !on_device, r->in_bytes = in_bytes, r->out_bytes = out_bytes;
    motus_slot_reserve(&end, in_bytes);
    r->out = motus_slot_reserve(&end, out_bytes);
    status = motus_slots_open(&r->slots, slots, 3, end, on_device ? in_bytes : end, error);
    if (status)
        motus_free(r);
    else
        *ring = r;
    return status;
}

// Waits for the slot's upload: a result that stays on the device is taken before it is complete.
extern "C" MotusStatus motus_cuda_ring_input(MotusCudaRing *ring, void **input, MotusError *error) {
    if (!ring || !input)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "picture ring: nothing given");
    if (motus_slots_pending(&ring->slots) == ring->slots.n)
        return motus_fail(error, MOTUS_ERR_STATE, "picture ring: every slot is taken");
    MotusSlot *s = motus_slot(&ring->slots, ring->slots.submitted);
    *input = s->host;
    return motus_cuda_check(cudaEventSynchronize(s->uploaded), "picture ring", error);
}

static MotusStatus download(MotusCudaRing *ring, MotusSlot *s, MotusError *error) {
    const char *what = "picture ring";
    cudaStream_t down = ring->slots.stream[DOWNLOAD];
    MotusStatus status = motus_cuda_check(cudaStreamWaitEvent(down, s->worked, 0), what, error);
    if (!status)
        status = motus_cuda_check(cudaMemcpyAsync(s->host + ring->out, s->device + ring->out,
                                                  ring->out_bytes, cudaMemcpyDeviceToHost, down),
                                  what, error);
    return status ? status : motus_cuda_check(cudaEventRecord(s->done, down), what, error);
}

// Each step waits for the previous one, and the upload for the slot's previous job, which read the
// same input; all on the device. A slot is free once its result has been taken.
extern "C" MotusStatus motus_cuda_ring_submit(MotusCudaRing *ring, MotusCudaJob *job, void *opaque,
                                              MotusError *error) {
    const char *what = "picture ring";
    if (!ring || !job) return motus_fail(error, MOTUS_ERR_ARGUMENT, "picture ring: nothing given");
    if (motus_slots_pending(&ring->slots) == ring->slots.n)
        return motus_fail(error, MOTUS_ERR_STATE, "picture ring: every slot is taken");
    MotusSlot *s = motus_slot(&ring->slots, ring->slots.submitted);
    cudaStream_t up = ring->slots.stream[UPLOAD], work = ring->slots.stream[WORK];
    MotusStatus status = motus_cuda_check(cudaStreamWaitEvent(up, s->worked, 0), what, error);
    if (!status)
        status = motus_cuda_check(
            cudaMemcpyAsync(s->device, s->host, ring->in_bytes, cudaMemcpyHostToDevice, up), what,
            error);
    if (!status) status = motus_cuda_check(cudaEventRecord(s->uploaded, up), what, error);
    if (!status) status = motus_cuda_check(cudaStreamWaitEvent(work, s->uploaded, 0), what, error);
    // The job waits for the reader of the slot's previous result, which used the download stream.
    if (!status && !ring->down)
        status =
            motus_cuda_check(cudaEventRecord(s->done, ring->slots.stream[DOWNLOAD]), what, error);
    if (!status && !ring->down)
        status = motus_cuda_check(cudaStreamWaitEvent(work, s->done, 0), what, error);
    if (!status) {
        status = job(opaque, s->device, s->device + ring->out, work, error);
        // Also after a failure: kernels that the job has launched may still read the input.
        MotusStatus recorded =
            motus_cuda_check(cudaEventRecord(s->worked, work), what, status ? NULL : error);
        if (!status) status = recorded;
    }
    if (!status && ring->down) status = download(ring, s, error);
    if (!status) ring->slots.submitted++;
    return status;
}

extern "C" MotusStatus motus_cuda_ring_take(MotusCudaRing *ring, const void **output, void **stream,
                                            MotusError *error) {
    if (!ring || !output || (!ring->down && !stream))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "picture ring: nothing given");
    if (motus_slots_pending(&ring->slots) == 0) return MOTUS_END;
    MotusSlot *s = motus_slot(&ring->slots, ring->slots.taken);
    const cudaStream_t reader = ring->slots.stream[DOWNLOAD];
    MotusStatus status = motus_cuda_check(ring->down ? cudaEventSynchronize(s->done)
                                                     : cudaStreamWaitEvent(reader, s->worked, 0),
                                          "picture ring", error);
    if (status) return status;
    *output = (ring->down ? s->host : s->device) + ring->out;
    if (stream) *stream = ring->down ? NULL : reader;
    ring->slots.taken++;
    return MOTUS_OK;
}

extern "C" void motus_cuda_ring_close(MotusCudaRing **ring) {
    if (!ring || !*ring) return;
    motus_slots_close(&(*ring)->slots);
    motus_free(*ring);
    *ring = NULL;
}
