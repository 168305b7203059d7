// libx264's presets beside motus's, with all processors: frames/s, bits at equal PSNR.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>

#include "common/cpu.h"
#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/cmd.h"
#include "tools/x264/x264.h"

enum {
    CURVE = 4,
    X264_ROWS = 12,
    BASELINE = MOTUS_PRESETS + 6, // preset medium in Baseline profile
    SHIPPED,                      // preset medium as it ships
    ROWS = MOTUS_PRESETS + X264_ROWS,
    SLOW = 1 << MOTUS_PRESET_SLOW | 1 << MOTUS_PRESET_SLOWER | 1 << MOTUS_PRESET_PLACEBO,
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
    char name[32];
    double fps;
    MotusRdPoint point, curve[CURVE]; // at config.qp, at curve_qp
} X264Row;

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
    const MotusBenchClip *clip = &b->clip;
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
    *point = (MotusRdPoint){motus_clip_kbps(clip, sums.bytes), sums.psnr / clip->n};
    return status;
}

// Encodes GOPs of the clip's length, as motus. pictures 0: the clip once, with its PSNR.
static MotusStatus encode_x264(const MotusBench *b, const MotusLibX264 *lib, int row, int qp,
                               int pictures, MotusLibX264Run *run, MotusError *error) {
    const MotusBenchClip *clip = &b->clip;
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
    return motus_libx264_encode(lib, &job, run, error);
}

// Measures a row at QP config.qp and at those of the curve. x264 is timed for about two seconds, in
// whole clips: 2 to 40, and three pictures a processor, which fill its threads.
static MotusStatus measure(const MotusBench *b, const MotusLibX264 *lib, int r, X264Row *row,
                           MotusError *error) {
    const int n = b->clip.n;
    MotusStatus status = MOTUS_OK;
    for (int q = -1; q < CURVE && !status; q++) {
        const int qp = q < 0 ? b->config.qp : curve_qp[q];
        MotusRdPoint *point = q < 0 ? &row->point : &row->curve[q];
        if (r < MOTUS_PRESETS) {
            status = encode_ours(b, r, qp, point, error);
            continue;
        }
        MotusLibX264Run run = {0};
        status = encode_x264(b, lib, r, qp, 0, &run, error);
        *point = (MotusRdPoint){motus_clip_kbps(&b->clip, run.bytes), run.psnr};
        if (status || q >= 0) continue;
        const int least = 3 * motus_cpu_threads(0) / n;
        int clips = run.seconds > 1 ? 2 : run.seconds < 0.05 ? 40 : (int)(2 / run.seconds);
        if (clips < least) clips = least;
        status = encode_x264(b, lib, r, qp, clips * n, &run, error);
        row->fps = clips * n / run.seconds;
    }
    return status;
}

// Reports row r, with its BD-rates (per cent) against the anchors: motus's rows, two of x264's.
static void report_row(const MotusBench *b, const X264Row row[ROWS], int r) {
    MotusBenchField fields[ROWS] = {{"encoder", "%-20s", .text = row[r].name},
                                    {"fps", " %9.1f", .value = row[r].fps},
                                    {"kbps", " %10.1f", .value = row[r].point.kbps},
                                    {"psnr_y", " %8.3f", .value = row[r].point.psnr}};
    cJSON *bd_rates = cJSON_CreateObject();
    int n = 4;
    for (int a = 0; a < ROWS; a++) {
        double percent = NAN;
        if (!row[a].used || (a >= MOTUS_PRESETS && a != BASELINE && a != SHIPPED)) continue;
        if (motus_bd_rate(row[a].curve, CURVE, row[r].curve, CURVE, &percent))
            percent = NAN;
        else
            cJSON_AddNumberToObject(bd_rates, row[a].name, percent);
        fields[n++] = (MotusBenchField){NULL, " %+8.1f %%", .value = percent};
    }
    motus_bench_row(b, "beside_x264", fields, n);
    const cJSON *rows = cJSON_GetObjectItem(b->report, "beside_x264");
    cJSON_AddItemToObject(cJSON_GetArrayItem(rows, cJSON_GetArraySize(rows) - 1), "bd_rate",
                          bd_rates);
}

MotusStatus motus_bench_libx264(const MotusBench *b, const double fps[MOTUS_PRESETS],
                                MotusError *error) {
    X264Row row[ROWS] = {{0}};
    MotusLibX264 *lib = NULL;
    MotusError none = {0};
    MotusStatus status = motus_libx264_open(&lib, b->libx264, &none);
    if (status) {
        motus_warn("note: %s; nothing beside motus's rows", none.text);
        return MOTUS_OK;
    }
    for (int r = 0; r < ROWS && !status; r++) {
        const int ours = r < MOTUS_PRESETS, x = r - MOTUS_PRESETS;
        row[r].used = b->presets & (ours ? 1 << r : x264_rows[x].beside);
        row[r].fps = ours ? fps[r] : 0;
        snprintf(row[r].name, sizeof row[r].name, "%s %s%s", ours ? "motus" : "x264",
                 ours ? motus_preset_name((MotusPreset)r) : x264_rows[x].preset,
                 ours ? "" : x264_rows[x].more);
        if (row[r].used) status = measure(b, lib, r, &row[r], error);
    }
    const int build = motus_libx264_build(lib);
    motus_libx264_close(&lib);
    if (status) return status;
    cJSON_AddNumberToObject(b->report, "libx264", build);
    if (!b->json) {
        printf("\nlibx264 build %d, all processors, tune psnr, P pictures only; with +: the preset "
               "as it ships. frames/s (motus's with the\nbest number of GOP coders), kb/s and "
               "PSNR at QP %d; then how many more bits than the encoder above the column for\nthe "
               "same PSNR (BD-rate, QP 22 27 32 37)\n%-20s %9s %10s %8s",
               build, b->config.qp, "", "frames/s", "kb/s", "PSNR-Y");
        for (int a = 0; a < MOTUS_PRESETS; a++)
            if (row[a].used) printf(" %10s", motus_preset_name((MotusPreset)a));
        printf(" %10s %10s\n", "x264 base.", "x264 med.+");
    }
    for (int r = 0; r < ROWS; r++)
        if (row[r].used) report_row(b, row, r);
    return MOTUS_OK;
}
