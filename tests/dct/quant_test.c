// dct/: quantization, scaling and inverses against the standard's formulas written down naively;
// what comes back of levels.
// SPDX-License-Identifier: BSD-2-Clause
#include "dct/dct_mb_core.h"
#include "tests/dct/dct_case.h"
#include "tests/support/harness.h"

#include <math.h>
#include <stdlib.h>

static const int class_of[16] = {0, 2, 0, 2, 2, 1, 2, 1, 0, 2, 0, 2, 2, 1, 2, 1};
static const int v_table[6][3] = {{10, 16, 13}, {11, 18, 14}, {13, 20, 16},
                                  {14, 23, 18}, {16, 25, 20}, {18, 29, 23}}; // 8.5.9

static int clip(int lo, int hi, int v) { return v < lo ? lo : v > hi ? hi : v; }

static const int64_t hadamard4[16] = {1, 1, 1, 1, 1, 1, -1, -1, 1, -1, -1, 1, 1, -1, 1, -1};
static const int64_t hadamard2[4] = {1, 1, 1, -1};

// Inverse transform by 8.5.12.2, in wide integers.
static void naive_inverse(int r[16], const int d_in[16]) {
    int d[4][4], f[4][4];
    for (int i = 0; i < 16; i++) d[i / 4][i % 4] = d_in[i];
    for (int i = 0; i < 4; i++) {
        int e0 = d[i][0] + d[i][2], e1 = d[i][0] - d[i][2], e2 = (d[i][1] >> 1) - d[i][3],
            e3 = d[i][1] + (d[i][3] >> 1);
        f[i][0] = e0 + e3, f[i][1] = e1 + e2, f[i][2] = e1 - e2, f[i][3] = e0 - e3;
    }
    for (int j = 0; j < 4; j++) {
        int g0 = f[0][j] + f[2][j], g1 = f[0][j] - f[2][j], g2 = (f[1][j] >> 1) - f[3][j],
            g3 = f[1][j] + (f[3][j] >> 1);
        int h[4] = {g0 + g3, g1 + g2, g1 - g2, g0 - g3};
        for (int i = 0; i < 4; i++) r[4 * i + j] = (h[i] + 32) >> 6;
    }
}

// Scaling by 8.5.12.1 with LevelScale4x4 = 16 * normAdjust4x4.
static int naive_scale(int level, int raster, int qp) {
    int64_t value = (int64_t)level * 16 * v_table[qp % 6][class_of[raster]];
    return (int)(qp >= 24 ? value * (1 << (qp / 6 - 4))
                          : (value + (1 << (3 - qp / 6))) >> (4 - qp / 6));
}

// Level by definition: (coefficient / step + dead zone) rounded down, with 2^21 / (V * norm)
// rounded to an integer.
static int naive_quant(int coef, int v, int norm, int deadzone, int shift) {
    int64_t mf = llround(2097152.0 / (v * norm));
    int64_t level = (llabs((long long)coef) * mf + ((int64_t)deadzone << shift) / 64) >> shift;
    level = level > MOTUS_MAX_LEVEL ? MOTUS_MAX_LEVEL : level;
    return (int)(coef < 0 ? -level : level);
}

static const int norms[3] = {16, 25, 20}; // of the basis functions, by class

static void quant4x4(int16_t level[16], const int16_t coef[16], int qp, int deadzone) {
    MotusQuantizer q = motus_quantizer(qp, deadzone, 0);
    for (int i = 0; i < 16; i++)
        level[i] = (int16_t)motus_quant(coef[i], q.scale[motus_coef_class(i)], q.offset, q.shift);
}

static void quant_dc(int16_t *level, const int16_t *coef, int n, int qp, int deadzone) {
    MotusQuantizer q = motus_quantizer(qp, deadzone, 1);
    for (int i = 0; i < n; i++)
        level[i] = (int16_t)motus_quant(coef[i], q.scale[0], q.offset, q.shift);
}

// Scales a block's levels, in raster order.
static void dequant4x4(int16_t coef[16], const int16_t level[16], int qp) {
    int16_t zigzag[16];
    for (int i = 0; i < 16; i++) zigzag[motus_zigzag_of(i)] = level[i];
    motus_dequant_zigzag(coef, zigzag, qp);
}

