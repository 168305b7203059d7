// A sequence in the report: its description, pictures, points of curves and BD-rates.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/int_core.h"
#include "tools/compare/compare.h"
#include "tools/x264/x264.h"

void motus_compare_name(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    snprintf(name, size, "%.*s", (int)(dot && dot > base ? dot - base : (long)strlen(base)), base);
    for (char *p = name; *p; p++)
        if (*p == ',' || *p == '"') *p = '_'; // for the CSV
}

size_t motus_compare_add_pictures(cJSON *sequence, const MotusCompareClip *clip, size_t max_bytes) {
    cJSON *pictures = cJSON_AddArrayToObject(sequence, "pictures");
    MotusClipFrames frames = {0};
    size_t used = 0;
    int full = motus_clip_frames_open(&frames, clip, NULL) != MOTUS_OK;
    for (int n = 0; n < clip->frames; n++) {
        const MotusFrame *frame = NULL;
        char *uri = NULL;
        full = full || motus_clip_frames_next(&frames, n, &frame, NULL) ||
               motus_viewer_picture(frame, clip->full_range, &uri, NULL);
        full = full || used + strlen(uri) > max_bytes;
        cJSON_AddItemToArray(pictures, full ? cJSON_CreateNull() : cJSON_CreateString(uri));
        used += full ? 0 : strlen(uri);
        motus_free(uri);
    }
    motus_clip_frames_close(&frames);
    return used;
}

cJSON *motus_compare_sequence_json(const char *name, const char *input,
                                   const MotusCompareClip *clip, int has_truth) {
    cJSON *s = cJSON_CreateObject(), *fps;
    cJSON_AddStringToObject(s, "name", name);
    cJSON_AddStringToObject(s, "file", input);
    cJSON_AddNumberToObject(s, "width", clip->width);
    cJSON_AddNumberToObject(s, "height", clip->height);
    cJSON_AddNumberToObject(s, "mb_width", motus_mbs(clip->width));
    cJSON_AddNumberToObject(s, "mb_height", motus_mbs(clip->height));
    fps = cJSON_AddArrayToObject(s, "fps");
    cJSON_AddItemToArray(fps, cJSON_CreateNumber(clip->fps.num));
    cJSON_AddItemToArray(fps, cJSON_CreateNumber(clip->fps.den));
    cJSON_AddNumberToObject(s, "frames", clip->frames);
    cJSON_AddBoolToObject(s, "has_truth", has_truth);
    return s;
}

// ---- Rate and distortion ------------------------------------------------------------------------

static cJSON *point_json(const MotusComparePoint *p, int encoder, int qp) {
    cJSON *point = cJSON_CreateObject();
    cJSON_AddNumberToObject(point, "coder", encoder);
    cJSON_AddNumberToObject(point, "qp", qp);
    cJSON_AddNumberToObject(point, "bytes", (double)p->bytes);
    cJSON_AddNumberToObject(point, "kbps", p->kbps);
    cJSON_AddNumberToObject(point, "psnr_y", p->psnr);
    cJSON_AddNumberToObject(point, "ssim_y", p->ssim);
    cJSON_AddNumberToObject(point, "seconds", p->seconds);
    cJSON_AddNumberToObject(point, "elapsed", p->elapsed);
    cJSON_AddNumberToObject(point, "fps", p->fps);
    cJSON_AddItemToObject(point, "bits",
                          p->has_bits ? motus_bits_json(&p->bits) : cJSON_CreateNull());
    return point;
}

cJSON *motus_points_json(const MotusCompareOptions *o, const MotusCompareSequence *s) {
    cJSON *array = cJSON_CreateArray();
    for (int c = 0; c < o->encoders.n; c++)
        for (int q = 0; q < o->n_qps; q++)
            if (s->point[c][q].done)
                cJSON_AddItemToArray(array, point_json(&s->point[c][q], c, o->qp[q]));
    return array;
}

// Returns SSIM in decibels.
static double ssim_db(double ssim) { return -10 * log10(fmax(1 - ssim, 1e-10)); }

static int curve(const MotusCompareOptions *o, const MotusCompareSequence *s, int encoder,
                 int with_ssim, MotusRdPoint *points) {
    int n = 0;
    for (int q = 0; q < o->n_qps; q++) {
        const MotusComparePoint *p = &s->point[encoder][q];
        if (p->done) points[n++] = (MotusRdPoint){p->kbps, with_ssim ? ssim_db(p->ssim) : p->psnr};
    }
    return n;
}

static cJSON *bd_rate(const MotusCompareOptions *o, const MotusCompareSequence *s, int anchor,
                      int test, int with_ssim, double *percent) {
    MotusRdPoint a[MOTUS_COMPARE_QPS], b[MOTUS_COMPARE_QPS];
    const int n_a = curve(o, s, anchor, with_ssim, a), n_b = curve(o, s, test, with_ssim, b);
    *percent = NAN;
    return motus_bd_rate(a, n_a, b, n_b, percent) ? cJSON_CreateNull()
                                                  : cJSON_CreateNumber(*percent);
}

cJSON *motus_bd_rates_json(const MotusCompareOptions *o, const MotusCompareSequence *s,
                           MotusCompareTotals *totals) {
    cJSON *array = cJSON_CreateArray();
    for (int a = 0; a < o->encoders.n; a++)
        for (int b = 0; b < o->encoders.n; b++) {
            if (!o->encoders.encoder[a].is_x264 || o->encoders.encoder[b].is_x264) continue;
            cJSON *rate = cJSON_CreateObject();
            double psnr, ssim;
            cJSON_AddNumberToObject(rate, "anchor", a);
            cJSON_AddNumberToObject(rate, "test", b);
            cJSON_AddItemToObject(rate, "psnr", bd_rate(o, s, a, b, 0, &psnr));
            cJSON_AddItemToObject(rate, "ssim", bd_rate(o, s, a, b, 1, &ssim));
            cJSON_AddItemToArray(array, rate);
            if (a != motus_compare_encoders_first(&o->encoders, 1) ||
                b != motus_compare_encoders_first(&o->encoders, 0) || isnan(psnr))
                continue;
            totals->bd_rate_sum += psnr;
            totals->n_bd_rates++;
        }
    return array;
}
