// motus bench encode --gop-coders: frames/s by the number of GOP coders, the latency of one
// picture, and its stages. --devices: frames/s by the number of GPUs.
// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/system.h"

enum { HOST, DEVICE, MEMORIES, STAGE_FRAMES = 60 };

// Returns the settings of a preset's passes: the clip is a closed GOP each time.
static MotusEncoderConfig config_of(const MotusBench *b, MotusPreset preset) {
    MotusEncoderConfig config = b->config;
    config.preset = preset;
    config.keyint = b->clip.n;
    config.stream_only = config.no_ssd = 1;
    return config;
}

// ---- GOP coders ---------------------------------------------------------------------------------

typedef struct CoderRun {
    double fps, cores; // cores of the host in use
    size_t bytes;      // of a GOP coder
} CoderRun;

// Times passes in which every GOP coder codes b->gops GOPs, from the first frame sent to the last
// packet. A first pass, which opens all GOP coders, is not counted.
static MotusStatus time_passes(const MotusBench *b, const MotusEncoderConfig *config,
                               MotusFrame *const *frame, int on_device, CoderRun *run,
                               MotusError *error) {
    const int n = b->clip.n, round = config->gop_coders * n;
    double seconds[MOTUS_BENCH_RUNS];
    MotusEncoder *encoder = NULL;
    MotusStatus status = motus_encoder_open(&encoder, config, error);
    if (status) return status;
    const MotusBenchPass pass = {encoder, frame, n, on_device, NULL, NULL};
    status = motus_bench_pass(&pass, round, error);
    const double before = motus_processor_seconds(), began = motus_seconds();
    for (int r = 0; r < b->runs && !status; r++) {
        const double start = motus_seconds();
        status = motus_bench_pass(&pass, b->gops * round, error);
        seconds[r] = motus_seconds() - start;
    }
    run->cores = (motus_processor_seconds() - before) / (motus_seconds() - began);
    if (!status) run->fps = b->gops * round / motus_median_of(seconds, b->runs);
    run->bytes = motus_encoder_gop_coder_bytes(encoder);
    motus_encoder_close(&encoder);
    return status;
}

// Times 1, 2, 4, ... GOP coders; on the CPU first one thread. *best gets the best frames/s.
static MotusStatus time_coders(const MotusBench *b, MotusEncoderConfig *config,
                               MotusFrame **const frames[MEMORIES], double *best,
                               MotusError *error) {
    const int most = b->gop_coders, threads = b->config.threads, device = frames[DEVICE] != NULL,
              alone = !device && threads > 1; // a row of one thread
    double one_thread = 0;
    for (int row = 0, coders = 1;; row++) {
        CoderRun run[MEMORIES] = {{0}};
        config->gop_coders = coders;
        config->threads = alone && !row ? 1 : threads;
        for (int memory = 0; memory <= device; memory++) {
            MotusStatus status =
                time_passes(b, config, frames[memory], memory == DEVICE, &run[memory], error);
            if (status) return status;
        }
        const double fps = run[HOST].fps;
        if (!row) one_thread = fps;
        if (fps > *best) *best = fps;
        const MotusBenchField fields[] = {
            {"preset", "%-8s", .text = motus_preset_name(config->preset)},
            {"gop_coders", " %6.0f", .value = coders},
            {"threads", device ? NULL : " %7.0f", .value = config->threads},
            {"fps", " %11.1f", .value = fps},
            {device ? "fps_device_frames" : "times_one_thread", device ? " %13.1f" : " %16.2f",
             .value = device ? run[DEVICE].fps : fps / one_thread},
            {"host_cores", " %10.2f", .value = run[HOST].cores},
            {"gop_coder_bytes", " %9.1f", .value = (double)run[device].bytes,
             .scale = 1.0 / (1 << 20)}};
        MOTUS_BENCH_ROW(b, "rows", fields);
        if (alone && !row) continue;
        if (coders == most) return MOTUS_OK;
        coders = 2 * coders < most ? 2 * coders : most;
    }
}

