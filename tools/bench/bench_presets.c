// motus bench encode: the whole clip again and again; --presets: all presets, beside x264's.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/cmd.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"
#include "tools/x264/x264.h"

// The QPs of a curve, as in motus compare.
enum { CURVE = 4 };
static const int curve_qp[CURVE] = {22, 27, 32, 37};

// The rows: motus's presets, then x264's, of which the first is the anchor. With +: the preset as
// it ships, except for GOPs and the tuning, which are as in all rows.
static const struct {
    const char *preset, *name;
    int shipped;
} x264_rows[] = {{"medium", "medium", 0},       {"superfast", "superfast", 0},
                 {"ultrafast", "ultrafast", 0}, {"medium", "medium+", 1},
                 {"slow", "slow+", 1},          {"slower", "slower+", 1},
                 {"veryslow", "veryslow+", 1},  {"placebo", "placebo+", 1}};
enum { ANCHOR = MOTUS_PRESETS, ROWS = ANCHOR + sizeof x264_rows / sizeof *x264_rows };

// Results of an encode of the clip.
typedef struct EncodeRun {
    double seconds; // from opening the encoder to its last picture
    uint64_t bytes, luma_ssd;
} EncodeRun;

typedef struct PresetRow {
    double seconds[MOTUS_BENCH_RUNS]; // sorted at the end
    double median;
    MotusRdPoint point;        // at the QP asked for; psnr NAN: not known
    MotusRdPoint curve[CURVE]; // at curve_qp
} PresetRow;

typedef struct PresetTable {
    const MotusBench *b;
    MotusWorkFolder folder;
    char x264[128]; // its version; empty: not installed
    int has_decoder;
    PresetRow row[ROWS];
    MotusProgress progress;
    int64_t frames_done;
} PresetTable;

// Encodes the whole clip once. MOTUS_END, with a text: a signal came (if signals are caught).
static MotusStatus encode_once(const MotusEncoderConfig *config, const MotusBenchClip *clip,
                               EncodeRun *run, MotusError *error) {
    MotusEncoder *encoder = NULL;
    const double start = motus_seconds();
    MotusStatus status = motus_encoder_open(&encoder, config, error);
    if (status) return status;
    *run = (EncodeRun){0};
    for (int i = 0; status >= 0 && i <= clip->n && !motus_signal_caught(); i++) {
        MotusPacket *packet;
        status = motus_encoder_send(encoder, i < clip->n ? clip->frame[i] : NULL, NULL);
        while (!status &&
               !(status = motus_encoder_receive(encoder, &packet, i < clip->n ? 0 : -1))) {
            run->bytes += packet->size;
            run->luma_ssd += packet->stats.ssd[0];
            motus_packet_unref(&packet);
        }
    }
    run->seconds = motus_seconds() - start;
    motus_encoder_close(&encoder);
    if (status < 0) return motus_fail(error, status, "encoder: %s", motus_status_text(status));
    return motus_signal_caught() ? motus_fail(error, MOTUS_END, "interrupted") : MOTUS_OK;
}

MotusStatus motus_bench_encode(const MotusBench *b, MotusError *error) {
    double seconds[MOTUS_BENCH_RUNS];
    EncodeRun run = {0};
    for (int i = 0; i < b->runs; i++) {
        MotusStatus status = encode_once(&b->config, &b->clip, &run, error);
        if (status) return status;
        seconds[i] = run.seconds;
    }
    const double median = b->clip.n / motus_median_of(seconds, b->runs), // sorts
        best = b->clip.n / seconds[0], kbps = motus_clip_kbps(&b->clip, run.bytes);
    const MotusBenchField all[] = {{"runs", .value = b->runs}, {"kbps", .value = kbps}},
                          rate[] = {{"fps_median", "encode     %.1f frames/s", .value = median},
                                    {"fps_best", " (best %.1f)", .value = best},
                                    {NULL, " of %.0f runs", .value = b->runs},
                                    {NULL, "; QP %.0f", .value = b->config.qp},
                                    {NULL, ", R=%.0f", .value = b->config.range},
                                    {NULL, ", %.1f kb/s", .value = kbps}};
    MOTUS_BENCH_ROW(b, NULL, all);
    MOTUS_BENCH_ROW(b, ".encode", rate);
    return MOTUS_OK;
}

