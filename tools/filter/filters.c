// SPDX-License-Identifier: BSD-2-Clause
#include "tools/filter/filters.h"

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "motus/filter_cuda.h"
#include "tools/cli/cmd.h"
#include "tools/cli/signals.h"

struct MotusFilters {
    MotusFilterList list;
    MotusExec exec;
    MotusEqualizer *equalizer[MOTUS_MAX_FILTERS]; // by step
    MotusRgbEqualizer *rgb_equalizer[MOTUS_MAX_FILTERS];
    MotusReader *reader; // of the background; NULL after its end: its last frame stays
    MotusFrame *background;
    MotusFiltersCuda *cuda; // NULL: the steps run on the CPU
    int64_t background_frames;
    int ended; // the source; with `cuda` frames may still be in flight
};

// Scales bilinearly, in 1/256 of a sample; corners meet corners.
static void scale_plane(const MotusPlane *dst, const MotusPlane *src) {
    for (int y = 0; y < dst->height; y++) {
        int64_t sy = dst->height > 1 ? (int64_t)y * (src->height - 1) * 256 / (dst->height - 1) : 0;
        const uint8_t *top = src->data + (sy >> 8) * src->stride,
                      *bottom =
                          src->data + motus_min((int)(sy >> 8) + 1, src->height - 1) * src->stride;
        for (int x = 0; x < dst->width; x++) {
            int64_t sx =
                dst->width > 1 ? (int64_t)x * (src->width - 1) * 256 / (dst->width - 1) : 0;
            int left = (int)(sx >> 8), right = motus_min(left + 1, src->width - 1),
                wx = (int)(sx & 255), wy = (int)(sy & 255);
            int a = top[left] * (256 - wx) + top[right] * wx,
                b = bottom[left] * (256 - wx) + bottom[right] * wx;
            dst->data[y * dst->stride + x] = (uint8_t)((a * (256 - wy) + b * wy + 32768) >> 16);
        }
    }
}

static MotusStatus scale_frame(MotusFrame **frame, int width, int height, MotusError *error) {
    MotusFrame *scaled = NULL;
    if ((*frame)->width == width && (*frame)->height == height) return MOTUS_OK;
    if (motus_frame_alloc(&scaled, width, height))
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    for (int p = 0; p < 3; p++) scale_plane(&scaled->plane[p], &(*frame)->plane[p]);
    motus_frame_unref(frame);
    *frame = scaled;
    return MOTUS_OK;
}

static MotusStatus open_background(MotusFilters *f, MotusError *error) {
    static const int quiet = 1; // only warnings
    const MotusReaderOptions options = {.threads = f->exec.threads,
                                        .interrupted = motus_signal_caught,
                                        .log = motus_print_log,
                                        .opaque = (void *)&quiet};
    return motus_reader_open(&f->reader, f->list.background, &options, error);
}

// Reads the background's next frame; after its end the first one again, or none.
static MotusStatus next_background(MotusFilters *f, int width, int height, MotusError *error) {
    MotusFrame *frame = NULL;
    MotusError cause = {0};
    if (!f->reader) return MOTUS_OK;
    MotusStatus status = motus_reader_next(f->reader, &frame, &cause);
    if ((status == MOTUS_END || status == MOTUS_ERR_TRUNCATED) && f->background_frames) {
        motus_reader_close(&f->reader);
        if (!f->list.loop) return MOTUS_OK;
        f->background_frames = 0;
        status = open_background(f, &cause);
        if (!status) status = motus_reader_next(f->reader, &frame, &cause);
    }
    if (status == MOTUS_END)
        return motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: no frame",
                          motus_shown(f->list.background));
    if (status) {
        if (error) *error = cause;
        return status;
    }
    f->background_frames++;
    motus_frame_unref(&f->background);
    f->background = frame;
    return scale_frame(&f->background, width, height, error);
}

static MotusStatus check_background(MotusFilters *f, const MotusSequenceInfo *info,
                                    MotusError *error) {
    if (!f->list.background) return MOTUS_OK;
    MotusStatus status = open_background(f, error);
    if (status) return status;
    const MotusSequenceInfo *b = motus_reader_info(f->reader);
    if (!f->list.scale && (b->width != info->width || b->height != info->height))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "%s: the background is %dx%d, the foreground %dx%d (--scale fits it)",
                          motus_shown(f->list.background), b->width, b->height, info->width,
                          info->height);
    return MOTUS_OK;
}

// Checks the step, and opens its state for the CPU unless the steps run on a device.
static MotusStatus open_step(MotusFilters *f, int i, const MotusSequenceInfo *info,
                             MotusError *error) {
    const MotusFilterStep *step = &f->list.step[i];
    MotusStatus status = MOTUS_OK;
    if (step->kind == MOTUS_FILTER_EQUALIZE && !f->cuda)
        status = motus_equalizer_open(&f->equalizer[i], &step->equalize, info->width, info->height);
    if (step->kind == MOTUS_FILTER_EQUALIZE_RGB && !f->cuda)
        status = motus_rgb_equalizer_open(&f->rgb_equalizer[i], &step->equalize, info->width,
                                          info->height, step->key.matrix_709, step->key.full_range);
    if (status) return motus_fail(error, status, "--equalize: %s", motus_status_text(status));
    MotusWaveletShape shape;
    if (step->levels && motus_wavelet_shape(&shape, info->width, info->height, step->levels,
                                            MOTUS_WAVELET_SYMMETRIC))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "--denoise: %d levels are too many for %dx%d",
                          step->levels, info->width, info->height);
    return MOTUS_OK;
}