static void chroma_dc_forward(int16_t out[4], const int16_t dc[4]) {
    int v[4] = {dc[0], dc[1], dc[2], dc[3]};
    motus_hadamard2x2(v);
    for (int i = 0; i < 4; i++) out[i] = (int16_t)v[i];
}

static void chroma_dc_inverse(int16_t dc[4], const int16_t level[4], int qp) {
    int v[4] = {level[0], level[1], level[2], level[3]};
    motus_hadamard2x2(v);
    for (int i = 0; i < 4; i++) dc[i] = motus_chroma_dc_dequant(v[i], qp);
}

static void quant_and_scaling_formulas(void) {
    for (int qp = 0; qp <= 51; qp++)
        for (int deadzone = 0; deadzone <= 32; deadzone += deadzone < 24 ? 1 : 4) {
            int16_t coef[16], level[16], scaled[16];
            for (int i = 0; i < 16; i++)
                coef[i] = (int16_t)(motus_test_range(-9180, 9180) >> motus_test_range(0, 8));
            quant4x4(level, coef, qp, deadzone);
            dequant4x4(scaled, level, qp);
            for (int i = 0; i < 16; i++) {
                int want = naive_quant(coef[i], v_table[qp % 6][class_of[i]], norms[class_of[i]],
                                       deadzone, 15 + qp / 6);
                MOTUS_CHECK(level[i] == want, "qp %d dz %d coef %d: %d, not %d", qp, deadzone,
                            coef[i], level[i], want);
                MOTUS_CHECK(scaled[i] == (int16_t)naive_scale(level[i], i, qp), "qp %d level %d",
                            qp, level[i]);
            }
        }
}

static void levels_are_clipped(void) {
    int16_t coef[16], level[16];
    for (int i = 0; i < 16; i++) coef[i] = i & 1 ? INT16_MIN : INT16_MAX;
    quant4x4(level, coef, 0, 32);
    for (int i = 0; i < 16; i++)
        MOTUS_CHECK(level[i] == (i & 1 ? -MOTUS_MAX_LEVEL : MOTUS_MAX_LEVEL), "i %d", i);
    quant_dc(level, coef, 16, 0, 32);
    for (int i = 0; i < 16; i++)
        MOTUS_CHECK(level[i] == (i & 1 ? -MOTUS_MAX_LEVEL : MOTUS_MAX_LEVEL), "DC %d", i);
}

// Checks for levels of real residuals that the 16-bit inverse equals 8.5.12 in wide integers, and
// that samples return within the quantizer's error.
static void round_trip_error_per_qp(void) {
    static const int deadzones[3] = {MOTUS_DEADZONE_INTER, MOTUS_DEADZONE_INTRA, 32};
    for (int qp = 0; qp <= 51; qp++)
        for (int round = 0; round < 3 * 60; round++) {
            int deadzone = deadzones[round % 3],
                kind =
                    round / 3 %
                    2; // not the extremes: 8.5.12's bound is for streams, and these could pass it
            double step_error = (64 - deadzone) / 64.0,
                   bound =
                       0.5 + 4 / 64.0; // final rounding; >> 1 in both passes. No weight passes 1:
            for (int i = 0; i < 16; i++)
                bound += (step_error * v_table[qp % 6][class_of[i]] * (1 << qp / 6) + 2) / 64;
            uint8_t src[64], pred[64], dst[64];
            int16_t coef[16], level[16], d[16];
            int wide[16], r[16];
            dct_fill_block(src, pred, 64, kind);
            motus_forward4x4(coef, src, 16, pred, 16);
            quant4x4(level, coef, qp, deadzone);
            dequant4x4(d, level, qp);
            motus_inverse4x4_add(dst, 16, pred, 16, d);
            for (int i = 0; i < 16; i++) wide[i] = naive_scale(level[i], i, qp);
            naive_inverse(r, wide);
            for (int i = 0; i < 16; i++) {
                int at = i / 4 * 16 + i % 4;
                MOTUS_CHECK(dst[at] == clip(0, 255, pred[at] + r[i]), "qp %d kind %d", qp, kind);
                MOTUS_CHECK(abs(dst[at] - src[at]) <= bound, "qp %d kind %d error %d", qp, kind,
                            dst[at] - src[at]);
            }
        }
}

