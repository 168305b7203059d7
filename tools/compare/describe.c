// The report's contents but for sequences: verdict, explanations, settings; and a sequence's rates.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>

#include "motus/version.h"
#include "tools/cli/options.h"
#include "tools/cli/system.h"
#include "tools/compare/compare.h"
#include "tools/peers/bdrate.h"

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void say(cJSON *verdict, const char *text) {
    cJSON_AddItemToArray(verdict, cJSON_CreateString(text));
}

static void say_mvs(cJSON *verdict, const MotusFigures *f) {
    char text[256];
    if (f->blocks)
        snprintf(text, sizeof text,
                 "Of %llu blocks to which x264 gave a motion vector, motus finds the same vector "
                 "for %.1f %%, and one within half a sample for %.1f %%.",
                 (unsigned long long)f->blocks, percent(f->within[0], f->blocks),
                 percent(f->within[2], f->blocks));
    else
        snprintf(text, sizeof text, "x264's stream has no motion vectors to compare.");
    say(verdict, text);
}

static void say_costs(cJSON *verdict, const MotusFigures *f) {
    char text[320], sum[64] = "the same";
    const double change = f->j.x264 ? 100 * ((double)f->j.ours / (double)f->j.x264 - 1) : 0;
    if (fabs(change) >= 0.005)
        snprintf(sum, sizeof sum, "%.2f %% %s", fabs(change), change > 0 ? "higher" : "lower");
    snprintf(text, sizeof text,
             "With x264's pictures, references and partitions, motus's vector costs less in "
             "%.1f %% of the blocks, the same in %.1f %% and more in %.1f %%; over all blocks the "
             "cost is %s.",
             percent(f->j.less, f->blocks), percent(f->j.same, f->blocks),
             percent(f->j.more, f->blocks), sum);
    say(verdict, text);
}

// Writes "at 0.30 times its speed (7.5 and 24.9 frames/s, 1 thread each)".
static void speed_text(char *text, size_t size, const MotusCompareTotals *t, int threads) {
    const double ours = t->seconds[MOTUS_OURS], x264 = t->seconds[MOTUS_X264];
    snprintf(text, size, "at %.2f times its speed (%.1f and %.1f frames/s, %d thread%s each)",
             ours > 0 ? x264 / ours : 0, ours > 0 ? t->frames / ours : 0,
             x264 > 0 ? t->frames / x264 : 0, threads, threads == 1 ? "" : "s");
}

static void say_rate(cJSON *verdict, const MotusCompareOptions *o, const MotusCompareTotals *t) {
    char text[384], speed[128];
    const char *x264 = o->encoders.encoder[motus_compare_encoders_first(&o->encoders, 1)].name;
    const char *ours = o->encoders.encoder[motus_compare_encoders_first(&o->encoders, 0)].name;
    const double rate = t->n_bd_rates ? t->bd_rate_sum / t->n_bd_rates : 0;
    speed_text(speed, sizeof speed, t, o->threads);
    if (t->n_bd_rates)
        snprintf(text, sizeof text,
                 "As an encoder, %s needs %.1f %% %s bits than %s for the same luma PSNR (BD-rate, "
                 "mean of %d sequence%s), %s.",
                 ours, fabs(rate), rate > 0 ? "more" : "fewer", x264, t->n_bd_rates,
                 t->n_bd_rates == 1 ? "" : "s", speed);
    else
        snprintf(text, sizeof text,
                 "Beside %s, %s works %s; a BD-rate needs four QPs whose PSNRs overlap.", x264,
                 ours, speed);
    say(verdict, text);
}

// ---- Explanations -------------------------------------------------------------------------------

static void explain(cJSON *how, const char *topic, const char *text) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "topic", topic);
    cJSON_AddStringToObject(item, "text", text);
    cJSON_AddItemToArray(how, item);
}

static void explain_problem(cJSON *how, const MotusCompareTotals *t) {
    char text[700];
    explain(how, "The same pictures",
            "x264 encodes each sequence with P pictures only, one reference, no weighted "
            "prediction and one IDR picture. motus then searches each source picture in the "
            "picture that x264's stream decodes to before it (whole macroblocks, deblocked, "
            "uncropped): x264's own reference. The source is padded to whole macroblocks by "
            "repeating its edge, as x264 does.");
    snprintf(text, sizeof text,
             "Range +-%d samples, vectors of %s samples, partitions %s: as x264's stream says (its "
             "SEI message), unless the command line says otherwise. motus's window is centred on "
             "the predicted vector of x264's macroblock, rounded to whole samples, and includes "
             "both ends. x264 centres its window on the best of several predictors and rounds the "
             "width of an exhaustive window up to a multiple of four, so some of its vectors are "
             "outside motus's: \"window\" counts those inside.",
             t->range, motus_subpel_name(t->subpel),
             t->modes == MOTUS_MODES_ALL ? "down to 4x4"
             : t->modes == 1             ? "16x16 only"
                                         : "down to 8x8");
    explain(how, "Windows", text);
    snprintf(text, sizeof text,
             "The same code measures both vectors on the same samples: SAD, SATD (4x4 Hadamard, "
             "halved) and J = %s + lambda * bits, lambda = 2^((QP - 12) / 6), bits of the two "
             "codes of the difference to one predictor, x264's for the whole macroblock. Different "
             "vectors of the same cost count as the same cost.",
             t->subpel == MOTUS_SUBPEL_FULL ? "SAD" : "SATD");
    explain(how, "One measure", text);
}

