// Pictures from host memory through a job on the device and back, several under way at once.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/upload.h"

#include <stdint.h>

#include "common/cuda_call.h"

extern "C" {
#include "common/alloc.h"
}

namespace {

constexpr int MAX_SLOTS = 16;

struct Slot {
    void *h_in, *h_out, *d_in, *d_out;        // h_out NULL where results stay on the device
    cudaEvent_t uploaded, worked, downloaded; // downloaded: or read by whoever took the result on the device
};

} // namespace

struct MotusCudaRing {
    Slot slot[MAX_SLOTS];
    int slots, down; // down: results are downloaded
    size_t in_bytes, out_bytes;
    cudaStream_t upload, work, download; // download: the stream of the readers where results stay
    int64_t submitted, taken;
};

extern "C" MotusStatus motus_cuda_alloc(void **memory, size_t bytes, MotusError *error) {
    const char *what = "device memory";
    MotusStatus status = motus_cuda_check(cudaMalloc(memory, bytes), what, error);
    if (status) return status;
    status = motus_cuda_check(cudaMemset(*memory, 0, bytes), what, error);
    if (!status) status = motus_cuda_check(cudaStreamSynchronize(0), what, error); // the caller's streams do not wait for it
    if (status) motus_cuda_free(*memory), *memory = NULL;
    return status;
}

extern "C" void motus_cuda_free(void *memory) { cudaFree(memory); }

extern "C" MotusStatus motus_cuda_copy(void *dst, const void *src, size_t bytes, void *stream, MotusError *error) {
    return motus_cuda_check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t)stream), "device copy",
                            error);
}

// A head before the memory says where it came from: by the time it is freed the device may have failed.
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

static MotusStatus open_slot(const MotusCudaRing *ring, Slot *slot, MotusError *error) {
    const char *what = "picture ring";
    MotusStatus status = motus_cuda_check(cudaMallocHost(&slot->h_in, ring->in_bytes), what, error);
    if (!status && ring->down) status = motus_cuda_check(cudaMallocHost(&slot->h_out, ring->out_bytes), what, error);
    if (!status) status = motus_cuda_check(cudaMalloc(&slot->d_in, ring->in_bytes), what, error);
    if (!status) status = motus_cuda_check(cudaMalloc(&slot->d_out, ring->out_bytes), what, error);
    // What a job leaves out is not to be someone else's data.
    if (!status) status = motus_cuda_check(cudaMemsetAsync(slot->d_out, 0, ring->out_bytes, ring->work), what, error);
    if (!status) status = motus_cuda_check(cudaEventCreateWithFlags(&slot->uploaded, cudaEventDisableTiming), what, error);
    if (!status) status = motus_cuda_check(cudaEventCreateWithFlags(&slot->worked, cudaEventDisableTiming), what, error);
    if (!status) status = motus_cuda_check(cudaEventCreateWithFlags(&slot->downloaded, cudaEventDisableTiming), what, error);
    return status;
}

static MotusStatus open_ring(MotusCudaRing **ring, int slots, size_t in_bytes, size_t out_bytes, int down, MotusError *error) {
    if (ring) *ring = NULL;
    if (!ring || slots < 2 || slots > MAX_SLOTS || !in_bytes || !out_bytes)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "picture ring: parameter out of range");
    MotusStatus status = motus_device_check(error);
    if (status) return status;
    MotusCudaRing *r = (MotusCudaRing *)motus_alloc(1, sizeof *r);
    if (!r) return motus_fail(error, MOTUS_ERR_MEMORY, "picture ring: out of memory");
    r->slots = slots, r->down = down, r->in_bytes = in_bytes, r->out_bytes = out_bytes;
    cudaStream_t *streams[] = {&r->upload, &r->work, &r->download};
    for (int i = 0; i < 3 && !status; i++)
        status = motus_cuda_check(cudaStreamCreateWithFlags(streams[i], cudaStreamNonBlocking), "picture ring", error);
    for (int i = 0; i < slots && !status; i++) status = open_slot(r, &r->slot[i], error);
    // Jobs follow on the same stream; a failure of the clearing is to be the opening's.
    if (!status) status = motus_cuda_check(cudaStreamSynchronize(r->work), "picture ring", error);
    if (status)
        motus_cuda_ring_close(&r);
    else
        *ring = r;
    return status;
}

extern "C" MotusStatus motus_cuda_ring_open(MotusCudaRing **ring, int slots, size_t in_bytes, size_t out_bytes,
                                            MotusError *error) {
    return open_ring(ring, slots, in_bytes, out_bytes, 1, error);
}

extern "C" MotusStatus motus_cuda_ring_open_device(MotusCudaRing **ring, int slots, size_t in_bytes, size_t out_bytes,
                                                   MotusError *error) {
    return open_ring(ring, slots, in_bytes, out_bytes, 0, error);
}

// A result that stays on the device is taken without waiting: the slot's upload may still be reading its input.
extern "C" MotusStatus motus_cuda_ring_input(MotusCudaRing *ring, void **input, MotusError *error) {
    if (!ring || !input) return motus_fail(error, MOTUS_ERR_ARGUMENT, "picture ring: nothing given");
    if (ring->submitted - ring->taken == ring->slots)
        return motus_fail(error, MOTUS_ERR_STATE, "picture ring: every slot is taken");
    Slot *s = &ring->slot[ring->submitted % ring->slots];
    *input = s->h_in;
    return motus_cuda_check(cudaEventSynchronize(s->uploaded), "picture ring", error);
}

