// The report's files, and its summary on standard output.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "tools/cli/options.h"
#include "tools/compare/compare.h"
#include "tools/compare/page/report_page.h"

static const char placeholder[] = "@MOTUS_DATA@";

// Writes JSON for a script in HTML, with "<" escaped so that no tag begins.
static MotusStatus write_escaped(MotusOutput *out, const char *text, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    while (*text && !status) {
        const size_t n = strcspn(text, "<");
        status = motus_output_write(out, text, n, error);
        text += n;
        if (status || !*text) break;
        status = motus_output_write(out, "\\u003c", 6, error);
        text++;
    }
    return status;
}

static MotusStatus write_page(MotusOutput *out, const char *json, MotusError *error) {
    const char *page = motus_report_page, *end = page + motus_report_page_size,
               *at = strstr(page, placeholder);
    if (!at)
        return motus_fail(error, MOTUS_ERR_INTERNAL, "the report's page has no place for its data");
    const char *rest = at + sizeof placeholder - 1;
    MotusStatus status = motus_output_write(out, page, (size_t)(at - page), error);
    if (!status) status = write_escaped(out, json, error);
    return status ? status : motus_output_write(out, rest, (size_t)(end - rest), error);
}

// Writes `text` through `write`, completes the file and frees the text.
static MotusStatus write_file(MotusOutput **out, char *text,
                              MotusStatus (*write)(MotusOutput *, const char *, MotusError *),
                              MotusError *error) {
    if (!text) return motus_fail(error, MOTUS_ERR_MEMORY, "the report: out of memory");
    MotusStatus status = write(*out, text, error);
    if (!status) status = motus_output_commit(out, error);
    free(text);
    return status;
}

MotusStatus motus_compare_write_page(MotusOutput **out, const cJSON *report, MotusError *error) {
    return write_file(out, cJSON_PrintUnformatted(report), write_page, error);
}

static MotusStatus write_plain(MotusOutput *out, const char *text, MotusError *error) {
    MotusStatus status = motus_output_write(out, text, strlen(text), error);
    return status ? status : motus_output_write(out, "\n", 1, error);
}

static cJSON *first_of(const cJSON *object, const char *name) {
    const cJSON *array = cJSON_GetObjectItem(object, name);
    return array ? array->child : NULL;
}

MotusStatus motus_compare_write_json(MotusOutput **out, cJSON *report, MotusError *error) {
    for (cJSON *s = first_of(report, "sequences"); s; s = s->next) {
        cJSON_DeleteItemFromObject(s, "pictures");
        for (const cJSON *run = first_of(s, "runs"); run; run = run->next)
            for (cJSON *frame = first_of(run, "frames"); frame; frame = frame->next)
                cJSON_DeleteItemFromObject(frame, "mbs");
    }
    return write_file(out, cJSON_Print(report), write_plain, error);
}

// ---- Summary on standard output -----------------------------------------------------------------

static const char *text(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
}

// Returns NAN for null.
static double number(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItem(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static const char *encoder_name(const cJSON *report, const cJSON *item, const char *which) {
    return text(cJSON_GetArrayItem(cJSON_GetObjectItem(report, "coders"), (int)number(item, which)),
                "name");
}

static void print_points(const cJSON *report) {
    const cJSON *sequence, *point;
    printf("\n%-24s %-20s %3s %11s %10s %9s %9s %9s\n", "sequence", "setting", "QP", "bytes",
           "kb/s", "PSNR-Y", "SSIM-Y", "frames/s");
    for (sequence = first_of(report, "sequences"); sequence; sequence = sequence->next)
        for (point = first_of(sequence, "rd"); point; point = point->next)
            printf("%-24s %-20s %3.0f %11s %10s %9.3f %9.5f %9s\n", text(sequence, "name"),
                   encoder_name(report, point, "coder"), number(point, "qp"),
                   motus_digits(number(point, "bytes"), 0).text,
                   motus_digits(number(point, "kbps"), 2).text, number(point, "psnr_y"),
                   number(point, "ssim_y"), motus_digits(number(point, "fps"), 1).text);
}

// Prints the BD-rates of one pair of settings over all sequences, their mean and the worst. pair:
// index into each "bd_rate".
static int print_pair(const cJSON *report, int pair) {
    const cJSON *sequence;
    double sum[2] = {0}, worst[2] = {-INFINITY, -INFINITY};
    int n = 0;
    for (sequence = first_of(report, "sequences"); sequence; sequence = sequence->next) {
        const cJSON *rate = cJSON_GetArrayItem(cJSON_GetObjectItem(sequence, "bd_rate"), pair);
        const double value[2] = {number(rate, "psnr"), number(rate, "ssim")};
        if (!rate || isnan(value[0]) || isnan(value[1])) continue;
        if (!n++)
            printf("\nBD-rate of %s against %s (below 0: fewer bits)\n%-24s %9s %9s\n",
                   encoder_name(report, rate, "test"), encoder_name(report, rate, "anchor"), "",
                   "PSNR-Y", "SSIM-Y");
        printf("%-24s %+8.2f%% %+8.2f%%\n", text(sequence, "name"), value[0], value[1]);
        for (int i = 0; i < 2; i++) {
            sum[i] += value[i];
            worst[i] = fmax(worst[i], value[i]);
        }
    }
    if (n > 1)
        printf("%-24s %+8.2f%% %+8.2f%%\n%-24s %+8.2f%% %+8.2f%%\n", "mean", sum[0] / n, sum[1] / n,
               "worst", worst[0], worst[1]);
    return n;
}

// Prints how far both sides are from the bound, by block size.
static void print_row(const char *name, const MotusBoundTally *all, const MotusBoundTally *x264) {
    printf("%-8s", name);
    if (all->blocks)
        printf(" %9.2f%%", motus_bound_excess(all, MOTUS_OURS));
    else
        printf(" %10s", "-");
    if (x264->blocks)
        printf(" %12llu %9.2f%% %9.2f%%", (unsigned long long)x264->blocks,
               motus_bound_excess(x264, MOTUS_OURS), motus_bound_excess(x264, MOTUS_X264));
    printf("\n");
}

static void print_bound(const MotusBoundFigures *f) {
    if (!f->pictures) return;
    const MotusBoundTally all = motus_bound_sum(f->all), x264 = motus_bound_sum(f->x264);
    printf("\nJ above the least of any quarter-sample vector in the window, %d picture%s\n"
           "%-8s %10s %12s %10s %10s\n",
           f->pictures, f->pictures == 1 ? "" : "s", "", "all: ours", "x264's", "ours", "x264");
    for (int m = 0; m < MOTUS_MODES; m++)
        print_row(motus_mode_name((MotusMode)m), &f->all[m], &f->x264[m]);
    print_row("in all", &all, &x264);
}

void motus_compare_print(const cJSON *report, const MotusBoundFigures *bound) {
    const cJSON *sentence, *first = cJSON_GetArrayItem(cJSON_GetObjectItem(report, "sequences"), 0);
    for (sentence = first_of(report, "verdict"); sentence; sentence = sentence->next)
        printf("%s\n", cJSON_GetStringValue(sentence));
    print_bound(bound);
    print_points(report);
    for (int pair = 0; pair < cJSON_GetArraySize(cJSON_GetObjectItem(first, "bd_rate")); pair++)
        print_pair(report, pair);
}
