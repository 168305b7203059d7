// Single precision: bits, exact sums, minimum and maximum, nearest integers. Includers are compiled
// without contraction.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_FLOAT_CORE_H
#define COMMON_FLOAT_CORE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/int_core.h"

MOTUS_HD uint32_t motus_float_bits(float x) {
#ifdef __CUDA_ARCH__
    return __float_as_uint(x);
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

// Returns a * b + c, which must be exact: one instruction on a GPU, two on a CPU without FMA.
MOTUS_HD float motus_exact_madd(float a, float b, float c) {
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return a * b + c;
#endif
}

// a and b are not NaN.
MOTUS_HD float motus_float_max(float a, float b) {
#ifdef __CUDA_ARCH__
    return fmaxf(a, b);
#else
    return a > b ? a : b;
#endif
}
MOTUS_HD float motus_float_min(float a, float b) {
#ifdef __CUDA_ARCH__
    return fminf(a, b);
#else
    return a < b ? a : b;
#endif
}

// Return the nearest integer of |x| < 2^21, ties to even. Adding 1.5 * 2^23 leaves it in the low
// bits of the mantissa, on top of MOTUS_ROUND_BITS, whose low 16 bits are 0.
enum { MOTUS_ROUND_BITS = 0x4B400000 }; // the bits of 1.5 * 2^23
MOTUS_HD int32_t motus_round_bits(float x) { return (int32_t)motus_float_bits(x + 12582912.0f); }
MOTUS_HD int motus_round_float(float x) { return motus_round_bits(x) - MOTUS_ROUND_BITS; }

#endif
