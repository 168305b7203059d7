// Frames of AV_PIX_FMT_CUDA, as FFmpeg's GPU decoders and filters make them, into the encoder
// without a way over the host. Calls nothing of FFmpeg's libraries: only its headers are needed.
//
// The frames' device must use the primary context, which CUDA's runtime shares
// (AV_CUDA_USE_PRIMARY_CONTEXT; on ffmpeg's command line -init_hw_device cuda=c:0,primary_ctx=1):
// memory and streams of a context of its own are no one else's.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_AV_CUDA_H
#define INTEROP_AV_CUDA_H

#include <libavutil/frame.h>

#include "motus/encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

// What lies in the device memory of `av`: an image of its visible size, in its software format,
// NV12 or YUV420P; and the stream that its device's users put their work on (a cudaStream_t; NULL:
// the legacy default stream). The image holds no reference to it. MOTUS_ERR_ARGUMENT: no pointers,
// no samples, a size out of 1..MOTUS_MAX_SIZE; MOTUS_ERR_UNSUPPORTED: not AV_PIX_FMT_CUDA, without
// its frames context, or another software format.
MotusStatus motus_image_from_av_cuda(MotusImage *image, void **stream, const AVFrame *av);

// Sends such a frame: YUV420P as motus_encoder_send_device does it, NV12 as
// motus_encoder_send_image_device, on that stream: the caller may let go of `av` when the call
// returns. params may be NULL: then pts is that of `av`, and duration 1. Their errors, and those
// above.
MotusStatus motus_encoder_send_av_cuda(MotusEncoder *enc, const AVFrame *av,
                                       const MotusFrameParams *params);

#ifdef __cplusplus
}
#endif
#endif
