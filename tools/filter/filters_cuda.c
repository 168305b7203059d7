// SPDX-License-Identifier: BSD-2-Clause
#include "tools/filter/filters.h"

#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "motus/filter_cuda.h"
#include "motus/upload.h"

enum { DEPTH = 4 }; // frames in flight: in upload, filters, download, and on the host

struct MotusFiltersCuda {
    MotusFilterList list;
    MotusCudaRing *ring;
    int on_device;
    void *stream;          // of the frames that stay there
    int64_t number[DEPTH]; // of the frames in flight, a ring
    int64_t sent, received;
    MotusCudaEqualizer *equalizer[MOTUS_MAX_FILTERS];
    MotusCudaRgbEqualizer *rgb_equalizer[MOTUS_MAX_FILTERS];
    float *coefs;     // device memory for the largest transform
    MotusFrame shape; // size and strides of a frame in the ring's buffers
    size_t frame_bytes;
};

// Returns a frame whose planes lie at `data`.
static MotusFrame frame_at(const MotusFiltersCuda *f, const void *data) {
    MotusFrame frame = f->shape;
    uint8_t *p = (uint8_t *)(uintptr_t)data;
    for (int k = 0; k < 3; k++)
        frame.plane[k].data = p, p += frame.plane[k].stride * frame.plane[k].height;
    return frame;
}

// Returns the shape of motus_wavelet_denoise. MOTUS_ERR_ARGUMENT: the plane stays as it is.
static MotusStatus denoise_shape(MotusWaveletShape *shape, const MotusPlane *plane, int levels) {
    return motus_wavelet_shape(shape, plane->width, plane->height, levels, MOTUS_WAVELET_SYMMETRIC);
}

static MotusStatus denoise(MotusFiltersCuda *f, const MotusFilterStep *step,
                           const MotusFrame *frame, void *stream, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int p = 0; !status && p < 3; p++) {
        MotusWaveletShape shape;
        float threshold[MOTUS_WAVELET_MAX_LEVELS],
            strength = p ? step->strength / 2 : step->strength;
        if (denoise_shape(&shape, &frame->plane[p], step->levels)) continue;
        for (int l = 0; l < shape.levels; l++) threshold[l] = strength / (float)(1 << l);
        status = motus_cuda_wavelet_forward(f->coefs, &frame->plane[p], &shape, stream, error);
        if (!status) status = motus_cuda_wavelet_shrink(f->coefs, &shape, threshold, stream, error);
        if (!status)
            status =
                motus_cuda_wavelet_inverse_plane(&frame->plane[p], f->coefs, &shape, stream, error);
    }
    return status;
}

// Applies the steps to the uploaded frame in place and copies it to the output (MotusCudaJob).
static MotusStatus job(void *opaque, const void *d_in, void *d_out, void *stream,
                       MotusError *error) {
    MotusFiltersCuda *f = opaque;
    MotusFrame frame = frame_at(f, d_in),
               background = frame_at(f, (const uint8_t *)d_in + f->frame_bytes);
    MotusStatus status = MOTUS_OK;
    for (int i = 0; !status && i < f->list.n; i++) {
        const MotusFilterStep *step = &f->list.step[i];
        if (step->kind == MOTUS_FILTER_EQUALIZE)
            status = motus_cuda_equalizer_run(f->equalizer[i], &frame.plane[0], &frame.plane[0],
                                              stream, error);
        else if (step->kind == MOTUS_FILTER_EQUALIZE_RGB)
            status =
                motus_cuda_rgb_equalizer_run(f->rgb_equalizer[i], &frame, &frame, stream, error);
        else if (step->kind == MOTUS_FILTER_KEY)
            status = motus_cuda_key_frame(&frame, &frame, &background, &step->key, stream, error);
        else
            status = denoise(f, step, &frame, stream, error);
    }
    return status ? status : motus_cuda_copy(d_out, d_in, f->frame_bytes, stream, error);
}

