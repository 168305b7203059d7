// Bits of CABAC bins, for decisions: a table that is fixed before a picture begins.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_CABAC_COSTS_H
#define ENCODER_BITSTREAM_CABAC_COSTS_H

#include "encoder/bitstream/cabac.h"
#include "encoder/bitstream/cabac_costs_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sets the costs of a GOP's first pictures: the mean ones of I pictures (table 0), those of the
// initial states of P slices (1 + cabac_init_idc).
void motus_cabac_costs_set(MotusCabacCosts *costs, int table, int slice_qp);

// Moves the costs to those of the bins that a picture had. Costs of contexts with few bins hardly
// change.
void motus_cabac_costs_learn(MotusCabacCosts *costs, const MotusBinCounts *counts);

#ifdef __cplusplus
}
#endif

#endif
