// Fixed-point log2, exp2 and QP arithmetic of rate control and bit costs. No floating point:
// every machine gets the same QPs.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_LOG2_CORE_H
#define COMMON_LOG2_CORE_H

#include <stdint.h>

#include "common/int_core.h"

#define MOTUS_OCTAVE 4096 // one octave: log2 counts in 1/4096
#define MOTUS_QP_UNIT 256 // one QP: names that end in _q8 count in 1/256

// Returns log2(v) in 1/4096, rounded down; v > 0. Each squaring of the mantissa gives one more bit.
MOTUS_HD int motus_log2_q12(uint64_t v) {
#ifdef __CUDA_ARCH__
    int whole = 63 - __clzll((long long)v), bits = 0;
#else
    int whole = 63 - __builtin_clzll(v), bits = 0;
#endif
    uint64_t m = v << (63 - whole) >> 32; // 1.0 is 2^31
    for (int i = 0; i < 12; i++) {
        m = m * m >> 31;
        bits = 2 * bits + (int)(m >> 32);
        m >>= m >> 32;
    }
    return whole * MOTUS_OCTAVE + bits;
}

// Returns 2^(x / 4096) * 65536, or 0 if that is below 1; x is below 48 octaves.
MOTUS_HD uint64_t motus_exp2_q16(int x) {
    // 2^(2^-k) * 2^30, k = 1..12
    static const uint32_t root[12] = {1518500250, 1276901417, 1170923762, 1121280436,
                                      1097253708, 1085434106, 1079572136, 1076653033,
                                      1075196443, 1074468888, 1074105294, 1073923544};
    const int whole = x >= 0 ? x / MOTUS_OCTAVE : -((MOTUS_OCTAVE - 1 - x) / MOTUS_OCTAVE),
              bits = x - whole * MOTUS_OCTAVE;
    uint64_t m = 1u << 30;
    for (int i = 0; i < 12; i++)
        if (bits >> (11 - i) & 1) m = (m * root[i] + (1u << 29)) >> 30;
    return whole < -17 ? 0 : whole < 14 ? m >> (14 - whole) : m << (whole - 14);
}

// Returns log2 of the quantizer step of qp_q8 over that of QP 0, in 1/4096. Six QPs double the step
// (8.5.9).
MOTUS_HD int motus_qp_octaves(int qp_q8) { return qp_q8 * 8 / 3; }

#endif
