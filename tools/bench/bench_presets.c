// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/cmd.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"
#include "tools/x264/bdrate.h"
#include "tools/x264/programs.h"
#include "tools/x264/x264.h"

// The QPs of a curve, as in motus compare.
enum { CURVE = 4 };
static const int curve_qp[CURVE] = {22, 27, 32, 37};

// With +: the preset as it ships, except for GOPs and the tuning, which are as in all rows.
static const struct {
    const char *preset, *name;
    int shipped;
} x264_rows[] = {{"medium", "medium", 0},       {"superfast", "superfast", 0},
                 {"ultrafast", "ultrafast", 0}, {"medium", "medium+", 1},
                 {"slow", "slow+", 1},          {"slower", "slower+", 1},
                 {"veryslow", "veryslow+", 1},  {"placebo", "placebo+", 1}};
enum { X264_ROWS = 8, ROWS = MOTUS_PRESETS + X264_ROWS, ANCHOR = MOTUS_PRESETS };

// A row of the table. Those from ANCHOR on are x264's; the first of them is the anchor.
typedef struct PresetRow {
    const char *name;                 // of the preset
    double seconds[MOTUS_BENCH_RUNS]; // sorted at the end
    double median;
    MotusRdPoint point;        // at the QP asked for; psnr 0: not known
    MotusRdPoint curve[CURVE]; // at curve_qp
    double bd_rate;            // per cent
    int has_bd_rate;
} PresetRow;

typedef struct PresetTable {
    const MotusBench *b;
    int runs;
    MotusWorkFolder folder;
    char x264[128]; // its version; empty: not installed
    int has_decoder;
    int n_rows;
    PresetRow row[ROWS];
    MotusProgress progress;
    int64_t frames_done;
} PresetTable;

// ---- One encode ---------------------------------------------------------------------------------

static MotusStatus drain(MotusEncoder *encoder, int wait, MotusEncodeRun *run) {
    MotusPacket *packet;
    MotusStatus status;
    while (!(status = motus_encoder_receive(encoder, &packet, wait ? -1 : 0))) {
        run->bytes += packet->size;
        run->luma_ssd += packet->stats.ssd[0];
        motus_packet_unref(&packet);
    }
    return status > 0 ? MOTUS_OK : status;
}

static MotusStatus interrupted(MotusError *error) {
    return motus_signal_caught() ? motus_fail(error, MOTUS_END, "interrupted") : MOTUS_OK;
}

MotusStatus motus_bench_encode_once(const MotusEncoderConfig *config, const MotusBenchClip *clip,
                                    MotusEncodeRun *run, MotusError *error) {
    MotusEncoder *encoder = NULL;
    double start = motus_seconds();
    MotusStatus status = motus_encoder_open(&encoder, config, error);
    if (status) return status;
    *run = (MotusEncodeRun){0};
    for (int i = 0; !status && i <= clip->n && !motus_signal_caught(); i++) {
        status = motus_encoder_send(encoder, i < clip->n ? clip->frame[i] : NULL, NULL);
        if (!status) status = drain(encoder, i == clip->n, run);
    }
    run->seconds = motus_seconds() - start;
    motus_encoder_close(&encoder);
    return status ? motus_fail(error, status, "encoder: %s", motus_status_text(status))
                  : interrupted(error);
}

MotusStatus motus_bench_encode(const MotusBench *b, int runs, MotusError *error) {
    const MotusBenchClip *clip = b->clip;
    double seconds[MOTUS_BENCH_RUNS];
    MotusEncodeRun run = {0};
    for (int i = 0; i < runs; i++) {
        MotusStatus status = motus_bench_encode_once(&b->config, clip, &run, error);
        if (status) return status;
        seconds[i] = run.seconds;
    }
    const double median = clip->n / motus_median_of(seconds, runs), // sorts
        best = clip->n / seconds[0], kbps = motus_clip_kbps(clip, run.bytes, clip->n);
    cJSON_AddNumberToObject(b->report, "runs", runs);
    cJSON_AddNumberToObject(b->report, "kbps", kbps);
    cJSON *rate = cJSON_AddObjectToObject(b->report, "encode");
    cJSON_AddNumberToObject(rate, "fps_median", median);
    cJSON_AddNumberToObject(rate, "fps_best", best);
    if (b->print)
        printf("encode     %.1f frames/s (best %.1f) of %d runs; QP %d, R=%d, %.1f kb/s\n", median,
               best, runs, b->config.qp, b->config.range, kbps);
    return MOTUS_OK;
}

static MotusStatus clip_frame(void *opaque, int n, const MotusFrame **frame, MotusError *error) {
    (void)error;
    *frame = ((const MotusBenchClip *)opaque)->frame[n];
    return MOTUS_OK;
}

