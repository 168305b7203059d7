// What the report says in words: verdict, how it was compared, settings.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>

#include "motus/version.h"
#include "tools/cli/options.h"
#include "tools/cli/system.h"
#include "tools/compare/compare.h"

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void say(cJSON *verdict, const char *text) {
    cJSON_AddItemToArray(verdict, cJSON_CreateString(text));
}

static void say_vectors(cJSON *verdict, const MotusFigures *f) {
    char text[256];
    if (f->blocks)
        snprintf(text, sizeof text,
                 "Of %llu blocks that x264 gave a vector, motus finds the same vector for %.1f %%, "
                 "and one within half a sample "
                 "for %.1f %%.",
                 (unsigned long long)f->blocks, percent(f->within[0], f->blocks),
                 percent(f->within[2], f->blocks));
    else
        snprintf(text, sizeof text, "x264 gave no block a vector, so there is none to compare.");
    say(verdict, text);
}

static void say_costs(cJSON *verdict, const MotusFigures *f) {
    char text[320], sum[64] = "the same";
    const double change = f->j.x264 ? 100 * ((double)f->j.ours / (double)f->j.x264 - 1) : 0;
    if (fabs(change) >= 0.005)
        snprintf(sum, sizeof sum, "%.2f %% %s", fabs(change), change > 0 ? "higher" : "lower");
    snprintf(text, sizeof text,
             "On x264's own problem and partitions, our vector costs less in %.1f %% of the "
             "blocks, the same in %.1f %% and more "
             "in %.1f %%; over all "
             "blocks the cost is %s.",
             percent(f->j.less, f->blocks), percent(f->j.same, f->blocks),
             percent(f->j.more, f->blocks), sum);
    say(verdict, text);
}

// "at 0.30 times its speed (7.5 and 24.9 frames/s, 1 thread each)".
static void speed_text(char *text, size_t size, const MotusCompareTotals *t, int threads) {
    const double ours = t->seconds[MOTUS_OURS], x264 = t->seconds[MOTUS_X264];
    snprintf(text, size, "at %.2f times its speed (%.1f and %.1f frames/s, %d thread%s each)",
             ours > 0 ? x264 / ours : 0, ours > 0 ? t->frames / ours : 0,
             x264 > 0 ? t->frames / x264 : 0, threads, threads == 1 ? "" : "s");
}

static void say_rate(cJSON *verdict, const MotusCompareOptions *o, const MotusCompareTotals *t) {
    char text[384], speed[128];
    const char *x264 = o->coders.coder[motus_coders_first(&o->coders, 1)].name;
    const char *ours = o->coders.coder[motus_coders_first(&o->coders, 0)].name;
    const double rate = t->n_bd_rates ? t->bd_rate_sum / t->n_bd_rates : 0;
    speed_text(speed, sizeof speed, t, o->threads);
    if (t->n_bd_rates)
        snprintf(text, sizeof text,
                 "As encoders, %s needs %.1f %% %s bits than %s for the same luma PSNR (BD-rate, "
                 "mean of %d sequence%s), %s.",
                 ours, fabs(rate), rate > 0 ? "more" : "fewer", x264, t->n_bd_rates,
                 t->n_bd_rates == 1 ? "" : "s", speed);
    else
        snprintf(
            text, sizeof text,
            "As an encoder beside %s, %s works %s; a BD-rate takes four QPs whose PSNRs overlap.",
            x264, ours, speed);
    say(verdict, text);
}

// ---- How ----------------------------------------------------------------------------------------

static void explain(cJSON *how, const char *topic, const char *text) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "topic", topic);
    cJSON_AddStringToObject(item, "text", text);
    cJSON_AddItemToArray(how, item);
}

