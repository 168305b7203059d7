// The report's contents but for sequences: verdict, explanations, settings; and a sequence's rates.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "motus/version.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/system.h"
#include "tools/compare/compare.h"

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
                 "Of %s blocks to which x264 gave a motion vector, motus finds the same vector "
                 "for %.1f %%, and one within half a sample for %.1f %%.",
                 motus_digits((double)f->blocks, 0).text, percent(f->within[0], f->blocks),
                 percent(f->within[2], f->blocks));
    else
        snprintf(text, sizeof text, "x264's stream has no motion vectors to compare.");
    say(verdict, text);
}

// Explains blocks where motus's MV costs more although its search is exhaustive.
static void say_why_more(cJSON *verdict, const MotusFigures *f, MotusSubpel subpel) {
    char text[480], inside[320] = "", outside[128] = "";
    const uint64_t beyond = f->j.more - f->worse;
    if (!f->j.more) return;
    if (f->worse && subpel == MOTUS_SUBPEL_FULL)
        snprintf(inside, sizeof inside, "x264's vector has fractions of a sample (%s blocks)",
                 motus_digits((double)f->worse, 0).text);
    else if (f->worse)
        snprintf(inside, sizeof inside,
                 "motus compares all whole samples by SAD, but refines only %s by SATD, and "
                 "another one may end lower (%s blocks)",
                 subpel == MOTUS_SUBPEL_BEST ? "the best of each block of a macroblock"
                                             : "the best of them",
                 motus_digits((double)f->worse, 0).text);
    if (beyond)
        snprintf(outside, sizeof outside, "x264's vector lies outside motus's window (%s blocks)",
                 motus_digits((double)beyond, 0).text);
    snprintf(text, sizeof text, "An exhaustive search may cost more%s: %s%s%s.",
             f->worse && subpel != MOTUS_SUBPEL_FULL ? " after refinement" : "", inside,
             f->worse && beyond ? "; " : "", outside);
    say(verdict, text);
}

static void say_costs(cJSON *verdict, const MotusFigures *f, MotusSubpel subpel) {
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
    say_why_more(verdict, f, subpel);
}

// Compares both sides with the least J that a vector in the window can have.
static void say_bound(cJSON *verdict, const MotusBoundFigures *f) {
    const MotusBoundTally sum = motus_bound_sum(f->x264);
    char text[400];
    if (!f->pictures || !sum.blocks) return;
    snprintf(text, sizeof text,
             "Of %s blocks of %d pictures every quarter-sample vector in the window was tried: "
             "motus's vectors cost %.2f %% more than the least and reach it in %.1f %% of the "
             "blocks, x264's %.2f %% and %.1f %%.",
             motus_digits((double)sum.blocks, 0).text, f->pictures,
             motus_bound_excess(&sum, MOTUS_OURS), percent(sum.reached[MOTUS_OURS], sum.blocks),
             motus_bound_excess(&sum, MOTUS_X264), percent(sum.reached[MOTUS_X264], sum.blocks));
    say(verdict, text);
}

// True if other programs kept the machine busy: more tasks than `cpus` before the job, or encodes
// of one thread that took longer than their processor time. Writes one sentence about it, "" if
// not.
static int is_busy(const MotusCompareLoad *load, int threads, int cpus, char *text, size_t size) {
    const MotusTimes *t = &load->times;
    *text = 0;
    if (threads == 1 && t->elapsed > 1.25 * t->processor && t->elapsed > t->processor + 0.5)
        snprintf(text, size,
                 "The machine was busy with other work: the encodes took %.1f times their "
                 "processor time.",
                 t->elapsed / t->processor);
    else if (load->before + threads > cpus + 0.5)
        snprintf(text, size,
                 "The machine was busy with other work: %.1f tasks wanted its %d CPU%s in the "
                 "minute before.",
                 load->before, cpus, cpus == 1 ? "" : "s");
    return *text != 0;
}

