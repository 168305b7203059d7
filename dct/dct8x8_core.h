// 8-point transforms, float and integer, and their quantizers. Floats are multiplied and added,
// never fused: files that include this are compiled without contraction. So CPU and GPU give the
// same bits.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT8X8_CORE_H
#define DCT_DCT8X8_CORE_H

#include <stdint.h>

#include "common/float_core.h"
#include "common/int_core.h"

// Quantizer steps. They contain the factors of rows and columns that the forward transforms and the
// float inverse leave out.
typedef struct MotusDct8Steps {
    float forward[64];      // 1 / (8 * s_u * s_v * q)
    float inverse[64];      // s_u * s_v * q / 8
    float integer[64];      // multiplier / 2^shift
    int32_t multiplier[64]; // of the integer quantizer: 24 bits, odd
    uint8_t shift[64];
    uint16_t q[64];
} MotusDct8Steps;

// Transforms x[0], x[step], ..., x[7 * step] forward, in place. Output k is s_k * 2 sqrt 2 times
// the orthonormal coefficient, s_0 = 1, s_k = sqrt 2 cos(k pi / 16).
MOTUS_HD void dct8_float_1d(float *x, int step) {
    float a0 = x[0] + x[7 * step], a7 = x[0] - x[7 * step], a1 = x[step] + x[6 * step],
          a6 = x[step] - x[6 * step];
    float a2 = x[2 * step] + x[5 * step], a5 = x[2 * step] - x[5 * step],
          a3 = x[3 * step] + x[4 * step], a4 = x[3 * step] - x[4 * step];
    float b0 = a0 + a3, b3 = a0 - a3, b1 = a1 + a2, b2 = a1 - a2;
    float c2 = (b2 + b3) * 0.707106781f;
    x[0] = b0 + b1, x[4 * step] = b0 - b1, x[2 * step] = b3 + c2, x[6 * step] = b3 - c2;
    float d4 = a4 + a5, d5 = a5 + a6, d6 = a6 + a7;
    float z5 = (d4 - d6) * 0.382683433f, z2 = d4 * 0.541196100f + z5, z4 = d6 * 1.306562965f + z5,
          z3 = d5 * 0.707106781f;
    float e7 = a7 + z3, f7 = a7 - z3;
    x[5 * step] = f7 + z2, x[3 * step] = f7 - z2, x[step] = e7 + z4, x[7 * step] = e7 - z4;
}

// Transforms back; input k is the orthonormal coefficient times s_k / (2 sqrt 2).
MOTUS_HD void idct8_float_1d(float *x, int step) {
    float a0 = x[0] + x[4 * step], a1 = x[0] - x[4 * step], a3 = x[2 * step] + x[6 * step];
    float a2 = (x[2 * step] - x[6 * step]) * 1.414213562f - a3;
    float b0 = a0 + a3, b3 = a0 - a3, b1 = a1 + a2, b2 = a1 - a2;
    float z13 = x[5 * step] + x[3 * step], z10 = x[5 * step] - x[3 * step],
          z11 = x[step] + x[7 * step], z12 = x[step] - x[7 * step];
    float c7 = z11 + z13, c11 = (z11 - z13) * 1.414213562f, z5 = (z10 + z12) * 1.847759065f;
    float c6 = (z5 - z10 * 2.613125930f) - c7, c5 = c11 - c6, c4 = (z5 - z12 * 1.082392200f) - c5;
    x[0] = b0 + c7, x[7 * step] = b0 - c7, x[step] = b1 + c6, x[6 * step] = b1 - c6;
    x[2 * step] = b2 + c5, x[5 * step] = b2 - c5, x[3 * step] = b3 + c4, x[4 * step] = b3 - c4;
}

// Factors of the integer forward transform: cos(k pi / 16) / 2 times one scale for k = 1, 3, 5, 7
// and one for 2, 6, rounded. Outputs 0 and 4 have factor 1 (scale sqrt 8). Of the scales that keep
// the bounds below, these bring the factors nearest to integers.
typedef struct MotusDct8Factors {
    int c1, c3, c5, c7, c2, c6;
} MotusDct8Factors;

// Scales 11706.94568 and 12428.02724; 1486.563909 and 1249.080599.
#define DCT8_COLUMNS ((MotusDct8Factors){5741, 4867, 3252, 1142, 5741, 2378})
#define DCT8_ROWS ((MotusDct8Factors){729, 618, 413, 145, 577, 239})

// Columns come first; their coefficients but 0 and 4 then lose DCT8_SHIFT bits. Bounds for samples
// within +-128: 128 * 4 * (5741 + 2378) < 2^22 before the shift, 4060 after it, 1024 for
// coefficients 0 and 4, 4060 * 2 * (729 + 618 + 413 + 145) < 2^24 after the rows. So floats hold
// every value exactly and give the same integers, fused or not.
enum { DCT8_SHIFT = 10 };

