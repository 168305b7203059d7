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

// ---- Distance to the bound ----------------------------------------------------------------------

// Blocks of one size, their sums of J, and how many of a side's MVs cost no more than the bound.
typedef struct MotusBoundTally {
    uint64_t blocks, least, j[MOTUS_SIDES], reached[MOTUS_SIDES];
} MotusBoundTally;

typedef struct MotusBoundFigures {
    int pictures;
    MotusBoundTally all[MOTUS_MODES];  // all blocks of the searched modes, our MVs
    MotusBoundTally x264[MOTUS_MODES]; // x264's blocks whose MVs lie in our window, both MVs
} MotusBoundFigures;

// True for `wanted` of the pictures 1 .. pictures - 1, evenly spread; for all if these are fewer.
int motus_bound_picks(int n, int pictures, int wanted);

// Adds the blocks of MB n of the judge's picture, after motus_judge_bound.
void motus_bound_add(MotusBoundFigures *figures, const MotusJudge *judge, int n,
                     const MotusMbPairs *pairs);
void motus_bound_merge(MotusBoundFigures *figures, const MotusBoundFigures *more);

// Returns the sum over all sizes.
MotusBoundTally motus_bound_sum(const MotusBoundTally tally[MOTUS_MODES]);

// Returns how much more than the bound a side costs, in percent; 0 without blocks.
double motus_bound_excess(const MotusBoundTally *tally, int side);

// Returns a new JSON object, null without pictures.
cJSON *motus_bound_json(const MotusBoundFigures *figures);

// ---- Text ---------------------------------------------------------------------------------------

// A number with thousands separators, as the report writes all of them: 1,234,567.8
typedef struct MotusDigits {
    char text[48];
} MotusDigits;
MotusDigits motus_digits(double value, int decimals);

#endif
