// Ways of an input to the encoder: from host memory, from the device without a copy, or by a copy
// on the device from an array.
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

// Copies an array into the session's own device memory, behind the caller's work on it.
static NVENCSTATUS copy_array(Session *s, const Input *in) {
    const int is_rgb =
        in->format == NV_ENC_BUFFER_FORMAT_ARGB || in->format == NV_ENC_BUFFER_FORMAT_ABGR;
    const size_t rows = in->height + (is_rgb ? 0 : (in->height + 1) / 2);
    const NVENCSTATUS status = reserve(s, in->pitch * rows);
    if (status) return status;
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = in->array,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = s->staging,
                                .dstPitch = in->pitch,
                                .WidthInBytes = in->pitch,
                                .Height = rows};
    const CUresult copied = s->cuda->copy_2d(&copy, s->input_stream);
    return copied
               ? motus_nvenc_fail(s, NV_ENC_ERR_GENERIC, "an array could not be copied: %d", copied)
               : NV_ENC_SUCCESS;
}

// Finds where motus may read an input on the device, in the order of the caller's stream.
static NVENCSTATUS on_device(Session *s, const Input *in, const uint8_t **base) {
    const NVENCSTATUS status = in->array ? copy_array(s, in) : NV_ENC_SUCCESS;
    *base = in->array ? (const uint8_t *)(uintptr_t)s->staging : in->data;
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
    MotusImage image;
    motus_nvenc_enter(s);
    NVENCSTATUS status = NV_ENC_SUCCESS;
    const int is_device = in->on_device && s->device >= 0;
    if (is_device) status = on_device(s, in, &base);
    MotusStatus sent = status ? MOTUS_OK : describe(s, in, base, in->pitch, &image);
    if (!status && !sent) {
        const int is_unnamed =
            image.samples == MOTUS_SAMPLES_RGB && matrix != 1 && matrix != 5 && matrix != 6;
        sent = is_device
                   ? motus_encoder_send_image_device(s->encoder, &image, s->input_stream, params)
               : is_unnamed ? send_rgb_unnamed(s, &image, params)
                            : motus_encoder_send_image(s->encoder, &image, params);
    }
    motus_nvenc_leave(s);
    return status ? status : motus_nvenc_status(s, sent, "a frame");
}

NVENCSTATUS motus_nvenc_luma(Session *s, const Input *in, MotusPlane *luma) {
    const uint8_t *base = in->data;
    if (in->format != NV_ENC_BUFFER_FORMAT_NV12 && in->format != NV_ENC_BUFFER_FORMAT_YV12 &&
        in->format != NV_ENC_BUFFER_FORMAT_IYUV)
        return motus_nvenc_fail(s, NV_ENC_ERR_UNSUPPORTED_PARAM, "motion is searched in 4:2:0");
    const NVENCSTATUS status =
        in->on_device && s->device >= 0 ? on_device(s, in, &base) : NV_ENC_SUCCESS;
    *luma = (MotusPlane){(uint8_t *)base, in->pitch, (int)s->init.encodeWidth,
                         (int)s->init.encodeHeight};
    return status;
}
