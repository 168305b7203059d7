// dct/dct8x8: against the transform's definition in double precision, C against AVX2, one thread against several, bad arguments.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/dct8x8.h"
#include "tests/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// Orthonormal DCT-II of a block, or its inverse, straight from the definition.
static void definition(double out[64], const double in[64], int inverse) {
    for (int v = 0; v < 8; v++)
        for (int u = 0; u < 8; u++) {
            double sum = 0;
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++) {
                    int k = inverse ? x : u, n = inverse ? u : x, l = inverse ? y : v, m = inverse ? v : y;
                    double scale = (k ? 0.5 : sqrt(0.125)) * (l ? 0.5 : sqrt(0.125));
                    sum += in[8 * y + x] * scale * cos((2 * n + 1) * k * pi / 16) * cos((2 * m + 1) * l * pi / 16);
                }
            out[8 * v + u] = sum;
        }
}

typedef struct Case {
    MotusPlane plane;
    MotusCoefs coefs;
    uint16_t table[64];
} Case;

// kind: 0 random, 1 extremes 0/255, 2 checkerboard, 3 flat, 4 smooth
static Case make_case(int width, int height, int kind, int quality) {
    Case c = {{NULL, width + 5, width, height}, {NULL, 0, (width + 7) & ~7, (height + 7) & ~7}, {0}};
    c.plane.data = motus_test_guarded((size_t)c.plane.stride * (size_t)height);
    c.coefs.stride = c.coefs.width * 2 + 16;
    c.coefs.data = (int16_t *)(void *)motus_test_guarded((size_t)c.coefs.stride * (size_t)c.coefs.height);
    int level = motus_test_range(0, 255);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int r = motus_test_range(0, 255);
            uint8_t v[] = {(uint8_t)r, r & 1 ? 255 : 0, (x ^ y) & 1 ? 255 : 0, (uint8_t)level,
                           (uint8_t)((x * 3 + y * 2 + r / 32) & 255)};
            c.plane.data[y * c.plane.stride + x] = v[kind];
        }
    motus_dct8_quality(c.table, quality & 1 ? motus_jpeg_luma_table : motus_jpeg_chroma_table, quality);
    if (quality == 100 && kind == 0)
        for (int i = 0; i < 64; i++) c.table[i] = (uint16_t)(1 + (motus_test_random() >> motus_test_range(16, 31)));
    return c;
}

static void free_case(Case *c) {
    motus_test_guard_free(c->plane.data);
    motus_test_guard_free((uint8_t *)c->coefs.data);
}

static int16_t *coef_row(const Case *c, int y) { return (int16_t *)((uint8_t *)c->coefs.data + y * c->coefs.stride); }

static void expected_block(double out[64], const Case *c, int bx, int by) {
    double in[64];
    for (int i = 0; i < 64; i++) {
        int x = 8 * bx + i % 8, y = 8 * by + i / 8;
        x = x < c->plane.width ? x : c->plane.width - 1, y = y < c->plane.height ? y : c->plane.height - 1;
        in[i] = c->plane.data[y * c->plane.stride + x] - 128.0;
    }
    definition(out, in, 0);
}

// Levels may differ from the exact quotient by half a step and the arithmetic's error: 24-bit floats through 16 additions and products of
// values up to 8,192 (scaled) stay within 0.004; the integer transform's two roundings and 13-bit factors within 0.35 of a coefficient.
static void forward_is_the_definition(void) {
    static const int sizes[][2] = {{8, 8}, {1, 1}, {7, 9}, {16, 8}, {40, 24}, {33, 17}, {64, 3}};
    for (int n = 0; n < 140; n++) {
        int kind = n % 5, dct = n / 5 % 2, quality = n % 7 ? motus_test_range(1, 99) : 100;
        Case c = make_case(sizes[n % 7][0], sizes[n % 7][1], kind, quality);
        MotusExec exec = {1, n & 1};
        CU_ASSERT_EQUAL(motus_dct8_forward(&c.coefs, &c.plane, c.table, (MotusDct8Kind)dct, &exec), MOTUS_OK);
        double worst = 0;
        for (int by = 0; by < c.coefs.height / 8; by++)
            for (int bx = 0; bx < c.coefs.width / 8; bx++) {
                double want[64];
                expected_block(want, &c, bx, by);
                for (int i = 0; i < 64; i++) {
                    double q = c.table[i], error = fabs(coef_row(&c, 8 * by + i / 8)[8 * bx + i % 8] - want[i] / q) * q - 0.5 * q;
                    if (error > worst) worst = error;
                }
            }
        MOTUS_CHECK(worst < (dct ? 0.35 : 0.004), "%dx%d kind %d quality %d dct %d error %g", c.plane.width, c.plane.height, kind,
                    quality, dct, worst);
        CU_ASSERT(motus_test_guard_ok((uint8_t *)c.coefs.data) && motus_test_guard_ok(c.plane.data));
        free_case(&c);
    }
}

