// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_executor.h"

#include "common/cuda_call.cuh"
#include "encoder/weights/source_stats_cuda.h"
#include "yuv/device_frame.h"
#include "yuv/image.h"
#include "yuv/pad.h"

extern "C" {
#include "common/alloc.h"
}

typedef struct MotusFrameSlots {
    int device, n, width, height; // visible size
    cudaStream_t up;              // of MotusCopyStreams
    cudaEvent_t read;             // the last frame from host memory has been read
    uint8_t *memory, *host;       // host: pinned memory of statistics; NULL without weightp
    size_t shares_bytes;          // of a slot
    MotusFrameSlot *slot;         // the caller's
} MotusFrameSlots;

namespace {

// A wait for an upload (60 us at 1080p) keeps the processor busy: CUDA's blocking wait returns some
// 100 us late, and one thread may have to feed several devices.
MotusStatus open_events(MotusFrameSlots *s, MotusError *error) {
    MotusStatus status = motus_cuda_check(
        cudaEventCreateWithFlags(&s->read, cudaEventDisableTiming), "event", error);
    for (int i = 0; i < s->n && !status; i++) {
        MotusFrameSlot *slot = &s->slot[i];
        for (void **event : {&slot->uploaded, &slot->filled, &slot->counted})
            if (!status && (event != &slot->counted || s->shares_bytes))
                status = motus_cuda_check(
                    cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventDisableTiming), "event",
                    error);
    }
    return status;
}

MotusStatus open_memory(MotusFrameSlots *s, const MotusStream *stream, MotusError *error) {
    const size_t bytes = motus_frame_slots_bytes(stream, s->n);
    MotusStatus status =
        motus_cuda_check(cudaMalloc((void **)&s->memory, bytes), "device memory", error);
    if (!status)
        status =
            motus_cuda_check(cudaMemsetAsync(s->memory, 0, bytes, s->up), "device memory", error);
    if (!status) status = motus_cuda_check(cudaStreamSynchronize(s->up), "device memory", error);
    if (!status && s->shares_bytes)
        status = motus_cuda_check(cudaMallocHost((void **)&s->host, (size_t)s->n * s->shares_bytes),
                                  "pinned memory", error);
    if (status) return status;
    size_t end = 0;
    for (int i = 0; i < s->n; i++) {
        MotusFrameSlot *slot = &s->slot[i];
        motus_device_frame_layout(slot->plane, stream->mb_width, stream->mb_height, s->memory,
                                  &end);
        if (s->shares_bytes)
            slot->shares = (MotusSourceShares *)(s->host + (size_t)i * s->shares_bytes);
        slot->origin = s;
    }
    return MOTUS_OK;
}

MotusStatus record(void *event, cudaStream_t stream, MotusError *error) {
    return motus_cuda_check(cudaEventRecord((cudaEvent_t)event, stream), "record", error);
}

// Uploads and pads a frame, luma first: the search needs no chroma.
MotusStatus upload(const MotusFrameSlot *slot, const MotusFrame *frame, MotusError *error) {
    MotusFrameSlots *s = slot->origin;
    const MotusPlane *to = slot->plane;
    MotusStatus status = motus_device_frame_upload(to, frame, 0, 1, s->up, error);
    if (!status) status = motus_planes_pad_cuda(to, 0, 1, s->width, s->height, s->up, error);
    if (!status) status = record(slot->uploaded, s->up, error);
    if (!status) status = motus_device_frame_upload(to, frame, 1, 2, s->up, error);
    if (!status) status = record(s->read, s->up, error);
    return status ? status : motus_planes_pad_cuda(to, 1, 2, s->width, s->height, s->up, error);
}

// Puts a frame or an image into the slot. device: the frame's, if it is on one.
MotusStatus put(const MotusFrameSlot *slot, const MotusFrameSource *source, int device,
                MotusError *error) {
    const MotusFrameSlots *s = slot->origin;
    const MotusFrame *frame = source->frame;
    if (!source->on_device) return upload(slot, frame, error);
    if (frame && device == s->device)
        return motus_planes_copy_padded_cuda(slot->plane, frame->plane, 3, source->stream, error);
    if (frame) { // from another device
        MotusStatus status = motus_device_frame_copy_peer(slot->plane, s->device, frame->plane,
                                                          device, 3, source->stream, error);
        return status ? status
                      : motus_planes_pad_cuda(slot->plane, 0, 3, s->width, s->height, s->up, error);
    }
    MotusFrame visible = {};
    visible.width = s->width, visible.height = s->height;
    for (int k = 0; k < 3; k++)
        visible.plane[k] = {slot->plane[k].data, slot->plane[k].stride, k ? s->width / 2 : s->width,
                            k ? s->height / 2 : s->height};
    MotusStatus status =
        motus_cuda_image_convert(&visible, source->image, source->colour, source->stream, error);
    return status ? status
                  : motus_planes_pad_cuda(slot->plane, 0, 3, s->width, s->height, source->stream,
                                          error);
}

// Measures a slot behind its planes.
MotusStatus measure(const MotusFrameSlot *slot, cudaStream_t stream, MotusError *error) {
    return motus_cuda_check(motus_source_shares_measure(slot->shares, slot->plane, stream),
                            "statistics of the frame", error);
}

