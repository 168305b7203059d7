// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "common/cpu.h"
#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/cmd.h"
#include "tools/x264/bdrate.h"
#include "tools/x264/libx264.h"

enum {
    CURVE = 4,
    X264_ROWS = 12,
    BASELINE = MOTUS_PRESETS + 6, // preset medium in Baseline profile
    SHIPPED,                      // preset medium as it ships
    ROWS = MOTUS_PRESETS + X264_ROWS,
    SLOW = (1 << MOTUS_PRESET_MEDIUM) - 1, // the slower ones
    FAST = (1 << MOTUS_PRESETS) - 1 - SLOW,
    ANY = SLOW | FAST
};
static const int curve_qp[CURVE] = {22, 27, 32, 37};

// P pictures only, unless the preset is as it ships.
static const struct {
    const char *preset, *more; // more: the rest of the name
    int shipped;
    int beside; // mask of 1 << MotusPreset: used if one of them is in the table
} x264_rows[X264_ROWS] = {
    {"ultrafast", "", 0, FAST},      {"superfast", "", 0, FAST}, {"veryfast", "", 0, FAST},
    {"faster", "", 0, FAST},         {"fast", "", 0, FAST},      {"medium", "", 0, ANY},
    {"medium", " baseline", 0, ANY}, {"medium", "+", 1, ANY},    {"slow", "+", 1, SLOW},
    {"slower", "+", 1, SLOW},        {"veryslow", "+", 1, SLOW}, {"placebo", "+", 1, SLOW},
};

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

// Encodes GOPs of the clip's length, as motus. pictures 0: the clip once, with its PSNR.
static MotusStatus encode_x264(const X264Table *t, int row, int qp, int pictures,
                               MotusLibX264Run *run, MotusError *error) {
    const MotusBenchClip *clip = t->b->clip;
    char number[2][16];
    const char *option[][2] = {{"qp", number[0]},   {"keyint", number[1]}, {"scenecut", "0"},
                               {"threads", "auto"}, {"bframes", "0"},      {0}};
    if (x264_rows[row - MOTUS_PRESETS].shipped) option[4][0] = NULL; // the preset's
    snprintf(number[0], sizeof number[0], "%d", qp);
    snprintf(number[1], sizeof number[1], "%d", clip->n);
    const MotusLibX264Job job = {.preset = x264_rows[row - MOTUS_PRESETS].preset,
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

// Times about two seconds of it, in whole clips: 2 to 40, and three pictures a processor, which
// fill its threads.
static MotusStatus time_x264(const X264Table *t, int row, double seconds_a_clip, double *fps,
                             MotusError *error) {
    MotusLibX264Run run;
    const int least = 3 * motus_cpu_threads(0) / t->b->clip->n;
    int clips = seconds_a_clip > 1 ? 2 : seconds_a_clip < 0.05 ? 40 : (int)(2 / seconds_a_clip);
    if (clips < least) clips = least;
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
        row->used = b->presets & (ours ? 1 << r : x264_rows[r - MOTUS_PRESETS].beside);
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
        snprintf(text, size, "x264 %s%s", x264_rows[r - MOTUS_PRESETS].preset,
                 x264_rows[r - MOTUS_PRESETS].more);
}

// True if rows are compared with this one in bits: motus's, and two of x264.
static int is_anchor(const X264Table *t, int r) {
    return (r < MOTUS_PRESETS || r == BASELINE || r == SHIPPED) && t->row[r].used;
}

// Reports a row, with its BD-rates (per cent) against the anchors.
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
        if (!is_anchor(t, a)) continue;
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
        printf("\nlibx264 build %d, all processors, tune psnr, P pictures only; with +: the preset "
               "as it ships. frames/s (motus's with the\nbest number of GOP coders), kb/s and "
               "PSNR at QP %d; then how many more bits than the encoder above the column for\nthe "
               "same PSNR (BD-rate, QP 22 27 32 37)\n%-20s %9s %10s %8s",
               motus_libx264_build(t->lib), b->config.qp, "", "frames/s", "kb/s", "PSNR-Y");
        for (int a = 0; a < MOTUS_PRESETS; a++)
            if (t->row[a].used) printf(" %10s", motus_preset_name((MotusPreset)a));
        printf(" %10s %10s\n", "x264 base.", "x264 med.+");
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
