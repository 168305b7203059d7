// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/intake.h"

#include "common/error.h"
#include "common/int_core.h"
#include "yuv/image.h"
#include "yuv/usable.h"

void motus_intake_open(MotusIntake *in, int width, int height, int pinned) {
    *in = (MotusIntake){.width = width, .height = height};
    in->pool = (MotusFramePool){
        .width = 16 * motus_mbs(width), .height = 16 * motus_mbs(height), .pinned = pinned};
}

void motus_intake_close(MotusIntake *in) {
    motus_intake_cuda_close(&in->cuda);
    motus_frame_pool_close(&in->pool);
}

static MotusStatus show(const MotusIntake *in, int64_t number, MotusFrame **whole,
                        MotusFrame **visible, MotusStatus status) {
    if (!status) status = motus_frame_crop(visible, *whole, in->width, in->height);
    if (status) {
        motus_frame_unref(whole);
        return status;
    }
    (*visible)->number = number;
    return MOTUS_OK;
}

MotusStatus motus_intake_host(MotusIntake *in, const MotusFrame *frame, MotusFrame **whole,
                              MotusFrame **visible) {
    *whole = *visible = NULL;
    MotusStatus status = motus_frame_pool_take(&in->pool, whole);
    if (!status) status = motus_frame_copy_padded(*whole, frame);
    return show(in, frame->number, whole, visible, status);
}

MotusStatus motus_intake_device(MotusIntake *in, const MotusFrame *frame, void *stream,
                                MotusFrame **whole, MotusFrame **visible, MotusError *error) {
    *whole = *visible = NULL;
    MotusStatus status = motus_frame_pool_take(&in->pool, whole);
    if (!status && !in->cuda)
        status = motus_intake_cuda_open(&in->cuda, in->pool.width, in->pool.height, error);
    if (!status) status = motus_intake_cuda_take(in->cuda, frame, stream, *whole, error);
    return show(in, frame->number, whole, visible, status);
}

// ---- Images -------------------------------------------------------------------------------------

// Planes of 4:2:0 without gaps between samples are a frame as they lie. 1: *frame shows them.
static int show_as_frame(MotusFrame *frame, const MotusImage *image) {
    if (image->samples != MOTUS_SAMPLES_YUV420) return 0;
    *frame = (MotusFrame){.width = image->width, .height = image->height};
    for (int k = 0; k < 3; k++) {
        if (image->pixel[k] != 1) return 0;
        frame->plane[k] = (MotusPlane){(uint8_t *)(uintptr_t)image->data[k], image->row[k],
                                       k ? (image->width + 1) / 2 : image->width,
                                       k ? (image->height + 1) / 2 : image->height};
    }
    return motus_frame_usable(frame);
}

MotusStatus motus_intake_image(MotusIntakeImage *in, const MotusImage *image,
                               const MotusColour *colour, const MotusFrame **frame,
                               MotusError *error) {
    static const MotusExec alone = {.threads = 1}; // the others encode
    MotusYuvMatrix matrix;
    *frame = &in->view;
    if (show_as_frame(&in->view, image)) return MOTUS_OK;
    if (motus_image_matrix(&matrix, image, colour))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "RGB images need colour.matrix 1 (BT.709), 5 or 6 (BT.601), not %d",
                          colour->matrix);
    MotusStatus status =
        in->host ? MOTUS_OK : motus_frame_alloc(&in->host, image->width, image->height);
    if (status) return motus_fail(error, status, "out of memory");
    *frame = in->host;
    return motus_image_convert(in->host, image, colour, &alone);
}

void motus_intake_image_close(MotusIntakeImage *in) {
    motus_frame_unref(&in->host);
    motus_image_cuda_close(&in->cuda);
}
