// The 8x8 transform of H.264 against its matrix in double precision, its tables against one
// another, and round trips at every QP.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cpu.h"
#include "dct/transform8_core.h"
#include "tests/dct/dct_avx2.h"
#include "tests/support/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Rows of the transform in eighths (8.5.13 without its rounding).
static const int matrix[8][8] = {{8, 8, 8, 8, 8, 8, 8, 8},     {12, 10, 6, 3, -3, -6, -10, -12},
                                 {8, 4, -4, -8, -8, -4, 4, 8}, {10, -3, -12, -6, 6, 12, 3, -10},
                                 {8, -8, -8, 8, 8, -8, -8, 8}, {6, -12, 3, 10, -10, -3, 12, -6},
                                 {4, -8, 8, -4, -4, 8, -8, 4}, {3, -6, 10, -12, 12, -10, 6, -3}};

static double norm(int row) {
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += matrix[row][i] * matrix[row][i] / 64.0;
    return sum;
}

static void random_block(uint8_t src[64], uint8_t pred[64], int round) {
    for (int i = 0; i < 64; i++) {
        const int noise = motus_test_range(-40, 40);
        pred[i] = (uint8_t)motus_test_range(0, 255);
        src[i] = round % 3 == 0   ? (uint8_t)motus_test_range(0, 255)
                 : round % 3 == 1 ? motus_clip_u8(pred[i] + noise)
                                  : (uint8_t)(motus_test_range(0, 1) ? 255 : 0);
    }
    if (round == 1) memset(src, 255, 64), memset(pred, 0, 64);
}

static void forward_is_the_matrix(void) {
    double worst = 0;
    for (int round = 0; round < 3000; round++) {
        uint8_t src[64], pred[64];
        int coef[64];
        random_block(src, pred, round);
        motus_forward8x8(coef, src, 8, pred, 8);
        for (int v = 0; v < 8; v++)
            for (int u = 0; u < 8; u++) {
                double exact = 0;
                for (int i = 0; i < 64; i++)
                    exact += (src[i] - pred[i]) * matrix[v][i / 8] * matrix[u][i % 8] / 64.0;
                worst = fmax(worst, fabs(exact - coef[8 * v + u]));
            }
    }
    // Shifts of a row lose less than 1.25, a column adds eight rows and loses as much.
    MOTUS_CHECK(worst < 11.25, "off by %f", worst);
}

// Coefficients without fractions in any step come back exactly.
static void inverse_is_the_matrix(void) {
    for (int round = 0; round < 3000; round++) {
        int coef[64], copy[64];
        uint8_t samples[64];
        memset(samples, 128, sizeof samples);
        for (int i = 0; i < 64; i++)
            copy[i] = coef[i] = motus_test_range(0, 9) ? 0 : 16 * motus_test_range(-40, 40);
        motus_inverse8x8_add(samples, 8, coef);
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++) {
                double exact = 0;
                for (int i = 0; i < 64; i++)
                    exact += copy[i] * matrix[i / 8][y] * matrix[i % 8][x] / 64.0;
                const int expected = motus_clip_u8(128 + (int)floor((exact + 32) / 64));
                MOTUS_CHECK(abs(samples[8 * y + x] - expected) <= 1, "round %d at %d,%d: %d, %d",
                            round, x, y, samples[8 * y + x], expected);
            }
    }
}

static void tables_agree(void) {
    int seen[64] = {0};
    for (int rem = 0; rem < 6; rem++)
        for (int i = 0; i < 64; i++) {
            const int c = motus_coef8_class(i);
            const double product = (double)motus_quant8_scale(rem, c) *
                                   motus_dequant8_scale(rem, c) * norm(i / 8) * norm(i % 8) /
                                   (1 << 24);
            MOTUS_CHECK(fabs(product - 1) < 1e-3, "QP %d, place %d: %f", rem, i, product);
        }
    for (int i = 0; i < 64; i++) seen[motus_zigzag8_at(i)]++;
    for (int i = 0; i < 64; i++) CU_ASSERT_EQUAL(seen[i], 1);
    for (int i = 0; i < 64; i++) CU_ASSERT_EQUAL(motus_zigzag8_of(motus_zigzag8_at(i)), i);
    for (int i = 1; i < 64; i++) {
        const int a = motus_zigzag8_at(i - 1), b = motus_zigzag8_at(i);
        const int dx = abs(b % 8 - a % 8), dy = abs(b / 8 - a / 8);
        CU_ASSERT(dx <= 1 && dy <= 1 && dx + dy > 0); // from neighbour to neighbour
    }
}

// Levels to the nearest, at every QP: the error stays within what the step allows.
static void round_trips(void) {
    for (int qp = 0; qp < 52; qp++)
        for (int round = 0; round < 60; round++) {
            uint8_t src[64], pred[64], rec[64];
            int coef[64];
            double error = 0;
            random_block(src, pred, round);
            memcpy(rec, pred, sizeof rec);
            motus_forward8x8(coef, src, 8, pred, 8);
            for (int i = 0; i < 64; i++) {
                const int c = motus_coef8_class(i), shift = 16 + qp / 6;
                const int64_t level =
                    ((int64_t)abs(coef[i]) * motus_quant8_scale(qp % 6, c) + (1 << (shift - 1))) >>
                    shift;
                coef[i] = motus_dequant8((int)(coef[i] < 0 ? -level : level),
                                         motus_dequant8_scale(qp % 6, c), qp);
            }
            motus_inverse8x8_add(rec, 8, coef);
            for (int i = 0; i < 64; i++) error += (rec[i] - src[i]) * (rec[i] - src[i]) / 64.0;
            const double step = 0.625 * pow(2, qp / 6.0);
            MOTUS_CHECK(error < step * step / 6 + 1.5, "QP %d: %f, step %f", qp, error, step);
        }
}

static void avx2_agrees(void) {
#if defined(__x86_64__)
    if (!(motus_cpu_flags() & MOTUS_CPU_AVX2)) return;
    for (int round = 0; round < 3000; round++) {
        uint8_t src[64], pred[64], rec[2][64];
        int coef[2][64];
        random_block(src, pred, round);
        motus_forward8x8(coef[0], src, 8, pred, 8);
        dct_avx2.forward_block8(coef[1], src, 8, pred, 8);
        MOTUS_CHECK(!memcmp(coef[0], coef[1], sizeof coef[0]), "forward, round %d", round);
        for (int i = 0; i < 64; i++)
            coef[0][i] = coef[1][i] = round % 5 ? coef[0][i] * motus_test_range(0, 3)
                                                : motus_test_range(-(1 << 20), 1 << 20);
        memcpy(rec[0], pred, sizeof pred);
        memcpy(rec[1], pred, sizeof pred);
        dct_avx2.add_block8(rec[1], 8, coef[1]);
        motus_inverse8x8_add(rec[0], 8, coef[0]);
        MOTUS_CHECK(!memcmp(rec[0], rec[1], sizeof rec[0]), "inverse, round %d", round);
    }
#endif
}

MOTUS_SUITE("transform8", TEST(forward_is_the_matrix), TEST(inverse_is_the_matrix),
            TEST(tables_agree), TEST(round_trips), TEST(avx2_agrees))
