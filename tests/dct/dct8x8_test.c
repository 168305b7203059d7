// dct/dct8x8: against the transform's definition in double precision, C against AVX2, one thread
// against several, the integer transform in floats, bad arguments.
// SPDX-License-Identifier: BSD-2-Clause
#include "dct/dct8x8.h"
#include "tests/support/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// Orthonormal DCT-II of a block, or its inverse, from the definition.
static void definition(double out[64], const double in[64], int inverse) {
    for (int v = 0; v < 8; v++)
        for (int u = 0; u < 8; u++) {
            double sum = 0;
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++) {
                    int k = inverse ? x : u, n = inverse ? u : x, l = inverse ? y : v,
                        m = inverse ? v : y;
                    double scale = (k ? 0.5 : sqrt(0.125)) * (l ? 0.5 : sqrt(0.125));
                    sum += in[8 * y + x] * scale * cos((2 * n + 1) * k * pi / 16) *
                           cos((2 * m + 1) * l * pi / 16);
                }
            out[8 * v + u] = sum;
        }
}

typedef struct Case {
    MotusPlane plane;
    MotusCoefs coefs;
    uint16_t table[64];
} Case;

// Returns a picture of the kind: 0 random, 1 only 0 and 255, 2 checkerboard, 3 flat, 4 smooth.
static Case make_case(int width, int height, int kind, int quality) {
    Case c = {motus_test_plane(width, height), {NULL, 0, (width + 7) & ~7, (height + 7) & ~7}, {0}};
    c.coefs.stride = c.coefs.width * 2 + 16;
    c.coefs.data =
        (int16_t *)(void *)motus_test_guarded((size_t)c.coefs.stride * (size_t)c.coefs.height);
    int level = motus_test_range(0, 255);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int r = motus_test_range(0, 255);
            uint8_t v[] = {(uint8_t)r, r & 1 ? 255 : 0, (x ^ y) & 1 ? 255 : 0, (uint8_t)level,
                           (uint8_t)((x * 3 + y * 2 + r / 32) & 255)};
            c.plane.data[y * c.plane.stride + x] = v[kind];
        }
    motus_dct8_quality(c.table, quality & 1 ? motus_jpeg_luma_table : motus_jpeg_chroma_table,
                       quality);
    if (quality == 100 && kind == 0)
        for (int i = 0; i < 64; i++)
            c.table[i] = (uint16_t)(1 + (motus_test_random() >> motus_test_range(16, 31)));
    return c;
}

static void free_case(Case *c) {
    motus_test_guard_free(c->plane.data);
    motus_test_guard_free((uint8_t *)c->coefs.data);
}

static int16_t *coef_row(const Case *c, int y) {
    return (int16_t *)((uint8_t *)c->coefs.data + y * c->coefs.stride);
}

static void expected_block(double out[64], const Case *c, int bx, int by) {
    double in[64];
    for (int i = 0; i < 64; i++) {
        int x = 8 * bx + i % 8, y = 8 * by + i / 8;
        x = x < c->plane.width ? x : c->plane.width - 1,
        y = y < c->plane.height ? y : c->plane.height - 1;
        in[i] = c->plane.data[y * c->plane.stride + x] - 128.0;
    }
    definition(out, in, 0);
}

// A level differs from the exact quotient by half a step plus the error of the arithmetic. 24-bit
// floats with values up to 8,192 through 16 additions and products: 0.004. The integer transform:
// 0.151 of a coefficient (128 * the summed differences between its matrix and the exact one, plus
// half a unit * the sum of a row's factors).
static void forward_is_the_definition(void) {
    static const int sizes[][2] = {{8, 8}, {1, 1}, {7, 9}, {16, 8}, {40, 24}, {33, 17}, {64, 3}};
    for (int n = 0; n < 140; n++) {
        int kind = n % 5, dct = n / 5 % 2, quality = n % 7 ? motus_test_range(1, 99) : 100;
        Case c = make_case(sizes[n % 7][0], sizes[n % 7][1], kind, quality);
        MotusExec exec = {1, n & 1};
        EXPECT_OK(motus_dct8_forward(&c.coefs, &c.plane, c.table, (MotusDct8Kind)dct, &exec));
        double worst = 0;
        for (int by = 0; by < c.coefs.height / 8; by++)
            for (int bx = 0; bx < c.coefs.width / 8; bx++) {
                double want[64];
                expected_block(want, &c, bx, by);
                for (int i = 0; i < 64; i++) {
                    double q = c.table[i],
                           error =
                               fabs(coef_row(&c, 8 * by + i / 8)[8 * bx + i % 8] - want[i] / q) *
                                   q -
                               0.5 * q;
                    if (error > worst) worst = error;
                }
            }
        MOTUS_CHECK(worst < (dct ? 0.151 : 0.004), "%dx%d kind %d quality %d dct %d error %g",
                    c.plane.width, c.plane.height, kind, quality, dct, worst);
        CU_ASSERT(motus_test_guard_ok((uint8_t *)c.coefs.data) &&
                  motus_test_guard_ok(c.plane.data));
        free_case(&c);
    }
}

