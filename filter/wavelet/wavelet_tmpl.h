// Row functions of the wavelet transform, compiled as scalar C and, vectorized by the compiler, for
// AVX2.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/float_core.h"
#include "filter/wavelet/wavelet.h"

static void split(float *restrict low, float *restrict high, const float *restrict row, int n) {
    for (int i = 0; i < n; i++) {
        low[i] = d4_low(row[2 * i], row[2 * i + 1], row[2 * i + 2], row[2 * i + 3]);
        high[i] = d4_high(row[2 * i], row[2 * i + 1], row[2 * i + 2], row[2 * i + 3]);
    }
}

static void split_rows(float *restrict low, float *restrict high, const float *const row[4],
                       int n) {
    const float *restrict a = row[0], *restrict b = row[1], *restrict c = row[2],
                          *restrict d = row[3];
    for (int i = 0; i < n; i++)
        low[i] = d4_low(a[i], b[i], c[i], d[i]), high[i] = d4_high(a[i], b[i], c[i], d[i]);
}

static void merge(float *restrict out, const float *restrict low, const float *restrict high,
                  int n) {
    for (int i = 0; i < n; i++) {
        out[2 * i] = d4_even(low[i], low[i + 1], high[i], high[i + 1]);
        out[2 * i + 1] = d4_odd(low[i], low[i + 1], high[i], high[i + 1]);
    }
}

static void merge_rows(float *restrict even, float *restrict odd, const float *const low[2],
                       const float *const high[2], int n) {
    const float *restrict l0 = low[0], *restrict l1 = low[1], *restrict h0 = high[0],
                          *restrict h1 = high[1];
    for (int i = 0; i < n; i++) {
        even[i] = d4_even(l0[i], l1[i], h0[i], h1[i]);
        odd[i] = d4_odd(l0[i], l1[i], h0[i], h1[i]);
    }
}

static void to_float(float *restrict dst, const uint8_t *restrict src, int n) {
    for (int i = 0; i < n; i++) dst[i] = (float)src[i];
}

static inline float clip_float(float v, float lo, float hi) {
    return v < lo ? lo : v > hi ? hi : v;
}

static void to_sample(uint8_t *restrict dst, const float *restrict src, int n) {
    for (int i = 0; i < n; i++)
        dst[i] = (uint8_t)motus_round_float(clip_float(src[i], 0.0f, 255.0f));
}

static void shrink(float *row, int n, float threshold) {
    for (int i = 0; i < n; i++) row[i] = d4_shrink(row[i], threshold);
}

static void quantize(int16_t *restrict dst, const float *restrict src, int n, float scale) {
    for (int i = 0; i < n; i++)
        dst[i] = (int16_t)motus_round_float(clip_float(src[i] * scale, -32768.0f, 32767.0f));
}

static void dequantize(float *restrict dst, const int16_t *restrict src, int n, float step) {
    for (int i = 0; i < n; i++) dst[i] = (float)src[i] * step;
}
