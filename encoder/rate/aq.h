// Adaptive quantization: QP offsets of MBs from what a source picture alone shows, and from how
// much later pictures lean on them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_AQ_H
#define ENCODER_RATE_AQ_H

#include "encoder/rate/lookahead_cost.h"
#include "motus/encoder.h"

// Fills offset[mb_width * mb_height], 1/256 QP, from the variance of each MB's luma. strength:
// 1/256; the plane covers the MBs but for less than one.
void motus_aq_variance(int16_t *offset, const MotusPlane *luma, int mb_width, int mb_height,
                       MotusAqMode mode, int strength_q8, int threads);

// An MB that later pictures refer to is worth what it saves them. `passed` is, per MB of a picture,
// the cost that the pictures after it would otherwise have: from it and from the picture's own
// costs, the part that each of its MBs owes to the picture before is added there, to the MBs (up to
// four) that its vector points at. Both in units of costs, 0 at the end of what is looked at. aq:
// the picture's own offsets, NULL where there are none.
void motus_aq_pass_back(uint32_t *before, const uint32_t *passed, const MotusMbCosts *costs,
                        const int16_t *aq, int mb_width, int mb_height);

// Lowers offset[] (in place: 0 or the picture's own) by strength * log2((cost + passed) / cost).
// strength: QPs an octave, 1/256.
void motus_aq_propagated(int16_t *offset, const uint32_t *passed, const MotusMbCosts *costs,
                         int n_mb, int strength_q8);

#endif
