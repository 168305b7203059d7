// SPDX-License-Identifier: BSD-2-Clause
#include "interop/av.h"

#include <libavutil/motion_vector.h>

static void release_av(void *opaque) {
    AVFrame *av = opaque;
    av_frame_free(&av);
}

MotusStatus motus_frame_from_av(MotusFrame **frame, const AVFrame *av) {
    if (!frame || !av) return MOTUS_ERR_ARGUMENT;
    *frame = NULL;
    if ((av->format != AV_PIX_FMT_YUV420P && av->format != AV_PIX_FMT_YUVJ420P) || !av->buf[0]) return MOTUS_ERR_UNSUPPORTED;
    uint8_t *data[3];
    ptrdiff_t stride[3];
    for (int p = 0; p < 3; p++) {
        if (av->linesize[p] < 0) return MOTUS_ERR_UNSUPPORTED;
        data[p] = av->data[p];
        stride[p] = av->linesize[p];
    }
    AVFrame *kept = av_frame_clone(av);
    if (!kept) return MOTUS_ERR_MEMORY;
    MotusStatus status = motus_frame_wrap(frame, av->width, av->height, data, stride, release_av, kept);
    if (status)
        av_frame_free(&kept);
    else
        (*frame)->number = av->pts;
    return status;
}

static void release_motus(void *opaque, uint8_t *data) {
    MotusFrame *frame = opaque;
    (void)data;
    motus_frame_unref(&frame);
}

MotusStatus motus_frame_to_av(AVFrame **av, const MotusFrame *frame) {
    if (!av || !frame) return MOTUS_ERR_ARGUMENT;
    AVFrame *f = *av = av_frame_alloc();
    if (!f) return MOTUS_ERR_MEMORY;
    MotusStatus status = MOTUS_OK;
    for (int p = 0; p < 3 && !status; p++) {
        const MotusPlane *plane = &frame->plane[p];
        if (plane->stride < plane->width) {
            status = MOTUS_ERR_UNSUPPORTED;
            break;
        }
        MotusFrame *kept = motus_frame_ref(frame);
        size_t size = (size_t)(plane->height - 1) * (size_t)plane->stride + (size_t)plane->width;
        f->buf[p] = av_buffer_create(plane->data, size, release_motus, kept, AV_BUFFER_FLAG_READONLY);
        if (!f->buf[p]) {
            motus_frame_unref(&kept);
            status = MOTUS_ERR_MEMORY;
        }
        f->data[p] = plane->data;
        f->linesize[p] = (int)plane->stride;
    }
    f->format = AV_PIX_FMT_YUV420P;
    f->width = frame->width;
    f->height = frame->height;
    f->pts = frame->number;
    if (status) av_frame_free(av);
    return status;
}

MotusStatus motus_mvs_to_av(AVFrame *av, const MotusCodedMv *mvs, size_t n_mvs) {
    if (!av || (!mvs && n_mvs)) return MOTUS_ERR_ARGUMENT;
    if (!n_mvs) return MOTUS_OK;
    AVFrameSideData *side = av_frame_new_side_data(av, AV_FRAME_DATA_MOTION_VECTORS, n_mvs * sizeof(AVMotionVector));
    if (!side) return MOTUS_ERR_MEMORY;
    AVMotionVector *list = (AVMotionVector *)side->data;
    for (size_t i = 0; i < n_mvs; i++) {
        const MotusCodedMv *m = &mvs[i];
        int x = m->x + m->width / 2, y = m->y + m->height / 2;
        list[i] = (AVMotionVector){.source = -1,
                                   .w = m->width,
                                   .h = m->height,
                                   .src_x = (int16_t)(x + m->mv.x / 4),
                                   .src_y = (int16_t)(y + m->mv.y / 4),
                                   .dst_x = (int16_t)x,
                                   .dst_y = (int16_t)y,
                                   .motion_x = m->mv.x,
                                   .motion_y = m->mv.y,
                                   .motion_scale = 4};
    }
    return MOTUS_OK;
}