// Encodes with x264 and measures its stream as ours. Without a decoder luma_ssd stays 0.
static MotusStatus encode_x264(PresetTable *t, int r, int qp, int measure, MotusEncodeRun *run,
                               MotusError *error) {
    const MotusBench *b = t->b;
    const MotusX264Job job = {.program = "x264",
                              .preset = x264_rows[r - ANCHOR].preset,
                              .shipped = x264_rows[r - ANCHOR].shipped,
                              .qp = qp,
                              .threads = b->config.threads,
                              .input = t->folder.clip,
                              .output = t->folder.stream,
                              .log = t->folder.log,
                              .frames = b->clip->n};
    *run = (MotusEncodeRun){0};
    MotusX264Times times = {0};
    MotusStatus status = motus_x264_encode(&job, &times, error);
    run->seconds = times.seconds;
    if (status || !measure) return status;
    MotusQuality quality;
    status = motus_stream_measure(t->folder.stream, b->clip->n, clip_frame, (void *)b->clip,
                                  &quality, error);
    run->bytes = quality.bytes;
    run->luma_ssd = quality.luma_ssd;
    if (status != MOTUS_ERR_UNSUPPORTED) return status;
    if (t->has_decoder)
        motus_warn("note: this build has no decoder to measure x264's PSNR with; no BD-rate");
    t->has_decoder = 0;
    return MOTUS_OK;
}

// Encodes with row r at this QP. *seconds and *point are filled in unless NULL.
static MotusStatus encode_row(PresetTable *t, int r, int qp, double *seconds, MotusRdPoint *point,
                              MotusError *error) {
    const MotusBenchClip *clip = t->b->clip;
    char more[64];
    snprintf(more, sizeof more, "  %s %s, QP %d", r < ANCHOR ? "motus" : "x264", t->row[r].name,
             qp);
    motus_progress_show(&t->progress, t->frames_done, more);
    MotusEncoderConfig config = t->b->config;
    MotusEncodeRun run;
    config.preset = (MotusPreset)r;
    config.qp = qp;
    MotusStatus status = r < ANCHOR ? motus_bench_encode_once(&config, clip, &run, error)
                                    : encode_x264(t, r, qp, point != NULL, &run, error);
    if (status) return status;
    t->frames_done += clip->n;
    if (seconds) *seconds = run.seconds;
    if (!point) return MOTUS_OK;
    point->kbps = motus_clip_kbps(clip, run.bytes, clip->n);
    if (r < ANCHOR || t->has_decoder)
        point->psnr = motus_psnr(run.luma_ssd, (uint64_t)clip->n * (uint64_t)clip->width *
                                                   (uint64_t)clip->height);
    return MOTUS_OK;
}

// ---- All of them --------------------------------------------------------------------------------

static MotusStatus time_rows(PresetTable *t, MotusError *error) {
    for (int run = 0; run < t->runs; run++)
        for (int r = 0; r < t->n_rows; r++) {
            PresetRow *row = &t->row[r];
            MotusStatus status = encode_row(t, r, t->b->config.qp, &row->seconds[run],
                                            run ? NULL : &row->point, error);
            if (status) return status;
        }
    for (int r = 0; r < t->n_rows; r++)
        t->row[r].median = motus_median_of(t->row[r].seconds, t->runs);
    return MOTUS_OK;
}

static MotusStatus trace_curves(PresetTable *t, MotusError *error) {
    for (int q = 0; q < CURVE; q++)
        for (int r = 0; r < t->n_rows; r++) {
            PresetRow *row = &t->row[r];
            MotusStatus status = MOTUS_OK;
            if (curve_qp[q] == t->b->config.qp)
                row->curve[q] = row->point;
            else
                status = encode_row(t, r, curve_qp[q], NULL, &row->curve[q], error);
            if (status) return status;
        }
    for (int r = 0; r < t->n_rows; r++) // fails without a common range of PSNR
        t->row[r].has_bd_rate =
            !motus_bd_rate(t->row[ANCHOR].curve, CURVE, t->row[r].curve, CURVE, &t->row[r].bd_rate);
    return MOTUS_OK;
}

// Finds x264. Without it the table has motus's rows only.
static MotusStatus find_x264(PresetTable *t, MotusError *error) {
    MotusError none = {0};
    const MotusBenchClip *clip = t->b->clip;
    MotusStatus status =
        motus_work_folder_make_clip(&t->folder, clip->frame, clip->n, clip->fps, error);
    if (status) return status;
    if (motus_x264_version("x264", t->folder.log, t->x264, sizeof t->x264, NULL, &none)) {
        motus_warn("note: %s; only motus's rows, without BD-rate", none.text);
        return MOTUS_OK;
    }
    t->n_rows = ROWS;
    t->has_decoder = 1;
    return MOTUS_OK;
}

