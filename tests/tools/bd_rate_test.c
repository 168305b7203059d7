// BD-rate: cases with known answers, published worked examples, and values of another
// implementation.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include "tests/support/harness.h"
#include "tools/x264/x264.h"

static const MotusRdPoint curve[4] = {{100, 30.0}, {210, 33.5}, {450, 36.2}, {1000, 39.9}};

static double rate(const MotusRdPoint *anchor, const MotusRdPoint *test) {
    double percent = NAN;
    EXPECT_OK(motus_bd_rate(anchor, 4, test, 4, &percent));
    return percent;
}

#define CHECK_NEAR(value, want, tolerance, ...)                                                    \
    MOTUS_CHECK(fabs((value) - (want)) < (tolerance), __VA_ARGS__)

static void same_and_scaled(void) {
    const double factors[] = {0.5, 1.1, 1.2, 3.0};
    CHECK_NEAR(rate(curve, curve), 0, 1e-9, "the same curve");
    for (int f = 0; f < 4; f++) {
        MotusRdPoint scaled[4];
        for (int i = 0; i < 4; i++)
            scaled[i] = (MotusRdPoint){curve[i].kbps * factors[f], curve[i].psnr};
        CHECK_NEAR(rate(curve, scaled), 100 * (factors[f] - 1), 1e-6, "factor %g", factors[f]);
        CHECK_NEAR((1 + rate(scaled, curve) / 100) * factors[f], 1, 1e-9,
                   "the other way, factor %g", factors[f]);
    }
}

static void any_order(void) {
    const MotusRdPoint reversed[4] = {curve[3], curve[2], curve[1], curve[0]};
    const MotusRdPoint mixed[4] = {curve[2], curve[0], curve[3], curve[1]};
    CHECK_NEAR(rate(curve, reversed), 0, 1e-9, "reversed");
    CHECK_NEAR(rate(mixed, reversed), 0, 1e-9, "mixed");
}

// A straight line in log10(rate), and one 0.1 above it over another range of PSNR.
static void straight_lines(void) {
    const double x[4] = {30, 32, 35, 41}, above_x[4] = {28, 33, 36, 40};
    MotusRdPoint line[4], above[4];
    for (int i = 0; i < 4; i++) {
        line[i] = (MotusRdPoint){pow(10, x[i] / 10), x[i]};
        above[i] = (MotusRdPoint){pow(10, above_x[i] / 10 + 0.1), above_x[i]};
    }
    CHECK_NEAR(rate(line, above), 100 * (pow(10, 0.1) - 1), 1e-6, "lines");
}

// Results of another implementation (in Python), all digits: crossing curves, end slopes held at 0
// on both sides, six points.
static void as_another_program(void) {
    const MotusRdPoint near[4] = {{90, 29.1}, {130, 32.0}, {520, 36.9}, {1500, 41.2}};
    const MotusRdPoint steep[4] = {{100, 30.0}, {101, 32.0}, {400, 33.0}, {900, 39.0}};
    const MotusRdPoint flat[4] = {{100, 30.0}, {300, 30.5}, {310, 36.0}, {1000, 39.9}};
    const MotusRdPoint six[6] = {{80, 28},  {120, 31},   {200, 33.3},
                                 {330, 35}, {800, 38.1}, {1300, 40.4}};
    double percent = NAN;
    CHECK_NEAR(rate(curve, near), -5.582238017707342, 1e-9, "near");
    CHECK_NEAR(rate(curve, steep), 39.07719489006527, 1e-9, "steep");
    CHECK_NEAR(rate(curve, flat), 13.643526810622241, 1e-9, "flat");
    CHECK_NEAR(rate(steep, flat), -16.336732102059383, 1e-9, "steep, flat");
    EXPECT_OK(motus_bd_rate(curve, 4, six, 6, &percent));
    CHECK_NEAR(percent, 5.284869013650062, 1e-9, "six");
    EXPECT_OK(motus_bd_rate(six, 6, curve, 4, &percent));
    CHECK_NEAR(percent, -5.019590244221028, 1e-9, "of six");
}

// JCTVC-E137's two examples, whose spreadsheet interpolates piecewise as well: -0.465215... and
// -1.877982... per cent, as the tests of Netflix's VMAF quote them.
static void published_examples(void) {
    const MotusRdPoint anchor[2][4] = {
        {{108048.8736, 43.6471}, {61279.976, 40.3953}, {33905.6656, 37.247}, {18883.6928, 34.2911}},
        {{40433.8848, 37.5761}, {7622.7456, 35.3756}, {2394.488, 33.8977}, {1017.6184, 32.0603}}};
    const MotusRdPoint test[2][4] = {
        {{108061.2784, 43.6768},
         {61299.9936, 40.4232},
         {33928.7472, 37.2761},
         {18910.912, 34.3147}},
        {{40370.12, 37.5982}, {7587.0024, 35.4025}, {2390.0944, 33.9194}, {1017.0984, 32.0822}}};
    CHECK_NEAR(rate(anchor[0], test[0]), -0.465215420752807, 1e-6, "the first");
    CHECK_NEAR(rate(anchor[1], test[1]), -1.8779823450567612, 1e-6, "the second");
}

static void bad_curves(void) {
    const struct {
        const char *what;
        int n;
        MotusRdPoint point[4];
    } bad[] = {
        {"three points", 3, {{100, 30}, {200, 31}, {300, 32}}},
        {"falling", 4, {{100, 30}, {200, 29}, {300, 32}, {400, 33}}},
        {"the same PSNR twice", 4, {{100, 30}, {200, 30}, {300, 32}, {400, 33}}},
        {"the same rate twice", 4, {{100, 30}, {100, 31}, {300, 32}, {400, 33}}},
        {"no rate", 4, {{0, 30}, {200, 31}, {300, 32}, {400, 33}}},
        {"no number", 4, {{100, NAN}, {200, 31}, {300, 32}, {400, 33}}},
        {"out of reach", 4, {{100, 39.9}, {200, 41}, {300, 42}, {400, 43}}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double percent = 7;
        MotusStatus there = motus_bd_rate(curve, 4, bad[i].point, bad[i].n, &percent);
        MotusStatus back = motus_bd_rate(bad[i].point, bad[i].n, curve, 4, &percent);
        MOTUS_CHECK(there == MOTUS_ERR_ARGUMENT && back == MOTUS_ERR_ARGUMENT && percent == 7, "%s",
                    bad[i].what);
    }
    MotusRdPoint many[MOTUS_RD_POINTS + 1];
    for (int i = 0; i <= MOTUS_RD_POINTS; i++) many[i] = (MotusRdPoint){100 + i, 30 + i};
    double percent = 7;
    EXPECT_OK(motus_bd_rate(many, MOTUS_RD_POINTS, many, MOTUS_RD_POINTS, &percent));
    CU_ASSERT_EQUAL(motus_bd_rate(curve, 4, many, MOTUS_RD_POINTS + 1, &percent),
                    MOTUS_ERR_ARGUMENT);
}

MOTUS_SUITE("bd_rate", TEST(same_and_scaled), TEST(any_order), TEST(straight_lines),
            TEST(as_another_program), TEST(published_examples), TEST(bad_curves))