// Rounding to the nearest level leaves a uniform error. Its mean square is Qstep^2 / 12, plus 1 /
// 12 from rounding samples.
static void error_power_follows_the_step(void) {
    static const double qstep0[6] = {0.625, 0.6875, 0.8125, 0.875, 1, 1.125};
    for (int qp = 12; qp <= 36; qp++) {
        double sum = 0, qstep = qstep0[qp % 6] * (1 << qp / 6), want = (qstep * qstep + 1) / 12;
        enum { BLOCKS = 1500 };
        for (int round = 0; round < BLOCKS; round++) {
            uint8_t src[64], pred[64], dst[64];
            int16_t coef[16], d[16];
            for (int i = 0; i < 64; i++)
                src[i] = (uint8_t)motus_test_range(96, 159),
                pred[i] = (uint8_t)motus_test_range(96, 159);
            motus_forward4x4(coef, src, 16, pred, 16);
            quant4x4(d, coef, qp, 32);
            dequant4x4(d, d, qp);
            motus_inverse4x4_add(dst, 16, pred, 16, d);
            for (int i = 0; i < 16; i++) {
                int e = dst[i / 4 * 16 + i % 4] - src[i / 4 * 16 + i % 4];
                sum += e * e;
            }
        }
        double mse = sum / (16 * BLOCKS);
        MOTUS_CHECK(mse > 0.85 * want && mse < 1.15 * want, "qp %d: %f, not %f", qp, mse, want);
    }
}

static void luma_dc(void) {
    for (int round = 0; round < 3000; round++) {
        int qp = round % 52, big = round / 52 % 3;
        int v[16];
        int16_t dc[16], level[16];
        int64_t x[16], want[16], out[16];
        for (int i = 0; i < 16; i++)
            x[i] = v[i] = dc[i] = (int16_t)(big == 2 ? (motus_test_random() & 1 ? 4080 : -4080)
                                                     : motus_test_range(-4080, 4080) >> (5 * big));
        dct_naive_transform(4, want, hadamard4, x);
        motus_hadamard4x4(v);
        for (int i = 0; i < 16; i++) {
            MOTUS_CHECK(v[i] == want[i], "%d", i);
            out[i] = (want[i] + 1) >> 1;
        }
        motus_luma_dc_code(level, dc, qp, 21);
        for (int i = 0; i < 16; i++) {
            MOTUS_CHECK(level[i] ==
                            naive_quant((int)out[i], v_table[qp % 6][0], 16, 21, 16 + qp / 6),
                        "qp %d", qp);
            x[i] = level[i];
        }
        dct_naive_transform(4, want, hadamard4, x);
        for (int i = 0; i < 16; i++) { // 8.5.10
            int64_t f = want[i] * 16 * v_table[qp % 6][0];
            f = qp >= 36 ? f * (1 << (qp / 6 - 6)) : (f + (1 << (5 - qp / 6))) >> (6 - qp / 6);
            MOTUS_CHECK(dc[i] == (int16_t)f, "qp %d: %d, not %d", qp, dc[i], (int)f);
        }
    }
}

static void chroma_dc(void) {
    for (int round = 0; round < 3000; round++) {
        int qp = round % 40;
        int16_t dc[4], out[4], level[4], back[4];
        int64_t x[4], want[4];
        for (int i = 0; i < 4; i++)
            x[i] = dc[i] = (int16_t)(round % 7 ? motus_test_range(-4080, 4080) : 4080);
        dct_naive_transform(2, want, hadamard2, x);
        chroma_dc_forward(out, dc);
        for (int i = 0; i < 4; i++) MOTUS_CHECK(out[i] == want[i], "%d", i);
        quant_dc(level, out, 4, qp, 11);
        for (int i = 0; i < 4; i++) {
            MOTUS_CHECK(level[i] == naive_quant(out[i], v_table[qp % 6][0], 16, 11, 16 + qp / 6),
                        "qp %d", qp);
            x[i] = level[i];
        }
        dct_naive_transform(2, want, hadamard2, x);
        chroma_dc_inverse(back, level, qp);
        for (int i = 0; i < 4; i++) { // 8.5.11.2
            int64_t f = (want[i] * 16 * v_table[qp % 6][0] * (1 << qp / 6)) >> 5;
            MOTUS_CHECK(back[i] == (int16_t)f, "qp %d: %d, not %d", qp, back[i], (int)f);
        }
    }
}

