// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_latency.h"
#include "tools/cli/system.h"

enum { HOST, DEVICE, MEMORIES, STAGE_FRAMES = 60 };

typedef struct CoderRun {
    double fps, cores; // cores of the host in use
} CoderRun;

// All that the rows of a table share.
typedef struct CoderTable {
    const MotusBench *b;
    const MotusBenchGopCoders *settings;
    MotusFrame **frames[MEMORIES]; // of the clip; [DEVICE] NULL: the backend is the CPU
    double *fps;                   // MotusPreset -> best frames/s
} CoderTable;

// ---- Throughput ---------------------------------------------------------------------------------

// Times passes in which every GOP coder codes settings->gops GOPs, from the first frame sent to the
// last packet. A first pass, which opens all GOP coders, is not counted.
static MotusStatus measure(const CoderTable *t, const MotusEncoderConfig *config, int memory,
                           CoderRun *run, size_t *bytes, MotusError *error) {
    const MotusBenchGopCoders *o = t->settings;
    const int n = t->b->clip->n, round = config->gop_coders * n;
    double seconds[MOTUS_BENCH_RUNS];
    MotusEncoder *encoder = NULL;
    MotusStatus status = motus_encoder_open(&encoder, config, error);
    if (status) return status;
    const MotusBenchPass pass = {encoder, t->frames[memory], n, memory == DEVICE, NULL, NULL};
    status = motus_bench_pass(&pass, round, error);
    double before = motus_processor_seconds(), began = motus_seconds();
    for (int r = 0; r < o->runs && !status; r++) {
        double start = motus_seconds();
        status = motus_bench_pass(&pass, o->gops * round, error);
        seconds[r] = motus_seconds() - start;
    }
    run->cores = (motus_processor_seconds() - before) / (motus_seconds() - began);
    if (!status) run->fps = o->gops * round / motus_median_of(seconds, o->runs);
    *bytes = motus_encoder_gop_coder_bytes(encoder);
    motus_encoder_close(&encoder);
    return status;
}

// ---- Latency ------------------------------------------------------------------------------------

// Times pictures one at a time, back to back.
static MotusStatus time_single(const CoderTable *t, const MotusEncoderConfig *config,
                               MotusLatencies *latencies, MotusError *error) {
    MotusEncoderConfig alone = *config;
    alone.gop_coders = 1;
    const MotusBenchSessions s = {.config = &alone,
                                  .frame = t->frames[HOST],
                                  .n_frames = t->b->clip->n,
                                  .n = 1,
                                  .pictures = t->settings->pictures};
    return motus_bench_sessions(&s, latencies, error);
}

static void report_latency(const MotusBench *b, const char *name, const MotusLatencies *l) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "preset", name);
    cJSON_AddNumberToObject(object, "p_median_ms", l->p.median);
    cJSON_AddNumberToObject(object, "p_99_ms", l->p.p99);
    cJSON_AddNumberToObject(object, "p_worst_ms", l->p.worst);
    cJSON_AddNumberToObject(object, "i_median_ms", l->i.median);
    cJSON_AddItemToArray(cJSON_GetObjectItem(b->report, "latency"), object);
    if (b->print)
        printf("%-8s alone: P picture %.2f ms (median), %.2f ms (99 %%), %.2f ms (worst); "
               "I picture %.2f ms\n",
               name, l->p.median, l->p.p99, l->p.worst, l->i.median);
}

// ---- Stages -------------------------------------------------------------------------------------

enum { TYPES = 3 };
static const char types[] = "PBI";

typedef struct StageTimes {
    int n[TYPES];                   // pictures of each type
    double us[TYPES][MOTUS_STAGES]; // their medians
} StageTimes;

