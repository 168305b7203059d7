// A frame of AV_PIX_FMT_CUDA put together by hand, with its frames context and device. It needs
// neither a device nor FFmpeg's libraries and is never passed to them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_AV_CUDA_FRAME_H
#define TESTS_AV_CUDA_FRAME_H

#include <libavutil/frame.h>
#include <libavutil/hwcontext.h>
#include <string.h>

#ifndef CUDA_VERSION // as in interop/av_cuda.c
#define CUDA_VERSION 0
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
#endif
#include <libavutil/hwcontext_cuda.h>

typedef struct AvCudaFrame {
    AVFrame av;
    AVBufferRef buffer;
    AVHWFramesContext frames;
    AVHWDeviceContext device;
    AVCUDADeviceContext cuda;
} AvCudaFrame;

// Fills a frame that points into itself: not to be copied.
static inline void av_cuda_frame(AvCudaFrame *f, enum AVPixelFormat format, int width, int height,
                                 void *stream) {
    memset(f, 0, sizeof *f);
    f->cuda.stream = (CUstream)stream;
    f->device.type = AV_HWDEVICE_TYPE_CUDA;
    f->device.hwctx = &f->cuda;
    f->frames.device_ctx = &f->device;
    f->frames.format = AV_PIX_FMT_CUDA;
    f->frames.sw_format = format;
    f->frames.width = (width + 63) & ~63; // decoders' frames are larger than the visible size
    f->frames.height = (height + 63) & ~63;
    f->buffer.data = (uint8_t *)&f->frames;
    f->av.format = AV_PIX_FMT_CUDA;
    f->av.width = width;
    f->av.height = height;
    f->av.hw_frames_ctx = &f->buffer;
}

#endif
