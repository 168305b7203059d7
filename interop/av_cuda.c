// SPDX-License-Identifier: BSD-2-Clause
#include "interop/av_cuda.h"

#include <libavutil/hwcontext.h>

// FFmpeg's header needs these types of CUDA's driver, whose own header may be missing.
#ifndef CUDA_VERSION
#define CUDA_VERSION 0
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
#endif
#include <libavutil/hwcontext_cuda.h>

MotusStatus motus_image_from_av_cuda(MotusImage *image, void **stream, const AVFrame *av) {
    if (!image || !stream || !av) return MOTUS_ERR_ARGUMENT;
    if (av->format != AV_PIX_FMT_CUDA || !av->hw_frames_ctx) return MOTUS_ERR_UNSUPPORTED;
    const AVHWFramesContext *frames = (const AVHWFramesContext *)av->hw_frames_ctx->data;
    if (!frames->device_ctx || frames->device_ctx->type != AV_HWDEVICE_TYPE_CUDA)
        return MOTUS_ERR_UNSUPPORTED;
    const AVCUDADeviceContext *device = frames->device_ctx->hwctx;
    if (frames->sw_format != AV_PIX_FMT_NV12 && frames->sw_format != AV_PIX_FMT_YUV420P)
        return MOTUS_ERR_UNSUPPORTED;
    const void *const data[3] = {av->data[0], av->data[1], av->data[2]};
    const ptrdiff_t stride[3] = {av->linesize[0], av->linesize[1], av->linesize[2]};
    *stream = device->stream;
    return motus_image_describe(
        image, frames->sw_format == AV_PIX_FMT_NV12 ? MOTUS_IMAGE_NV12 : MOTUS_IMAGE_I420,
        av->width, av->height, data, stride);
}

// Sends three planes as a frame, which need no conversion.
static MotusStatus send_planes(MotusEncoder *enc, const AVFrame *av, void *stream,
                               const MotusFrameParams *params) {
    MotusFrame *frame;
    const ptrdiff_t stride[3] = {av->linesize[0], av->linesize[1], av->linesize[2]};
    MotusStatus status =
        motus_frame_wrap(&frame, av->width, av->height, av->data, stride, NULL, NULL);
    if (status) return status;
    frame->number = av->pts;
    status = motus_encoder_send_device(enc, frame, stream, params);
    motus_frame_unref(&frame);
    return status;
}

MotusStatus motus_encoder_send_av_cuda(MotusEncoder *enc, const AVFrame *av,
                                       const MotusFrameParams *params) {
    MotusImage image;
    void *stream;
    MotusStatus status = motus_image_from_av_cuda(&image, &stream, av);
    if (status) return status;
    const MotusFrameParams own = {.size = sizeof own, .pts = av->pts, .duration = 1};
    if (!params) params = &own;
    const int planes = image.pixel[1] == 1;
    return planes ? send_planes(enc, av, stream, params)
                  : motus_encoder_send_image_device(enc, &image, stream, params);
}
