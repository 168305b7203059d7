// SPDX-License-Identifier: BSD-2-Clause
#include "tools/bench/bench_x264.h"

#include <stdio.h>

#include "common/error.h"
#include "tools/cli/cmd.h"
#include "tools/peers/bdrate.h"
#include "tools/peers/libx264.h"

enum {
    CURVE = 4,
    X264_ROWS = 7,
    BASELINE = MOTUS_PRESETS + X264_ROWS - 1,
    ROWS = MOTUS_PRESETS + X264_ROWS
};
static const int curve_qp[CURVE] = {22, 27, 32, 37};
static const char *const x264_presets[X264_ROWS] = {"ultrafast", "superfast", "veryfast", "faster",
                                                    "fast",      "medium",    "medium"};

// Ours come first, by MotusPreset; the last one is x264's preset medium in Baseline profile.
typedef struct Row {
    int there;
    double fps;
    MotusRdPoint point, curve[CURVE]; // at config.qp, at curve_qp
} Row;

typedef struct Table {
    const MotusBenchX264 *o;
    MotusLibX264 *lib;
    Row row[ROWS];
} Table;

static double kbps(const MotusBenchClip *clip, uint64_t bytes, int pictures) {
    return 8e-3 * (double)bytes / pictures * clip->fps.num / clip->fps.den;
}

// ---- Ours ---------------------------------------------------------------------------------------

// The clip as one GOP; PSNR as x264 counts it, the mean over pictures.
static MotusStatus encode_ours(const MotusBenchX264 *o, int preset, int qp, MotusRdPoint *point,
                               MotusError *error) {
    MotusEncoder *encoder = NULL;
    MotusEncoderConfig config = o->config;
    uint64_t bytes = 0;
    double psnr = 0;
    config.preset = (MotusPreset)preset;
    config.qp = qp;
    config.keyint = o->clip->n;
    config.stream_only = 1;
    config.gop_coders = 1;
    MotusStatus status = motus_encoder_open(&encoder, &config, error);
    if (status) return status;
    for (int i = 0; i < o->clip->n && !status; i++) {
        MotusPacket *packet;
        status = motus_encoder_send(encoder, o->clip->frame[i], NULL);
        if (!status) status = motus_encoder_receive(encoder, &packet, -1);
        if (status) break;
        bytes += packet->size;
        psnr += motus_psnr(packet->stats.ssd[0], (uint64_t)config.width * (uint64_t)config.height);
        motus_packet_unref(&packet);
    }
    if (status) motus_fail(error, status, "encoder: %s", motus_encoder_error(encoder)->text);
    motus_encoder_close(&encoder);
    *point = (MotusRdPoint){kbps(o->clip, bytes, o->clip->n), psnr / o->clip->n};
    return status;
}

// ---- x264's -------------------------------------------------------------------------------------

// P pictures only and a GOP of the clip's length, as ours. `pictures` 0: the clip once, with its
// PSNR.
static MotusStatus encode_x264(const Table *t, int row, int qp, int pictures, MotusLibX264Run *run,
                               MotusError *error) {
    const MotusBenchClip *clip = t->o->clip;
    char number[2][16];
    const char *option[][2] = {{"qp", number[0]}, {"keyint", number[1]}, {"scenecut", "0"},
                               {"bframes", "0"},  {"threads", "auto"},   {0}};
    snprintf(number[0], sizeof number[0], "%d", qp);
    snprintf(number[1], sizeof number[1], "%d", clip->n);
    const MotusLibX264Job job = {.preset = x264_presets[row - MOTUS_PRESETS],
                                 .tune = "psnr",
                                 .baseline = row == BASELINE,
                                 .option = option,
                                 .frame = clip->frame,
                                 .n_frames = clip->n,
                                 .n = pictures ? pictures : clip->n,
                                 .fps = clip->fps,
                                 .psnr = !pictures};
    return motus_libx264_encode(t->lib, &job, run, error);
}

static MotusStatus point_of_x264(const Table *t, int row, int qp, MotusRdPoint *point,
                                 double *seconds, MotusError *error) {
    MotusLibX264Run run;
    MotusStatus status = encode_x264(t, row, qp, 0, &run, error);
    *point = (MotusRdPoint){kbps(t->o->clip, run.bytes, t->o->clip->n), run.psnr};
    if (seconds) *seconds = run.seconds;
    return status;
}

// About two seconds of it, in whole clips, at least two and at most 40.
static MotusStatus time_x264(const Table *t, int row, double seconds_a_clip, double *fps,
                             MotusError *error) {
    MotusLibX264Run run;
    const int clips = seconds_a_clip > 1      ? 2
                      : seconds_a_clip < 0.05 ? 40
                                              : (int)(2 / seconds_a_clip);
    MotusStatus status = encode_x264(t, row, t->o->config.qp, clips * t->o->clip->n, &run, error);
    if (!status) *fps = clips * t->o->clip->n / run.seconds;
    return status;
}

