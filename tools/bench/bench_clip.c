// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "motus/upload.h"
#include "tools/bench/bench.h"
#include "tools/synth/synth.h"
#include "yuv/io/reader.h"

// Appends a copy of the frame, cropped to the clip's even size.
static MotusStatus keep(MotusBenchClip *clip, const MotusFrame *frame, MotusError *error) {
    MotusFrame *copy = NULL;
    MotusStatus status = motus_frame_alloc(&copy, clip->width, clip->height);
    if (status) return motus_fail(error, status, "%s: %s", clip->name, motus_status_text(status));
    MotusFrame part = *frame;
    part.width = clip->width;
    part.height = clip->height;
    for (int p = 0; p < 3; p++) {
        part.plane[p].width = copy->plane[p].width;
        part.plane[p].height = copy->plane[p].height;
    }
    motus_frame_copy_padded(copy, &part);
    clip->frame[clip->n++] = copy;
    return MOTUS_OK;
}

static MotusStatus read_clip(MotusBenchClip *clip, const char *path, int frames,
                             MotusError *error) {
    MotusReader *reader = NULL;
    MotusStatus status = motus_reader_open(&reader, path, &(MotusReaderOptions){0}, error);
    if (!status) {
        const MotusSequenceInfo *info = motus_reader_info(reader);
        clip->width = info->width & ~1;
        clip->height = info->height & ~1;
        clip->fps = info->fps;
        snprintf(clip->name, sizeof clip->name, "%s", motus_shown(path));
    }
    while (!status && clip->n < frames) {
        MotusFrame *frame = NULL;
        status = motus_reader_next(reader, &frame, error);
        if (!status) status = keep(clip, frame, error);
        motus_frame_unref(&frame);
    }
    motus_reader_close(&reader);
    return status == MOTUS_END ? MOTUS_OK : status;
}

static MotusStatus make_clip(MotusBenchClip *clip, const int size[2], int frames,
                             MotusError *error) {
    MotusSynthConfig config = motus_synth_config_default(size[0] & ~1, size[1] & ~1);
    config.pan_x = 7;
    config.pan_y = -2;
    config.objects = 6;
    config.noise = 2;
    snprintf(clip->name, sizeof clip->name, "synthetic");
    clip->width = config.width;
    clip->height = config.height;
    clip->fps = (MotusRational){25, 1};
    MotusSynth *synth = NULL;
    MotusFrame *frame = NULL;
    MotusStatus status = motus_synth_open(&synth, &config);
    if (!status) status = motus_frame_alloc(&frame, config.width, config.height);
    if (status) motus_fail(error, status, "synthetic sequence: %s", motus_status_text(status));
    for (int n = 0; !status && n < frames; n++) {
        motus_synth_frame(synth, n, frame);
        status = keep(clip, frame, error);
    }
    motus_frame_unref(&frame);
    motus_synth_close(&synth);
    return status;
}

MotusStatus motus_clip_load(MotusBenchClip *clip, const char *path, const int size[2], int frames,
                            MotusError *error) {
    *clip = (MotusBenchClip){0};
    clip->frame = motus_alloc((size_t)frames, sizeof(void *));
    if (!clip->frame) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status =
        path ? read_clip(clip, path, frames, error) : make_clip(clip, size, frames, error);
    if (!status && clip->n < 2)
        status = motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: two frames are needed", clip->name);
    if (status) motus_clip_free(clip);
    return status;
}

void motus_clip_free(MotusBenchClip *clip) {
    for (int i = 0; i < clip->n; i++) motus_frame_unref(&clip->frame[i]);
    motus_free(clip->frame);
    *clip = (MotusBenchClip){0};
}

double motus_clip_kbps(const MotusBenchClip *clip, uint64_t bytes, int pictures) {
    return 8e-3 * (double)bytes / pictures * clip->fps.num / clip->fps.den;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double motus_median_of(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[(n - 1) / 2];
}

// Wraps memory as a frame of the size of `like`, without gaps between rows. NULL: *error says why,
// and the memory is freed.
static MotusFrame *wrap(uint8_t *memory, void (*release)(void *), const MotusFrame *like,
                        MotusError *error) {
    const ptrdiff_t luma = (ptrdiff_t)like->width * like->height,
                    stride[3] = {like->width, like->width / 2, like->width / 2};
    uint8_t *const data[3] = {memory, memory + luma, memory + luma + luma / 4};
    MotusFrame *frame = NULL;
    if (!motus_frame_wrap(&frame, like->width, like->height, data, stride, release, memory))
        return frame;
    release(memory);
    motus_fail(error, MOTUS_ERR_MEMORY, "no memory for the frames");
    return NULL;
}

static size_t frame_bytes(const MotusFrame *frame) {
    return (size_t)frame->width * (size_t)frame->height * 3 / 2;
}

static MotusFrame *copy_to_host(const MotusFrame *from, MotusError *error) {
    uint8_t *memory = motus_host_alloc(frame_bytes(from));
    if (!memory) motus_fail(error, MOTUS_ERR_MEMORY, "no memory for the frames");
    MotusFrame *copy = memory ? wrap(memory, motus_host_free, from, error) : NULL;
    if (copy) motus_frame_copy_padded(copy, from);
    return copy;
}

static MotusFrame *copy_to_device(const MotusFrame *host, MotusError *error) {
    const size_t bytes = frame_bytes(host);
    void *memory = NULL;
    if (motus_cuda_alloc(&memory, bytes, error)) return NULL;
    if (!motus_cuda_copy(memory, host->plane[0].data, bytes, NULL, error))
        return wrap(memory, motus_cuda_free, host, error);
    motus_cuda_free(memory);
    return NULL;
}

MotusStatus motus_bench_frames(MotusFrame ***frames, const MotusBenchClip *clip, int on_device,
                               MotusError *error) {
    MotusFrame **list = *frames = motus_alloc((size_t)clip->n, sizeof *list);
    if (!list) return motus_fail(error, MOTUS_ERR_MEMORY, "no memory for the frames");
    for (int i = 0; i < clip->n; i++) {
        MotusFrame *host = copy_to_host(clip->frame[i], error);
        list[i] = host && on_device ? copy_to_device(host, error) : host;
        if (on_device) motus_frame_unref(&host);
        if (!list[i]) return error->status;
    }
    return MOTUS_OK;
}

void motus_bench_frames_free(MotusFrame ***frames, int n) {
    for (int i = 0; *frames && i < n; i++) motus_frame_unref(&(*frames)[i]);
    motus_free(*frames);
    *frames = NULL;
}

MotusStatus motus_bench_pass(const MotusBenchPass *p, int n, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int sent = 0, taken = 0; taken < n && !status;) {
        MotusPacket *packet;
        if (sent < n) {
            const MotusFrame *frame = p->frame[sent++ % p->n_frames];
            status = p->on_device ? motus_encoder_send_device(p->encoder, frame, NULL, NULL)
                                  : motus_encoder_send(p->encoder, frame, NULL);
            if (!status && sent == n) status = motus_encoder_send(p->encoder, NULL, NULL);
        }
        while (!status && taken < n &&
               !(status = motus_encoder_receive(p->encoder, &packet, sent < n ? 0 : -1))) {
            taken++;
            if (p->take)
                p->take(p->opaque, packet);
            else
                motus_packet_unref(&packet);
        }
        if (status == MOTUS_AGAIN && sent < n) status = MOTUS_OK;
    }
    if (!status) status = motus_encoder_next_segment(p->encoder, 0, 0); // for the next pass
    return status ? motus_fail(error, status, "encoder: %s", motus_encoder_error(p->encoder)->text)
                  : MOTUS_OK;
}
