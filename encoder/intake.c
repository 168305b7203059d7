// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/intake.h"

#include <string.h>

#include "common/error.h"
#include "common/int_core.h"
#include "motus/upload.h"
#include "yuv/pad.h"

static ptrdiff_t row_of(int samples) { return (samples + 63) / 64 * 64; }

MotusStatus motus_frame_alloc_pinned(MotusFrame **frame, int width, int height) {
    ptrdiff_t stride[3] = {row_of(width), row_of(width / 2), row_of(width / 2)};
    size_t luma = (size_t)(stride[0] * height), chroma = (size_t)(stride[1] * (height / 2));
    uint8_t *memory = motus_host_alloc(luma + 2 * chroma);
    if (!memory) return motus_frame_alloc(frame, width, height);
    memset(memory, 0, luma + 2 * chroma); // rows are read in whole vectors, beyond the last column as well
    uint8_t *data[3] = {memory, memory + luma, memory + luma + chroma};
    MotusStatus status = motus_frame_wrap(frame, width, height, data, stride, motus_host_free, memory);
    if (status) motus_host_free(memory);
    return status;
}

static MotusStatus alloc_whole(MotusIntake *in) {
    int width = 16 * motus_mbs(in->width), height = 16 * motus_mbs(in->height);
    return in->pinned ? motus_frame_alloc_pinned(&in->whole, width, height) : motus_frame_alloc(&in->whole, width, height);
}

MotusStatus motus_intake_open(MotusIntake *in, int width, int height, int threads, int pinned) {
    *in = (MotusIntake){.width = width, .height = height, .threads = threads, .pinned = pinned};
    return alloc_whole(in);
}

void motus_intake_close(MotusIntake *in) {
    motus_intake_cuda_close(&in->cuda);
    motus_frame_unref(&in->visible);
    motus_frame_unref(&in->whole);
}

// A frame that somebody has kept stays as it is: then the next one gets memory of its own.
static MotusStatus make_room(MotusIntake *in) {
    motus_frame_unref(&in->visible);
    in->device_luma.data = NULL;
    if (motus_frame_shared(in->whole)) motus_frame_unref(&in->whole);
    return in->whole ? MOTUS_OK : alloc_whole(in);
}

static MotusStatus show(MotusIntake *in, const MotusFrame *frame) {
    MotusStatus status = motus_frame_crop(&in->visible, in->whole, in->width, in->height);
    if (!status) in->visible->number = frame->number;
    return status;
}

// As motus_frame_copy_padded, by rows of MBs: the last one has a row of the frame at least.
static void copy_padded(const MotusFrame *dst, const MotusFrame *src, int threads) {
    const int mb_height = dst->height / 16;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < mb_height; y++)
        for (int p = 0; p < 3; p++) {
            const int size = p ? 8 : 16;
            const MotusPlane to = motus_plane_rows(&dst->plane[p], y * size, size),
                             from = motus_plane_rows(&src->plane[p], y * size, size);
            motus_plane_copy_padded(&to, &from);
        }
}

MotusStatus motus_intake_host(MotusIntake *in, const MotusFrame *frame) {
    MotusStatus status = make_room(in);
    if (status) return status;
    copy_padded(in->whole, frame, in->threads);
    return show(in, frame);
}

MotusStatus motus_intake_device(MotusIntake *in, const MotusFrame *frame, void *stream, MotusError *error) {
    MotusStatus status = make_room(in);
    if (!status && !in->cuda) status = motus_intake_cuda_open(&in->cuda, in->whole->width, in->whole->height, error);
    if (!status) status = motus_intake_cuda_take(in->cuda, frame, stream, in->whole, &in->device_luma, error);
    return status ? status : show(in, frame);
}