static void explain_mvs(cJSON *how, const MotusCompareTotals *t) {
    char text[700];
    const MotusExtraction *e = &t->extraction;
    snprintf(text, sizeof text,
             "x264 cannot print its vectors. A parser reads them from its stream, down to 4x4. "
             "They are checked against those that libavcodec exports, which have block centres as "
             "positions, no reference index, and only the first vector of a divided 8x8 quarter: "
             "%llu of %llu blocks of 16x16 to 8x8 agree; %llu smaller ones come from the parser "
             "only.",
             (unsigned long long)e->equal, (unsigned long long)e->compared,
             (unsigned long long)e->only_here);
    explain(how, "Two ways to read vectors", text);
    explain(how, "Skipped and intra macroblocks",
            "P_Skip has the vector that the standard infers. It counts as a 16x16 block, although "
            "x264 spent no bits on that vector. Intra macroblocks count in the confusion matrix "
            "and in bits, not in vectors or costs.");
    explain(how, "motus's partition",
            "It has the least J over motus's vectors, including the bits of mb_type and sub types, "
            "among the partitions that x264 could choose. x264's vector counts in a block in which "
            "it has only one; the viewer shows x264's SAD and SATD in all blocks.");
    explain(how, "Not known to the search",
            "x264 also weighs chroma with --subme 5 and more and, from --subme 6 on, chooses by "
            "true rate and distortion: a higher J of its vector is not always a mistake.");
}

static void explain_encoders(cJSON *how, const MotusCompareOptions *o) {
    char text[700];
    snprintf(text, sizeof text,
             "Bits, curves and speeds are of whole encoders, each with its own reference pictures, "
             "fixed QP, I pictures 3 QPs lower, %d thread%s each. Bytes are without SEI. Speed is "
             "the encoder's own time: x264's as it reports it, motus's around the library's "
             "calls, both with the machine's other load. PSNR is of the mean squared error over "
             "all luma samples, SSIM the mean over pictures of 8x8 windows. BD-rate integrates a "
             "monotone piecewise cubic of log10(rate) over PSNR, or over -10 log10(1 - SSIM).",
             o->threads, o->threads == 1 ? "" : "s");
    explain(how, "Bits, rate and speed", text);
    if (o->truth)
        explain(how, "Ground truth",
                "Endpoint errors are distances to the generator's vectors, in samples, over blocks "
                "that move as one, were visible before and are not flat.");
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

// ---- All of it ----------------------------------------------------------------------------------

static void describe_settings(cJSON *report, const MotusCompareOptions *o,
                              const MotusCompareTotals *t) {
    cJSON *settings = cJSON_AddObjectToObject(report, "settings");
    cJSON_AddNumberToObject(settings, "range", t->range);
    cJSON_AddStringToObject(settings, "subpel", motus_subpel_name(t->subpel));
    cJSON_AddStringToObject(settings, "criterion", t->subpel == MOTUS_SUBPEL_FULL ? "sad" : "satd");
    cJSON_AddItemToObject(settings, "qps", cJSON_CreateIntArray(o->qp, o->n_qps));
    cJSON_AddNumberToObject(settings, "threads", o->threads);
    cJSON_AddNumberToObject(settings, "frames", o->frames);
}

static void describe_encoders(cJSON *report, const MotusCompareEncoders *encoders) {
    cJSON *array = cJSON_AddArrayToObject(report, "coders");
    for (int i = 0; i < encoders->n; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "name", encoders->encoder[i].name);
        cJSON_AddStringToObject(item, "coder", encoders->encoder[i].is_x264 ? "x264" : "motus");
        cJSON_AddStringToObject(item, "args", encoders->encoder[i].args);
        cJSON_AddItemToArray(array, item);
    }
}

void motus_compare_describe(cJSON *report, const MotusCompareOptions *o,
                            const MotusCompareTotals *t, const char *x264_version, int complete) {
    char cpu[128];
    motus_cpu_name(cpu, sizeof cpu);
    cJSON_AddStringToObject(report, "format", "motus-compare");
    cJSON_AddNumberToObject(report, "version", 1);
    cJSON_AddBoolToObject(report, "complete", complete);
    cJSON_AddStringToObject(report, "command", o->command);
    cJSON *motus = cJSON_AddObjectToObject(report, "motus"),
          *x264 = cJSON_AddObjectToObject(report, "x264");
    cJSON_AddStringToObject(motus, "version", motus_version());
    cJSON_AddStringToObject(motus, "cpu", cpu);
    cJSON_AddStringToObject(motus, "instructions", motus_cpu_instructions());
    cJSON_AddStringToObject(x264, "path", o->x264);
    cJSON_AddStringToObject(x264, "version", x264_version);
    describe_settings(report, o, t);
    describe_encoders(report, &o->encoders);
    cJSON *verdict = cJSON_AddArrayToObject(report, "verdict"),
          *how = cJSON_AddArrayToObject(report, "how");
    say_mvs(verdict, &t->figures);
    say_costs(verdict, &t->figures);
    say_rate(verdict, o, t);
    explain_problem(how, t);
    explain_mvs(how, t);
    explain_encoders(how, o);
    cJSON_AddItemToObject(report, "total", motus_figures_json(&t->figures, o->truth != NULL));
}
