// filter/equalize: the formula, CLAHE from its definition, smoothing, C against AVX2, one thread
// against several, bad arguments.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "motus/filter.h"
#include "tests/support/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Returns a plane of the kind: 0 random, 1 dark and narrow, 2 one value, 3 two values, 4 gradient.
static MotusPlane make_plane(int width, int height, int kind) {
    MotusPlane p = motus_test_plane(width, height);
    int base = motus_test_range(0, 200);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int r = motus_test_range(0, 255);
            uint8_t v[] = {(uint8_t)r, (uint8_t)(base + r % 17), (uint8_t)base,
                           r & 8 ? 255 : (uint8_t)base, (uint8_t)(x * 2 + y)};
            p.data[y * p.stride + x] = v[kind];
        }
    return p;
}

// The definition: s_k = int(255 * sum of p(r_j) + 0.5), in long double, which holds exact ties
// (64-bit mantissa, denominators below 2^28).
static void global_is_the_formula(void) {
    for (int n = 0; n < 60; n++) {
        MotusPlane src = make_plane(motus_test_range(1, 120), motus_test_range(1, 90), n % 5),
                   dst = make_plane(src.width, src.height, 2);
        MotusEqualizeConfig config = MOTUS_EQUALIZE_PLANE;
        MotusExec exec = {1 + n % 3, n & 1};
        MotusEqualizer *e;
        EXPECT_OK(motus_equalizer_open(&e, &config, src.width, src.height));
        EXPECT_OK(motus_equalizer_run(e, &dst, &src, &exec));
        long count[256] = {0}, total = (long)src.width * src.height, sum = 0;
        int want[256];
        for (int y = 0; y < src.height; y++)
            for (int x = 0; x < src.width; x++) count[src.data[y * src.stride + x]]++;
        for (int k = 0; k < 256; k++)
            sum += count[k], want[k] = (int)(255.0L * (long double)sum / (long double)total + 0.5L);
        for (int y = 0; y < src.height; y++)
            for (int x = 0; x < src.width; x++)
                MOTUS_CHECK(dst.data[y * dst.stride + x] == want[src.data[y * src.stride + x]],
                            "%dx%d at %d,%d", src.width, src.height, x, y);
        CU_ASSERT(motus_test_guard_ok(dst.data) && motus_test_guard_ok(src.data));
        motus_equalizer_close(&e);
        motus_test_guard_free(src.data), motus_test_guard_free(dst.data);
    }
}

// Curve of one tile as published: clip, redistribute, accumulate, in plain loops.
static void tile_curve(int curve[256], const MotusPlane *p, int x0, int y0, int x1, int y1,
                       double clip) {
    long count[256] = {0}, total = (long)(x1 - x0) * (y1 - y0), sum = 0, excess = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) count[p->data[y * p->stride + x]]++;
    if (clip > 0) {
        long limit = (long)(clip * (double)total / 256);
        if (limit < 1) limit = 1;
        for (int k = 0; k < 256; k++)
            if (count[k] > limit) excess += count[k] - limit, count[k] = limit;
        for (int k = 0; k < 256; k++) count[k] += excess / 256;
        long rest = excess % 256, step = rest ? 256 / rest : 1;
        for (long k = 0; k < 256 && rest; k += step, rest--) count[k]++;
    }
    for (int k = 0; k < 256; k++)
        sum += count[k], curve[k] = (int)floor(255.0 * (double)sum / (double)total + 0.5 + 1e-12);
}

// Within 1 of the bilinear mean in real numbers: weights are rounded to 1/1024.
static void clahe_is_the_definition(void) {
    static int curve[64 * 64][256];
    for (int n = 0; n < 40; n++) {
        MotusPlane src = make_plane(motus_test_range(1, 150), motus_test_range(1, 130), n % 5),
                   dst = make_plane(src.width, src.height, 2);
        MotusEqualizeConfig config = {motus_test_range(1, 9), motus_test_range(1, 9),
                                      64 * motus_test_range(0, 20), 0};
        MotusExec exec = {1 + n % 2, 0};
        MotusEqualizer *e;
        EXPECT_OK(motus_equalizer_open(&e, &config, src.width, src.height));
        EXPECT_OK(motus_equalizer_run(e, &dst, &src, &exec));
        int tw = (src.width + config.tiles_x - 1) / config.tiles_x,
            th = (src.height + config.tiles_y - 1) / config.tiles_y;
        int nx = (src.width + tw - 1) / tw, ny = (src.height + th - 1) / th, worst = 0;
        for (int t = 0; t < nx * ny; t++) {
            int x = t % nx * tw, y = t / nx * th;
            tile_curve(curve[t], &src, x, y, x + tw < src.width ? x + tw : src.width,
                       y + th < src.height ? y + th : src.height, config.clip_q8 / 256.0);
        }
        for (int y = 0; y < src.height; y++)
            for (int x = 0; x < src.width; x++) {
                double fx = (double)x / tw - 0.5, fy = (double)y / th - 0.5, wx = fx - floor(fx),
                       wy = fy - floor(fy);
                int a = (int)floor(fx), b = a + 1, c = (int)floor(fy), d = c + 1,
                    v = src.data[y * src.stride + x];
                a = a < 0 ? 0 : a, c = c < 0 ? 0 : c, b = b < nx ? b : nx - 1,
                d = d < ny ? d : ny - 1;
                double want =
                    (curve[c * nx + a][v] * (1 - wx) + curve[c * nx + b][v] * wx) * (1 - wy) +
                    (curve[d * nx + a][v] * (1 - wx) + curve[d * nx + b][v] * wx) * wy;
                int error = (int)ceil(fabs(dst.data[y * dst.stride + x] - want) - 0.75);
                worst = error > worst ? error : worst;
            }
        MOTUS_CHECK(worst <= 0, "%dx%d tiles %dx%d clip %d", src.width, src.height, config.tiles_x,
                    config.tiles_y, config.clip_q8);
        motus_equalizer_close(&e);
        motus_test_guard_free(src.data), motus_test_guard_free(dst.data);
    }
}