static void inverse_is_the_definition(void) {
    for (int n = 0; n < 60; n++) {
        int dct = n & 1, quality = motus_test_range(1, 100);
        Case c = make_case(motus_test_range(1, 40), motus_test_range(1, 40), n % 5, quality);
        CU_ASSERT_EQUAL(motus_dct8_forward(&c.coefs, &c.plane, c.table, (MotusDct8Kind)dct, NULL), MOTUS_OK);
        MotusExec exec = {1, n / 2 & 1};
        CU_ASSERT_EQUAL(motus_dct8_inverse(&c.plane, &c.coefs, c.table, (MotusDct8Kind)dct, &exec), MOTUS_OK);
        double worst = 0;
        for (int by = 0; by < c.coefs.height / 8; by++)
            for (int bx = 0; bx < c.coefs.width / 8; bx++) {
                double in[64], want[64];
                for (int i = 0; i < 64; i++) in[i] = (double)coef_row(&c, 8 * by + i / 8)[8 * bx + i % 8] * c.table[i];
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
            MOTUS_CHECK(!memcmp(coef_row(&c, y), coef_row(&d, y), 2 * (size_t)c.coefs.width), "row %d quality %d kind %d", y,
                        quality, (int)kind);
        if (n % 4 == 0) // levels that no picture gives
            for (int y = 0; y < c.coefs.height; y++) motus_test_fill(coef_row(&c, y), 2 * (size_t)c.coefs.width);
        motus_dct8_inverse(&d.plane, &c.coefs, c.table, kind, &fast);
        motus_dct8_inverse(&c.plane, &c.coefs, c.table, kind, &plain);
        for (int y = 0; y < c.plane.height; y++)
            MOTUS_CHECK(!memcmp(c.plane.data + y * c.plane.stride, d.plane.data + y * d.plane.stride, (size_t)c.plane.width),
                        "row %d kind %d", y, (int)kind);
        free_case(&c), free_case(&d);
    }
}

static void quality_tables(void) {
    uint16_t table[64];
    CU_ASSERT_EQUAL(motus_dct8_quality(table, motus_jpeg_luma_table, 50), MOTUS_OK);
    CU_ASSERT(!memcmp(table, motus_jpeg_luma_table, sizeof table));
    CU_ASSERT_EQUAL(motus_dct8_quality(table, motus_jpeg_luma_table, 100), MOTUS_OK);
    for (int i = 0; i < 64; i++) CU_ASSERT_EQUAL(table[i], 1);
    CU_ASSERT_EQUAL(motus_dct8_quality(table, motus_jpeg_chroma_table, 1), MOTUS_OK);
    for (int i = 0; i < 64; i++) CU_ASSERT_EQUAL(table[i], 255);
    CU_ASSERT_EQUAL(motus_dct8_quality(table, motus_jpeg_luma_table, 0), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_dct8_quality(table, motus_jpeg_luma_table, 101), MOTUS_ERR_ARGUMENT);
}

static void bad_arguments(void) {
    Case c = make_case(16, 16, 0, 50);
    c.table[63] = 0;
    CU_ASSERT_EQUAL(motus_dct8_forward(&c.coefs, &c.plane, c.table, MOTUS_DCT8_FLOAT, NULL), MOTUS_ERR_ARGUMENT);
    c.table[63] = 1;
    CU_ASSERT_EQUAL(motus_dct8_forward(&c.coefs, &c.plane, c.table, (MotusDct8Kind)2, NULL), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_dct8_forward(NULL, &c.plane, c.table, MOTUS_DCT8_FLOAT, NULL), MOTUS_ERR_ARGUMENT);
    c.coefs.width = 24;
    CU_ASSERT_EQUAL(motus_dct8_inverse(&c.plane, &c.coefs, c.table, MOTUS_DCT8_FLOAT, NULL), MOTUS_ERR_ARGUMENT);
    free_case(&c);
}

static const MotusTest tests[] = {{"forward_is_the_definition", forward_is_the_definition},
                                  {"inverse_is_the_definition", inverse_is_the_definition},
                                  {"executors_agree", executors_agree},
                                  {"quality_tables", quality_tables},
                                  {"bad_arguments", bad_arguments},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("dct8x8", tests, argc, argv); }