// Times the stages of pictures in sequence, with one GOP coder.
static MotusStatus time_stages(const MotusEncoderConfig *config, MotusFrame *const *frame,
                               int n_frames, StageTimes *stages, MotusError *error) {
    MotusEncoder *encoder = NULL;
    MotusEncoderConfig timed = *config;
    double us[TYPES][MOTUS_STAGES][STAGE_FRAMES];
    int done = 0;
    *stages = (StageTimes){.n = {0}};
    timed.gop_coders = 1;
    timed.time_stages = 1;
    MotusStatus status = motus_encoder_open(&encoder, &timed, error);
    if (status) return status;
    for (int i = 0; i < STAGE_FRAMES && !status; i++)
        status = motus_encoder_send(encoder, frame[i % n_frames], NULL);
    if (!status) status = motus_encoder_send(encoder, NULL, NULL);
    while (!status && done++ < STAGE_FRAMES) {
        MotusPacket *packet;
        status = motus_encoder_receive(encoder, &packet, -1);
        if (status) break;
        const int type = (int)(strchr(types, packet->type) - types);
        for (int k = 0; k < MOTUS_STAGES; k++) us[type][k][stages->n[type]] = packet->stage_us[k];
        stages->n[type]++;
        motus_packet_unref(&packet);
    }
    if (status) motus_fail(error, status, "encoder: %s", motus_encoder_error(encoder)->text);
    motus_encoder_close(&encoder);
    for (int type = 0; type < TYPES; type++)
        for (int k = 0; k < MOTUS_STAGES && stages->n[type]; k++)
            stages->us[type][k] = motus_median_of(us[type][k], stages->n[type]);
    return status;
}

static void report_stages(const MotusBench *b, const char *preset, const StageTimes *stages) {
    for (int type = 0; type < TYPES; type++) {
        const double *us = stages->us[type];
        const char name[2] = {types[type], 0};
        double sum = 0;
        if (!stages->n[type]) continue;
        for (int k = 0; k < MOTUS_STAGES; k++) sum += us[k];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "preset", preset);
        cJSON_AddStringToObject(row, "type", name);
        for (int k = 0; k < MOTUS_STAGES; k++)
            cJSON_AddNumberToObject(row, motus_stage_name((MotusStage)k), us[k]);
        cJSON_AddItemToArray(cJSON_GetObjectItem(b->report, "stages_us"), row);
        if (!b->print) continue;
        printf("%-8s %s picture, us:", preset, name);
        for (int k = 0; k < MOTUS_STAGES; k++)
            if (us[k] > 0)
                printf(" %s %.0f (%.0f %%)", motus_stage_name((MotusStage)k), us[k],
                       100 * us[k] / sum);
        printf(", together %.0f\n", sum);
    }
}

// ---- The table ----------------------------------------------------------------------------------

// A row of the table.
typedef struct CoderRow {
    const char *preset;
    int gop_coders, threads, with_device;
    double one_thread; // frames/s of one thread, on the CPU
} CoderRow;

static void report_row(const MotusBench *b, const CoderRow *row, const CoderRun run[MEMORIES],
                       size_t bytes) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "preset", row->preset);
    cJSON_AddNumberToObject(object, "gop_coders", row->gop_coders);
    cJSON_AddNumberToObject(object, "threads", row->threads);
    cJSON_AddNumberToObject(object, "fps", run[HOST].fps);
    cJSON_AddNumberToObject(object, "host_cores", run[HOST].cores);
    if (row->with_device)
        cJSON_AddNumberToObject(object, "fps_device_frames", run[DEVICE].fps);
    else
        cJSON_AddNumberToObject(object, "times_one_thread", run[HOST].fps / row->one_thread);
    cJSON_AddNumberToObject(object, "gop_coder_bytes", (double)bytes);
    cJSON_AddItemToArray(cJSON_GetObjectItem(b->report, "rows"), object);
    if (!b->print) return;
    printf("%-8s %6d", row->preset, row->gop_coders);
    if (row->with_device)
        printf(" %11.1f %13.1f", run[HOST].fps, run[DEVICE].fps);
    else
        printf(" %7d %11.1f %16.2f", row->threads, run[HOST].fps, run[HOST].fps / row->one_thread);
    printf(" %10.2f %9.1f\n", run[HOST].cores, (double)bytes / (1 << 20));
    fflush(stdout);
}

