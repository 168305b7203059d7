// filter/wavelet: against a double-precision transform from the definition, perfect reconstruction,
// C against AVX2, thresholds, bad arguments.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "motus/filter.h"
#include "tests/support/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static MotusPlane make_plane(int width, int height, int kind) {
    MotusPlane p = motus_test_plane(width, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int r = motus_test_range(0, 255);
            uint8_t v[] = {(uint8_t)r, r & 1 ? 255 : 0, 200, (uint8_t)((x ^ y) & 1 ? 255 : 0)};
            p.data[y * p.stride + x] = v[kind];
        }
    return p;
}

// Returns sample i of a line of n samples extended beyond its ends.
static double extended(const double *x, int step, int n, int i, MotusWaveletEdge edge) {
    if (edge == MOTUS_WAVELET_PERIODIC) return x[((i % n) + n) % n * step];
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return x[i * step];
}

// Transforms one line: low[i] = sum h_k x(2 i + k - before), high with g_k = (-1)^k h_(3-k).
static void line(double *low, double *high, int out_step, int count, const double *x, int step,
                 int n, MotusWaveletEdge edge) {
    double r = sqrt(3), s = 4 * sqrt(2),
           h[4] = {(1 + r) / s, (3 + r) / s, (3 - r) / s, (1 - r) / s};
    for (int i = 0; i < count; i++) {
        double l = 0, g = 0;
        for (int k = 0; k < 4; k++) {
            double v =
                extended(x, step, n, 2 * i + k - (edge == MOTUS_WAVELET_SYMMETRIC ? 2 : 0), edge);
            l += h[k] * v, g += (k & 1 ? -1 : 1) * h[3 - k] * v;
        }
        low[i * out_step] = l, high[i * out_step] = g;
    }
}

// Largest difference of a band from doubles in rows of `pitch`.
static double band_error(const float *coefs, MotusBand band, const double *want, int pitch) {
    double worst = 0;
    for (int y = 0; y < band.height; y++)
        for (int x = 0; x < band.width; x++) {
            double e = fabs(coefs[band.offset + (size_t)y * (size_t)band.stride + (size_t)x] -
                            want[y * pitch + x]);
            if (!(e <= worst)) worst = e;
        }
    return worst;
}

// Computes each level from the definition, all rows first, then all columns. Returns the largest
// error.
static double definition_error(const float *coefs, const MotusPlane *src,
                               const MotusWaveletShape *s) {
    int w = s->in_width[0], h = s->in_height[0];
    size_t room = (size_t)(w + 8) * (size_t)(h + 8);
    double *in = calloc(room, sizeof *in), *mid = calloc(room, sizeof *in),
           *out = calloc(room, sizeof *in), worst = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y * w + x] = src->data[(y < src->height ? y : src->height - 1) * src->stride +
                                      (x < src->width ? x : src->width - 1)];
    for (int l = 0; l < s->levels; l++) {
        int bw = s->band[l][0].width, bh = s->band[l][0].height, pitch = 2 * bw;
        for (int y = 0; y < h; y++)
            line(mid + y * pitch, mid + y * pitch + bw, 1, bw, in + y * w, 1, w, s->edge);
        for (int x = 0; x < pitch; x++)
            line(out + x, out + x + bh * pitch, pitch, bh, mid + x, pitch, h, s->edge);
        const double *part[3] = {out + bw, out + bh * pitch, out + bh * pitch + bw};
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, band_error(coefs, s->band[l][k], part[k], pitch));
        if (l == s->levels - 1) worst = fmax(worst, band_error(coefs, s->low, out, pitch));
        for (int y = 0; y < bh; y++) memcpy(in + y * bw, out + y * pitch, (size_t)bw * sizeof *in);
        w = bw, h = bh;
    }
    free(in), free(mid), free(out);
    return worst;
}

static int most_levels(int width, int height, MotusWaveletEdge edge) {
    MotusWaveletShape s;
    int levels = 0;
    while (!motus_wavelet_shape(&s, width, height, levels + 1, edge)) levels++;
    return levels;
}

