// Statistics of many blocks: distances between motus's and x264's MVs, and which cost less.
// docs/compare.md defines each.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_FIGURES_H
#define TOOLS_COMPARE_FIGURES_H

#include <cjson/cJSON.h>

#include "tools/compare/judge.h"

enum { MOTUS_WITHIN = 5, MOTUS_DISTANCES = 9, MOTUS_DIFFERENCES = 11 };

typedef struct MotusCostTally {
    uint64_t less, same, more; // blocks in which motus's value is
    uint64_t ours, x264;       // sums of the values
    uint64_t gain, loss;       // sums of the differences where motus's is less, and more
} MotusCostTally;

typedef struct MotusFigures {
    uint64_t blocks, within[MOTUS_WITHIN], distance[MOTUS_DISTANCES], difference[MOTUS_DIFFERENCES];
    MotusCostTally sad, satd, j;
    uint64_t inside, worse;
    uint64_t true_blocks;          // with ground truth
    double error_ours, error_x264; // sums of distances to it, samples
} MotusFigures;

// Adds a pair that has both MVs and skips others. truth: the true MV, or NULL.
void motus_figures_add(MotusFigures *figures, const MotusPair *pair, const MotusMv *truth);
void motus_figures_merge(MotusFigures *figures, const MotusFigures *more);

// Returns a new JSON object, NULL without memory. has_truth 0: "epe" is null.
cJSON *motus_figures_json(const MotusFigures *figures, int has_truth);

// A number with thousands separators, as the report writes all of them: 1,234,567.8
typedef struct MotusDigits {
    char text[48];
} MotusDigits;
MotusDigits motus_digits(double value, int decimals);

#endif
