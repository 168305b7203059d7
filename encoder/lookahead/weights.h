// Explicit weights of P pictures (8.4.2.3), found from source pictures alone: means and variances
// suggest them, and costs at half size say if they help.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_WEIGHTS_H
#define ENCODER_LOOKAHEAD_WEIGHTS_H

#include "encoder/mb/weights_core.h"
#include "motus/frame.h"

// Holds the source pictures of a GOP's last `n` reference pictures.
typedef struct MotusWeightFinder MotusWeightFinder;

// MOTUS_ERR_MEMORY.
MotusStatus motus_weight_finder_open(MotusWeightFinder **out, int n, int mb_width, int mb_height);
void motus_weight_finder_close(MotusWeightFinder **out); // accepts NULL inside

// Adds a reference picture's source frame (whole MBs) and time. is_idr: drops all others.
void motus_weight_finder_add(MotusWeightFinder *f, const MotusFrame *frame, int32_t shown,
                             int is_idr);

// Finds the weights of a picture's references, which are known by their times. The result does not
// depend on `threads`, an OpenMP team of the caller's.
void motus_weights_find(MotusWeightFinder *finder, const MotusFrame *source, int refs,
                        const int32_t *ref_shown, int threads, MotusWeights *weights);

#endif