// Writes "at 0.30 times its speed (7.5 and 24.9 frames/s of processor time, 1 thread each)".
static void speed_text(char *text, size_t size, const MotusCompareTotals *t, int threads) {
    const double ours = t->seconds[MOTUS_OURS], x264 = t->seconds[MOTUS_X264];
    const MotusDigits our_fps = motus_digits(ours > 0 ? t->frames / ours : 0, 1),
                      x264_fps = motus_digits(x264 > 0 ? t->frames / x264 : 0, 1);
    const int n = snprintf(text, size, "at %.2f times its speed (", ours > 0 ? x264 / ours : 0);
    if (n < 0 || (size_t)n >= size) return;
    if (t->load.gpu)
        snprintf(text + n, size - (size_t)n, "%s frames/s on a GPU and %s of processor time)",
                 our_fps.text, x264_fps.text);
    else
        snprintf(text + n, size - (size_t)n,
                 "%s and %s frames/s of processor time, %d thread%s each)", our_fps.text,
                 x264_fps.text, threads, threads == 1 ? "" : "s");
}

static const char *profile_text(int profile_idc) {
    return profile_idc == 100 ? "High" : profile_idc == 77 ? "Main" : "Baseline";
}

static void say_profiles(cJSON *verdict, const int profile_idc[MOTUS_SIDES]) {
    char text[200];
    if (profile_idc[MOTUS_X264] == profile_idc[MOTUS_OURS]) return;
    snprintf(text, sizeof text,
             "The profiles differ: x264's stream is %s, motus's %s. --settings has both choose.",
             profile_text(profile_idc[MOTUS_X264]), profile_text(profile_idc[MOTUS_OURS]));
    say(verdict, text);
}

static void say_rate(cJSON *verdict, const MotusCompareOptions *o, const MotusCompareTotals *t) {
    char text[512], speed[256], busy[160];
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
    say_profiles(verdict, t->profile_idc);
    if (is_busy(&t->load, o->threads, motus_cpu_count(), busy, sizeof busy)) say(verdict, busy);
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
             t->range,
             motus_subpel_name(t->subpel == MOTUS_SUBPEL_BEST ? MOTUS_SUBPEL_QUARTER : t->subpel),
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
             "%s of %s blocks of 16x16 to 8x8 agree; %s smaller ones come from the parser only.",
             motus_digits((double)e->equal, 0).text, motus_digits((double)e->compared, 0).text,
             motus_digits((double)e->only_here, 0).text);
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
    snprintf(
        text, sizeof text,
        "Bits, curves and speeds are of whole encoders, each with its own reference pictures, "
        "fixed QP, I pictures 3 QPs lower, %d thread%s each. Bytes are without SEI. Speed is "
        "by processor time of all threads, of the program x264 without its start and of motus's "
        "library, which other programs change little; on a GPU by elapsed time. PSNR is of the "
        "mean squared error over all luma samples, SSIM the mean over pictures of 8x8 windows. "
        "BD-rate integrates a monotone piecewise cubic of log10(rate) over PSNR, or over -10 "
        "log10(1 - SSIM).",
        o->threads, o->threads == 1 ? "" : "s");
    explain(how, "Bits, rate and speed", text);
    if (o->truth)
        explain(how, "Ground truth",
                "Endpoint errors are distances to the generator's vectors, in samples, over blocks "
                "that move as one, were visible before and are not flat.");
}

// ---- Frames that the page lacks -----------------------------------------------------------------

// Appends {"sequence", "qp", "first", "last", "frames"} if frames lack this member. qp < 0: null.
static int add_gap(cJSON *list, int sequence, int qp, const cJSON *frames, const char *member) {
    int n = 0, first = -1, last = -1, missing = 0;
    for (const cJSON *f = frames ? frames->child : NULL; f; f = f->next, n++) {
        const cJSON *type = cJSON_GetObjectItem(f, "type");
        if (type && *cJSON_GetStringValue(type) == 'I') continue; // has no MB records anyway
        if (!cJSON_IsNull(member ? cJSON_GetObjectItem(f, member) : f)) continue;
        if (!missing++) first = n;
        last = n;
    }
    if (!missing) return 0;
    cJSON *gap = cJSON_CreateObject();
    cJSON_AddNumberToObject(gap, "sequence", sequence);
    cJSON_AddItemToObject(gap, "qp", qp < 0 ? cJSON_CreateNull() : cJSON_CreateNumber(qp));
    cJSON_AddNumberToObject(gap, "first", first);
    cJSON_AddNumberToObject(gap, "last", last);
    cJSON_AddNumberToObject(gap, "frames", missing);
    cJSON_AddItemToArray(list, gap);
    return missing;
}