// Times pictures one at a time, back to back.
static MotusStatus time_single(const MotusBench *b, const MotusEncoderConfig *config,
                               MotusFrame **frame, MotusError *error) {
    MotusEncoderConfig alone = *config;
    alone.gop_coders = 1;
    const MotusBenchSessions s = {
        .config = &alone, .frame = frame, .n_frames = b->clip.n, .n = 1, .pictures = b->pictures};
    MotusLatencies l;
    MotusStatus status = motus_bench_sessions(&s, &l, error);
    if (status) return status;
    const MotusBenchField fields[] = {
        {"preset", "%-8s alone: P picture ", .text = motus_preset_name(config->preset)},
        {"p_median_ms", "%.2f ms (median), ", .value = l.p.median},
        {"p_99_ms", "%.2f ms (99 %%), ", .value = l.p.p99},
        {"p_worst_ms", "%.2f ms (worst); ", .value = l.p.worst},
        {"i_median_ms", "I picture %.2f ms", .value = l.i.median}};
    MOTUS_BENCH_ROW(b, "latency", fields);
    return MOTUS_OK;
}

// Times the stages of pictures in sequence, with one GOP coder: the medians of each type.
static MotusStatus time_stages(const MotusBench *b, const MotusEncoderConfig *config,
                               MotusFrame *const *frame, MotusError *error) {
    static const char types[] = "PBI";
    MotusEncoder *encoder = NULL;
    MotusEncoderConfig timed = *config;
    double us[3][MOTUS_STAGES][STAGE_FRAMES];
    int n[3] = {0};
    timed.gop_coders = 1;
    timed.time_stages = 1;
    MotusStatus status = motus_encoder_open(&encoder, &timed, error);
    if (status) return status;
    for (int i = 0; i <= STAGE_FRAMES && !status; i++)
        status = motus_encoder_send(encoder, i < STAGE_FRAMES ? frame[i % b->clip.n] : NULL, NULL);
    for (int i = 0; i < STAGE_FRAMES && !status; i++) {
        MotusPacket *packet;
        status = motus_encoder_receive(encoder, &packet, -1);
        if (status) break;
        const int type = (int)(strchr(types, packet->type) - types);
        for (int k = 0; k < MOTUS_STAGES; k++) us[type][k][n[type]] = packet->stage_us[k];
        n[type]++;
        motus_packet_unref(&packet);
    }
    if (status) motus_fail(error, status, "encoder: %s", motus_encoder_error(encoder)->text);
    motus_encoder_close(&encoder);
    for (int type = 0; type < 3 && !status; type++) {
        const char name[2] = {types[type], 0};
        MotusBenchField fields[3 + 4 * MOTUS_STAGES] = {
            {"preset", "%-8s", .text = motus_preset_name(config->preset)},
            {"type", " %s picture, us:", .text = name}};
        double median[MOTUS_STAGES], sum = 0;
        int f = 2;
        if (!n[type]) continue;
        for (int k = 0; k < MOTUS_STAGES; k++)
            sum += median[k] = motus_median_of(us[type][k], n[type]);
        for (int k = 0; k < MOTUS_STAGES; k++) {
            const char *stage = motus_stage_name((MotusStage)k);
            fields[f++] = (MotusBenchField){stage, .value = median[k]};
            if (median[k] <= 0) continue;
            fields[f++] = (MotusBenchField){NULL, " %s", .text = stage};
            fields[f++] = (MotusBenchField){NULL, " %.0f", .value = median[k]};
            fields[f++] = (MotusBenchField){NULL, " (%.0f %%)", .value = 100 * median[k] / sum};
        }
        fields[f++] = (MotusBenchField){NULL, ", together %.0f", .value = sum};
        motus_bench_row(b, "stages_us", fields, f);
    }
    return status;
}

