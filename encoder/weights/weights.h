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

// Place of the first reference without its weights, where it is in the list twice.
typedef enum MotusRepeat { MOTUS_REPEAT_NONE, MOTUS_REPEAT_FIRST, MOTUS_REPEAT_SECOND } MotusRepeat;

// Finds the weights of the current picture's references, which are known by their times. Returns
// the place that the first one should have without weights, too: the first if they harm more MBs
// than they help, the second if they harm many; none unless it may be in the list twice (repeats).
MotusRepeat motus_weights_find(MotusWeightFinder *finder, int refs, const int32_t *ref_shown,
                               int repeats, MotusWeights *weights);

// Repeats the first of *refs references, once without weights. The last one is left out if there
// are `most` already. Returns MotusPictureParams.copies.
int motus_weights_repeat(MotusWeights *weights, MotusRepeat repeat, int32_t *ref_shown, int *refs,
                         int most);

// Keeps the current picture as a reference, in a slot below n. is_idr: drops all others.
void motus_weight_finder_keep(MotusWeightFinder *finder, int32_t shown, int slot, int is_idr);

#endif
