// Row functions of the wavelet transform: plain C and AVX2.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_WAVELET_WAVELET_H
#define FILTER_WAVELET_WAVELET_H

#include "filter/wavelet/wavelet_core.h"

typedef struct MotusWaveletOps {
    // Splits 2n + 2 extended samples into n low- and n high-pass coefficients.
    void (*split)(float *low, float *high, const float *row, int n);
    // Splits along y: n columns of four rows.
    void (*split_rows)(float *low, float *high, const float *const row[4], int n);
    // Merges n + 1 coefficients each into 2n samples; the first is the preceding one.
    void (*merge)(float *out, const float *low, const float *high, int n);
    // Merges along y: two rows of n columns from two low-pass and two high-pass rows.
    void (*merge_rows)(float *even, float *odd, const float *const low[2],
                       const float *const high[2], int n);
    void (*to_float)(float *dst, const uint8_t *src, int n);
    void (*to_sample)(uint8_t *dst, const float *src, int n); // rounded to nearest, clipped
    void (*shrink)(float *row, int n, float threshold);
    void (*quantize)(int16_t *dst, const float *src, int n, float scale);
    void (*dequantize)(float *dst, const int16_t *src, int n, float step);
} MotusWaveletOps;

extern const MotusWaveletOps motus_wavelet_ops_c;
#if defined(__x86_64__)
extern const MotusWaveletOps motus_wavelet_ops_avx2;
#endif

#endif
