// SPDX-License-Identifier: BSD-2-Clause
#include "tools/bench/bench_gop_coders.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/cli/system.h"

enum { HOST, DEVICE, PLACES, LATENCY_FRAMES = 200, STAGE_FRAMES = 60 };

// The clip's frames where an encoder finds them at its best: in pinned memory, and in device
// memory.
typedef struct Frames {
    MotusFrame **at[PLACES]; // [DEVICE] NULL: the backend is the CPU
    int n;
} Frames;

typedef struct Run {
    double fps, cores; // processors in use, of the host
} Run;

// ---- Frames -------------------------------------------------------------------------------------

static void free_frames(Frames *frames) {
    for (int place = 0; place < PLACES; place++) {
        for (int i = 0; frames->at[place] && i < frames->n; i++)
            motus_frame_unref(&frames->at[place][i]);
        motus_free(frames->at[place]);
    }
}

static MotusStatus load_frames(Frames *frames, const MotusBenchClip *clip, int with_device,
                               MotusError *error) {
    *frames = (Frames){.n = clip->n};
    for (int place = 0; place < (with_device ? PLACES : DEVICE); place++) {
        frames->at[place] = motus_alloc((size_t)clip->n, sizeof *frames->at[place]);
        if (!frames->at[place])
            return motus_fail(error, MOTUS_ERR_MEMORY, "no memory for the frames");
        for (int i = 0; i < clip->n; i++) {
            MotusStatus status =
                motus_bench_frame(&frames->at[place][i], clip->frame[i], place == DEVICE, error);
            if (status) return status;
        }
    }
    return MOTUS_OK;
}

// ---- Throughput ---------------------------------------------------------------------------------

static MotusStatus send(MotusEncoder *encoder, const Frames *frames, int place, int i) {
    const MotusFrame *frame = frames->at[place][i % frames->n];
    return place == DEVICE ? motus_encoder_send_device(encoder, frame, NULL, NULL)
                           : motus_encoder_send(encoder, frame, NULL);
}

// Sends n frames and takes n packets.
static MotusStatus pass(MotusEncoder *encoder, const Frames *frames, int place, int n) {
    MotusPacket *packet;
    MotusStatus status = MOTUS_OK;
    int done = 0;
    for (int i = 0; i < n && !status; i++) {
        status = send(encoder, frames, place, i);
        while (!status && !(status = motus_encoder_receive(encoder, &packet, 0)))
            done++, motus_packet_unref(&packet);
        if (status == MOTUS_AGAIN) status = MOTUS_OK;
    }
    while (done < n && !status) {
        status = motus_encoder_receive(encoder, &packet, -1);
        if (!status) done++, motus_packet_unref(&packet);
    }
    return status;
}

// The first pass opens all lanes and is not counted. In each of the others every lane codes o->gops
// GOPs, from the first frame that is sent to the last packet.
static MotusStatus measure(const MotusBenchGopCoders *o, const MotusEncoderConfig *config,
                           const Frames *frames, int place, Run *run, size_t *bytes,
                           MotusError *error) {
    MotusEncoder *encoder = NULL;
    MotusStatus status = motus_encoder_open(&encoder, config, error);
    if (status) return status;
    const int round = config->gop_coders * frames->n;
    double seconds[100];
    status = pass(encoder, frames, place, round);
    double before = motus_processor_seconds(), began = motus_seconds();
    for (int r = 0; r < o->runs && !status; r++) {
        double start = motus_seconds();
        status = pass(encoder, frames, place, o->gops * round);
        seconds[r] = motus_seconds() - start;
    }
    run->cores = (motus_processor_seconds() - before) / (motus_seconds() - began);
    if (status) motus_fail(error, status, "encoder: %s", motus_encoder_error(encoder)->text);
    if (!status) run->fps = o->gops * round / motus_median_of(seconds, o->runs);
    *bytes = motus_encoder_gop_coder_bytes(encoder);
    motus_encoder_close(&encoder);
    return status;
}

// ---- Latency ------------------------------------------------------------------------------------

typedef struct Latency {
    double median, p99,
        idr; // milliseconds from the sending of a frame to its packet; of I pictures the median
} Latency;