// ---- Presets ------------------------------------------------------------------------------------

static MotusStatus clip_frame(void *opaque, int n, const MotusFrame **frame, MotusError *error) {
    (void)error;
    *frame = ((const MotusBenchClip *)opaque)->frame[n];
    return MOTUS_OK;
}

// Encodes with x264 and measures its stream as ours, if `measure`. Without a decoder luma_ssd stays
// 0.
static MotusStatus encode_x264(PresetTable *t, int r, int qp, int measure, EncodeRun *run,
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
                              .frames = b->clip.n};
    MotusX264Times times = {0};
    MotusQuality quality;
    MotusStatus status = motus_x264_encode(&job, &times, error);
    *run = (EncodeRun){.seconds = times.seconds};
    if (status || !measure) return status;
    status = motus_stream_measure(t->folder.stream, b->clip.n, clip_frame, (void *)&b->clip,
                                  &quality, error);
    run->bytes = quality.bytes;
    run->luma_ssd = quality.luma_ssd;
    if (status != MOTUS_ERR_UNSUPPORTED) return status;
    if (t->has_decoder)
        motus_warn("note: this build has no decoder to measure x264's PSNR with; no BD-rate");
    t->has_decoder = 0;
    return MOTUS_OK;
}

static const char *name_of(int r) {
    return r < ANCHOR ? motus_preset_name((MotusPreset)r) : x264_rows[r - ANCHOR].name;
}

// Encodes with row r at this QP. *seconds and *point are filled in unless NULL.
static MotusStatus encode_row(PresetTable *t, int r, int qp, double *seconds, MotusRdPoint *point,
                              MotusError *error) {
    const MotusBenchClip *clip = &t->b->clip;
    char more[64];
    snprintf(more, sizeof more, "  %s %s, QP %d", r < ANCHOR ? "motus" : "x264", name_of(r), qp);
    motus_progress_show(&t->progress, t->frames_done, more);
    MotusEncoderConfig config = t->b->config;
    EncodeRun run;
    config.preset = (MotusPreset)r;
    config.qp = qp;
    MotusStatus status = r < ANCHOR ? encode_once(&config, clip, &run, error)
                                    : encode_x264(t, r, qp, point != NULL, &run, error);
    if (status) return status;
    t->frames_done += clip->n;
    if (seconds) *seconds = run.seconds;
    if (!point) return MOTUS_OK;
    const uint64_t samples = (uint64_t)clip->n * (uint64_t)clip->width * (uint64_t)clip->height;
    point->kbps = motus_clip_kbps(clip, run.bytes);
    point->psnr = r < ANCHOR || t->has_decoder ? motus_psnr(run.luma_ssd, samples) : NAN;
    return MOTUS_OK;
}

// Times all rows in turn, then traces their curves if there are others to compare with.
static MotusStatus measure(PresetTable *t, int n_rows, MotusError *error) {
    const MotusBench *b = t->b;
    MotusStatus status = MOTUS_OK;
    int encodes = b->runs;
    for (int q = 0; *t->x264 && q < CURVE; q++) encodes += curve_qp[q] != b->config.qp;
    t->progress = motus_progress_begin((int64_t)encodes * n_rows * b->clip.n, 0);
    for (int run = 0; run < b->runs; run++)
        for (int r = 0; r < n_rows && !status; r++)
            status = encode_row(t, r, b->config.qp, &t->row[r].seconds[run],
                                run ? NULL : &t->row[r].point, error);
    for (int r = 0; r < n_rows && !status; r++)
        t->row[r].median = motus_median_of(t->row[r].seconds, b->runs);
    for (int q = 0; q < CURVE && t->has_decoder; q++)
        for (int r = 0; r < n_rows && !status; r++) {
            PresetRow *row = &t->row[r];
            if (curve_qp[q] == b->config.qp)
                row->curve[q] = row->point;
            else
                status = encode_row(t, r, curve_qp[q], NULL, &row->curve[q], error);
        }
    motus_progress_end(&t->progress);
    return status;
}