static MotusStatus time_row(const CoderTable *t, MotusEncoderConfig *config, CoderRow *row,
                            MotusError *error) {
    CoderRun run[MEMORIES] = {{0}};
    size_t bytes = 0;
    config->gop_coders = row->gop_coders;
    config->threads = row->threads;
    for (int memory = 0; memory < (row->with_device ? MEMORIES : DEVICE); memory++) {
        MotusStatus status = measure(t, config, memory, &run[memory], &bytes, error);
        if (status) return status;
    }
    if (!row->one_thread) row->one_thread = run[HOST].fps;
    report_row(t->b, row, run, bytes);
    if (run[HOST].fps > t->fps[config->preset]) t->fps[config->preset] = run[HOST].fps;
    return MOTUS_OK;
}

// Times 1, 2, 4, ... GOP coders; on the CPU first one thread.
static MotusStatus time_coders(const CoderTable *t, MotusEncoderConfig *config, const char *name,
                               MotusError *error) {
    const int most = t->settings->most;
    CoderRow row = {
        .preset = name, .gop_coders = 1, .threads = 1, .with_device = t->frames[DEVICE] != NULL};
    MotusStatus status = MOTUS_OK;
    if (!row.with_device && t->b->config.threads > 1) status = time_row(t, config, &row, error);
    row.threads = t->b->config.threads;
    for (row.gop_coders = 1; !status;
         row.gop_coders = 2 * row.gop_coders < most ? 2 * row.gop_coders : most) {
        status = time_row(t, config, &row, error);
        if (row.gop_coders == most) break;
    }
    return status;
}

static MotusStatus preset_rows(const CoderTable *t, MotusPreset preset, MotusError *error) {
    MotusEncoderConfig config = t->b->config;
    const char *name = motus_preset_name(preset);
    config.preset = preset;
    config.keyint = t->b->clip->n;
    config.stream_only = config.no_ssd = 1;
    MotusLatencies latencies;
    StageTimes stages;
    MotusStatus status = time_coders(t, &config, name, error);
    if (!status && !config.bframes) { // a picture before B pictures waits for them
        status = time_single(t, &config, &latencies, error);
        if (!status) report_latency(t->b, name, &latencies);
    }
    if (status) return status;
    status = time_stages(&config, t->frames[HOST], t->b->clip->n, &stages, error);
    if (!status) report_stages(t->b, name, &stages);
    return status;
}

MotusStatus motus_bench_gop_coders(const MotusBench *b, const MotusBenchGopCoders *settings,
                                   double fps[MOTUS_PRESETS], MotusError *error) {
    CoderTable t = {.b = b, .settings = settings, .fps = fps};
    MotusStatus status = motus_bench_frames(&t.frames[HOST], b->clip, 0, error);
    if (!status && b->backend == MOTUS_BACKEND_CUDA)
        status = motus_bench_frames(&t.frames[DEVICE], b->clip, 1, error);
    cJSON_AddArrayToObject(b->report, "rows");
    cJSON_AddArrayToObject(b->report, "latency");
    cJSON_AddArrayToObject(b->report, "stages_us");
    if (b->print)
        printf(t.frames[DEVICE]
                   ? "preset   coders    frames/s  from a device host cores MiB/coder\n"
                   : "preset   coders threads    frames/s times one thread host cores MiB/coder\n");
    for (int preset = 0; preset < MOTUS_PRESETS && !status; preset++)
        if (b->presets >> preset & 1) status = preset_rows(&t, (MotusPreset)preset, error);
    for (int m = 0; m < MEMORIES; m++) motus_bench_frames_free(&t.frames[m], b->clip->n);
    return status;
}