MotusStatus motus_bench_gop_coders(const MotusBench *b, MotusError *error) {
    MotusFrame **frames[MEMORIES] = {NULL};
    double fps[MOTUS_PRESETS] = {0};
    MotusStatus status = motus_bench_frames(&frames[HOST], &b->clip, 0, error);
    if (!status && b->backend == MOTUS_BACKEND_CUDA)
        status = motus_bench_frames(&frames[DEVICE], &b->clip, 1, error);
    cJSON_AddArrayToObject(b->report, "latency");
    if (!b->json)
        printf(frames[DEVICE]
                   ? "preset   coders    frames/s  from a device host cores MiB/coder\n"
                   : "preset   coders threads    frames/s times one thread host cores MiB/coder\n");
    for (int preset = 0; preset < MOTUS_PRESETS && !status; preset++) {
        MotusEncoderConfig config = config_of(b, (MotusPreset)preset);
        if (!(b->presets >> preset & 1)) continue;
        status = time_coders(b, &config, frames, &fps[preset], error);
        if (!status && !config.bframes) // a picture before B pictures waits for them
            status = time_single(b, &config, frames[HOST], error);
        if (!status) status = time_stages(b, &config, frames[HOST], error);
    }
    for (int m = 0; m < MEMORIES; m++) motus_bench_frames_free(&frames[m], b->clip.n);
    return !status && b->peers ? motus_bench_libx264(b, fps, error) : status;
}

// ---- Devices ------------------------------------------------------------------------------------

// All that the rows of a preset share. The others' packets are compared with the first row's.
typedef struct DeviceTable {
    const MotusBench *b;
    int coders; // of a device
    MotusDeviceList list;
    MotusFrame **frame; // in pinned memory
    int warm;           // first pictures, which open all GOP coders: as many in every row
    MotusPacket **first;
    int n_first;
    double fps; // of one device
} DeviceTable;

// One encoder of a row.
typedef struct Party {
    DeviceTable *table;
    MotusEncoder *encoder;
    int pictures; // of the next pass
    int received; // in all passes
    int keeps, differs;
    MotusStatus status;
    MotusError error;
    pthread_t thread;
    int has_thread;
} Party;

// Keeps the packet, or compares it with the first row's.
static void check_packet(void *party, MotusPacket *packet) {
    Party *p = party;
    DeviceTable *t = p->table;
    const int i = p->received++;
    if (p->keeps) {
        t->first[t->n_first++] = packet;
        return;
    }
    const MotusPacket *want = i < t->n_first ? t->first[i] : NULL;
    p->differs |=
        !want || packet->size != want->size || memcmp(packet->data, want->data, want->size);
    motus_packet_unref(&packet);
}

static void *run_pass(void *party) {
    Party *p = party;
    const MotusBenchPass pass = {p->encoder, p->table->frame, p->table->b->clip.n,
                                 0,          check_packet,    p};
    p->status = motus_bench_pass(&pass, p->pictures, &p->error);
    return NULL;
}

// Runs a pass of all encoders in parallel.
static MotusStatus run_all(Party *party, int n, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < n; k++)
        party[k].has_thread = !pthread_create(&party[k].thread, NULL, run_pass, &party[k]);
    for (int k = 0; k < n; k++) {
        if (party[k].has_thread)
            pthread_join(party[k].thread, NULL);
        else if (!status)
            status = motus_fail(error, MOTUS_ERR_MEMORY, "no thread for another encoder");
        if (party[k].status && !status) status = party[k].status, *error = party[k].error;
    }
    return status;
}