static MotusStatus download(MotusCudaRing *ring, Slot *s, MotusError *error) {
    const char *what = "picture ring";
    MotusStatus status = motus_cuda_check(cudaStreamWaitEvent(ring->download, s->worked, 0), what, error);
    if (!status)
        status = motus_cuda_check(cudaMemcpyAsync(s->h_out, s->d_out, ring->out_bytes, cudaMemcpyDeviceToHost, ring->download),
                                  what, error);
    return status ? status : motus_cuda_check(cudaEventRecord(s->downloaded, ring->download), what, error);
}

// The slot's result of before has been read: what its reader has done lies on the download stream.
static MotusStatus wait_for_reader(MotusCudaRing *ring, Slot *s, MotusError *error) {
    MotusStatus status = motus_cuda_check(cudaEventRecord(s->downloaded, ring->download), "picture ring", error);
    return status ? status : motus_cuda_check(cudaStreamWaitEvent(ring->work, s->downloaded, 0), "picture ring", error);
}

// Each step waits for the one before, and the upload for the slot's job before, which read the same input, on the device only. A slot is free again
// when its result has been taken.
extern "C" MotusStatus motus_cuda_ring_submit(MotusCudaRing *ring, MotusCudaJob *job, void *opaque, MotusError *error) {
    const char *what = "picture ring";
    if (!ring || !job) return motus_fail(error, MOTUS_ERR_ARGUMENT, "picture ring: nothing given");
    if (ring->submitted - ring->taken == ring->slots)
        return motus_fail(error, MOTUS_ERR_STATE, "picture ring: every slot is taken");
    Slot *s = &ring->slot[ring->submitted % ring->slots];
    MotusStatus status = motus_cuda_check(cudaStreamWaitEvent(ring->upload, s->worked, 0), what, error);
    if (!status)
        status = motus_cuda_check(cudaMemcpyAsync(s->d_in, s->h_in, ring->in_bytes, cudaMemcpyHostToDevice, ring->upload), what,
                                  error);
    if (!status) status = motus_cuda_check(cudaEventRecord(s->uploaded, ring->upload), what, error);
    if (!status) status = motus_cuda_check(cudaStreamWaitEvent(ring->work, s->uploaded, 0), what, error);
    if (!status && !ring->down) status = wait_for_reader(ring, s, error);
    if (!status) {
        status = job(opaque, s->d_in, s->d_out, ring->work, error);
        // Also after a failure: what the job has launched may still be at work on the input when the slot's next one is sent.
        MotusStatus recorded = motus_cuda_check(cudaEventRecord(s->worked, ring->work), what, status ? NULL : error);
        if (!status) status = recorded;
    }
    if (!status && ring->down) status = download(ring, s, error);
    if (!status) ring->submitted++;
    return status;
}

static MotusStatus check_take(const MotusCudaRing *ring, const void *output, int down, MotusError *error) {
    if (!ring || !output) return motus_fail(error, MOTUS_ERR_ARGUMENT, "picture ring: nothing given");
    if (ring->down != down)
        return motus_fail(error, MOTUS_ERR_STATE, "picture ring: results %s", down ? "stay on the device" : "are downloaded");
    return ring->taken == ring->submitted ? MOTUS_END : MOTUS_OK;
}

extern "C" MotusStatus motus_cuda_ring_take(MotusCudaRing *ring, const void **output, MotusError *error) {
    MotusStatus status = check_take(ring, output, 1, error);
    if (status) return status;
    Slot *s = &ring->slot[ring->taken % ring->slots];
    status = motus_cuda_check(cudaEventSynchronize(s->downloaded), "picture ring", error);
    if (status) return status;
    *output = s->h_out;
    ring->taken++;
    return MOTUS_OK;
}

extern "C" MotusStatus motus_cuda_ring_take_device(MotusCudaRing *ring, const void **d_output, void **stream, MotusError *error) {
    MotusStatus status = check_take(ring, stream ? d_output : NULL, 0, error);
    if (status) return status;
    Slot *s = &ring->slot[ring->taken % ring->slots];
    status = motus_cuda_check(cudaStreamWaitEvent(ring->download, s->worked, 0), "picture ring", error);
    if (status) return status;
    *d_output = s->d_out;
    *stream = ring->download;
    ring->taken++;
    return MOTUS_OK;
}

extern "C" void motus_cuda_ring_close(MotusCudaRing **ring) {
    if (!ring || !*ring) return;
    MotusCudaRing *r = *ring;
    cudaStream_t streams[] = {r->upload, r->work, r->download};
    for (int i = 0; i < 3; i++)
        if (streams[i]) cudaStreamSynchronize(streams[i]);
    for (int i = 0; i < r->slots; i++) {
        Slot *s = &r->slot[i];
        cudaEvent_t events[] = {s->uploaded, s->worked, s->downloaded};
        for (int k = 0; k < 3; k++)
            if (events[k]) cudaEventDestroy(events[k]);
        cudaFreeHost(s->h_in), cudaFreeHost(s->h_out);
        cudaFree(s->d_in), cudaFree(s->d_out);
    }
    for (int i = 0; i < 3; i++)
        if (streams[i]) cudaStreamDestroy(streams[i]);
    motus_free(r);
    *ring = NULL;
}
