// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_RANDOM_COSTS_H
#define TESTS_RANDOM_COSTS_H

#include "encoder/cabac/cabac_costs_core.h"
#include "tests/support/harness.h"

// Draws a table of costs: that of a slice's first states, one learnt from bins, or anything.
static inline void motus_random_costs(MotusCabacCosts *costs, int qp) {
    const int kind = motus_test_range(0, 2), most = 1 << motus_test_range(4, 13);
    MotusBinCounts counts = {.others = 0};
    motus_cabac_costs_set(costs, motus_test_range(0, 3), qp);
    for (int i = 0; i < MOTUS_CONTEXTS; i++)
        for (int bin = 0; bin < 2; bin++) {
            counts.bin[i + bin * MOTUS_SYMBOL_BIN] = (uint32_t)motus_test_range(0, most);
            if (kind == 2) costs->bin[i][bin] = (uint16_t)motus_test_range(0, most);
        }
    if (kind == 1) motus_cabac_costs_learn(costs, &counts);
    if (kind == 2) motus_cabac_costs_derive(costs);
}

#endif
