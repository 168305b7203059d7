// Daubechies D4: filters, edge rule, and 4-term sums. Floats are multiplied and added in this order
// and never fused, so CPU and GPU give the same bits. Includers are compiled without contraction.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_WAVELET_WAVELET_CORE_H
#define FILTER_WAVELET_WAVELET_CORE_H

#include "common/int_core.h"
#include "motus/filter.h"

#ifdef __cplusplus
extern "C" {
#endif
// True if motus_wavelet_shape makes this shape: the transforms take their bounds from it.
int motus_wavelet_shape_ok(const MotusWaveletShape *shape);
#ifdef __cplusplus
}
#endif

// The low-pass filter, (1 + sqrt 3, 3 + sqrt 3, 3 - sqrt 3, 1 - sqrt 3) / (4 sqrt 2). The high-pass
// filter is (D4_3, -D4_2, D4_1, -D4_0).
#define D4_0 0.48296291314453414f
#define D4_1 0.83651630373780790f
#define D4_2 0.22414386804201338f
#define D4_3 (-0.12940952255126037f)

MOTUS_HD float d4_low(float a, float b, float c, float d) {
    return ((D4_0 * a + D4_1 * b) + D4_2 * c) + D4_3 * d;
}
MOTUS_HD float d4_high(float a, float b, float c, float d) {
    return ((D4_3 * a - D4_2 * b) + D4_1 * c) - D4_0 * d;
}

// Synthesis: samples 2m and 2m + 1 from coefficients l0, h0 at m - 1 and l1, h1 at m.
MOTUS_HD float d4_even(float l0, float l1, float h0, float h1) {
    return ((D4_0 * l1 + D4_2 * l0) + D4_3 * h1) + D4_1 * h0;
}
MOTUS_HD float d4_odd(float l0, float l1, float h0, float h1) {
    return ((D4_1 * l1 + D4_3 * l0) - D4_2 * h1) - D4_0 * h0;
}

// Analysis output i reads extended samples 2i .. 2i + 3. With symmetric edges, extended sample 0
// lies two samples before the first. Maps an index from the first sample on, which may be negative
// or beyond the last, to an existing sample; from `existing` on, the n samples repeat the last one.
MOTUS_HD int d4_index(int i, int n, int existing, int edge) {
    int period = edge == MOTUS_WAVELET_SYMMETRIC ? 2 * n : n, m = i % period;
    m = m < 0 ? m + period : m;
    m = m < n ? m : 2 * n - 1 - m;
    return m < existing ? m : existing - 1;
}

MOTUS_HD float d4_shrink(float v, float threshold) {
    return v > threshold ? v - threshold : v < -threshold ? v + threshold : 0.0f;
}

#endif