// Equals dct8_int_1d (dct8x8.h), on floats.
MOTUS_HD void dct8_exact_1d(float *x, int step, MotusDct8Factors k) {
    float c1 = (float)k.c1, c3 = (float)k.c3, c5 = (float)k.c5, c7 = (float)k.c7, c2 = (float)k.c2,
          c6 = (float)k.c6;
    float a0 = x[0] + x[7 * step], o0 = x[0] - x[7 * step], a1 = x[step] + x[6 * step],
          o1 = x[step] - x[6 * step];
    float a2 = x[2 * step] + x[5 * step], o2 = x[2 * step] - x[5 * step],
          a3 = x[3 * step] + x[4 * step], o3 = x[3 * step] - x[4 * step];
    float b0 = a0 + a3, b3 = a0 - a3, b1 = a1 + a2, b2 = a1 - a2;
    x[0] = b0 + b1, x[4 * step] = b0 - b1;
    x[2 * step] = motus_exact_madd(b2, c6, b3 * c2),
          x[6 * step] = motus_exact_madd(b2, -c2, b3 * c6);
    x[step] = motus_exact_madd(o3, c7, motus_exact_madd(o2, c5, motus_exact_madd(o1, c3, o0 * c1)));
    x[3 * step] =
        motus_exact_madd(o3, -c5, motus_exact_madd(o2, -c1, motus_exact_madd(o1, -c7, o0 * c3)));
    x[5 * step] =
        motus_exact_madd(o3, c3, motus_exact_madd(o2, c7, motus_exact_madd(o1, -c1, o0 * c5)));
    x[7 * step] =
        motus_exact_madd(o3, -c1, motus_exact_madd(o2, c3, motus_exact_madd(o1, -c5, o0 * c7)));
}

// Equals dct8_int_shift, on floats: x + 1/2 is exact below 2^22, and no integer plus 1/2 lies
// halfway between two multiples of 2^10.
MOTUS_HD float dct8_exact_shift(float x) {
    const float bias = 12582912.0f; // 1.5 * 2^23: its unit in the last place is 1
    return motus_exact_madd(x + 0.5f, 1.0f / (1 << DCT8_SHIFT), bias) - bias;
}

// round(2^13 * cos(k pi / 16) / 2)
enum {
    DCT8_C1 = 4017,
    DCT8_C2 = 3784,
    DCT8_C3 = 3406,
    DCT8_C4 = 2896,
    DCT8_C5 = 2276,
    DCT8_C6 = 1567,
    DCT8_C7 = 799
};

// Transforms orthonormal coefficients back with 13 fraction bits, in place, and shifts right by
// `shift` with rounding. |factors| of an output add up to at most 2.83 * 2^13, so |x| < 92,000
// keeps every sum in 32 bits.
MOTUS_HD void idct8_int_1d(int32_t *x, int step, int shift) {
    int32_t half = 1 << (shift - 1), y1 = x[step], y3 = x[3 * step], y5 = x[5 * step],
            y7 = x[7 * step];
    int32_t s0 = (x[0] + x[4 * step]) * DCT8_C4 + half, s1 = (x[0] - x[4 * step]) * DCT8_C4 + half;
    int32_t t0 = x[2 * step] * DCT8_C2 + x[6 * step] * DCT8_C6,
            t1 = x[2 * step] * DCT8_C6 - x[6 * step] * DCT8_C2;
    int32_t e0 = s0 + t0, e1 = s1 + t1, e2 = s1 - t1, e3 = s0 - t0;
    int32_t o0 = y1 * DCT8_C1 + y3 * DCT8_C3 + y5 * DCT8_C5 + y7 * DCT8_C7;
    int32_t o1 = y1 * DCT8_C3 - y3 * DCT8_C7 - y5 * DCT8_C1 - y7 * DCT8_C5;
    int32_t o2 = y1 * DCT8_C5 - y3 * DCT8_C1 + y5 * DCT8_C7 + y7 * DCT8_C3;
    int32_t o3 = y1 * DCT8_C7 - y3 * DCT8_C5 + y5 * DCT8_C3 - y7 * DCT8_C1;
    x[0] = (e0 + o0) >> shift, x[7 * step] = (e0 - o0) >> shift, x[step] = (e1 + o1) >> shift,
    x[6 * step] = (e1 - o1) >> shift;
    x[2 * step] = (e2 + o2) >> shift, x[5 * step] = (e2 - o2) >> shift;
    x[3 * step] = (e3 + o3) >> shift, x[4 * step] = (e3 - o3) >> shift;
}

// Shifts of the integer inverse, 3 fraction bits between its passes; its largest coefficient.
enum { IDCT8_SHIFT_1 = 10, IDCT8_SHIFT_2 = 16, DCT8_MAX_COEF = 2047 };

// Scales a level. Clipped to +-DCT8_MAX_COEF, so that no level of a caller overflows the inverse;
// coefficients of samples are within +-1024.
MOTUS_HD int32_t dct8_int_coef(int level, uint16_t q) {
    return motus_clip(-DCT8_MAX_COEF, DCT8_MAX_COEF, level * (int32_t)q);
}

// Returns a sample of the float inverse in the low 8 bits. Clipped before it is rounded, so that
// any level stays within the range of motus_round_bits.
MOTUS_HD int32_t dct8_float_sample(float x) {
    return motus_round_bits(motus_float_min(motus_float_max(x + 128.0f, 0.0f), 255.0f));
}

#endif
