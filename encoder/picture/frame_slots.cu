// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/frame_slots.h"

#include "common/cuda_call.h"
#include "common/on_device.h"
#include "yuv/device_frame.h"
#include "yuv/pad.h"

extern "C" {
#include "common/alloc.h"
}

struct MotusFrameSlots {
    int device, n, width, height; // visible
    cudaStream_t uploading;       // not its own
    cudaEvent_t read;             // the frame in host memory that came last
    uint8_t *memory;
    MotusFrameSlot *slot;
};

namespace {

// Waiting for a frame's upload, some 60 us at 1080p, keeps the processor: CUDA would notice the end
// some 100 us late, and one thread may have to feed several devices.
MotusStatus open_events(MotusFrameSlots *r, MotusError *error) {
    MotusStatus status = motus_cuda_check(
        cudaEventCreateWithFlags(&r->read, cudaEventDisableTiming), "event", error);
    for (int i = 0; i < r->n && !status; i++) {
        cudaEvent_t filled = NULL;
        status = motus_cuda_check(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming),
                                  "event", error);
        r->slot[i].filled = filled;
    }
    return status;
}

MotusStatus open_memory(MotusFrameSlots *r, const MotusStream *s, MotusError *error) {
    const size_t bytes = motus_frame_slots_bytes(s, r->n);
    MotusStatus status =
        motus_cuda_check(cudaMalloc((void **)&r->memory, bytes), "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaMemsetAsync(r->memory, 0, bytes, r->uploading),
                                  "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaStreamSynchronize(r->uploading), "device memory", error);
    if (status) return status;
    size_t end = 0;
    for (int i = 0; i < r->n; i++) {
        MotusFrameSlot *slot = &r->slot[i];
        motus_device_frame_layout(slot->src, s->mb_width, s->mb_height, r->memory, &end);
        slot->room = r;
        slot->next = i + 1 < r->n ? slot + 1 : NULL;
    }
    return MOTUS_OK;
}

MotusStatus upload(const MotusFrameSlot *to, const MotusFrame *frame, MotusError *error) {
    MotusFrameSlots *r = to->room;
    MotusStatus status = motus_device_frame_upload(to->src, frame, r->uploading, error);
    return status ? status
                  : motus_cuda_check(cudaEventRecord(r->read, r->uploading), "record", error);
}

} // namespace

extern "C" size_t motus_frame_slots_bytes(const MotusStream *stream, int slots) {
    MotusPlane unused[3];
    size_t bytes = 0;
    motus_device_frame_layout(unused, stream->mb_width, stream->mb_height, NULL, &bytes);
    return (size_t)slots * bytes;
}

extern "C" MotusStatus motus_frame_slots_open(MotusFrameSlots **out, const MotusStream *stream,
                                              const MotusCopyStreams *transfer, int n,
                                              MotusFrameSlot **slots, MotusError *error) {
    MotusOnDevice on(transfer->device);
    *out = NULL;
    MotusFrameSlots *r = (MotusFrameSlots *)motus_alloc(1, sizeof *r);
    if (!r) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    r->device = transfer->device, r->n = n;
    r->uploading = (cudaStream_t)transfer->up;
    r->width = stream->config.width, r->height = stream->config.height;
    r->slot = (MotusFrameSlot *)motus_alloc((size_t)n, sizeof *r->slot);
    MotusStatus status = r->slot ? MOTUS_OK : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (!status) status = open_events(r, error);
    if (!status) status = open_memory(r, stream, error);
    if (status) motus_frame_slots_close(&r);
    *slots = r ? r->slot : NULL;
    *out = r;
    return status;
}

extern "C" void motus_frame_slots_close(MotusFrameSlots **room) {
    if (!room || !*room) return;
    MotusFrameSlots *r = *room;
    MotusOnDevice on(r->device);
    if (r->uploading) cudaStreamSynchronize(r->uploading);
    if (r->read) cudaEventDestroy(r->read);
    for (int i = 0; r->slot && i < r->n; i++)
        if (r->slot[i].filled) cudaEventDestroy((cudaEvent_t)r->slot[i].filled);
    cudaFree(r->memory);
    (void)cudaGetLastError();
    motus_free(r->slot);
    motus_free(r);
    *room = NULL;
}

extern "C" MotusStatus motus_frame_slots_take(MotusFrameSlot *slot, const MotusFrame *frame,
                                              int on_device, void *made_on, MotusError *error) {
    MotusFrameSlots *r = slot->room;
    MotusOnDevice on(r->device);
    int device = r->device; // that the frame lies on
    MotusStatus status = on_device ? motus_device_frame_locate(frame, &device, error) : MOTUS_OK;
    const int here = on_device && device == r->device;
    cudaStream_t stream = here ? (cudaStream_t)made_on : r->uploading;
    if (!status && !here)
        status = on_device ? motus_device_frame_copy_peer(slot->src, r->device, frame->plane,
                                                          device, 3, made_on, error)
                           : upload(slot, frame, error);
    if (!status)
        status = here ? motus_planes_copy_padded_cuda(slot->src, frame->plane, stream, error)
                      : motus_planes_pad_cuda(slot->src, r->width, r->height, stream, error);
    if (!status)
        status =
            motus_cuda_check(cudaEventRecord((cudaEvent_t)slot->filled, stream), "record", error);
    if (status && !here)
        cudaStreamSynchronize(stream); // nothing may read the frame behind the caller's back
    return status;
}

extern "C" MotusStatus motus_frame_slots_taken(const MotusFrameSlot *slot, MotusError *error) {
    MotusOnDevice on(slot->room->device);
    return motus_cuda_check(cudaEventSynchronize(slot->room->read), "upload of the frame", error);
}
