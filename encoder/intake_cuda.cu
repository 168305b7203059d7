// Filling a frame up to whole MBs on the device, and its one way down.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cuda_call.h"
#include "common/slots.h"
#include "encoder/intake.h"
#include "yuv/pad.h"

extern "C" {
#include "common/alloc.h"
}

// One slot, since a frame has gone its way when the call returns.
struct MotusIntakeCuda {
    MotusSlots ring;
    MotusPlane plane[3]; // in the slot's device memory, whole MBs, rows without gaps
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

} // namespace

// A plane in ordinary host memory would end every CUDA context of the process; it is found here.
MotusStatus motus_intake_cuda_check(const MotusFrame *frame, MotusError *error) {
    for (int p = 0; p < 3; p++) {
        cudaPointerAttributes attributes = {};
        MotusStatus status = motus_cuda_check(cudaPointerGetAttributes(&attributes, frame->plane[p].data), "frame", error);
        if (status) return status;
        if (attributes.type == cudaMemoryTypeUnregistered)
            return motus_fail(error, MOTUS_ERR_ARGUMENT, "frame: plane %d is not in device memory", p);
    }
    return MOTUS_OK;
}

MotusStatus motus_intake_cuda_open(MotusIntakeCuda **intake, int width, int height, MotusError *error) {
    *intake = NULL;
    MotusStatus status = motus_device_check(error);
    if (status) return status;
    MotusIntakeCuda *in = (MotusIntakeCuda *)motus_alloc(1, sizeof *in);
    if (!in) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    size_t luma = (size_t)width * height;
    status = motus_slots_open(&in->ring, 1, 1, luma + luma / 2, 0, error);
    uint8_t *memory = in->ring.slot[0].device;
    in->plane[0] = {memory, width, width, height};
    in->plane[1] = {memory + luma, width / 2, width / 2, height / 2};
    in->plane[2] = {memory + luma + luma / 4, width / 2, width / 2, height / 2};
    *intake = in;
    if (status) motus_intake_cuda_close(intake);
    return status;
}

MotusStatus motus_intake_cuda_take(MotusIntakeCuda *in, const MotusFrame *frame, void *stream, MotusFrame *whole,
                                   MotusError *error) {
    cudaEvent_t filled = in->ring.slot[0].uploaded;
    cudaStream_t down = in->ring.stream[0];
    MotusStatus status = motus_intake_cuda_check(frame, error);
    if (!status) status = motus_planes_copy_padded_cuda(in->plane, frame->plane, stream, error);
    if (!status) status = motus_cuda_check(cudaEventRecord(filled, (cudaStream_t)stream), "record", error);
    if (!status) status = motus_cuda_check(cudaStreamWaitEvent(down, filled, 0), "wait", error);
    if (!status) status = download(in, whole, error);
    // Even after a failure nothing may write to `whole` behind the caller's back.
    MotusStatus waited = motus_cuda_check(cudaStreamSynchronize(down), "download of the frame", status ? NULL : error);
    return status ? status : waited;
}

void motus_intake_cuda_close(MotusIntakeCuda **intake) {
    if (!intake || !*intake) return;
    motus_slots_close(&(*intake)->ring);
    motus_free(*intake);
    *intake = NULL;
}