static void explain_problem(cJSON *how, const MotusCompareTotals *t) {
    char text[700];
    explain(how, "The same problem",
            "x264 encodes each sequence with P pictures only, one reference, no weighted "
            "prediction, one IDR picture. Each "
            "source picture is then searched by motus in the picture that x264's stream "
            "decodes to before it (whole macroblocks, deblocked, uncropped): x264's own reference, "
            "not one of ours. The source "
            "is filled up to whole macroblocks by repeating its edge, as x264 does.");
    snprintf(text, sizeof text,
             "Range +-%d samples, vectors of %s samples, partitions %s: what x264's stream says it "
             "used (its SEI message), "
             "unless the command line said otherwise. Our window is centred on x264's own "
             "prediction of the macroblock's vector, rounded to whole samples, and holds both "
             "ends. x264 centres its window on "
             "the best of several predictors and rounds an exhaustive window's width up to "
             "a multiple of four, so some of its vectors lie outside ours: \"window\" counts those "
             "inside.",
             t->range, motus_subpel_name(t->subpel),
             t->modes == MOTUS_MODES_ALL ? "down to 4x4"
             : t->modes == 1             ? "16x16 only"
                                         : "down to 8x8");
    explain(how, "Windows", text);
    snprintf(text, sizeof text,
             "Both vectors are measured by the same code on the same samples: SAD, SATD (4x4 "
             "Hadamard, halved) and J = %s + "
             "lambda * bits, lambda = 2^((QP - 12) / 6), bits of the two codes of the "
             "difference to one predictor, x264's prediction for the macroblock as a whole. A tie "
             "is a tie: different vectors of "
             "the same cost count as the same cost.",
             t->subpel == MOTUS_SUBPEL_FULL ? "SAD" : "SATD");
    explain(how, "One measure", text);
}

static void explain_vectors(cJSON *how, const MotusCompareTotals *t) {
    char text[700];
    const MotusExtraction *e = &t->extraction;
    snprintf(text, sizeof text,
             "x264 cannot print its vectors. They are read from its stream by a parser of our own, "
             "down to 4x4, and checked "
             "against those that libavcodec exports, whose places are block centres, which "
             "have no reference index, and which leave out all but the first vector of a divided "
             "8x8 quarter: %llu of %llu "
             "blocks of 16x16 to 8x8 agree; %llu smaller ones are read by the parser only.",
             (unsigned long long)e->equal, (unsigned long long)e->compared,
             (unsigned long long)e->only_here);
    explain(how, "Two ways to read vectors", text);
    explain(
        how, "Skipped and intra macroblocks",
        "P_Skip has the vector that the standard infers; it counts as a 16x16 block, although x264 "
        "paid no bits for that "
        "vector. Intra macroblocks have none: they appear in the confusion matrix and in bits, not "
        "in vectors or costs.");
    explain(how, "Our partition",
            "The one with the least J over our vectors, the bits of mb_type and sub types "
            "included, among the partitions that "
            "x264 could choose from. There, x264's vector counts where it has a single one in the "
            "block; the viewer shows its SAD and SATD in all.");
    explain(how, "What the search is not told",
            "x264 with --subme 1 or more also weighs chroma (--subme 5 and more) and, from --subme "
            "6 on, chooses by true rate "
            "and distortion: a higher J of its vector is not always a mistake.");
}

static void explain_encoders(cJSON *how, const MotusCompareOptions *o) {
    char text[700];
    snprintf(text, sizeof text,
             "Bits, curves and speeds are of whole encoders, each with its own reference pictures, "
             "fixed QP, I pictures 3 QPs "
             "lower, %d thread%s each. Bytes are without SEI. Speed is the encoder's own time: "
             "x264's as it reports it, ours around the library's calls; both with what else the "
             "machine was doing. PSNR is that "
             "of the mean squared error over all luma samples, SSIM the mean over pictures of 8x8 "
             "windows; BD-rate integrates a monotone piecewise cubic through log10(rate) over "
             "PSNR, or over -10 log10(1 - SSIM).",
             o->threads, o->threads == 1 ? "" : "s");
    explain(how, "Bits, rate and speed", text);
    if (o->truth)
        explain(how, "True vectors",
                "Endpoint errors are distances to the generator's vectors, in samples, over blocks "
                "that moved as one, were "
                "visible before and are not flat.");
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

static void describe_coders(cJSON *report, const MotusCoders *coders) {
    cJSON *array = cJSON_AddArrayToObject(report, "coders");
    for (int i = 0; i < coders->n; i++) {
        cJSON *coder = cJSON_CreateObject();
        cJSON_AddStringToObject(coder, "name", coders->coder[i].name);
        cJSON_AddStringToObject(coder, "coder", coders->coder[i].is_x264 ? "x264" : "motus");
        cJSON_AddStringToObject(coder, "args", coders->coder[i].args);
        cJSON_AddItemToArray(array, coder);
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
    describe_coders(report, &o->coders);
    cJSON *verdict = cJSON_AddArrayToObject(report, "verdict"),
          *how = cJSON_AddArrayToObject(report, "how");
    say_vectors(verdict, &t->figures);
    say_costs(verdict, &t->figures);
    say_rate(verdict, o, t);
    explain_problem(how, t);
    explain_vectors(how, t);
    explain_encoders(how, o);
    cJSON_AddItemToObject(report, "total", motus_figures_json(&t->figures, o->truth != NULL));
}