static MotusStatus measure(PresetTable *t, int peers, MotusError *error) {
    t->n_rows = MOTUS_PRESETS;
    for (int p = 0; p < MOTUS_PRESETS; p++) t->row[p].name = motus_preset_name((MotusPreset)p);
    for (int p = 0; p < X264_ROWS; p++) t->row[ANCHOR + p].name = x264_rows[p].name;
    MotusStatus status = peers ? find_x264(t, error) : MOTUS_OK;
    if (status) return status;
    int encodes = t->runs;
    for (int q = 0; *t->x264 && q < CURVE; q++) encodes += curve_qp[q] != t->b->config.qp;
    t->progress = motus_progress_begin((int64_t)encodes * t->n_rows * t->b->clip->n, 0);
    status = time_rows(t, error);
    if (!status && t->has_decoder) status = trace_curves(t, error);
    motus_progress_end(&t->progress);
    return status;
}

// ---- Report -------------------------------------------------------------------------------------

static void print_row(const PresetTable *t, int r) {
    const PresetRow *row = &t->row[r];
    printf("%-5s %-10s %9.1f %9.1f %10.1f", r < ANCHOR ? "motus" : "x264", row->name,
           t->b->clip->n / row->median, t->b->clip->n / row->seconds[0], row->point.kbps);
    if (row->point.psnr > 0)
        printf(" %8.3f", row->point.psnr);
    else
        printf(" %8s", "-");
    if (*t->x264) printf(" %8.3f", t->row[ANCHOR].median / row->median);
    if (row->has_bd_rate) printf(" %+9.2f %%", row->bd_rate);
    printf("\n");
}

static void print_table(const PresetTable *t) {
    printf("encode     QP %d, one IDR picture, %d runs\n", t->b->config.qp, t->runs);
    if (*t->x264)
        printf("x264       %s; speed and BD-rate are against its preset medium\n", t->x264);
    printf("\n%-16s %9s %9s %10s %8s%s%s\n", "", "frames/s", "best", "kb/s", "PSNR-Y",
           *t->x264 ? "    speed" : "", t->has_decoder ? "     BD-rate" : "");
    for (int r = 0; r < t->n_rows; r++) print_row(t, r);
    if (*t->x264)
        printf("x264's rows: Baseline, P pictures, one reference; with +: the preset as it ships "
               "(High, B pictures, its references, weights)\n");
}

static void report_row(const PresetTable *t, int r, cJSON *rows) {
    const PresetRow *row = &t->row[r];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "encoder", r < ANCHOR ? "motus" : "x264");
    cJSON_AddStringToObject(object, "preset", row->name);
    cJSON_AddNumberToObject(object, "fps_median", t->b->clip->n / row->median);
    cJSON_AddNumberToObject(object, "fps_best", t->b->clip->n / row->seconds[0]);
    cJSON_AddNumberToObject(object, "kbps", row->point.kbps);
    if (row->point.psnr > 0) cJSON_AddNumberToObject(object, "psnr_y", row->point.psnr);
    if (row->has_bd_rate) cJSON_AddNumberToObject(object, "bd_rate", row->bd_rate);
    if (*t->x264) cJSON_AddNumberToObject(object, "ratio", t->row[ANCHOR].median / row->median);
    cJSON *curve = t->has_decoder ? cJSON_AddArrayToObject(object, "curve") : NULL;
    for (int q = 0; curve && q < CURVE; q++) {
        cJSON *point = cJSON_CreateObject();
        cJSON_AddNumberToObject(point, "qp", curve_qp[q]);
        cJSON_AddNumberToObject(point, "kbps", row->curve[q].kbps);
        cJSON_AddNumberToObject(point, "psnr_y", row->curve[q].psnr);
        cJSON_AddItemToArray(curve, point);
    }
    cJSON_AddItemToArray(rows, object);
}

MotusStatus motus_bench_presets(const MotusBench *b, int runs, int peers, MotusError *error) {
    PresetTable t = {.b = b, .runs = runs};
    MotusStatus status = measure(&t, peers, error);
    motus_work_folder_remove(&t.folder);
    if (status) return status;
    cJSON_AddNumberToObject(b->report, "runs", runs);
    if (*t.x264) cJSON_AddStringToObject(b->report, "x264", t.x264);
    cJSON *rows = cJSON_AddArrayToObject(b->report, "rows");
    for (int r = 0; r < t.n_rows; r++) report_row(&t, r, rows);
    if (b->print) print_table(&t);
    return MOTUS_OK;
}