static void inverse_is_the_definition(void) {
    for (int n = 0; n < 60; n++) {
        int dct = n & 1, quality = motus_test_range(1, 100);
        Case c = make_case(motus_test_range(1, 40), motus_test_range(1, 40), n % 5, quality);
        EXPECT_OK(motus_dct8_forward(&c.coefs, &c.plane, c.table, (MotusDct8Kind)dct, NULL));
        MotusExec exec = {1, n / 2 & 1};
        EXPECT_OK(motus_dct8_inverse(&c.plane, &c.coefs, c.table, (MotusDct8Kind)dct, &exec));
        double worst = 0;
        for (int by = 0; by < c.coefs.height / 8; by++)
            for (int bx = 0; bx < c.coefs.width / 8; bx++) {
                double in[64], want[64];
                for (int i = 0; i < 64; i++)
                    in[i] = (double)coef_row(&c, 8 * by + i / 8)[8 * bx + i % 8] * c.table[i];
                definition(want, in, 1);
                for (int i = 0; i < 64; i++) {
                    int x = 8 * bx + i % 8, y = 8 * by + i / 8;
                    if (x >= c.plane.width || y >= c.plane.height) continue;
                    double v = want[i] + 128 < 0 ? 0 : want[i] + 128 > 255 ? 255 : want[i] + 128;
                    double error = fabs(c.plane.data[y * c.plane.stride + x] - v);
                    if (error > worst) worst = error;
                }
            }
        MOTUS_CHECK(worst < (dct ? 0.7 : 0.501), "quality %d dct %d error %g", quality, dct, worst);
        CU_ASSERT(motus_test_guard_ok(c.plane.data));
        free_case(&c);
    }
}

static void executors_agree(void) {
    for (int n = 0; n < 80; n++) {
        int quality = n % 3 ? motus_test_range(1, 100) : 100;
        Case c = make_case(motus_test_range(1, 90), motus_test_range(1, 70), n % 5, quality),
             d = make_case(c.plane.width, c.plane.height, 3, 50);
        MotusDct8Kind kind = (MotusDct8Kind)(n & 1);
        MotusExec plain = {1, 1}, fast = {3, 0};
        memcpy(d.table, c.table, sizeof d.table);
        motus_dct8_forward(&c.coefs, &c.plane, c.table, kind, &plain);
        motus_dct8_forward(&d.coefs, &c.plane, c.table, kind, &fast);
        for (int y = 0; y < c.coefs.height; y++)
            MOTUS_CHECK(!memcmp(coef_row(&c, y), coef_row(&d, y), 2 * (size_t)c.coefs.width),
                        "row %d quality %d kind %d", y, quality, (int)kind);
        if (n % 4 == 0) // levels that no picture gives
            for (int y = 0; y < c.coefs.height; y++)
                motus_test_fill(coef_row(&c, y), 2 * (size_t)c.coefs.width);
        motus_dct8_inverse(&d.plane, &c.coefs, c.table, kind, &fast);
        motus_dct8_inverse(&c.plane, &c.coefs, c.table, kind, &plain);
        MOTUS_CHECK(motus_test_same_planes(&c.plane, &d.plane), "kind %d", (int)kind);
        free_case(&c), free_case(&d);
    }
}

// Returns true if C, CUDA (fused multiply-add) and AVX2 (product in double precision) quantize a
// value to the same level.
static int levels_agree(int32_t v, const MotusDct8Steps *s, int i) {
    int level = dct8_int_level(v, s->multiplier[i], s->shift[i]);
    float fused = fmaf((float)v, s->integer[i], 12582912.0f);
    int32_t bits;
    memcpy(&bits, &fused, sizeof bits);
    return level == bits - 0x4B400000 && level == (int)lrint((double)v * s->integer[i]);
}