// Values reach 255 * 2^levels. A level rounds at most 14 times, each by 2^-24 of a value: the error
// is under 2^-24 * 14 * 255 * 2^levels * levels.
static double bound(int levels) { return 14.0 * 255 * levels * (1 << levels) / (1 << 24); }

static void both_ways(int width, int height, int kind, int levels, MotusWaveletEdge edge,
                      MotusExec exec) {
    MotusWaveletShape s;
    MotusPlane src = make_plane(width, height, kind), dst = make_plane(width, height, 0);
    REQUIRE_OK(motus_wavelet_shape(&s, width, height, levels, edge));
    float *coefs = (float *)(void *)motus_test_guarded(s.size * sizeof *coefs),
          *real = calloc((size_t)(width * height), sizeof *real);
    EXPECT_OK(motus_wavelet_forward(coefs, &src, &s, &exec));
    double error = definition_error(coefs, &src, &s);
    MOTUS_CHECK(error <= bound(levels), "%dx%d levels %d edge %d: %g", width, height, levels,
                (int)edge, error);
    EXPECT_OK(motus_wavelet_inverse_float(real, coefs, &s, &exec));
    double worst = 0;
    for (int i = 0; i < width * height; i++)
        worst = fmax(worst, fabs(real[i] - src.data[i / width * src.stride + i % width]));
    MOTUS_CHECK(worst <= 1e-4 * 255, "%dx%d levels %d edge %d: reconstruction off by %g", width,
                height, levels, (int)edge, worst);
    motus_wavelet_forward(coefs, &src, &s, &exec);
    EXPECT_OK(motus_wavelet_inverse_plane(&dst, coefs, &s, &exec));
    CU_ASSERT(motus_test_same_planes(&dst, &src));
    CU_ASSERT(motus_test_guard_ok(dst.data) && motus_test_guard_ok((uint8_t *)coefs));
    motus_test_guard_free(src.data), motus_test_guard_free(dst.data),
        motus_test_guard_free((uint8_t *)coefs);
    free(real);
}

static void definition_and_reconstruction(void) {
    static const int sizes[][2] = {{2, 2},   {2, 3},   {3, 2},    {5, 5},    {7, 31},
                                   {64, 64}, {33, 18}, {100, 75}, {129, 65}, {16, 2}};
    for (int n = 0; n < 10; n++)
        for (int edge = 0; edge < 2; edge++) {
            int most = most_levels(sizes[n][0], sizes[n][1], (MotusWaveletEdge)edge);
            for (int levels = 1; levels <= most; levels++)
                both_ways(sizes[n][0], sizes[n][1], (n + levels) % 4, levels,
                          (MotusWaveletEdge)edge, (MotusExec){1 + n % 3, levels & 1});
        }
    for (int n = 0; n < 40; n++) {
        int w = motus_test_range(2, 90), h = motus_test_range(2, 90), edge = n & 1,
            most = most_levels(w, h, (MotusWaveletEdge)edge);
        both_ways(w, h, n % 4, motus_test_range(1, most), (MotusWaveletEdge)edge,
                  (MotusExec){1 + n % 4, n / 2 & 1});
    }
}