static int by_size(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static MotusStatus time_single(const MotusEncoderConfig *config, const Frames *frames,
                               Latency *latency, MotusError *error) {
    MotusEncoder *encoder = NULL;
    MotusEncoderConfig alone = *config;
    double p[LATENCY_FRAMES] = {0}, idr[LATENCY_FRAMES];
    int n_p = 0, n_idr = 0;
    alone.gop_coders = 1;
    MotusStatus status = motus_encoder_open(&encoder, &alone, error);
    for (int i = 0; i < LATENCY_FRAMES && !status; i++) {
        MotusPacket *packet;
        double start = motus_seconds();
        status = send(encoder, frames, HOST, i);
        if (!status) status = motus_encoder_receive(encoder, &packet, -1);
        if (status) break;
        *(packet->is_idr ? &idr[n_idr++] : &p[n_p++]) = 1e3 * (motus_seconds() - start);
        motus_packet_unref(&packet);
    }
    if (status && encoder)
        motus_fail(error, status, "encoder: %s", motus_encoder_error(encoder)->text);
    motus_encoder_close(&encoder);
    if (status) return status;
    qsort(p, (size_t)n_p, sizeof *p, by_size);
    *latency =
        (Latency){n_p ? p[n_p / 2] : 0, n_p ? p[n_p * 99 / 100] : 0, motus_median_of(idr, n_idr)};
    return MOTUS_OK;
}

// ---- Stages -------------------------------------------------------------------------------------

typedef struct Stages {
    double us[2][MOTUS_STAGES]; // of P and of I pictures, medians
} Stages;

// One lane, pictures one behind the other.
static MotusStatus time_stages(const MotusEncoderConfig *config, const Frames *frames,
                               Stages *stages, MotusError *error) {
    MotusEncoder *encoder = NULL;
    MotusEncoderConfig timed = *config;
    double us[2][MOTUS_STAGES][STAGE_FRAMES];
    int n[2] = {0, 0}, done = 0;
    timed.gop_coders = 1;
    timed.time_stages = 1;
    MotusStatus status = motus_encoder_open(&encoder, &timed, error);
    if (status) return status;
    for (int i = 0; i < STAGE_FRAMES && !status; i++) status = send(encoder, frames, HOST, i);
    if (!status) status = motus_encoder_send(encoder, NULL, NULL);
    while (!status && done++ < STAGE_FRAMES) {
        MotusPacket *packet;
        status = motus_encoder_receive(encoder, &packet, -1);
        if (status) break;
        for (int k = 0; k < MOTUS_STAGES; k++)
            us[packet->is_idr][k][n[packet->is_idr]] = packet->stage_us[k];
        n[packet->is_idr]++;
        motus_packet_unref(&packet);
    }
    if (status) motus_fail(error, status, "encoder: %s", motus_encoder_error(encoder)->text);
    motus_encoder_close(&encoder);
    for (int type = 0; type < 2; type++)
        for (int k = 0; k < MOTUS_STAGES; k++)
            stages->us[type][k] = motus_median_of(us[type][k], n[type]);
    return status;
}

static void report_stages(const MotusBenchGopCoders *o, const char *preset, const Stages *stages,
                          cJSON *rows) {
    for (int type = 0; type < 2; type++) {
        const double *us = stages->us[type];
        double sum = 0;
        for (int k = 0; k < MOTUS_STAGES; k++) sum += us[k];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "preset", preset);
        cJSON_AddStringToObject(row, "type", type ? "I" : "P");
        for (int k = 0; k < MOTUS_STAGES; k++)
            cJSON_AddNumberToObject(row, motus_stage_name((MotusStage)k), us[k]);
        cJSON_AddItemToArray(rows, row);
        if (!o->print) continue;
        printf("%-8s %c picture, us:", preset, type ? 'I' : 'P');
        for (int k = 0; k < MOTUS_STAGES; k++)
            if (us[k] > 0)
                printf(" %s %.0f (%.0f %%)", motus_stage_name((MotusStage)k), us[k],
                       100 * us[k] / sum);
        printf(", together %.0f\n", sum);
    }
}

// ---- The table ----------------------------------------------------------------------------------

// What a row is about, and the frames/s that it is compared with: on the CPU one thread's.
typedef struct Row {
    const char *preset;
    int gop_coders, threads, with_device;
    double one_thread;
} Row;