// Opens the device unless the steps run on the CPU: as asked, or with AUTO without a device or,
// after a warning, if it fails.
static MotusStatus open_device(MotusFilters *f, const MotusSequenceInfo *info, MotusBackend wanted,
                               int on_device, MotusError *error) {
    MotusError cause = {0};
    if (!f->list.n || wanted == MOTUS_BACKEND_CPU) return MOTUS_OK;
    MotusStatus status = motus_cuda_filters_usable(wanted == MOTUS_BACKEND_CUDA ? error : NULL);
    if (status) return wanted == MOTUS_BACKEND_CUDA ? status : MOTUS_OK;
    status =
        motus_filters_cuda_open(&f->cuda, &f->list, info->width, info->height, on_device, &cause);
    if (status && wanted == MOTUS_BACKEND_AUTO) {
        motus_warn("the CUDA device failed (%s); frames are filtered on the CPU", cause.text);
        return MOTUS_OK;
    }
    if (status && error) *error = cause;
    return status;
}

MotusStatus motus_filters_open(MotusFilters **filters, const MotusFilterList *list,
                               const MotusSequenceInfo *info, int threads, MotusBackend backend,
                               int on_device, MotusError *error) {
    *filters = NULL;
    MotusFilters *f = motus_alloc(1, sizeof *f);
    if (!f) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    f->list = *list;
    f->exec.threads = threads;
    for (int i = 0; i < list->n; i++)
        f->list.step[i].key.matrix_709 = info->colour.matrix == 1,
        f->list.step[i].key.full_range = info->colour.full_range == 1;
    MotusStatus status = check_background(f, info, error);
    if (!status) status = open_device(f, info, backend, on_device, error);
    for (int i = 0; !status && i < list->n; i++) status = open_step(f, i, info, error);
    if (status)
        motus_filters_close(&f);
    else
        *filters = f;
    return status;
}

static void denoise(const MotusFilterStep *step, MotusFrame *frame, const MotusExec *exec) {
    for (int p = 0; p < 3; p++) // planes too small for a level stay as they are
        (void)motus_wavelet_denoise(&frame->plane[p], &frame->plane[p], step->levels,
                                    p ? step->strength / 2 : step->strength, exec);
}

static MotusStatus run_step(MotusFilters *f, int i, MotusFrame *frame) {
    const MotusFilterStep *step = &f->list.step[i];
    switch (step->kind) {
    case MOTUS_FILTER_EQUALIZE:
        return motus_equalizer_run(f->equalizer[i], &frame->plane[0], &frame->plane[0], &f->exec);
    case MOTUS_FILTER_EQUALIZE_RGB:
        return motus_rgb_equalizer_run(f->rgb_equalizer[i], frame, frame, &f->exec);
    case MOTUS_FILTER_KEY:
        return motus_key_frame(frame, frame, f->background, &step->key, &f->exec);
    default:
        denoise(step, frame, &f->exec);
        return MOTUS_OK;
    }
}

// Replaces *frame by a filtered copy: the reader's frame may be shared with a decoder.
static MotusStatus run_here(MotusFilters *f, MotusFrame **frame, MotusError *error) {
    MotusFrame *out = NULL;
    if (!f->list.n) return MOTUS_OK;
    MotusStatus status = next_background(f, (*frame)->width, (*frame)->height, error);
    if (status) return status;
    status = motus_frame_alloc(&out, (*frame)->width, (*frame)->height);
    if (!status) status = motus_frame_copy_padded(out, *frame);
    for (int i = 0; !status && i < f->list.n; i++) status = run_step(f, i, out);
    if (status) {
        motus_frame_unref(&out);
        return motus_fail(error, status, "filter: %s", motus_status_text(status));
    }
    out->number = (*frame)->number;
    motus_frame_unref(frame);
    *frame = out;
    return MOTUS_OK;
}

static MotusStatus send(MotusFilters *f, const MotusFrame *frame, MotusError *error) {
    MotusStatus status = next_background(f, frame->width, frame->height, error);
    return status ? status : motus_filters_cuda_send(f->cuda, frame, f->background, error);
}

// Sends frames to the device as it has room, then receives its oldest one.
static MotusStatus next_from_device(MotusFilters *f, MotusFilterSource *read, void *opaque,
                                    MotusFrame **frame, MotusError *error) {
    while (!f->ended && motus_filters_cuda_has_room(f->cuda)) {
        MotusFrame *in = NULL;
        MotusStatus status = read(opaque, &in, error);
        if (status == MOTUS_END) {
            f->ended = 1;
            break;
        }
        if (!status) status = send(f, in, error);
        motus_frame_unref(&in);
        if (status) return status;
    }
    return motus_filters_cuda_receive(f->cuda, frame, error);
}

MotusStatus motus_filters_next(MotusFilters *f, MotusFilterSource *read, void *opaque,
                               MotusFrame **frame, MotusError *error) {
    *frame = NULL;
    if (f->cuda) return next_from_device(f, read, opaque, frame, error);
    MotusStatus status = read(opaque, frame, error);
    if (!status) status = run_here(f, frame, error);
    if (status) motus_frame_unref(frame);
    return status;
}

int motus_filters_on_device(const MotusFilters *f, void **stream) {
    return f->cuda && motus_filters_cuda_on_device(f->cuda, stream);
}

void motus_filters_close(MotusFilters **filters) {
    if (!filters || !*filters) return;
    MotusFilters *f = *filters;
    for (int i = 0; i < MOTUS_MAX_FILTERS; i++) {
        motus_equalizer_close(&f->equalizer[i]);
        motus_rgb_equalizer_close(&f->rgb_equalizer[i]);
    }
    motus_filters_cuda_close(&f->cuda);
    motus_reader_close(&f->reader);
    motus_frame_unref(&f->background);
    motus_free(f);
    *filters = NULL;
}
