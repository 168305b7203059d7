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
    if ((av->format != AV_PIX_FMT_YUV420P && av->format != AV_PIX_FMT_YUVJ420P) || !av->buf[0])
        return MOTUS_ERR_UNSUPPORTED;
    uint8_t *data[3];
    ptrdiff_t stride[3];
    for (int p = 0; p < 3; p++) {
        if (av->linesize[p] < 0) return MOTUS_ERR_UNSUPPORTED;
        data[p] = av->data[p];
        stride[p] = av->linesize[p];
    }
    AVFrame *kept = av_frame_clone(av);
    if (!kept) return MOTUS_ERR_MEMORY;
    MotusStatus status =
        motus_frame_wrap(frame, av->width, av->height, data, stride, release_av, kept);
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
        f->buf[p] =
            av_buffer_create(plane->data, size, release_motus, kept, AV_BUFFER_FLAG_READONLY);
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

// Attaches n uninitialized MVs; returns NULL without memory.
static AVMotionVector *attach_mvs(AVFrame *av, size_t n) {
    AVFrameSideData *side =
        av_frame_new_side_data(av, AV_FRAME_DATA_MOTION_VECTORS, n * sizeof(AVMotionVector));
    return side ? (AVMotionVector *)side->data : NULL;
}

// Converts the MV of a block at (x, y). Like libavcodec it gives block centres and cuts the source
// to whole samples.
static AVMotionVector av_mv(int x, int y, int width, int height, int list, MotusMv mv) {
    x += width / 2, y += height / 2;
    return (AVMotionVector){.source = list ? 1 : -1,
                            .w = (uint8_t)width,
                            .h = (uint8_t)height,
                            .src_x = (int16_t)(x + mv.x / 4),
                            .src_y = (int16_t)(y + mv.y / 4),
                            .dst_x = (int16_t)x,
                            .dst_y = (int16_t)y,
                            .motion_x = mv.x,
                            .motion_y = mv.y,
                            .motion_scale = 4};
}

MotusStatus motus_mvs_to_av(AVFrame *av, const MotusCodedMv *mvs, size_t n_mvs) {
    if (!av || (!mvs && n_mvs)) return MOTUS_ERR_ARGUMENT;
    if (!n_mvs) return MOTUS_OK;
    AVMotionVector *list = attach_mvs(av, n_mvs);
    if (!list) return MOTUS_ERR_MEMORY;
    for (size_t i = 0; i < n_mvs; i++)
        list[i] = av_mv(mvs[i].x, mvs[i].y, mvs[i].width, mvs[i].height, mvs[i].list, mvs[i].mv);
    return MOTUS_OK;
}

MotusStatus motus_field_to_av(AVFrame *av, const MotusField *field, uint32_t modes) {
    size_t n = 0;
    if (!av || !field || !(modes & MOTUS_MODES_ALL)) return MOTUS_ERR_ARGUMENT;
    for (int b = 0; b < MOTUS_BLOCKS; b++) n += modes >> motus_blocks[b].mode & 1;
    AVMotionVector *list = attach_mvs(av, n * (size_t)field->n_mb);
    if (!list) return MOTUS_ERR_MEMORY;
    for (int mb = 0; mb < field->n_mb; mb++)
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            const MotusBlock *k = &motus_blocks[b];
            if (!(modes >> k->mode & 1)) continue;
            const int x = 16 * (mb % field->mb_width) + k->x,
                      y = 16 * (mb / field->mb_width) + k->y;
            *list++ = av_mv(x, y, k->width, k->height, 0, field->mv[b][mb]);
        }
    return MOTUS_OK;
}