MotusStatus motus_filters_cuda_open(MotusFiltersCuda **filters, const MotusFilterList *list,
                                    int width, int height, int on_device, MotusError *error) {
    *filters = NULL;
    MotusFiltersCuda *f = motus_alloc(1, sizeof *f);
    if (!f) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    f->list = *list, f->on_device = on_device;
    f->shape.width = width, f->shape.height = height;
    for (int p = 0; p < 3; p++) {
        int w = p ? (width + 1) / 2 : width, h = p ? (height + 1) / 2 : height;
        f->shape.plane[p] = (MotusPlane){NULL, (w + 15) / 16 * 16, w, h};
        f->frame_bytes += (size_t)f->shape.plane[p].stride * (size_t)h;
    }
    size_t in_bytes = list->background ? 2 * f->frame_bytes : f->frame_bytes;
    MotusStatus status =
        motus_cuda_ring_open(&f->ring, DEPTH, in_bytes, f->frame_bytes, on_device, error);
    size_t coefs = 0;
    for (int i = 0; !status && i < list->n; i++) {
        MotusWaveletShape shape;
        const MotusFilterStep *step = &list->step[i];
        if (step->kind == MOTUS_FILTER_EQUALIZE)
            status =
                motus_cuda_equalizer_open(&f->equalizer[i], &step->equalize, width, height, error);
        if (step->kind == MOTUS_FILTER_EQUALIZE_RGB)
            status =
                motus_cuda_rgb_equalizer_open(&f->rgb_equalizer[i], &step->equalize, width, height,
                                              step->key.matrix_709, step->key.full_range, error);
        if (step->kind == MOTUS_FILTER_DENOISE &&
            !denoise_shape(&shape, &f->shape.plane[0], step->levels) && shape.size > coefs)
            coefs = shape.size;
    }
    if (!status && coefs)
        status = motus_cuda_alloc((void **)&f->coefs, coefs * sizeof *f->coefs, error);
    if (status)
        motus_filters_cuda_close(&f);
    else
        *filters = f;
    return status;
}

static void copy_frame(const MotusFrame *dst, const MotusFrame *src) {
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < src->plane[p].height; y++)
            memcpy(dst->plane[p].data + y * dst->plane[p].stride,
                   src->plane[p].data + y * src->plane[p].stride, (size_t)src->plane[p].width);
}

int motus_filters_cuda_has_room(const MotusFiltersCuda *f) { return f->sent - f->received < DEPTH; }

MotusStatus motus_filters_cuda_send(MotusFiltersCuda *f, const MotusFrame *frame,
                                    const MotusFrame *background, MotusError *error) {
    void *input;
    MotusStatus status = motus_cuda_ring_input(f->ring, &input, error);
    if (status) return status;
    MotusFrame in = frame_at(f, input), behind = frame_at(f, (uint8_t *)input + f->frame_bytes);
    copy_frame(&in, frame);
    if (background) copy_frame(&behind, background);
    status = motus_cuda_ring_submit(f->ring, job, f, error);
    if (!status) f->number[f->sent++ % DEPTH] = frame->number;
    return status;
}

static MotusStatus wrap(MotusFrame **frame, const MotusFrame *at, MotusError *error) {
    uint8_t *const data[3] = {at->plane[0].data, at->plane[1].data, at->plane[2].data};
    const ptrdiff_t stride[3] = {at->plane[0].stride, at->plane[1].stride, at->plane[2].stride};
    MotusStatus status = motus_frame_wrap(frame, at->width, at->height, data, stride, NULL, NULL);
    return status ? motus_fail(error, status, "filter: %s", motus_status_text(status)) : MOTUS_OK;
}

static MotusStatus copy_out(MotusFrame **frame, const MotusFrame *at, MotusError *error) {
    MotusStatus status = motus_frame_alloc(frame, at->width, at->height);
    if (status) return motus_fail(error, status, "filter: %s", motus_status_text(status));
    copy_frame(*frame, at);
    return MOTUS_OK;
}

MotusStatus motus_filters_cuda_receive(MotusFiltersCuda *f, MotusFrame **frame, MotusError *error) {
    const void *output = NULL;
    MotusStatus status = motus_cuda_ring_take(f->ring, &output, &f->stream, error);
    if (status) return status;
    const MotusFrame at = frame_at(f, output);
    status = f->on_device ? wrap(frame, &at, error) : copy_out(frame, &at, error);
    if (!status) (*frame)->number = f->number[f->received++ % DEPTH];
    return status;
}

int motus_filters_cuda_on_device(const MotusFiltersCuda *f, void **stream) {
    *stream = f->stream;
    return f->on_device;
}

void motus_filters_cuda_close(MotusFiltersCuda **filters) {
    if (!filters || !*filters) return;
    MotusFiltersCuda *f = *filters;
    motus_cuda_ring_close(&f->ring);
    for (int i = 0; i < MOTUS_MAX_FILTERS; i++) {
        motus_cuda_equalizer_close(&f->equalizer[i]);
        motus_cuda_rgb_equalizer_close(&f->rgb_equalizer[i]);
    }
    motus_cuda_free(f->coefs);
    motus_free(f);
    *filters = NULL;
}
