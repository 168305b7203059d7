// residual_block_cavlc (7.3.5.3.2). The writer and the counter are one function: without a bit writer only lengths are added up.
// SPDX-License-Identifier: BSD-2-Clause
#include <assert.h>
#include <stddef.h>

#include "encoder/cavlc.h"
#include "encoder/cavlc_core.h"
#include "motus/dct.h"

// Each put_ and code_ function returns the bits of what it coded and writes them where `bits` is not NULL.
static inline int put_vlc(MotusBits *bits, MotusVlc vlc) {
    if (bits) motus_bits_put(bits, vlc.length, vlc.bits);
    return vlc.length;
}

static inline int put_trailing_signs(MotusBits *bits, const int16_t *level, uint32_t nonzero, int trailing_ones) {
    if (bits)
        for (int i = 0; i < trailing_ones; i++) {
            int last = motus_bit_length(nonzero) - 1;
            motus_bits_put(bits, 1, level[last] < 0);
            nonzero ^= 1u << last;
        }
    return trailing_ones;
}

// The levels left in `nonzero`, last one first.
static inline int code_levels(MotusBits *bits, const int16_t *level, uint32_t nonzero, int total_coeff, int trailing_ones) {
    int suffix_length = total_coeff > 10 && trailing_ones < 3;
    int offset = trailing_ones < 3 ? 2 : 0; // the first one can't be +-1, or it would be a trailing one
    int count = 0;
    while (nonzero) {
        int last = motus_bit_length(nonzero) - 1, value = level[last], magnitude = motus_abs(value);
        assert(magnitude <= MOTUS_MAX_LEVEL);
        count += put_vlc(bits, motus_cavlc_level(2 * magnitude - 2 + (value < 0) - offset, suffix_length));
        suffix_length = motus_cavlc_next_suffix_length(suffix_length, magnitude);
        offset = 0;
        nonzero ^= 1u << last;
    }
    return count;
}

static inline int code_runs(MotusBits *bits, uint32_t nonzero, int zeros_left) {
    int count = 0, last = motus_bit_length(nonzero) - 1;
    while (zeros_left > 0) {
        nonzero ^= 1u << last;
        if (!nonzero) break;
        int next = motus_bit_length(nonzero) - 1, run_before = last - next - 1;
        count += put_vlc(bits, motus_cavlc_run(zeros_left, run_before));
        zeros_left -= run_before;
        last = next;
    }
    return count;
}

static inline int code_block(MotusBits *bits, const int16_t *level, int n, int nc) {
    int token_class = motus_cavlc_token_class(nc);
    uint32_t nonzero = motus_cavlc_nonzero(level, n);
    if (!nonzero) return put_vlc(bits, motus_cavlc_token(token_class, 0, 0));
    int total_coeff = __builtin_popcount(nonzero), trailing_ones = motus_cavlc_trailing_ones(level, nonzero);
    int total_zeros = motus_bit_length(nonzero) - total_coeff;
    uint32_t others = nonzero; // without the trailing ones
    for (int i = 0; i < trailing_ones; i++) others ^= 1u << (motus_bit_length(others) - 1);

    int count = put_vlc(bits, motus_cavlc_token(token_class, total_coeff, trailing_ones));
    count += put_trailing_signs(bits, level, nonzero, trailing_ones);
    count += code_levels(bits, level, others, total_coeff, trailing_ones);
    if (total_coeff < n) count += put_vlc(bits, motus_cavlc_total_zeros(token_class, total_coeff, total_zeros));
    return count + code_runs(bits, nonzero, total_zeros);
}

void motus_cavlc_residual(MotusBits *bits, const int16_t *level, int n, int nc) { code_block(bits, level, n, nc); }

int motus_cavlc_residual_bits(const int16_t *level, int n, int nc) { return code_block(NULL, level, n, nc); }
