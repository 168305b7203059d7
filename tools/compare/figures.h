// Figures over many blocks: how far our vectors are from x264's, who costs less and by how much.
// docs/compare.md says what each one is.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_FIGURES_H
#define TOOLS_COMPARE_FIGURES_H

#include <cjson/cJSON.h>

#include "tools/compare/judge.h"

enum { MOTUS_WITHIN = 5, MOTUS_DISTANCES = 9, MOTUS_DIFFERENCES = 11 };

typedef struct MotusLead {
    uint64_t less, same, more; // blocks where ours is
    uint64_t ours, x264;       // sums
    uint64_t gain, loss;       // by how much ours are less, and more
} MotusLead;

typedef struct MotusFigures {
    uint64_t blocks, within[MOTUS_WITHIN], distance[MOTUS_DISTANCES], difference[MOTUS_DIFFERENCES];
    MotusLead sad, satd, j;
    uint64_t inside, worse;
    uint64_t true_blocks;          // with a known true vector
    double error_ours, error_x264; // sums of distances to it, samples
} MotusFigures;

// Adds a pair that has both vectors (others are passed over); truth: its true vector, NULL: not
// known.
void motus_figures_add(MotusFigures *figures, const MotusPair *pair, const MotusMv *truth);
void motus_figures_merge(MotusFigures *figures, const MotusFigures *more);

// A new JSON object, NULL: no memory. has_truth 0: "epe" is null.
cJSON *motus_figures_json(const MotusFigures *figures, int has_truth);

#endif