// Measures a slot whose planes are on their way on the stream, and records its events. The picture
// of an upload need not wait for statistics; a frame that is `here` has one event for all.
MotusStatus complete(MotusFrameSlot *slot, cudaStream_t stream, int here, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    slot->measured = slot->shares && !here ? slot->counted : slot->filled;
    if (slot->shares && here) status = measure(slot, stream, error);
    if (!status) status = record(slot->filled, stream, error);
    if (!status && slot->shares && !here) status = measure(slot, stream, error);
    return status || slot->measured == slot->filled ? status : record(slot->counted, stream, error);
}

} // namespace

// ---- Copy streams -------------------------------------------------------------------------------

extern "C" MotusStatus motus_copy_streams_open(void **out, int device, MotusError *error) {
    MotusOnDevice on(device);
    int lowest, highest;
    MotusCopyStreams *c = (MotusCopyStreams *)motus_alloc(1, sizeof *c);
    *out = c;
    if (!c) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    c->device = device;
    MotusStatus status =
        motus_cuda_check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "stream", error);
    if (!status)
        status = motus_cuda_check(
            cudaStreamCreateWithPriority((cudaStream_t *)&c->up, cudaStreamNonBlocking, highest),
            "stream", error);
    if (!status)
        status = motus_cuda_check(
            cudaStreamCreateWithFlags((cudaStream_t *)&c->down, cudaStreamNonBlocking), "stream",
            error);
    if (status) motus_copy_streams_close(out);
    return status;
}

extern "C" void motus_copy_streams_close(void **copies) {
    MotusCopyStreams *c = (MotusCopyStreams *)*copies;
    if (!c) return;
    MotusOnDevice on(c->device);
    for (void *stream : {c->up, c->down}) {
        if (stream) cudaStreamSynchronize((cudaStream_t)stream);
        if (stream) cudaStreamDestroy((cudaStream_t)stream);
    }
    (void)cudaGetLastError();
    motus_free(c);
    *copies = NULL;
}

// ---- Slots --------------------------------------------------------------------------------------

extern "C" size_t motus_frame_slots_bytes(const MotusStream *stream, int n) {
    MotusPlane unused[3];
    size_t bytes = 0;
    motus_device_frame_layout(unused, stream->mb_width, stream->mb_height, NULL, &bytes);
    return (size_t)n * bytes;
}

extern "C" MotusStatus motus_frame_slots_open(void **out, const MotusStream *stream, void *shared,
                                              MotusFrameSlot *slot, int n, MotusError *error) {
    const MotusCopyStreams *copies = (const MotusCopyStreams *)shared;
    MotusOnDevice on(copies->device);
    MotusFrameSlots *s = (MotusFrameSlots *)motus_alloc(1, sizeof *s);
    *out = s;
    if (!s) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    s->device = copies->device, s->n = n, s->slot = slot;
    s->up = (cudaStream_t)copies->up;
    if (stream->sequence.weighted_pred) // a multiple of 8
        s->shares_bytes = motus_source_shares_bytes(stream->mb_width, stream->mb_height);
    s->width = stream->config.width, s->height = stream->config.height;
    MotusStatus status = open_events(s, error);
    if (!status) status = open_memory(s, stream, error);
    if (status) motus_frame_slots_close(out);
    return status;
}

extern "C" void motus_frame_slots_close(void **slots) {
    MotusFrameSlots *s = (MotusFrameSlots *)*slots;
    if (!s) return;
    MotusOnDevice on(s->device);
    if (s->up) cudaStreamSynchronize(s->up);
    if (s->read) cudaEventDestroy(s->read);
    for (int i = 0; i < s->n; i++)
        for (void *event : {s->slot[i].uploaded, s->slot[i].filled, s->slot[i].counted})
            if (event) cudaEventDestroy((cudaEvent_t)event);
    cudaFree(s->memory);
    cudaFreeHost(s->host);
    (void)cudaGetLastError();
    motus_free(s);
    *slots = NULL;
}

extern "C" MotusStatus motus_frame_slot_fill(MotusFrameSlot *slot, const MotusFrameSource *source,
                                             MotusError *error) {
    MotusFrameSlots *s = slot->origin;
    MotusOnDevice on(s->device);
    int device = s->device; // of the frame
    MotusStatus status = MOTUS_OK;
    if (source->on_device && source->frame)
        status = motus_device_frame_locate(source->frame, &device, error);
    const int here = source->on_device && device == s->device;
    cudaStream_t stream = here ? (cudaStream_t)source->stream : s->up;
    slot->has_luma = source->on_device ? slot->filled : slot->uploaded;
    if (!status) status = put(slot, source, device, error);
    if (!status) status = complete(slot, stream, here, error);
    if (status && !here) cudaStreamSynchronize(stream); // no copy outlives the call
    return status;
}

extern "C" MotusStatus motus_frame_slot_wait(const MotusFrameSlot *slot, MotusError *error) {
    MotusOnDevice on(slot->origin->device);
    return motus_cuda_check(cudaEventSynchronize(slot->origin->read), "upload of the frame", error);
}

extern "C" MotusStatus motus_frame_slot_measure(const MotusPictureJob *job, MotusSourceStats *stats,
                                                MotusError *error) {
    const MotusFrameSlot *slot = job->slot;
    const MotusPlane *luma = &slot->plane[0];
    MotusOnDevice on(slot->origin->device);
    MotusStatus status = motus_cuda_check(cudaEventSynchronize((cudaEvent_t)slot->measured),
                                          "statistics of the frame", error);
    if (!status) motus_source_shares_add(stats, slot->shares, luma->width / 16, luma->height / 16);
    return status;
}
