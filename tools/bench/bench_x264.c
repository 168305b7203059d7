// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/cmd.h"
#include "tools/peers/bdrate.h"
#include "tools/peers/libx264.h"

enum {
    CURVE = 4,
    X264_ROWS = 8,
    BASELINE = MOTUS_PRESETS + 6, // preset medium in Baseline profile
    SHIPPED,                      // preset medium with its B pictures
    ROWS = MOTUS_PRESETS + X264_ROWS
};
static const int curve_qp[CURVE] = {22, 27, 32, 37};
static const char *const x264_presets[X264_ROWS] = {"ultrafast", "superfast", "veryfast", "faster",
                                                    "fast",      "medium",    "medium",   "medium"};

// A row of the table. Motus's come first, by MotusPreset.
typedef struct X264Row {
    int used;
    double fps;
    MotusRdPoint point, curve[CURVE]; // at config.qp, at curve_qp
} X264Row;

typedef struct X264Table {
    const MotusBench *b;
    const double *fps; // motus's, by MotusPreset
    MotusLibX264 *lib;
    X264Row row[ROWS];
} X264Table;

// ---- motus --------------------------------------------------------------------------------------

typedef struct PacketSums {
    uint64_t bytes, samples; // samples of a picture
    double psnr;
} PacketSums;

static void add_packet(void *sums, MotusPacket *packet) {
    PacketSums *s = sums;
    s->bytes += packet->size;
    s->psnr += motus_psnr(packet->stats.ssd[0], s->samples);
    motus_packet_unref(&packet);
}

// Encodes the clip as one GOP. PSNR is the mean over pictures, as x264 counts it.
static MotusStatus encode_ours(const MotusBench *b, int preset, int qp, MotusRdPoint *point,
                               MotusError *error) {
    const MotusBenchClip *clip = b->clip;
    PacketSums sums = {.samples = (uint64_t)clip->width * (uint64_t)clip->height};
    MotusBenchPass pass = {NULL, clip->frame, clip->n, 0, add_packet, &sums};
    MotusEncoderConfig config = b->config;
    config.preset = (MotusPreset)preset;
    config.qp = qp;
    config.keyint = clip->n;
    config.stream_only = 1;
    config.gop_coders = 1;
    MotusStatus status = motus_encoder_open(&pass.encoder, &config, error);
    if (!status) status = motus_bench_pass(&pass, clip->n, error);
    motus_encoder_close(&pass.encoder);
    *point = (MotusRdPoint){motus_clip_kbps(clip, sums.bytes, clip->n), sums.psnr / clip->n};
    return status;
}

// ---- x264 ---------------------------------------------------------------------------------------

