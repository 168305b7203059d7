// Frames in memory, encodes of them, and rows of figures.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "motus/upload.h"
#include "tools/bench/bench.h"
#include "tools/synth/synth.h"
#include "yuv/io/reader.h"

// ---- The clip -----------------------------------------------------------------------------------

// Fills the clip with up to b->frames frames of b->input, or makes them (NULL) with motus synth's
// generator. Odd sizes lose a row or column.
static MotusStatus load(MotusBenchClip *clip, const MotusBench *b, MotusError *error) {
    MotusReader *reader = NULL;
    MotusSynth *synth = NULL;
    MotusStatus status;
    if (b->input) {
        status = motus_reader_open(&reader, b->input, &(MotusReaderOptions){0}, error);
        if (status) return status;
        const MotusSequenceInfo *info = motus_reader_info(reader);
        clip->width = info->width & ~1, clip->height = info->height & ~1, clip->fps = info->fps;
        snprintf(clip->name, sizeof clip->name, "%s", motus_shown(b->input));
    } else {
        MotusSynthConfig config = motus_synth_config_default(b->size[0] & ~1, b->size[1] & ~1);
        config.pan_x = 7, config.pan_y = -2, config.objects = 6, config.noise = 2;
        clip->width = config.width, clip->height = config.height;
        clip->fps = (MotusRational){25, 1};
        snprintf(clip->name, sizeof clip->name, "synthetic");
        status = motus_synth_open(&synth, &config);
    }
    while (!status && clip->n < b->frames) {
        MotusFrame *read = NULL, *frame = NULL;
        if (reader) status = motus_reader_next(reader, &read, error);
        if (status) break;
        status = motus_frame_alloc(&frame, clip->width, clip->height);
        if (!status && read) {
            MotusFrame part = *read; // cropped
            part.width = clip->width, part.height = clip->height;
            for (int p = 0; p < 3; p++)
                part.plane[p].width = frame->plane[p].width,
                part.plane[p].height = frame->plane[p].height;
            motus_frame_copy_padded(frame, &part);
        } else if (!status) {
            motus_synth_frame(synth, clip->n, frame);
        }
        motus_frame_unref(&read);
        if (!status) clip->frame[clip->n++] = frame;
    }
    motus_reader_close(&reader);
    motus_synth_close(&synth);
    if (status == MOTUS_END) status = MOTUS_OK;
    return status && !error->status
               ? motus_fail(error, status, "%s: %s", clip->name, motus_status_text(status))
               : status;
}

MotusStatus motus_bench_clip(MotusBench *b, MotusError *error) {
    MotusBenchClip *clip = &b->clip;
    clip->frame = motus_alloc((size_t)b->frames, sizeof(void *));
    if (!clip->frame) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = load(clip, b, error);
    return status || clip->n > 1
               ? status
               : motus_fail(error, MOTUS_ERR_TRUNCATED, "%s: two frames are needed", clip->name);
}

double motus_clip_kbps(const MotusBenchClip *clip, uint64_t bytes) {
    return 8e-3 * (double)bytes / clip->n * clip->fps.num / clip->fps.den;
}

MotusStatus motus_bench_frames(MotusFrame ***frames, const MotusBenchClip *clip, int on_device,
                               MotusError *error) {
    const int width = clip->width, height = clip->height;
    const size_t luma = (size_t)width * (size_t)height, bytes = luma * 3 / 2;
    const ptrdiff_t stride[3] = {width, width / 2, width / 2};
    MotusFrame **list = *frames = motus_alloc((size_t)clip->n, sizeof *list);
    if (!list) return motus_fail(error, MOTUS_ERR_MEMORY, "no memory for the frames");
    for (int i = 0; i < clip->n; i++) {
        uint8_t *at = motus_host_alloc(bytes);
        void (*release)(void *) = motus_host_free;
        for (int turn = 0; turn <= on_device; turn++) { // the device's copy is made from the host's
            MotusFrame *host = list[i];
            void *memory = at;
            if (turn) {
                if (motus_cuda_alloc(&memory, bytes, error)) return error->status;
                release = motus_cuda_free;
            }
            uint8_t *p = memory;
            uint8_t *const data[3] = {p, p + luma, p + luma + luma / 4};
            if (!p || motus_frame_wrap(&list[i], width, height, data, stride, release, p)) {
                if (p) release(p);
                return motus_fail(error, MOTUS_ERR_MEMORY, "no memory for the frames");
            }
            if (!turn) motus_frame_copy_padded(list[i], clip->frame[i]);
            const MotusStatus copied = turn ? motus_cuda_copy(p, at, bytes, NULL, error) : MOTUS_OK;
            if (turn) motus_frame_unref(&host);
            if (copied) return copied;
        }
    }
    return MOTUS_OK;
}

void motus_bench_frames_free(MotusFrame ***frames, int n) {
    for (int i = 0; *frames && i < n; i++) motus_frame_unref(&(*frames)[i]);
    motus_free(*frames);
    *frames = NULL;
}

// ---- Encodes ------------------------------------------------------------------------------------

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

// ---- Figures ------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double motus_median_of(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[(n - 1) / 2];
}

void motus_bench_row(const MotusBench *b, const char *rows, const MotusBenchField *field, int n) {
    cJSON *to = b->report;
    int printed = 0;
    if (rows && *rows == '.') {
        to = cJSON_AddObjectToObject(b->report, rows + 1);
    } else if (rows) {
        cJSON *list = cJSON_GetObjectItem(b->report, rows);
        if (!list) list = cJSON_AddArrayToObject(b->report, rows);
        cJSON_AddItemToArray(list, to = cJSON_CreateObject());
    }
    for (const MotusBenchField *f = field; f < field + n; f++) {
        const double shown = f->scale != 0 ? f->value * f->scale : f->value;
        if (f->key && f->is_bool)
            cJSON_AddBoolToObject(to, f->key, f->value != 0);
        else if (f->key && f->text)
            cJSON_AddStringToObject(to, f->key, f->text);
        else if (f->key && !isnan(f->value))
            cJSON_AddNumberToObject(to, f->key, f->value);
        if (!f->format || b->json) continue;
        if (f->text)
            printf(f->format, f->text);
        else if (!isnan(f->value))
            printf(f->format, shown);
        else
            printf("%*s", snprintf(NULL, 0, f->format, 0.0), "-");
        printed = 1;
    }
    if (printed) printf("\n");
    if (printed) fflush(stdout);
}
