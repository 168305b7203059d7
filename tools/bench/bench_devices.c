// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/system.h"

// All that the rows of a preset share. The others' packets are compared with the first row's.
typedef struct DeviceTable {
    const MotusBench *b;
    const MotusBenchDevices *settings;
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
    MotusEncoderConfig config;
    MotusEncoder *encoder;
    int pictures; // of the next pass
    int received; // in all passes
    int keeps, differs;
    MotusStatus status;
    MotusError error;
    pthread_t thread;
    int has_thread;
} Party;

// ---- One encoder --------------------------------------------------------------------------------

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
    const MotusBenchPass pass = {p->encoder, p->table->frame, p->table->b->clip->n,
                                 0,          check_packet,    p};
    p->status = motus_bench_pass(&pass, p->pictures, &p->error);
    return NULL;
}

// ---- A row --------------------------------------------------------------------------------------

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

static void report_row(DeviceTable *t, MotusPreset preset, int devices, int encoders, double fps,
                       double cores, int same) {
    if (devices == 1) t->fps = fps;
    const double share = fps / (t->fps * devices);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "preset", motus_preset_name(preset));
    cJSON_AddNumberToObject(row, "devices", devices);
    cJSON_AddNumberToObject(row, "encoders", encoders);
    cJSON_AddNumberToObject(row, "fps", fps);
    cJSON_AddNumberToObject(row, "of_linear", share);
    cJSON_AddNumberToObject(row, "host_cores", cores);
    cJSON_AddBoolToObject(row, "same_stream", same);
    cJSON_AddItemToArray(cJSON_GetObjectItem(t->b->report, "rows"), row);
    if (!t->b->print) return;
    printf("%-8s %7d %8d %11.1f %9.1f %% %10.2f  %s\n", motus_preset_name(preset), devices,
           encoders, fps, 100 * share, cores, same ? "same" : "DIFFERENT");
    fflush(stdout);
}

// Times one encoder on the first `devices` devices, or one for each of them, with an equal share of
// the pictures.
static MotusStatus time_row(DeviceTable *t, MotusPreset preset, int devices, int encoders,
                            MotusError *error) {
    const MotusBenchDevices *o = t->settings;
    const int n = t->b->clip->n, gops = o->pictures / n / encoders;
    MotusStatus status = MOTUS_OK;
    int same = 1;
    Party *party = motus_alloc((size_t)encoders, sizeof *party);
    if (!party) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    for (int k = 0; k < encoders && !status; k++) {
        Party *p = &party[k];
        *p = (Party){.table = t, .config = t->b->config, .pictures = t->warm, .keeps = !t->n_first};
        p->config.preset = preset;
        p->config.keyint = n;
        p->config.stream_only = p->config.no_ssd = 1;
        p->config.gop_coders = o->gop_coders * devices / encoders;
        p->config.n_devices = devices / encoders;
        p->config.devices = t->list.device + k;
        status = motus_encoder_open(&p->encoder, &p->config, error);
    }
    if (!status) status = run_all(party, encoders, error);
    for (int k = 0; k < encoders; k++) party[k].pictures = gops * n;
    const double start = motus_seconds(), used = motus_processor_seconds();
    if (!status) status = run_all(party, encoders, error);
    const double seconds = motus_seconds() - start, processors = motus_processor_seconds() - used;
    for (int k = 0; k < encoders; k++) {
        same &= !party[k].differs;
        motus_encoder_close(&party[k].encoder);
    }
    motus_free(party);
    if (status) return status;
    report_row(t, preset, devices, encoders, encoders * gops * n / seconds, processors / seconds,
               same);
    return same
               ? MOTUS_OK
               : motus_fail(error, MOTUS_ERR_INTERNAL, "the stream of %d devices differs", devices);
}

// ---- The table ----------------------------------------------------------------------------------

static MotusStatus preset_rows(DeviceTable *t, MotusPreset preset, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    const int n = t->list.n;
    for (int devices = 1; !status; devices = 2 * devices < n ? 2 * devices : n) {
        status = time_row(t, preset, devices, 1, error);
        if (!status && devices > 1) status = time_row(t, preset, devices, devices, error);
        if (devices == n) break;
    }
    for (int i = 0; i < t->n_first; i++) motus_packet_unref(&t->first[i]);
    t->n_first = 0;
    return status;
}

static MotusStatus open_table(DeviceTable *t, MotusError *error) {
    const MotusBenchDevices *o = t->settings;
    const int n = t->b->clip->n;
    t->list = *o->devices;
    if (t->list.n == MOTUS_ALL_DEVICES) {
        t->list.n = motus_device_count() < MOTUS_MAX_GOP_CODERS ? motus_device_count()
                                                                : MOTUS_MAX_GOP_CODERS;
        for (int i = 0; i < t->list.n; i++) t->list.device[i] = i;
    }
    if (o->gop_coders * t->list.n > MOTUS_MAX_GOP_CODERS)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "%d GOP coders on each of %d devices are more than %d", o->gop_coders,
                          t->list.n, MOTUS_MAX_GOP_CODERS);
    if (o->pictures < n * t->list.n)
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "%d pictures are less than a GOP of %d for each of %d devices",
                          o->pictures, n, t->list.n);
    t->warm = o->gop_coders * t->list.n * n;
    t->first = motus_alloc((size_t)(t->warm + o->pictures), sizeof(void *));
    if (!t->first) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    return motus_bench_frames(&t->frame, t->b->clip, 0, error);
}

MotusStatus motus_bench_devices(const MotusBench *b, const MotusBenchDevices *settings,
                                MotusError *error) {
    DeviceTable t = {.b = b, .settings = settings};
    MotusStatus status = open_table(&t, error);
    cJSON_AddArrayToObject(b->report, "rows");
    if (b->print && !status)
        printf("preset   devices encoders    frames/s   of linear host cores  stream\n");
    for (int preset = 0; preset < MOTUS_PRESETS && !status; preset++)
        if (b->presets >> preset & 1) status = preset_rows(&t, (MotusPreset)preset, error);
    motus_bench_frames_free(&t.frame, b->clip->n);
    motus_free(t.first);
    return status;
}