// Encodes GOPs of the clip's length, as motus, with P pictures only except in the row SHIPPED.
// pictures 0: the clip once, with its PSNR.
static MotusStatus encode_x264(const X264Table *t, int row, int qp, int pictures,
                               MotusLibX264Run *run, MotusError *error) {
    const MotusBenchClip *clip = t->b->clip;
    char number[2][16];
    const char *option[][2] = {{"qp", number[0]},   {"keyint", number[1]},
                               {"scenecut", "0"},   {"bframes", row == SHIPPED ? "3" : "0"},
                               {"threads", "auto"}, {0}};
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

static MotusStatus point_of_x264(const X264Table *t, int row, int qp, MotusRdPoint *point,
                                 double *seconds, MotusError *error) {
    MotusLibX264Run run;
    MotusStatus status = encode_x264(t, row, qp, 0, &run, error);
    *point = (MotusRdPoint){motus_clip_kbps(t->b->clip, run.bytes, t->b->clip->n), run.psnr};
    if (seconds) *seconds = run.seconds;
    return status;
}

// Times about two seconds of it, in whole clips: 2 to 40.
static MotusStatus time_x264(const X264Table *t, int row, double seconds_a_clip, double *fps,
                             MotusError *error) {
    MotusLibX264Run run;
    const int clips = seconds_a_clip > 1      ? 2
                      : seconds_a_clip < 0.05 ? 40
                                              : (int)(2 / seconds_a_clip);
    MotusStatus status = encode_x264(t, row, t->b->config.qp, clips * t->b->clip->n, &run, error);
    if (!status) *fps = clips * t->b->clip->n / run.seconds;
    return status;
}

// ---- The table ----------------------------------------------------------------------------------

static MotusStatus measure(X264Table *t, MotusError *error) {
    const MotusBench *b = t->b;
    MotusStatus status = MOTUS_OK;
    for (int r = 0; r < ROWS && !status; r++) {
        X264Row *row = &t->row[r];
        const int ours = r < MOTUS_PRESETS;
        double seconds = 0;
        row->used = !ours || b->presets >> r & 1;
        if (!row->used) continue;
        row->fps = ours ? t->fps[r] : 0;
        status = ours ? encode_ours(b, r, b->config.qp, &row->point, error)
                      : point_of_x264(t, r, b->config.qp, &row->point, &seconds, error);
        if (!status && !ours) status = time_x264(t, r, seconds, &row->fps, error);
        for (int q = 0; q < CURVE && !status; q++)
            status = ours ? encode_ours(b, r, curve_qp[q], &row->curve[q], error)
                          : point_of_x264(t, r, curve_qp[q], &row->curve[q], NULL, error);
    }
    return status;
}

static void name_of(int r, char *text, size_t size) {
    if (r < MOTUS_PRESETS)
        snprintf(text, size, "motus %s", motus_preset_name((MotusPreset)r));
    else
        snprintf(text, size, "x264 %s%s", x264_presets[r - MOTUS_PRESETS],
                 r == BASELINE  ? " baseline"
                 : r == SHIPPED ? " +3 B"
                                : "");
}

// Reports a row, with its BD-rates (per cent) against motus's rows and x264's medium baseline.
static void report_row(const X264Table *t, int r, cJSON *rows) {
    const X264Row *row = &t->row[r];
    char name[32], anchor[32];
    cJSON *object = cJSON_CreateObject();
    name_of(r, name, sizeof name);
    cJSON_AddStringToObject(object, "encoder", name);
    cJSON_AddNumberToObject(object, "fps", row->fps);
    cJSON_AddNumberToObject(object, "kbps", row->point.kbps);
    cJSON_AddNumberToObject(object, "psnr_y", row->point.psnr);
    cJSON *bd_rates = cJSON_AddObjectToObject(object, "bd_rate");
    if (t->b->print)
        printf("%-20s %9.1f %10.1f %8.3f", name, row->fps, row->point.kbps, row->point.psnr);
    for (int a = 0; a < ROWS; a++) {
        double percent = 0;
        if (!t->row[a].used || (a >= MOTUS_PRESETS && a != BASELINE)) continue;
        name_of(a, anchor, sizeof anchor);
        const int known = !motus_bd_rate(t->row[a].curve, CURVE, row->curve, CURVE, &percent);
        if (known) cJSON_AddNumberToObject(bd_rates, anchor, percent);
        if (t->b->print && known) printf(" %+8.1f %%", percent);
        if (t->b->print && !known) printf(" %10s", "-");
    }
    if (t->b->print) printf("\n");
    cJSON_AddItemToArray(rows, object);
}

static void report(const X264Table *t) {
    const MotusBench *b = t->b;
    cJSON_AddNumberToObject(b->report, "libx264", motus_libx264_build(t->lib));
    cJSON *rows = cJSON_AddArrayToObject(b->report, "beside_x264");
    if (b->print) {
        printf("\nlibx264 build %d, all processors, tune psnr, P pictures only except in the last "
               "row. frames/s (motus's with the best\nnumber of GOP coders), kb/s and PSNR at QP "
               "%d; then how many more "
               "bits than the encoder above\nthe column for the same PSNR (BD-rate, QP 22 27 32 "
               "37)\n%-20s %9s %10s %8s",
               motus_libx264_build(t->lib), b->config.qp, "", "frames/s", "kb/s", "PSNR-Y");
        for (int a = 0; a < MOTUS_PRESETS; a++)
            if (t->row[a].used) printf(" %10s", motus_preset_name((MotusPreset)a));
        printf(" %10s\n", "x264 base.");
    }
    for (int r = 0; r < ROWS; r++)
        if (t->row[r].used) report_row(t, r, rows);
}

MotusStatus motus_bench_x264(const MotusBench *b, const double fps[MOTUS_PRESETS],
                             const char *libx264, MotusError *error) {
    X264Table t = {.b = b, .fps = fps};
    MotusError none = {0};
    MotusStatus status = motus_libx264_open(&t.lib, libx264, &none);
    if (status) {
        motus_warn("note: %s; nothing beside motus's rows", none.text);
        return MOTUS_OK;
    }
    status = measure(&t, error);
    if (!status) report(&t);
    motus_libx264_close(&t.lib);
    return status;
}