static void executors_agree(void) {
    for (int n = 0; n < 40; n++) {
        MotusPlane src = make_plane(motus_test_range(1, 400), motus_test_range(1, 60), n % 5);
        MotusPlane a = make_plane(src.width, src.height, 0),
                   b = make_plane(src.width, src.height, 0);
        MotusEqualizeConfig config = n & 1 ? (MotusEqualizeConfig)MOTUS_EQUALIZE_CLAHE
                                           : (MotusEqualizeConfig)MOTUS_EQUALIZE_PLANE;
        config.smooth_q8 = n % 3 * 100;
        MotusEqualizer *e[2];
        MotusExec exec[2] = {{1, 1}, {4, 0}};
        for (int k = 0; k < 2; k++)
            EXPECT_OK(motus_equalizer_open(&e[k], &config, src.width, src.height));
        for (int picture = 0; picture < 3; picture++) {
            motus_equalizer_run(e[0], &a, &src, &exec[0]);
            motus_equalizer_run(e[1], &b, &src, &exec[1]);
            MOTUS_CHECK(motus_test_same_planes(&a, &b), "%dx%d config %d picture %d", src.width,
                        src.height, n, picture);
            motus_test_fill(src.data, (size_t)src.width);
        }
        uint32_t one[256], many[256];
        motus_histogram(one, &src, &exec[0]);
        motus_histogram(many, &src, &exec[1]);
        CU_ASSERT(!memcmp(one, many, sizeof one));
        for (int k = 0; k < 2; k++) motus_equalizer_close(&e[k]);
        motus_test_guard_free(src.data), motus_test_guard_free(a.data),
            motus_test_guard_free(b.data);
    }
}

// All 256 values through a random table, with every alignment of the row's end.
static void table_mapping(void) {
    uint8_t curve[256];
    for (int n = 0; n < 100; n++) {
        motus_test_fill(curve, sizeof curve);
        MotusPlane src = make_plane(256 + n, 2, 4), dst = make_plane(256 + n, 2, 2);
        motus_plane_map(&dst, &src, curve, NULL);
        for (int i = 0; i < src.width; i++)
            MOTUS_CHECK(dst.data[dst.stride + i] == curve[src.data[src.stride + i]],
                        "width %d at %d", src.width, i);
        CU_ASSERT(motus_test_guard_ok(dst.data));
        motus_test_guard_free(src.data), motus_test_guard_free(dst.data);
    }
}

// In a flickering scene the smoothed curve moves less. A cut resets it. Curves are monotone.
static void smoothing(void) {
    MotusPlane src = make_plane(96, 64, 1), dst = make_plane(96, 64, 2),
               cut = make_plane(96, 64, 2);
    MotusEqualizeConfig config = {1, 1, 0, 0};
    int moved[2] = {0, 0};
    MotusEqualizer *e[2];
    motus_equalizer_open(&e[0], &config, 96, 64);
    config.smooth_q8 = 224;
    motus_equalizer_open(&e[1], &config, 96, 64);
    uint8_t before[2][256];
    for (int picture = 0; picture < 40; picture++) {
        for (int y = 0; y < 64; y++)
            for (int x = 0; x < 96; x++)
                src.data[y * src.stride + x] =
                    (uint8_t)(30 + (x + y) / 8 + motus_test_range(0, picture & 1 ? 3 : 6));
        for (int k = 0; k < 2; k++) {
            motus_equalizer_run(e[k], &dst, &src, NULL);
            const uint8_t *curve = motus_equalizer_curves(e[k], NULL)[0];
            for (int i = 0; i < 256; i++) {
                if (picture) moved[k] += abs(curve[i] - before[k][i]);
                CU_ASSERT(!i || curve[i] >= curve[i - 1]);
            }
            memcpy(before[k], curve, 256);
        }
    }
    MOTUS_CHECK(moved[1] * 4 < moved[0], "%d against %d", moved[1], moved[0]);
    for (int k = 0; k < 2; k++) motus_equalizer_run(e[k], &dst, &cut, NULL);
    CU_ASSERT(
        !memcmp(motus_equalizer_curves(e[0], NULL)[0], motus_equalizer_curves(e[1], NULL)[0], 256));
    for (int k = 0; k < 2; k++) motus_equalizer_close(&e[k]);
    motus_test_guard_free(src.data), motus_test_guard_free(dst.data),
        motus_test_guard_free(cut.data);
}

static void memory_runs_out(void) {
    MotusEqualizer *e = NULL;
    MotusEqualizeConfig config = MOTUS_EQUALIZE_CLAHE;
    for (long n = 0; n < 5; n++) {
        motus_alloc_fail_after(n);
        CU_ASSERT_EQUAL(motus_equalizer_open(&e, &config, 8, 8), MOTUS_ERR_MEMORY);
    }
    motus_alloc_fail_after(-1);
    EXPECT_OK(motus_equalizer_open(&e, &config, 8, 8));
    motus_equalizer_close(&e);
    motus_equalizer_close(&e);
}

MOTUS_SUITE("equalize", TEST(global_is_the_formula), TEST(clahe_is_the_definition),
            TEST(executors_agree), TEST(table_mapping), TEST(smoothing), TEST(memory_runs_out))