// ---- The table ----------------------------------------------------------------------------------

static MotusStatus measure(Table *t, MotusError *error) {
    const MotusBenchX264 *o = t->o;
    MotusStatus status = MOTUS_OK;
    for (int r = 0; r < ROWS && !status; r++) {
        Row *row = &t->row[r];
        const int ours = r < MOTUS_PRESETS;
        double seconds = 0;
        row->there = !ours || o->presets >> r & 1;
        if (!row->there) continue;
        row->fps = ours ? o->fps[r] : 0;
        status = ours ? encode_ours(o, r, o->config.qp, &row->point, error)
                      : point_of_x264(t, r, o->config.qp, &row->point, &seconds, error);
        if (!status && !ours) status = time_x264(t, r, seconds, &row->fps, error);
        for (int q = 0; q < CURVE && !status; q++)
            status = ours ? encode_ours(o, r, curve_qp[q], &row->curve[q], error)
                          : point_of_x264(t, r, curve_qp[q], &row->curve[q], NULL, error);
    }
    return status;
}

static void name_of(int r, char *text, size_t size) {
    if (r < MOTUS_PRESETS)
        snprintf(text, size, "motus %s", motus_preset_name((MotusPreset)r));
    else
        snprintf(text, size, "x264 %s%s", x264_presets[r - MOTUS_PRESETS],
                 r == BASELINE ? " baseline" : "");
}

// More bits than an anchor for the same PSNR, per cent; the anchors are ours and x264's medium
// baseline.
static void report_row(const Table *t, int r, cJSON *rows) {
    const Row *row = &t->row[r];
    char name[32], anchor[32];
    cJSON *object = cJSON_CreateObject();
    name_of(r, name, sizeof name);
    cJSON_AddStringToObject(object, "encoder", name);
    cJSON_AddNumberToObject(object, "fps", row->fps);
    cJSON_AddNumberToObject(object, "kbps", row->point.kbps);
    cJSON_AddNumberToObject(object, "psnr_y", row->point.psnr);
    cJSON *bd_rates = cJSON_AddObjectToObject(object, "bd_rate");
    if (t->o->print)
        printf("%-20s %9.1f %10.1f %8.3f", name, row->fps, row->point.kbps, row->point.psnr);
    for (int a = 0; a < ROWS; a++) {
        double percent = 0;
        if (!t->row[a].there || (a >= MOTUS_PRESETS && a != BASELINE)) continue;
        name_of(a, anchor, sizeof anchor);
        const int known = !motus_bd_rate(t->row[a].curve, CURVE, row->curve, CURVE, &percent);
        if (known) cJSON_AddNumberToObject(bd_rates, anchor, percent);
        if (t->o->print && known) printf(" %+8.1f %%", percent);
        if (t->o->print && !known) printf(" %10s", "-");
    }
    if (t->o->print) printf("\n");
    cJSON_AddItemToArray(rows, object);
}

static void report(const Table *t) {
    const MotusBenchX264 *o = t->o;
    cJSON_AddNumberToObject(o->report, "libx264", motus_libx264_build(t->lib));
    cJSON *rows = cJSON_AddArrayToObject(o->report, "beside_x264");
    if (o->print) {
        printf("\nlibx264 build %d, all processors, P pictures only, tune psnr. frames/s (ours "
               "with the best number of lanes), "
               "kb/s and\n"
               "PSNR at QP %d; then how many more bits than the encoder above the column for the "
               "same PSNR (BD-rate, QP 22 27 32 "
               "37)\n"
               "%-20s %9s %10s %8s",
               motus_libx264_build(t->lib), o->config.qp, "", "frames/s", "kb/s", "PSNR-Y");
        for (int a = 0; a < MOTUS_PRESETS; a++)
            if (t->row[a].there) printf(" %10s", motus_preset_name((MotusPreset)a));
        printf(" %10s\n", "x264 base.");
    }
    for (int r = 0; r < ROWS; r++)
        if (t->row[r].there) report_row(t, r, rows);
}

MotusStatus motus_bench_x264(const MotusBenchX264 *options, MotusError *error) {
    Table t = {.o = options};
    MotusError none = {0};
    MotusStatus status = motus_libx264_open(&t.lib, options->libx264, &none);
    if (status) {
        motus_warn("note: %s; nothing beside motus's rows", none.text);
        return MOTUS_OK;
    }
    status = measure(&t, error);
    if (!status) report(&t);
    motus_libx264_close(&t.lib);
    return status;
}
