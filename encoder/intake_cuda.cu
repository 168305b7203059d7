// Filling a frame up to whole MBs on the device, and its one way down.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cuda_call.h"
#include "common/on_device.h"
#include "common/slots.h"
#include "encoder/intake.h"
#include "yuv/pad.h"

extern "C" {
#include "common/alloc.h"
}

// One slot, since a frame has gone its way when the call returns. It is on the device that the frames lie on.
struct MotusIntakeCuda {
    MotusSlots ring;
    MotusPlane plane[3]; // in the slot's device memory, whole MBs, rows without gaps
    int device;          // -1: there is no slot
};

namespace {

MotusStatus download(const MotusIntakeCuda *in, const MotusFrame *whole, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int p = 0; p < 3 && !status; p++) {
        const MotusPlane *from = &in->plane[p], *to = &whole->plane[p];
        status = motus_cuda_check(cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data, (size_t)from->stride,
                                                    (size_t)from->width, (size_t)from->height, cudaMemcpyDeviceToHost,
                                                    in->ring.stream[0]),
                                  "download of the frame", error);
    }
    return status;
}

void close_slot(MotusIntakeCuda *in) {
    if (in->device < 0) return;
    MotusOnDevice on(in->device);
    motus_slots_close(&in->ring);
    in->device = -1;
}

// On the current device, whose number `device` is.
MotusStatus open_slot(MotusIntakeCuda *in, int device, MotusError *error) {
    const size_t luma = (size_t)in->plane[0].width * in->plane[0].height;
    MotusStatus status = motus_slots_open(&in->ring, 1, 1, luma + luma / 2, 0, error);
    if (status) return status;
    in->device = device;
    uint8_t *memory = in->ring.slot[0].device;
    in->plane[0].data = memory, in->plane[1].data = memory + luma, in->plane[2].data = memory + luma + luma / 4;
    return MOTUS_OK;
}

} // namespace

// A plane in ordinary host memory would end every CUDA context of the process; it is found here.
MotusStatus motus_intake_cuda_device(const MotusFrame *frame, int *device, MotusError *error) {
    int found = -1;
    for (int p = 0; p < 3; p++) {
        cudaPointerAttributes attributes = {};
        MotusStatus status = motus_cuda_check(cudaPointerGetAttributes(&attributes, frame->plane[p].data), "frame", error);
        if (status) return status;
        if (attributes.type == cudaMemoryTypeUnregistered)
            return motus_fail(error, MOTUS_ERR_ARGUMENT, "frame: plane %d is not in device memory", p);
        if (attributes.type != cudaMemoryTypeDevice) continue;
        if (found >= 0 && found != attributes.device)
            return motus_fail(error, MOTUS_ERR_ARGUMENT, "frame: its planes are on devices %d and %d", found, attributes.device);
        found = attributes.device;
    }
    if (found >= 0) *device = found;
    return MOTUS_OK;
}

MotusStatus motus_intake_cuda_open(MotusIntakeCuda **intake, int width, int height, MotusError *error) {
    *intake = NULL;
    MotusStatus status = motus_device_check(error);
    if (status) return status;
    MotusIntakeCuda *in = (MotusIntakeCuda *)motus_alloc(1, sizeof *in);
    if (!in) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    for (int p = 0; p < 3; p++) in->plane[p] = {NULL, p ? width / 2 : width, p ? width / 2 : width, p ? height / 2 : height};
    in->device = -1;
    *intake = in;
    return MOTUS_OK;
}

MotusStatus motus_intake_cuda_take(MotusIntakeCuda *in, const MotusFrame *frame, void *stream, MotusFrame *whole,
                                   MotusError *error) {
    int device = in->device;
    MotusStatus status = motus_intake_cuda_device(frame, &device, error);
    if (!status && device < 0) status = motus_cuda_check(cudaGetDevice(&device), "device", error);
    if (status) return status;
    if (device != in->device) close_slot(in);
    MotusOnDevice on(device);
    if (in->device < 0) status = open_slot(in, device, error);
    if (status) return status;
    cudaEvent_t filled = in->ring.slot[0].uploaded;
    cudaStream_t down = in->ring.stream[0];
    status = motus_planes_copy_padded_cuda(in->plane, frame->plane, stream, error);
    if (!status) status = motus_cuda_check(cudaEventRecord(filled, (cudaStream_t)stream), "record", error);
    if (!status) status = motus_cuda_check(cudaStreamWaitEvent(down, filled, 0), "wait", error);
    if (!status) status = download(in, whole, error);
    // Even after a failure nothing may write to `whole` behind the caller's back.
    MotusStatus waited = motus_cuda_check(cudaStreamSynchronize(down), "download of the frame", status ? NULL : error);
    return status ? status : waited;
}

void motus_intake_cuda_close(MotusIntakeCuda **intake) {
    if (!intake || !*intake) return;
    close_slot(*intake);
    motus_free(*intake);
    *intake = NULL;
}
