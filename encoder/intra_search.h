// The best way to code an MB as intra, by rate and distortion.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_SEARCH_H
#define ENCODER_INTRA_SEARCH_H

#include "encoder/trial.h"

// Works out Intra16x16 and Intra4x4 (and I_PCM as a last resort) for MB (mb_x, mb_y), predicting from the samples around it in `rec`, and leaves the
// cheapest in *best. `around` gives the neighbours' modes and coefficient counts. *other is scratch.
void motus_intra_search(const MotusCoding *coding, const MotusMbAround *around, const MotusMbSource *src, const MotusFrame *rec,
                        int mb_x, int mb_y, MotusTrial *best, MotusTrial *other);

#endif