static void report_row(const MotusBenchGopCoders *o, const Row *about, const Run run[PLACES],
                       size_t bytes, cJSON *rows) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "preset", about->preset);
    cJSON_AddNumberToObject(row, "gop_coders", about->gop_coders);
    cJSON_AddNumberToObject(row, "threads", about->threads);
    cJSON_AddNumberToObject(row, "fps", run[HOST].fps);
    cJSON_AddNumberToObject(row, "host_cores", run[HOST].cores);
    if (about->with_device)
        cJSON_AddNumberToObject(row, "fps_device_frames", run[DEVICE].fps);
    else
        cJSON_AddNumberToObject(row, "times_one_thread", run[HOST].fps / about->one_thread);
    cJSON_AddNumberToObject(row, "lane_bytes", (double)bytes);
    cJSON_AddItemToArray(rows, row);
    if (!o->print) return;
    if (about->with_device)
        printf("%-8s %5d %11.1f %13.1f", about->preset, about->gop_coders, run[HOST].fps,
               run[DEVICE].fps);
    else
        printf("%-8s %5d %7d %11.1f %16.2f", about->preset, about->gop_coders, about->threads,
               run[HOST].fps, run[HOST].fps / about->one_thread);
    printf(" %10.2f %9.1f\n", run[HOST].cores, (double)bytes / (1 << 20));
    fflush(stdout);
}

// One row: `lanes` lanes on `threads` threads.
static MotusStatus time_row(const MotusBenchGopCoders *o, const Frames *frames,
                            MotusEncoderConfig *config, Row *row, MotusError *error) {
    Run run[PLACES] = {{0}};
    size_t bytes = 0;
    config->gop_coders = row->gop_coders;
    config->threads = row->threads;
    for (int place = 0; place < (row->with_device ? PLACES : DEVICE); place++) {
        MotusStatus status = measure(o, config, frames, place, &run[place], &bytes, error);
        if (status) return status;
    }
    if (!row->one_thread) row->one_thread = run[HOST].fps;
    report_row(o, row, run, bytes, cJSON_GetObjectItem(o->report, "rows"));
    if (o->fps && run[HOST].fps > o->fps[config->preset]) o->fps[config->preset] = run[HOST].fps;
    return MOTUS_OK;
}

static MotusStatus preset_rows(const MotusBenchGopCoders *o, const Frames *frames,
                               MotusPreset preset, MotusError *error) {
    cJSON *latencies = cJSON_GetObjectItem(o->report, "latency"),
          *stage_rows = cJSON_GetObjectItem(o->report, "stages_us");
    MotusEncoderConfig config = o->config;
    const char *name = motus_preset_name(preset);
    Row row = {
        .preset = name, .gop_coders = 1, .threads = 1, .with_device = frames->at[DEVICE] != NULL};
    MotusStatus status = MOTUS_OK;
    config.preset = preset;
    config.keyint = frames->n;
    config.stream_only = 1;
    if (!row.with_device && o->config.threads > 1)
        status = time_row(o, frames, &config, &row, error);
    row.threads = o->config.threads;
    for (row.gop_coders = 1; !status;
         row.gop_coders = 2 * row.gop_coders < o->most ? 2 * row.gop_coders : o->most) {
        status = time_row(o, frames, &config, &row, error);
        if (row.gop_coders == o->most) break;
    }
    if (status) return status;
    Latency latency;
    status = time_single(&config, frames, &latency, error);
    if (status) return status;
    cJSON *alone = cJSON_CreateObject();
    cJSON_AddStringToObject(alone, "preset", name);
    cJSON_AddNumberToObject(alone, "p_median_ms", latency.median);
    cJSON_AddNumberToObject(alone, "p_99_ms", latency.p99);
    cJSON_AddNumberToObject(alone, "i_median_ms", latency.idr);
    cJSON_AddItemToArray(latencies, alone);
    if (o->print)
        printf("%-8s alone: P picture %.2f ms (median), %.2f ms (99 %%); I picture %.2f ms\n", name,
               latency.median, latency.p99, latency.idr);
    Stages stages;
    status = time_stages(&config, frames, &stages, error);
    if (!status) report_stages(o, name, &stages, stage_rows);
    return status;
}

MotusStatus motus_bench_gop_coders(const MotusBenchGopCoders *o, MotusError *error) {
    Frames frames;
    MotusStatus status =
        load_frames(&frames, o->clip, o->config.backend == MOTUS_BACKEND_CUDA, error);
    for (int k = 0; k < 3; k++)
        cJSON_AddArrayToObject(o->report,
                               ((const char *const[]){"rows", "latency", "stages_us"})[k]);
    if (o->print)
        printf(frames.at[DEVICE]
                   ? "preset   lanes    frames/s  from a device host cores  MiB/lane\n"
                   : "preset   lanes threads    frames/s times one thread host cores  MiB/lane\n");
    for (int preset = 0; preset < MOTUS_PRESETS && !status; preset++)
        if (o->presets >> preset & 1) status = preset_rows(o, &frames, (MotusPreset)preset, error);
    free_frames(&frames);
    return status;
}
