// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/intake.h"

#include "common/int_core.h"

void motus_intake_open(MotusIntake *in, int width, int height, int pinned) {
    *in = (MotusIntake){.width = width, .height = height};
    in->pool = (MotusFramePool){.width = 16 * motus_mbs(width), .height = 16 * motus_mbs(height), .pinned = pinned};
}

void motus_intake_close(MotusIntake *in) {
    motus_intake_cuda_close(&in->cuda);
    motus_frame_pool_close(&in->pool);
}

static MotusStatus show(const MotusIntake *in, int64_t number, MotusFrame **whole, MotusFrame **visible, MotusStatus status) {
    if (!status) status = motus_frame_crop(visible, *whole, in->width, in->height);
    if (status) {
        motus_frame_unref(whole);
        return status;
    }
    (*visible)->number = number;
    return MOTUS_OK;
}

MotusStatus motus_intake_host(MotusIntake *in, const MotusFrame *frame, MotusFrame **whole, MotusFrame **visible) {
    *whole = *visible = NULL;
    MotusStatus status = motus_frame_pool_take(&in->pool, whole);
    if (!status) status = motus_frame_copy_padded(*whole, frame);
    return show(in, frame->number, whole, visible, status);
}

MotusStatus motus_intake_device(MotusIntake *in, const MotusFrame *frame, void *stream, MotusFrame **whole, MotusFrame **visible,
                                MotusError *error) {
    *whole = *visible = NULL;
    MotusStatus status = motus_frame_pool_take(&in->pool, whole);
    if (!status && !in->cuda) status = motus_intake_cuda_open(&in->cuda, in->pool.width, in->pool.height, error);
    if (!status) status = motus_intake_cuda_take(in->cuda, frame, stream, *whole, error);
    return show(in, frame->number, whole, visible, status);
}