// Times one encoder on the first `devices` devices, or one for each of them, with an equal share of
// the pictures.
static MotusStatus time_row(DeviceTable *t, MotusPreset preset, int devices, int encoders,
                            MotusError *error) {
    const int n = t->b->clip.n, gops = t->b->pictures / n / encoders;
    MotusEncoderConfig config = config_of(t->b, preset);
    MotusStatus status = MOTUS_OK;
    int same = 1;
    Party *party = motus_alloc((size_t)encoders, sizeof *party);
    if (!party) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    config.gop_coders = t->coders * devices / encoders;
    config.n_devices = devices / encoders;
    for (int k = 0; k < encoders && !status; k++) {
        party[k] = (Party){.table = t, .pictures = t->warm, .keeps = !t->n_first};
        config.devices = t->list.device + k;
        status = motus_encoder_open(&party[k].encoder, &config, error);
    }
    if (!status) status = run_all(party, encoders, error);
    for (int k = 0; k < encoders; k++) party[k].pictures = gops * n;
    const double start = motus_seconds(), used = motus_processor_seconds();
    if (!status) status = run_all(party, encoders, error);
    const double seconds = motus_seconds() - start, processors = motus_processor_seconds() - used,
                 fps = encoders * gops * n / seconds;
    for (int k = 0; k < encoders; k++) {
        same &= !party[k].differs;
        motus_encoder_close(&party[k].encoder);
    }
    motus_free(party);
    if (status) return status;
    if (devices == 1) t->fps = fps;
    const MotusBenchField fields[] = {
        {"preset", "%-8s", .text = motus_preset_name(preset)},
        {"devices", " %7.0f", .value = devices},
        {"encoders", " %8.0f", .value = encoders},
        {"fps", " %11.1f", .value = fps},
        {"of_linear", " %9.1f %%", .value = fps / (t->fps * devices), .scale = 100},
        {"host_cores", " %10.2f", .value = processors / seconds},
        {"same_stream", "  %s", .value = same, .text = same ? "same" : "DIFFERENT", .is_bool = 1}};
    MOTUS_BENCH_ROW(t->b, "rows", fields);
    return same
               ? MOTUS_OK
               : motus_fail(error, MOTUS_ERR_INTERNAL, "the stream of %d devices differs", devices);
}

MotusStatus motus_bench_devices(const MotusBench *b, MotusError *error) {
    DeviceTable t = {.b = b, .coders = b->gop_coders ? b->gop_coders : 8, .list = b->devices};
    const int n = b->clip.n;
    int *all = &t.list.n;
    if (*all == MOTUS_ALL_DEVICES) {
        *all = motus_device_count() < MOTUS_MAX_GOP_CODERS ? motus_device_count()
                                                           : MOTUS_MAX_GOP_CODERS;
        for (int i = 0; i < *all; i++) t.list.device[i] = i;
    }
    if (t.coders * *all > MOTUS_MAX_GOP_CODERS)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "%d GOP coders on each of %d devices are more than %d", t.coders, *all,
                          MOTUS_MAX_GOP_CODERS);
    if (b->pictures < n * *all)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "%d pictures are less than a GOP of %d for each of %d devices",
                          b->pictures, n, *all);
    t.warm = t.coders * *all * n;
    t.first = motus_alloc((size_t)(t.warm + b->pictures), sizeof(void *));
    if (!t.first) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = motus_bench_frames(&t.frame, &b->clip, 0, error);
    if (!b->json && !status)
        printf("preset   devices encoders    frames/s   of linear host cores  stream\n");
    for (int preset = 0; preset < MOTUS_PRESETS && !status; preset++) {
        for (int devices = 1; b->presets >> preset & 1 && !status;
             devices = 2 * devices < *all ? 2 * devices : *all) {
            status = time_row(&t, (MotusPreset)preset, devices, 1, error);
            if (!status && devices > 1)
                status = time_row(&t, (MotusPreset)preset, devices, devices, error);
            if (devices == *all) break;
        }
        for (int i = 0; i < t.n_first; i++) motus_packet_unref(&t.first[i]);
        t.n_first = 0;
    }
    motus_bench_frames_free(&t.frame, n);
    motus_free(t.first);
    return status;
}
