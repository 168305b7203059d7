// Frames in device memory, padded there and downloaded; images in device memory, made frames.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cuda_call.cuh"
#include "common/slots.h"
#include "encoder/gop/intake.h"
#include "yuv/device_frame.h"
#include "yuv/pad.h"

extern "C" {
#include "common/alloc.h"
}

// One slot, on the device of the frames: a call returns when its frame has been downloaded.
struct MotusIntakeCuda {
    MotusSlots ring;
    MotusPlane plane[3]; // in the slot's device memory, whole MBs, rows without gaps
    int device;          // -1: no slot is open
};

namespace {

void close_slot(MotusIntakeCuda *in) {
    if (in->device < 0) return;
    MotusOnDevice on(in->device);
    motus_slots_close(&in->ring);
    in->device = -1;
}

// Opens the slot on the current device, number `device`.
MotusStatus open_slot(MotusIntakeCuda *in, int device, MotusError *error) {
    const size_t luma = (size_t)in->plane[0].width * in->plane[0].height;
    MotusStatus status = motus_slots_open(&in->ring, 1, 1, luma + luma / 2, 0, error);
    if (status) return status;
    in->device = device;
    uint8_t *memory = in->ring.slot[0].device;
    in->plane[0].data = memory, in->plane[1].data = memory + luma,
    in->plane[2].data = memory + luma + luma / 4;
    return MOTUS_OK;
}

} // namespace

MotusStatus motus_intake_cuda_take(MotusIntakeCuda **intake, const MotusFrameSource *source,
                                   MotusFrame *whole, MotusError *error) {
    MotusStatus status = *intake ? MOTUS_OK : motus_device_check(error);
    if (status) return status;
    if (!*intake) {
        *intake = (MotusIntakeCuda *)motus_alloc(1, sizeof **intake);
        if (!*intake) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
        for (int p = 0; p < 3; p++) {
            const int width = whole->width >> (p > 0), height = whole->height >> (p > 0);
            (*intake)->plane[p] = {NULL, width, width, height};
        }
        (*intake)->device = -1;
    }
    MotusIntakeCuda *in = *intake;
    int device = in->device;
    status = motus_device_frame_locate(source->frame, &device, error);
    if (!status && device < 0) status = motus_cuda_check(cudaGetDevice(&device), "device", error);
    if (status) return status;
    if (device != in->device) close_slot(in);
    MotusOnDevice on(device);
    if (in->device < 0) status = open_slot(in, device, error);
    if (status) return status;
    cudaEvent_t filled = in->ring.slot[0].uploaded;
    cudaStream_t down = in->ring.stream[0], stream = (cudaStream_t)source->stream;
    status = motus_planes_copy_padded_cuda(in->plane, source->frame->plane, 3, stream, error);
    if (!status) status = motus_cuda_check(cudaEventRecord(filled, stream), "record", error);
    if (!status) status = motus_cuda_check(cudaStreamWaitEvent(down, filled, 0), "wait", error);
    for (int p = 0; p < 3 && !status; p++) {
        const MotusPlane *from = &in->plane[p], *to = &whole->plane[p];
        status =
            motus_cuda_check(cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data,
                                               (size_t)from->stride, (size_t)from->width,
                                               (size_t)from->height, cudaMemcpyDeviceToHost, down),
                             "download of the frame", error);
    }
    // Blocks after a failure, too: no download outlives the call.
    MotusStatus waited = motus_cuda_check(cudaStreamSynchronize(down), "download of the frame",
                                          status ? NULL : error);
    return status ? status : waited;
}

void motus_intake_cuda_close(MotusIntakeCuda **intake) {
    if (!intake || !*intake) return;
    close_slot(*intake);
    motus_free(*intake);
    *intake = NULL;
}

// ---- Images -------------------------------------------------------------------------------------

struct MotusImageCuda {
    int device;
    uint8_t *memory;
    MotusFrame *frame; // in `memory`
    cudaEvent_t read;  // all readers of the frame have run
};

static MotusStatus open_frame(MotusImageCuda **intake, int device, int width, int height,
                              MotusError *error) {
    *intake = (MotusImageCuda *)motus_alloc(1, sizeof **intake);
    if (!*intake) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusImageCuda *r = *intake;
    const size_t chroma_width = (size_t)(width + 1) / 2,
                 chroma = chroma_width * ((size_t)(height + 1) / 2),
                 luma = (size_t)width * (size_t)height;
    r->device = device;
    MotusStatus status = motus_cuda_check(cudaMalloc((void **)&r->memory, luma + 2 * chroma),
                                          "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaEventCreateWithFlags(&r->read, cudaEventDisableTiming),
                                  "event", error);
    uint8_t *const data[3] = {r->memory, r->memory + luma, r->memory + luma + chroma};
    const ptrdiff_t stride[3] = {width, (ptrdiff_t)chroma_width, (ptrdiff_t)chroma_width};
    if (!status && (status = motus_frame_wrap(&r->frame, width, height, data, stride, NULL, NULL)))
        motus_fail(error, status, "out of memory");
    if (status) motus_image_cuda_close(intake);
    return status;
}

MotusStatus motus_image_cuda_locate(const MotusImage *image, int *device, MotusError *error) {
    MotusFrame given = {};
    for (int k = 0; k < 3; k++) given.plane[k].data = (uint8_t *)(uintptr_t)image->data[k];
    *device = -1;
    MotusStatus status = motus_device_frame_locate(&given, device, error);
    if (!status && *device < 0) status = motus_cuda_check(cudaGetDevice(device), "device", error);
    return status;
}

// Waits on the stream for the previous readers, which may be on another stream.
MotusStatus motus_image_cuda_take(MotusImageCuda **intake, const MotusImage *image, int device,
                                  const MotusColour *colour, void *stream, const MotusFrame **frame,
                                  MotusError *error) {
    MotusStatus status = MOTUS_OK;
    if (*intake && (*intake)->device != device)
        motus_image_cuda_close(intake); // blocks until it is read
    MotusOnDevice on(device);
    if (!*intake) status = open_frame(intake, device, image->width, image->height, error);
    if (status) return status;
    *frame = (*intake)->frame;
    status = motus_cuda_check(cudaStreamWaitEvent((cudaStream_t)stream, (*intake)->read, 0), "wait",
                              error);
    return status ? status : motus_cuda_image_convert(*frame, image, colour, stream, error);
}

MotusStatus motus_image_cuda_read(MotusImageCuda *intake, void *stream, MotusError *error) {
    MotusOnDevice on(intake->device);
    return motus_cuda_check(cudaEventRecord(intake->read, (cudaStream_t)stream), "record", error);
}

void motus_image_cuda_close(MotusImageCuda **intake) {
    if (!intake || !*intake) return;
    MotusOnDevice on((*intake)->device);
    if ((*intake)->read) cudaEventSynchronize((*intake)->read);
    if ((*intake)->read) cudaEventDestroy((*intake)->read);
    cudaFree((*intake)->memory);
    (void)cudaGetLastError();
    motus_frame_unref(&(*intake)->frame);
    motus_free(*intake);
    *intake = NULL;
}
