// Table of CAVLC run lengths (cavlc_core.h).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/cavlc_core.h"

static int zeros_of(uint32_t nonzero) {
    return motus_bit_length(nonzero) - motus_cavlc_total_coeff(nonzero);
}

// A full block has no total_zeros; the entry for 15 levels is right for n = 16.
void motus_cavlc_zero_runs(uint8_t table[MOTUS_ZERO_RUNS]) {
    table[0] = 0;
    for (uint32_t mask = 1; mask < MOTUS_ZERO_RUNS; mask++) { // run_before alone
        const int last = motus_bit_length(mask) - 1, zeros_left = zeros_of(mask);
        const uint32_t rest = mask ^ 1u << last;
        table[mask] = 0;
        if (!zeros_left || !rest) continue;
        const int run_before = last - motus_bit_length(rest);
        table[mask] = (uint8_t)(motus_cavlc_run(zeros_left, run_before).length + table[rest]);
    }
    for (uint32_t mask = 1; mask < MOTUS_ZERO_RUNS; mask++) {
        const int total_coeff = motus_cavlc_total_coeff(mask);
        if (total_coeff < 16)
            table[mask] = (uint8_t)(table[mask] +
                                    motus_cavlc_total_zeros(0, total_coeff, zeros_of(mask)).length);
    }
}
