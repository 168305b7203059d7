// Encodes frames of AV_PIX_FMT_CUDA, as FFmpeg's GPU decoders and filters make them, in device
// memory. Only FFmpeg's headers are needed. The frames' device must use the primary context, which
// CUDA's runtime shares (AV_CUDA_USE_PRIMARY_CONTEXT; with the program ffmpeg: -init_hw_device
// cuda=c:0,primary_ctx=1).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_AV_CUDA_H
#define INTEROP_AV_CUDA_H

#include <libavutil/frame.h>

#include "motus/encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

// Describes the image in the device memory of `av`: visible size, NV12 or I420. *stream is the
// stream of its device context (a cudaStream_t; NULL: the legacy default stream). The image holds
// no reference. MOTUS_ERR_ARGUMENT: no pointers, no samples, or a size outside 1..MOTUS_MAX_SIZE.
// MOTUS_ERR_UNSUPPORTED: not AV_PIX_FMT_CUDA, no frames context, or another software format.
MotusStatus motus_image_from_av_cuda(MotusImage *image, void **stream, const AVFrame *av);

// Sends such a frame on its stream, as motus_encoder_send_device (YUV420P) or
// motus_encoder_send_image_device (NV12): `av` may be freed after the call. params may be NULL: pts
// is that of `av`, duration 1. Errors as there and above.
MotusStatus motus_encoder_send_av_cuda(MotusEncoder *enc, const AVFrame *av,
                                       const MotusFrameParams *params);

#ifdef __cplusplus
}
#endif
#endif
