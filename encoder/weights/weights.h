// Explicit weights of P pictures (8.4.2.3), found from source pictures alone: means and variances
// suggest them, and a search of downscaled pictures says if they help.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_WEIGHTS_WEIGHTS_H
#define ENCODER_WEIGHTS_WEIGHTS_H

#include "encoder/mb/weights_core.h"
#include "encoder/weights/source_stats.h"

// Holds the statistics of a GOP's reference pictures, `n` at most.
typedef struct MotusWeightFinder MotusWeightFinder;

// MOTUS_ERR_MEMORY.
MotusStatus motus_weight_finder_open(MotusWeightFinder **out, int n, int mb_width, int mb_height);
void motus_weight_finder_close(MotusWeightFinder **out); // accepts NULL inside

// Returns the memory for the statistics of the current picture, which the caller fills in.
MotusSourceStats *motus_weight_finder_stats(MotusWeightFinder *finder);

// Finds the weights of the current picture's references, which are known by their times. Returns 1
// if the first one should be in the list without weights, too, as they harm many MBs; 0 unless it
// may be (repeats).
int motus_weights_find(MotusWeightFinder *finder, int refs, const int32_t *ref_shown, int repeats,
                       MotusWeights *weights);

// Repeats the first of *refs references behind it, without weights. The last one is left out if
// there are `most` already. Returns MotusPictureParams.copies.
int motus_weights_repeat(MotusWeights *weights, int32_t *ref_shown, int *refs, int most);

// Keeps the current picture as a reference, in a slot below n. is_idr: drops all others.
void motus_weight_finder_keep(MotusWeightFinder *finder, int32_t shown, int slot, int is_idr);

#endif
