// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/print.h"

#include <math.h>
#include <stdio.h>

static const char *text(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
}

static const cJSON *first_of(const cJSON *object, const char *name) {
    const cJSON *array = cJSON_GetObjectItem(object, name);
    return array ? array->child : NULL;
}

// NAN where it is null.
static double number(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItem(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static const char *coder_name(const cJSON *report, const cJSON *item, const char *which) {
    return text(cJSON_GetArrayItem(cJSON_GetObjectItem(report, "coders"), (int)number(item, which)),
                "name");
}

static void print_points(const cJSON *report) {
    const cJSON *sequence, *point;
    printf("\n%-24s %-20s %3s %10s %10s %9s %9s %9s\n", "sequence", "setting", "QP", "bytes",
           "kb/s", "PSNR-Y", "SSIM-Y", "frames/s");
    for (sequence = first_of(report, "sequences"); sequence; sequence = sequence->next)
        for (point = first_of(sequence, "rd"); point; point = point->next)
            printf("%-24s %-20s %3.0f %10.0f %10.2f %9.3f %9.5f %9.1f\n", text(sequence, "name"),
                   coder_name(report, point, "coder"), number(point, "qp"), number(point, "bytes"),
                   number(point, "kbps"), number(point, "psnr_y"), number(point, "ssim_y"),
                   number(point, "fps"));
}

// One pair of settings over all sequences: each, the mean and the worst. pair: its place in every
// "bd_rate".
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
                   coder_name(report, rate, "test"), coder_name(report, rate, "anchor"), "",
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

void motus_compare_print(const cJSON *report) {
    const cJSON *sentence, *first = cJSON_GetArrayItem(cJSON_GetObjectItem(report, "sequences"), 0);
    for (sentence = first_of(report, "verdict"); sentence; sentence = sentence->next)
        printf("%s\n", cJSON_GetStringValue(sentence));
    print_points(report);
    for (int pair = 0; pair < cJSON_GetArraySize(cJSON_GetObjectItem(first, "bd_rate")); pair++)
        print_pair(report, pair);
}