static void executors_agree(void) {
    for (int n = 0; n < 30; n++) {
        MotusWaveletShape s;
        MotusPlane src = make_plane(motus_test_range(8, 200), motus_test_range(8, 100), n % 4),
                   a = make_plane(src.width, src.height, 0),
                   b = make_plane(src.width, src.height, 0);
        motus_wavelet_shape(&s, src.width, src.height, 3, (MotusWaveletEdge)(n & 1));
        MotusExec exec[2] = {{1, 1}, {4, 0}};
        float *coefs[2], threshold[3] = {9.5f, 3.25f, 1.0f},
                         step = (float)motus_test_range(1, 40) / 4;
        int16_t *levels[2];
        for (int k = 0; k < 2; k++) {
            coefs[k] = calloc(s.size, sizeof *coefs[k]),
            levels[k] = calloc(s.size, sizeof *levels[k]);
            motus_wavelet_forward(coefs[k], &src, &s, &exec[k]);
            if (n % 3 == 0) motus_wavelet_shrink(coefs[k], &s, threshold, &exec[k]);
            motus_wavelet_quantize(levels[k], coefs[k], &s, step, &exec[k]);
            motus_wavelet_dequantize(coefs[k], levels[k], &s, step, &exec[k]);
            motus_wavelet_inverse_plane(k ? &b : &a, coefs[k], &s, &exec[k]);
        }
        MOTUS_CHECK(!memcmp(levels[0], levels[1], s.size * sizeof **levels), "%dx%d", src.width,
                    src.height);
        MOTUS_CHECK(motus_test_same_planes(&a, &b), "%dx%d", src.width, src.height);
        for (int k = 0; k < 2; k++) free(coefs[k]), free(levels[k]);
        motus_test_guard_free(src.data), motus_test_guard_free(a.data),
            motus_test_guard_free(b.data);
    }
}

static double noise_power(const MotusPlane *p, const MotusPlane *clean) {
    double sum = 0;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++)
            sum += pow(p->data[y * p->stride + x] - clean->data[y * clean->stride + x], 2);
    return sum / p->width / p->height;
}

// The noise (two uniform summands on a smooth picture) falls by more than two thirds; strength 0
// changes nothing.
static void denoising(void) {
    MotusPlane clean = make_plane(160, 120, 2), noisy = make_plane(160, 120, 2),
               out = make_plane(160, 120, 0);
    for (int y = 0; y < 120; y++)
        for (int x = 0; x < 160; x++) {
            double v = 128 + 60 * sin(x / 20.0) * cos(y / 17.0);
            int noise = 0;
            for (int k = 0; k < 5; k++) noise += motus_test_range(-6, 6);
            clean.data[y * clean.stride + x] = (uint8_t)lround(v);
            noisy.data[y * noisy.stride + x] = (uint8_t)lround(v + noise);
        }
    EXPECT_OK(motus_wavelet_denoise(&out, &noisy, 0, 20.0f, NULL));
    double before = noise_power(&noisy, &clean), after = noise_power(&out, &clean);
    MOTUS_CHECK(after < before / 3, "%g from %g", after, before);
    EXPECT_OK(motus_wavelet_denoise(&out, &noisy, 2, 0.0f, NULL));
    CU_ASSERT(noise_power(&out, &noisy) == 0);
    motus_test_guard_free(clean.data), motus_test_guard_free(noisy.data),
        motus_test_guard_free(out.data);
}

// The deepest level has more than one sample in each direction.
static void depth(void) {
    MotusWaveletShape s;
    CU_ASSERT_EQUAL(motus_wavelet_shape(&s, 1, 1, 1, MOTUS_WAVELET_PERIODIC), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_wavelet_shape(&s, 8, 4, 3, MOTUS_WAVELET_PERIODIC), MOTUS_ERR_ARGUMENT);
    EXPECT_OK(motus_wavelet_shape(&s, 8, 5, 3, MOTUS_WAVELET_SYMMETRIC));
    MotusPlane one = make_plane(1, 1, 0);
    CU_ASSERT_EQUAL(motus_wavelet_denoise(&one, &one, 0, 5.0f, NULL), MOTUS_ERR_ARGUMENT);
    motus_test_guard_free(one.data);
}

static void memory_runs_out(void) {
    MotusPlane p = make_plane(16, 16, 0);
    for (long n = 0; n < 3; n++) {
        motus_alloc_fail_after(n);
        CU_ASSERT_EQUAL(motus_wavelet_denoise(&p, &p, 0, 5.0f, NULL), MOTUS_ERR_MEMORY);
    }
    motus_alloc_fail_after(-1);
    motus_test_guard_free(p.data);
}

MOTUS_SUITE("wavelet", TEST(definition_and_reconstruction), TEST(executors_agree), TEST(denoising),
            TEST(depth), TEST(memory_runs_out))
