// Rate-distortion points and BD-rates of a sequence.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include "tools/compare/compare.h"
#include "tools/peers/bdrate.h"

static cJSON *point_json(const MotusComparePoint *p, int coder, int qp) {
    cJSON *point = cJSON_CreateObject();
    cJSON_AddNumberToObject(point, "coder", coder);
    cJSON_AddNumberToObject(point, "qp", qp);
    cJSON_AddNumberToObject(point, "bytes", (double)p->bytes);
    cJSON_AddNumberToObject(point, "kbps", p->kbps);
    cJSON_AddNumberToObject(point, "psnr_y", p->psnr);
    cJSON_AddNumberToObject(point, "ssim_y", p->ssim);
    cJSON_AddNumberToObject(point, "seconds", p->seconds);
    cJSON_AddNumberToObject(point, "fps", p->fps);
    cJSON_AddItemToObject(point, "bits",
                          p->has_bits ? motus_bits_json(&p->bits) : cJSON_CreateNull());
    return point;
}

cJSON *motus_points_json(const MotusCompareOptions *o, const MotusCompareSequence *s) {
    cJSON *array = cJSON_CreateArray();
    for (int c = 0; c < o->coders.n; c++)
        for (int q = 0; q < o->n_qps; q++)
            if (s->point[c][q].done)
                cJSON_AddItemToArray(array, point_json(&s->point[c][q], c, o->qp[q]));
    return array;
}

// SSIM on a scale on which its distances to 1 are alike.
static double ssim_db(double ssim) { return -10 * log10(fmax(1 - ssim, 1e-10)); }

static int curve(const MotusCompareOptions *o, const MotusCompareSequence *s, int coder,
                 int with_ssim, MotusRdPoint *points) {
    int n = 0;
    for (int q = 0; q < o->n_qps; q++) {
        const MotusComparePoint *p = &s->point[coder][q];
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
    for (int a = 0; a < o->coders.n; a++)
        for (int b = 0; b < o->coders.n; b++) {
            if (!o->coders.coder[a].is_x264 || o->coders.coder[b].is_x264) continue;
            cJSON *rate = cJSON_CreateObject();
            double psnr, ssim;
            cJSON_AddNumberToObject(rate, "anchor", a);
            cJSON_AddNumberToObject(rate, "test", b);
            cJSON_AddItemToObject(rate, "psnr", bd_rate(o, s, a, b, 0, &psnr));
            cJSON_AddItemToObject(rate, "ssim", bd_rate(o, s, a, b, 1, &ssim));
            cJSON_AddItemToArray(array, rate);
            if (a != motus_coders_first(&o->coders, 1) || b != motus_coders_first(&o->coders, 0) ||
                isnan(psnr))
                continue;
            totals->bd_rate_sum += psnr;
            totals->n_bd_rates++;
        }
    return array;
}
