// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/intake.h"

#include "common/error.h"
#include "common/int_core.h"
#include "yuv/image.h"
#include "yuv/usable.h"

MotusStatus motus_intake_take(MotusIntake *in, const MotusFrameSource *source, MotusFrame **whole,
                              MotusFrame **visible, MotusError *error) {
    *whole = *visible = NULL;
    MotusStatus status = motus_frame_pool_take(&in->pool, whole);
    if (!status)
        status = source->on_device ? motus_intake_cuda_take(&in->cuda, source, *whole, error)
                                   : motus_frame_copy_padded(*whole, source->frame);
    if (!status) status = motus_frame_crop(visible, *whole, in->width, in->height);
    if (status)
        motus_frame_unref(whole);
    else
        (*visible)->number = source->frame->number;
    return status;
}

// ---- Images -------------------------------------------------------------------------------------

// True if the image is 4:2:0 without gaps between samples: *frame then shows its planes.
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

MotusStatus motus_image_intake_take(MotusImageIntake *in, const MotusImage *image,
                                    const MotusColour *colour, const MotusFrame **frame,
                                    MotusError *error) {
    static const MotusExec alone = {.threads = 1}; // other threads encode
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
