// Logarithms and powers of two in fixed point, for rate control: no floats, so that every machine
// plans alike.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_LOG2_CORE_H
#define ENCODER_RATE_LOG2_CORE_H

#include <stdint.h>

#include "common/int_core.h"

#define MOTUS_OCTAVE 4096 // log2 is counted in 1/4096
#define MOTUS_QP_UNIT 256 // QPs between whole ones are counted in 1/256

// log2(v), v > 0, rounded down: one more bit for each squaring of the mantissa.
MOTUS_HD int motus_log2_q12(uint64_t v) {
#ifdef __CUDA_ARCH__
    int whole = 63 - __clzll((long long)v), bits = 0;
#else
    int whole = 63 - __builtin_clzll(v), bits = 0;
#endif
    uint64_t m = v << (63 - whole) >> 32; // 1 in 2^31
    for (int i = 0; i < 12; i++) {
        m = m * m >> 31;
        bits = 2 * bits + (int)(m >> 32);
        m >>= m >> 32;
    }
    return whole * MOTUS_OCTAVE + bits;
}

// 2^(x / 4096) * 65536, 0 where that is below 1; x below 44 octaves.
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

// Quantizer steps of a QP in 1/256 against those of QP 0, in 1/4096 of an octave: six QPs double
// them.
MOTUS_HD int motus_qp_octaves(int qp_q8) { return qp_q8 * 8 / 3; }
MOTUS_HD int motus_octaves_qp(int octaves_q12) { return octaves_q12 * 3 / 8; }

#endif