// Prints and reports row r.
static void report_row(const PresetTable *t, int r) {
    const MotusBench *b = t->b;
    const PresetRow *row = &t->row[r], *anchor = &t->row[ANCHOR];
    const double fps = b->clip.n / row->median, best = b->clip.n / row->seconds[0];
    double percent = NAN;
    // Fails without a common range of PSNR.
    const int known = t->has_decoder &&
                      !motus_bd_rate(anchor->curve, CURVE, row->curve, CURVE, &percent),
              beside = *t->x264 != 0;
    const MotusBenchField fields[] = {
        {"encoder", "%-5s ", .text = r < ANCHOR ? "motus" : "x264"},
        {"preset", "%-10s", .text = name_of(r)},
        {"fps_median", " %9.1f", .value = fps},
        {"fps_best", " %9.1f", .value = best},
        {"kbps", " %10.1f", .value = row->point.kbps},
        {"psnr_y", " %8.3f", .value = row->point.psnr},
        {beside ? "ratio" : NULL, beside ? " %8.3f" : NULL, .value = anchor->median / row->median},
        {known ? "bd_rate" : NULL, known ? " %+9.2f %%" : NULL, .value = percent}};
    MOTUS_BENCH_ROW(b, "rows", fields);
    if (!t->has_decoder) return;
    const cJSON *rows = cJSON_GetObjectItem(b->report, "rows");
    cJSON *curve = cJSON_AddArrayToObject(cJSON_GetArrayItem(rows, r), "curve");
    for (int q = 0; q < CURVE; q++) {
        cJSON *point = cJSON_CreateObject();
        cJSON_AddNumberToObject(point, "qp", curve_qp[q]);
        cJSON_AddNumberToObject(point, "kbps", row->curve[q].kbps);
        cJSON_AddNumberToObject(point, "psnr_y", row->curve[q].psnr);
        cJSON_AddItemToArray(curve, point);
    }
}

MotusStatus motus_bench_presets(const MotusBench *b, MotusError *error) {
    PresetTable t = {.b = b};
    MotusStatus status = MOTUS_OK;
    MotusError none = {0};
    if (b->peers)
        status =
            motus_work_folder_make_clip(&t.folder, b->clip.frame, b->clip.n, b->clip.fps, error);
    if (!status && b->peers) {
        if (motus_x264_version("x264", t.folder.log, t.x264, sizeof t.x264, NULL, &none))
            motus_warn("note: %s; only motus's rows, without BD-rate", none.text);
        else
            t.has_decoder = 1;
    }
    const int n_rows = *t.x264 ? ROWS : MOTUS_PRESETS;
    if (!status) status = measure(&t, n_rows, error);
    motus_work_folder_remove(&t.folder);
    if (status) return status;
    cJSON_AddNumberToObject(b->report, "runs", b->runs);
    if (*t.x264) cJSON_AddStringToObject(b->report, "x264", t.x264);
    if (!b->json) {
        printf("encode     QP %d, one IDR picture, %d runs\n", b->config.qp, b->runs);
        if (*t.x264)
            printf("x264       %s; speed and BD-rate are against its preset medium\n", t.x264);
        printf("\n%-16s %9s %9s %10s %8s%s%s\n", "", "frames/s", "best", "kb/s", "PSNR-Y",
               *t.x264 ? "    speed" : "", t.has_decoder ? "     BD-rate" : "");
    }
    for (int r = 0; r < n_rows; r++) report_row(&t, r);
    if (*t.x264 && !b->json)
        printf("x264's rows: Baseline, P pictures, one reference; with +: the preset as it ships "
               "(High, B pictures, its references, weights)\n");
    return MOTUS_OK;
}
