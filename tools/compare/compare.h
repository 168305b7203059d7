// motus compare: the job and what its files share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_COMPARE_H
#define TOOLS_COMPARE_COMPARE_H

#include "motus/encoder.h"
#include "tools/cli/system.h"
#include "tools/compare/run.h"
#include "tools/x264/x264.h"

// Encoder settings to compare, x264's and motus's.

enum { MOTUS_COMPARE_ENCODERS = 16 };

typedef struct MotusCompareEncoder {
    char name[64]; // "x264 medium"
    int is_x264;
    char args[512];                     // as given
    char words_text[512];               // args split into words
    const char *word[MOTUS_X264_WORDS]; // NULL-terminated
    MotusEncoderConfig config; // of motus; size, rate, QP and threads are set for each encode
} MotusCompareEncoder;

typedef struct MotusCompareEncoders {
    int n;
    MotusCompareEncoder encoder[MOTUS_COMPARE_ENCODERS];
} MotusCompareEncoders;

// Returns the index of the first setting of x264, or of motus; -1: none.
int motus_compare_encoders_first(const MotusCompareEncoders *encoders, int is_x264);

// Adds a setting; `args` are words separated by blanks. MOTUS_ERR_ARGUMENT: too many settings, or
// unknown options of motus.
MotusStatus motus_compare_encoders_add(MotusCompareEncoders *encoders, int is_x264,
                                       const char *name, const char *args, MotusError *error);

// Reads a file with a line "x264 NAME: ARGS" or "motus NAME: ARGS" for each setting; # begins a
// comment.
MotusStatus motus_compare_encoders_load(MotusCompareEncoders *encoders, const char *path,
                                        MotusError *error);

enum { MOTUS_COMPARE_INPUTS = 64, MOTUS_COMPARE_QPS = 16 };

typedef struct MotusCompareOptions {
    const char *input[MOTUS_COMPARE_INPUTS + 1];
    int n_inputs;
    const char *folder, *json, *csv; // json, csv: NULL if not wanted
    const char *x264, *truth;        // truth: ground truth of the only input, or NULL
    int qp[MOTUS_COMPARE_QPS], n_qps;
    int frames, range, threads, subpel; // frames 0: all; range 0: x264's; subpel -1: as x264's
    int bound;                          // pictures of each run whose bound is found
    int force, quiet;
    int page_mb; // megabytes of frames in the page; 0: all frames; -1: so that it opens quickly
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
    double kbps, psnr, ssim;
    // seconds: processor time of all threads, elapsed time of an encode on a GPU; fps: frames by it
    double seconds, elapsed, fps;
    MotusBitSums bits;
    int has_bits;
} MotusComparePoint;

typedef struct MotusCompareSequence {
    MotusCompareClip clip;
    MotusComparePoint point[MOTUS_COMPARE_ENCODERS][MOTUS_COMPARE_QPS];
} MotusCompareSequence;

// The machine's other work.
typedef struct MotusCompareLoad {
    double before;    // motus_cpu_load() when the job began
    MotusTimes times; // sums over all encodes on CPUs
    int gpu;          // motus's encoder ran on one
} MotusCompareLoad;

// Totals for the verdict.
typedef struct MotusCompareTotals {
    MotusFigures figures;
    MotusBoundFigures bound;
    MotusExtraction extraction;
    int p_frames;
    double bd_rate_sum; // of motus's first setting against x264's, over n_bd_rates sequences
    int n_bd_rates;
    double seconds[MOTUS_SIDES]; // of the first settings' points
    int frames;                  // of `seconds`
    MotusCompareLoad load;
    int range; // of the last run, as what follows
    int profile_idc[MOTUS_SIDES];
    MotusSubpel subpel;
    uint32_t modes;
} MotusCompareTotals;

// Copies the file's name without folder and ending.
void motus_compare_name(const char *path, char *name, size_t size);

// Returns a sequence's JSON without pictures and figures.
cJSON *motus_compare_sequence_json(const char *name, const char *input,
                                   const MotusCompareClip *clip, int has_truth);

// Adds "pictures": as many from the first on as fit into `max_bytes`. Returns their bytes.
size_t motus_compare_add_pictures(cJSON *sequence, const MotusCompareClip *clip, size_t max_bytes);

// Return "rd" and "bd_rate" of a sequence.
cJSON *motus_points_json(const MotusCompareOptions *o, const MotusCompareSequence *s);
cJSON *motus_bd_rates_json(const MotusCompareOptions *o, const MotusCompareSequence *s,
                           MotusCompareTotals *totals);

// Adds everything to the report but "sequences".
void motus_compare_describe(cJSON *report, const MotusCompareOptions *o,
                            const MotusCompareTotals *totals, const char *x264_version,
                            int complete);

// Adds "viewer", the frames that the page lacks, from "sequences".
void motus_compare_describe_gaps(cJSON *report);

// Prints one line about frames that the page lacks, if there are any.
void motus_compare_warn_gaps(const cJSON *report);

// Write the page and the JSON file, and complete them. The latter removes pictures and MB records
// from the report.
MotusStatus motus_compare_write_page(MotusOutput **out, const cJSON *report, MotusError *error);
MotusStatus motus_compare_write_json(MotusOutput **out, cJSON *report, MotusError *error);

// Prints the report's summary on standard output.
void motus_compare_print(const cJSON *report, const MotusBoundFigures *bound);

#endif
