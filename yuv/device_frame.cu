// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/device_frame.h"

#include "common/cuda_call.cuh"
#include "common/slots.h"

// A plane in ordinary host memory would end every CUDA context of the process; it is found here.
MotusStatus motus_device_frame_locate(const MotusFrame *frame, int *device, MotusError *error) {
    int found = -1;
    for (int p = 0; p < 3; p++) {
        cudaPointerAttributes attributes = {};
        MotusStatus status = motus_cuda_check(
            cudaPointerGetAttributes(&attributes, frame->plane[p].data), "frame", error);
        if (status) return status;
        if (attributes.type == cudaMemoryTypeUnregistered)
            return motus_fail(error, MOTUS_ERR_ARGUMENT, "frame: plane %d is not in device memory",
                              p);
        if (attributes.type != cudaMemoryTypeDevice) continue;
        if (found >= 0 && found != attributes.device)
            return motus_fail(error, MOTUS_ERR_ARGUMENT,
                              "frame: its planes are on devices %d and %d", found,
                              attributes.device);
        found = attributes.device;
    }
    if (found >= 0) *device = found;
    return MOTUS_OK;
}

void motus_device_frame_layout(MotusPlane plane[3], int mb_width, int mb_height, uint8_t *base,
                               size_t *end) {
    for (int p = 0; p < 3; p++) {
        const int width = (p ? 8 : 16) * mb_width, height = (p ? 8 : 16) * mb_height,
                  stride = (width + 63) / 64 * 64;
        plane[p] = {base + motus_slot_reserve(end, (size_t)stride * height + 64), stride, width,
                    height};
    }
}

MotusStatus motus_device_frame_upload(const MotusPlane to[3], const MotusFrame *frame, int first,
                                      int n, void *stream, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int p = first; p < first + n && !status; p++) {
        const MotusPlane *from = &frame->plane[p];
        status = motus_cuda_check(cudaMemcpy2DAsync(to[p].data, (size_t)to[p].stride, from->data,
                                                    (size_t)from->stride, (size_t)from->width,
                                                    (size_t)from->height, cudaMemcpyHostToDevice,
                                                    (cudaStream_t)stream),
                                  "upload of the frame", error);
    }
    return status;
}

MotusStatus motus_device_frame_copy_peer(const MotusPlane *to, int to_device,
                                         const MotusPlane *from, int from_device, int n,
                                         void *stream, MotusError *error) {
    MotusOnDevice there(from_device);
    MotusStatus status = MOTUS_OK;
    for (int p = 0; p < n && !status; p++) {
        const size_t width = (size_t)from[p].width, height = (size_t)from[p].height;
        cudaMemcpy3DPeerParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(from[p].data, (size_t)from[p].stride, width, height);
        copy.dstPtr = make_cudaPitchedPtr(to[p].data, (size_t)to[p].stride, width, height);
        copy.srcDevice = from_device, copy.dstDevice = to_device;
        copy.extent = make_cudaExtent(width, height, 1);
        status = motus_cuda_check(cudaMemcpy3DPeerAsync(&copy, (cudaStream_t)stream),
                                  "copy from another device", error);
    }
    MotusStatus waited = motus_cuda_check(cudaStreamSynchronize((cudaStream_t)stream),
                                          "copy from another device", status ? NULL : error);
    return status ? status : waited;
}
