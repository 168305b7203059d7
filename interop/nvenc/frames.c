// How an input reaches the encoder: from host memory, from the device's primary context without a
// copy, or by a copy on the device from another context or an array.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "interop/nvenc/session.h"

// Fills *image for a frame at `base`, with rows `pitch` bytes apart and chroma behind the rows that
// the caller registered.
static MotusStatus describe(const Session *s, const Input *in, const uint8_t *base, size_t pitch,
                            MotusImage *image) {
    const ptrdiff_t row = (ptrdiff_t)pitch, half = row / 2;
    const uint8_t *chroma = base + pitch * in->height;
    const uint8_t *second = chroma + half * ((in->height + 1) / 2);
    const void *plane[3] = {base, chroma, second};
    ptrdiff_t stride[3] = {row, half, half};
    MotusImageFormat format = MOTUS_IMAGE_I420;
    switch ((int)in->format) {
    case NV_ENC_BUFFER_FORMAT_NV12:
        format = MOTUS_IMAGE_NV12, stride[1] = row;
        break;
    case NV_ENC_BUFFER_FORMAT_YV12:
        plane[1] = second, plane[2] = chroma;
        break;
    case NV_ENC_BUFFER_FORMAT_ARGB:
        format = MOTUS_IMAGE_BGRA;
        break; // a word, blue at its low end
    case NV_ENC_BUFFER_FORMAT_ABGR:
        format = MOTUS_IMAGE_RGBA;
        break;
    default:
        break;
    }
    return motus_image_describe(image, format, s->settings.width, s->settings.height, plane,
                                stride);
}

// Reserves device memory for one frame of the session.
static NVENCSTATUS reserve(Session *s, size_t bytes) {
    if (s->staging_bytes >= bytes) return NV_ENC_SUCCESS;
    if (s->staging) s->cuda->free(s->staging);
    s->staging = 0, s->staging_bytes = 0;
    if (s->cuda->alloc(&s->staging, bytes))
        return motus_nvenc_fail(s, NV_ENC_ERR_OUT_OF_MEMORY, "no device memory for a frame");
    s->staging_bytes = bytes;
    return NV_ENC_SUCCESS;
}

// Copies an input into the session's own device memory: rows of a plane, then of chroma.
static NVENCSTATUS stage(Session *s, const Input *in, size_t *pitch) {
    const int rgb =
        in->format == NV_ENC_BUFFER_FORMAT_ARGB || in->format == NV_ENC_BUFFER_FORMAT_ABGR;
    const size_t rows = in->height + (rgb ? 0 : (in->height + 1) / 2);
    *pitch = in->pitch;
    NVENCSTATUS status = reserve(s, *pitch * rows);
    if (status) return status;
    CUresult copied;
    if (in->array) {
        const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                    .srcArray = in->array,
                                    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                    .dstDevice = s->staging,
                                    .dstPitch = *pitch,
                                    .WidthInBytes = *pitch,
                                    .Height = rows};
        copied = s->cuda->copy_2d(&copy, s->own_stream);
    } else {
        copied = s->cuda->copy_peer(s->staging, s->primary, (CUdeviceptr)(uintptr_t)in->data,
                                    s->caller, *pitch * rows, s->own_stream);
    }
    return copied
               ? motus_nvenc_fail(s, NV_ENC_ERR_GENERIC, "a frame could not be copied: %d", copied)
               : NV_ENC_SUCCESS;
}

// Finds where motus may read an input on the device, and on which stream. Work that the caller has
// put on its stream comes before.
static NVENCSTATUS on_device(Session *s, const Input *in, const uint8_t **base, size_t *pitch,
                             CUstream *stream) {
    *base = in->data, *pitch = in->pitch, *stream = s->input_stream;
    if (s->primary == s->caller && !in->array) return NV_ENC_SUCCESS;
    CUcontext popped;
    s->cuda->push(s->caller);
    const CUresult done = s->cuda->synchronize(s->input_stream);
    s->cuda->pop(&popped);
    if (done) return motus_nvenc_fail(s, NV_ENC_ERR_GENERIC, "the input stream failed: %d", done);
    *stream = s->own_stream;
    const NVENCSTATUS status = stage(s, in, pitch);
    *base = (const uint8_t *)(uintptr_t)s->staging;
    return status;
}

// Converts RGB as BT.601 where the stream names no matrix that RGB is converted by, as NVENC does.
static MotusStatus send_rgb_unnamed(Session *s, const MotusImage *image,
                                    const MotusFrameParams *params) {
    const MotusColour colour = MOTUS_COLOUR_BT601;
    MotusFrame *frame;
    MotusStatus status = motus_frame_alloc(&frame, image->width, image->height);
    if (!status) status = motus_image_convert(frame, image, &colour, NULL);
    if (!status) status = motus_encoder_send(s->encoder, frame, params);
    motus_frame_unref(&frame);
    return status;
}

NVENCSTATUS motus_nvenc_send(Session *s, const Input *in, const MotusFrameParams *params) {
    const int matrix = s->settings.colour.matrix;
    const uint8_t *base = in->data;
    size_t pitch = in->pitch;
    CUstream stream = NULL;
    MotusImage image;
    motus_nvenc_enter(s);
    NVENCSTATUS status = NV_ENC_SUCCESS;
    const int is_device = in->on_device && s->device >= 0;
    if (is_device) status = on_device(s, in, &base, &pitch, &stream);
    MotusStatus sent = status ? MOTUS_OK : describe(s, in, base, pitch, &image);
    if (!status && !sent) {
        const int is_unnamed =
            image.samples == MOTUS_SAMPLES_RGB && matrix != 1 && matrix != 5 && matrix != 6;
        sent = is_device    ? motus_encoder_send_image_device(s->encoder, &image, stream, params)
               : is_unnamed ? send_rgb_unnamed(s, &image, params)
                            : motus_encoder_send_image(s->encoder, &image, params);
    }
    motus_nvenc_leave(s);
    return status ? status : motus_nvenc_status(s, sent, "a frame");
}

NVENCSTATUS motus_nvenc_luma(Session *s, const Input *in, MotusPlane *luma, CUstream *stream) {
    const uint8_t *base = in->data;
    size_t pitch = in->pitch;
    if (in->format != NV_ENC_BUFFER_FORMAT_NV12 && in->format != NV_ENC_BUFFER_FORMAT_YV12 &&
        in->format != NV_ENC_BUFFER_FORMAT_IYUV)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "motion is searched in 4:2:0");
    const NVENCSTATUS status =
        in->on_device && s->device >= 0 ? on_device(s, in, &base, &pitch, stream) : NV_ENC_SUCCESS;
    *luma = (MotusPlane){(uint8_t *)base, (ptrdiff_t)pitch, (int)s->init.encodeWidth,
                         (int)s->init.encodeHeight};
    return status;
}