void motus_compare_describe_gaps(cJSON *report) {
    cJSON *viewer = cJSON_AddObjectToObject(report, "viewer"), *list = cJSON_CreateArray();
    const cJSON *sequences = cJSON_GetObjectItem(report, "sequences"), *s, *run;
    int n = 0, missing = 0;
    cJSON_ArrayForEach(s, sequences) {
        missing += add_gap(list, n, -1, cJSON_GetObjectItem(s, "pictures"), NULL);
        cJSON_ArrayForEach(run, cJSON_GetObjectItem(s, "runs")) {
            const int qp = (int)cJSON_GetNumberValue(cJSON_GetObjectItem(run, "qp"));
            missing += add_gap(list, n, qp, cJSON_GetObjectItem(run, "frames"), "mbs");
        }
        n++;
    }
    cJSON_AddNumberToObject(viewer, "left_out", missing);
    cJSON_AddItemToObject(viewer, "gaps", list);
}

void motus_compare_warn_gaps(const cJSON *report) {
    char text[1024] = "";
    size_t n = 0;
    int of = -1;
    const cJSON *gap, *sequences = cJSON_GetObjectItem(report, "sequences");
    cJSON_ArrayForEach(gap, cJSON_GetObjectItem(cJSON_GetObjectItem(report, "viewer"), "gaps")) {
        const int i = cJSON_GetObjectItem(gap, "sequence")->valueint;
        const cJSON *qp = cJSON_GetObjectItem(gap, "qp"),
                    *name = cJSON_GetObjectItem(cJSON_GetArrayItem(sequences, i), "name");
        if (n >= sizeof text - 200) {
            n += (size_t)snprintf(text + n, sizeof text - n, " and others");
            break;
        }
        if (i != of)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s %s", n ? ";" : "",
                                  cJSON_GetStringValue(name));
        else
            n += (size_t)snprintf(text + n, sizeof text - n, ",");
        if (cJSON_IsNull(qp))
            n += (size_t)snprintf(text + n, sizeof text - n, " pictures");
        else
            n += (size_t)snprintf(text + n, sizeof text - n, " QP %d", qp->valueint);
        of = i;
    }
    if (n) motus_warn("note: the page lacks frames of%s; --page-mb 0 keeps them", text);
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

static void describe_machine(cJSON *report, const MotusCompareOptions *o,
                             const MotusCompareTotals *t) {
    char text[160];
    const int cpus = motus_cpu_count(),
              busy = is_busy(&t->load, o->threads, cpus, text, sizeof text);
    cJSON *machine = cJSON_AddObjectToObject(report, "machine");
    cJSON_AddNumberToObject(machine, "cpus", cpus);
    cJSON_AddNumberToObject(machine, "load", t->load.before);
    cJSON_AddNumberToObject(machine, "elapsed", t->load.times.elapsed);
    cJSON_AddNumberToObject(machine, "processor", t->load.times.processor);
    cJSON_AddBoolToObject(machine, "busy", busy);
    cJSON_AddBoolToObject(machine, "gpu", t->load.gpu);
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
    describe_machine(report, o, t);
    describe_encoders(report, &o->encoders);
    cJSON *verdict = cJSON_AddArrayToObject(report, "verdict"),
          *how = cJSON_AddArrayToObject(report, "how");
    say_mvs(verdict, &t->figures);
    say_costs(verdict, &t->figures, t->subpel);
    say_bound(verdict, &t->bound);
    say_rate(verdict, o, t);
    explain_problem(how, t);
    explain_mvs(how, t);
    explain_encoders(how, o);
    cJSON_AddItemToObject(report, "total", motus_figures_json(&t->figures, o->truth != NULL));
    cJSON_AddItemToObject(report, "bound", motus_bound_json(&t->bound));
}
