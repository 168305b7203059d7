// motus compare: the job and what its files share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_COMPARE_H
#define TOOLS_COMPARE_COMPARE_H

#include "tools/compare/run.h"
#include "tools/compare/settings.h"

enum { MOTUS_COMPARE_INPUTS = 64, MOTUS_COMPARE_QPS = 16 };

typedef struct MotusCompareOptions {
    const char *input[MOTUS_COMPARE_INPUTS + 1];
    int n_inputs;
    const char *folder, *json, *csv; // json, csv: NULL if not wanted
    const char *x264, *truth;        // truth: ground truth of the only input, or NULL
    int qp[MOTUS_COMPARE_QPS], n_qps;
    int frames, range, threads, subpel; // frames 0: all; range 0: x264's; subpel -1: as x264's
    int force, quiet;
    MotusCompareEncoders encoders;
    const char *command; // for the report
} MotusCompareOptions;

// Returns the exit status; prints one line about an error.
int motus_compare_job(const MotusCompareOptions *options);

// ---- Types and functions of the job -------------------------------------------------------------

// Point of a rate-distortion curve.
typedef struct MotusComparePoint {
    int done;
    uint64_t bytes;
    double kbps, psnr, ssim, seconds, fps;
    MotusBitSums bits;
    int has_bits;
} MotusComparePoint;

typedef struct MotusCompareSequence {
    MotusCompareClip clip;
    MotusComparePoint point[MOTUS_COMPARE_ENCODERS][MOTUS_COMPARE_QPS];
} MotusCompareSequence;

// Totals for the verdict.
typedef struct MotusCompareTotals {
    MotusFigures figures;
    MotusExtraction extraction;
    int p_frames;
    double bd_rate_sum; // of motus's first setting against x264's, over n_bd_rates sequences
    int n_bd_rates;
    double seconds[MOTUS_SIDES]; // of the first settings
    int frames;                  // of `seconds`
    int range;                   // of the last run
    MotusSubpel subpel;
    uint32_t modes;
} MotusCompareTotals;

// Return "rd" and "bd_rate" of a sequence.
cJSON *motus_points_json(const MotusCompareOptions *o, const MotusCompareSequence *s);
cJSON *motus_bd_rates_json(const MotusCompareOptions *o, const MotusCompareSequence *s,
                           MotusCompareTotals *totals);

// Adds everything to the report but "sequences".
void motus_compare_describe(cJSON *report, const MotusCompareOptions *o,
                            const MotusCompareTotals *totals, const char *x264_version,
                            int complete);

// Write FOLDER/index.html and the JSON file. The latter removes pictures and MB records from the
// report.
MotusStatus motus_compare_write_page(const char *folder, const cJSON *report, MotusError *error);
MotusStatus motus_compare_write_json(const char *path, cJSON *report, MotusError *error);

// Prints the report's summary on standard output.
void motus_compare_print(const cJSON *report);

#endif