// With rounding to the nearest level, DCs return 4 times as large (the scale of
// motus_inverse4x4_add), each within its error bound and unbiased on average.
static void dc_round_trip_is_unbiased(void) {
    for (int qp = 0; qp <= 45; qp += 3) {
        double luma_sum = 0, chroma_sum = 0,
               step = v_table[qp % 6][0] * pow(2, qp / 6.0 - (qp % 6) / 6.0);
        enum { ROUNDS = 2000 };
        for (int round = 0; round < ROUNDS; round++) {
            int16_t dc[16], level[16], t[16];
            for (int i = 0; i < 16; i++) t[i] = dc[i] = (int16_t)motus_test_range(-255, 255);
            motus_luma_dc_code(level, t, qp, 32);
            for (int i = 0; i < 16; i++) {
                int e = t[i] - 4 * dc[i];
                luma_sum += e;
                // 16 levels with half a step each, / 4, and the rounding of the halving.
                MOTUS_CHECK(abs(e) <= 2 * step + 5, "luma qp %d error %d", qp, e);
            }
            chroma_dc_forward(t, dc);
            quant_dc(t, t, 4, qp, 32);
            chroma_dc_inverse(t, t, qp);
            for (int i = 0; i < 4; i++) {
                int e = t[i] - 4 * dc[i];
                chroma_sum += e;
                MOTUS_CHECK(abs(e) <= step + 2, "chroma qp %d error %d", qp, e);
            }
        }
        double luma = luma_sum / (16 * ROUNDS), chroma = chroma_sum / (4 * ROUNDS);
        MOTUS_CHECK(fabs(luma) < 0.5 + 0.02 * step, "luma qp %d mean error %f of step %f", qp, luma,
                    step);
        MOTUS_CHECK(fabs(chroma) < 0.6 + 0.03 * step, "chroma qp %d mean error %f of step %f", qp,
                    chroma, step);
    }
}

static void chroma_qp_table(void) {
    static const int from_30[22] = {29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36,
                                    36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39};
    for (int qp = 0; qp <= 51; qp++)
        MOTUS_CHECK(motus_chroma_qp_of(qp) == (qp < 30 ? qp : from_30[qp - 30]), "%d", qp);
}

// Blocks that no residual gives: quantization, and scaling modulo 2^16.
static void any_block_quantizes_and_scales(void) {
    for (int round = 0; round < 52 * 33 * 4; round++) {
        int qp = round % 52, deadzone = round / 52 % 33;
        int16_t coef[16], level[16];
        for (int i = 0; i < 16; i++) coef[i] = dct_any_int16(round / (52 * 33));
        int16_t *scaled = (int16_t *)(void *)motus_test_guarded(32);
        quant4x4(level, coef, qp, deadzone);
        dequant4x4(scaled, coef, qp);
        for (int i = 0; i < 16; i++) {
            int want = naive_quant(coef[i], v_table[qp % 6][class_of[i]], norms[class_of[i]],
                                   deadzone, 15 + qp / 6);
            MOTUS_CHECK(level[i] == want, "qp %d dz %d coef %d: %d, not %d", qp, deadzone, coef[i],
                        level[i], want);
            MOTUS_CHECK(scaled[i] == (int16_t)naive_scale(coef[i], i, qp), "qp %d level %d", qp,
                        coef[i]);
        }
        MOTUS_CHECK(motus_test_guard_ok((uint8_t *)scaled), "qp %d", qp);
        motus_test_guard_free((uint8_t *)scaled);
    }
}

MOTUS_SUITE("quant", TEST(quant_and_scaling_formulas), TEST(levels_are_clipped),
            TEST(round_trip_error_per_qp), TEST(error_power_follows_the_step), TEST(luma_dc),
            TEST(chroma_dc), TEST(dc_round_trip_is_unbiased), TEST(chroma_qp_table),
            TEST(any_block_quantizes_and_scales))
