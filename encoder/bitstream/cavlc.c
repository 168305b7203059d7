// Table of CAVLC run lengths (cavlc_core.h).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/cavlc_core.h"

// Returns an entry. A full block has no total_zeros; the entry for 15 levels is right for n = 16.
static int zero_run_bits(uint32_t nonzero) {
    const int total_coeff = motus_cavlc_total_coeff(nonzero);
    int last = motus_bit_length(nonzero) - 1, zeros_left = last + 1 - total_coeff;
    int bits = total_coeff < 16 ? motus_cavlc_total_zeros(0, total_coeff, zeros_left).length : 0;
    while (zeros_left > 0 && (nonzero ^= 1u << last)) {
        const int next = motus_bit_length(nonzero) - 1, run_before = last - next - 1;
        bits += motus_cavlc_run(zeros_left, run_before).length;
        zeros_left -= run_before;
        last = next;
    }
    return bits;
}

void motus_cavlc_zero_runs(uint8_t table[MOTUS_ZERO_RUNS]) {
    table[0] = 0;
    for (uint32_t mask = 1; mask < MOTUS_ZERO_RUNS; mask++)
        table[mask] = (uint8_t)zero_run_bits(mask);
}