// Checks every step of every table at the values around each change of level. In between, levels
// are monotone.
static void integer_quantizers_agree(void) {
    static const int places[] = {0, 1, 2, 8, 9, 10, 16, 17, 18}; // one of each pair of scales
    MotusDct8Steps s;
    uint16_t table[64];
    long tried = 0;
    for (int q = 1; q < 65536; q++) {
        for (int i = 0; i < 64; i++) table[i] = (uint16_t)q;
        motus_dct8_steps(&s, table);
        for (int k = 0; k < 9; k++) {
            int i = places[k];
            MOTUS_CHECK(s.multiplier[i] & 1 && s.multiplier[i] < 1 << 24 &&
                            s.multiplier[i] >= 1 << 23 && s.shift[i] >= 26,
                        "q %d place %d", q, i);
            MOTUS_CHECK((double)s.integer[i] == ldexp(s.multiplier[i], -s.shift[i]),
                        "q %d place %d", q, i);
            for (int level = 0;; level++) {
                int32_t v = (int32_t)((level + 0.5) / s.integer[i]);
                if (v >= (1 << 24) - 2) break;
                for (int d = -1; d <= 1; d++)
                    if (!levels_agree(v + d, &s, i) || !levels_agree(-v - d, &s, i))
                        MOTUS_CHECK(0, "+-%d by %d at %d", v + d, q, i);
                tried++;
            }
        }
    }
    CU_ASSERT(tried > 1000000);
}

// Coefficient 0 is the sum of the samples / 8, rounded half away from 0.
static void integer_dc_is_exact(void) {
    MotusDct8Steps s;
    uint16_t table[64] = {0};
    for (int q = 1; q < 256; q++) {
        for (int i = 0; i < 64; i++) table[i] = (uint16_t)q;
        motus_dct8_steps(&s, table);
        for (int32_t v = 0; v <= 8192; v++) {
            int want = (v + 4 * q) / (8 * q);
            if (dct8_int_level(v, s.multiplier[0], s.shift[0]) != want ||
                dct8_int_level(-v, s.multiplier[0], s.shift[0]) != -want)
                MOTUS_CHECK(0, "+-%d by %d", v, q);
        }
    }
}

// The transform in floats equals the one in integers, for random blocks and for blocks that drive
// each sum to its bound (the signs of a basis function).
static void integers_in_floats(void) {
    for (int n = 0; n < 2000; n++) {
        int32_t x[64];
        float f[64];
        for (int i = 0; i < 64; i++) {
            double basis = cos((2 * (i % 8) + 1) * (n % 8) * pi / 16) *
                           cos((2 * (i / 8) + 1) * (n / 8 % 8) * pi / 16);
            x[i] = n < 128 ? ((basis < 0) == (n < 64) ? 127 : -128) : motus_test_range(-128, 127);
            f[i] = (float)x[i];
        }
        for (int c = 0; c < 8; c++)
            dct8_int_1d(x + c, 8, DCT8_COLUMNS), dct8_exact_1d(f + c, 8, DCT8_COLUMNS);
        for (int i = 0; i < 64; i++)
            if (i / 8 % 4) x[i] = dct8_int_shift(x[i]), f[i] = dct8_exact_shift(f[i]);
        for (int r = 0; r < 8; r++)
            dct8_int_1d(x + 8 * r, 1, DCT8_ROWS), dct8_exact_1d(f + 8 * r, 1, DCT8_ROWS);
        for (int i = 0; i < 64; i++)
            MOTUS_CHECK(f[i] == (float)x[i] && abs(x[i]) < 1 << 24, "block %d at %d", n, i);
    }
    for (int32_t v = -(1 << 22) + 1; v < 1 << 22; v++)
        if (dct8_exact_shift((float)v) != (float)dct8_int_shift(v))
            MOTUS_CHECK(0, "shift of %d", v);
}

static void quality_tables(void) {
    uint16_t table[64];
    EXPECT_OK(motus_dct8_quality(table, motus_jpeg_luma_table, 50));
    CU_ASSERT(!memcmp(table, motus_jpeg_luma_table, sizeof table));
    EXPECT_OK(motus_dct8_quality(table, motus_jpeg_luma_table, 100));
    for (int i = 0; i < 64; i++) CU_ASSERT_EQUAL(table[i], 1);
    EXPECT_OK(motus_dct8_quality(table, motus_jpeg_chroma_table, 1));
    for (int i = 0; i < 64; i++) CU_ASSERT_EQUAL(table[i], 255);
}

MOTUS_SUITE("dct8x8", TEST(forward_is_the_definition), TEST(inverse_is_the_definition),
            TEST(executors_agree), TEST(integer_quantizers_agree), TEST(integer_dc_is_exact),
            TEST(integers_in_floats), TEST(quality_tables))
