// Weights of 8.4.2.3: implicit ones against values worked out by hand and against the clauses in
// wide arithmetic; samples against 8.4.2.3.2.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb/weights_core.h"
#include "tests/support/harness.h"

// Returns clip3 of wide integers.
static int64_t clip(int64_t low, int64_t high, int64_t v) {
    return v < low ? low : v > high ? high : v;
}

// Returns floor(v / 2^n).
static int64_t shift(int64_t v, int n) {
    const int64_t unit = (int64_t)1 << n;
    return v >= 0 ? v / unit : -((-v + unit - 1) / unit);
}

// Returns list 1's weight by 8.4.1.2.3 and 8.4.2.3.1, from picture order counts.
static int64_t implicit(int64_t cur, int64_t poc0, int64_t poc1) {
    const int64_t tb = clip(-128, 127, cur - poc0), td = clip(-128, 127, poc1 - poc0);
    if (poc1 == poc0) return 32;
    const int64_t tx = (16384 + (td < 0 ? -td : td) / 2) / td;
    const int64_t factor = clip(-1024, 1023, shift(tb * tx + 32, 6));
    return shift(factor, 2) < -64 || shift(factor, 2) > 128 ? 32 : shift(factor, 2);
}

static void implicit_weights(void) {
    // The current picture, the references of both lists, and list 1's weight.
    static const int known[][4] = {{1, 0, 2, 32},  {1, 0, 3, 21}, {2, 0, 3, 42},  {1, 0, 4, 16},
                                   {3, 0, 4, 48},  {5, 5, 5, 32}, {2, 1, 0, -64}, {3, 1, 0, 32},
                                   {2, 0, 1, 128}, {3, 0, 1, 32}, {1, 2, 0, 32},  {1, 0, 63, 1},
                                   {63, 0, 64, 63}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const int *v = known[k], got = MOTUS_EVEN_PAIR + motus_pair_offset(v[0], v[1], v[2]);
        MOTUS_CHECK(got == v[3], "%d of %d, %d: %d, not %d", v[0], v[1], v[2], got, v[3]);
    }
    for (int cur = 0; cur < 160; cur++)
        for (int ref0 = 0; ref0 < 160; ref0 += 1 + cur % 3)
            for (int ref1 = 0; ref1 < 160; ref1 += 1 + cur % 2) {
                const int64_t want = implicit(2 * cur, 2 * ref0, 2 * ref1);
                const int got = MOTUS_EVEN_PAIR + motus_pair_offset(cur, ref0, ref1);
                MOTUS_CHECK(got == want, "%d of %d, %d: %d, not %d", cur, ref0, ref1, got,
                            (int)want);
            }
}

static void samples(void) {
    for (int weight1 = -64; weight1 <= 128; weight1++)
        for (int k = 0; k < 400; k++) {
            const int a = k < 4 ? (k & 1) * 255 : motus_test_range(0, 255),
                      b = k < 4 ? (k >> 1) * 255 : motus_test_range(0, 255);
            const int64_t want = clip(0, 255, shift(a * (64 - weight1) + b * weight1 + 32, 6));
            MOTUS_CHECK(motus_pair_sample(a, b, weight1) == want, "%d, %d with %d", a, b, weight1);
        }
    for (int k = 0; k < 2000; k++) {
        const int denom = motus_test_range(1, 6);
        const MotusWeight w = {(int16_t)motus_test_range(-128, 127),
                               (int16_t)motus_test_range(-128, 127)};
        for (int v = 0; v < 256; v++) {
            const int got = motus_weighted_sample(v, w, denom);
            MOTUS_CHECK(
                got == clip(0, 255, shift(v * w.weight + (1 << (denom - 1)), denom) + w.offset),
                "%d * %d / 2^%d + %d: %d", v, w.weight, denom, w.offset, got);
        }
    }
}

MOTUS_SUITE("weights", TEST(implicit_weights), TEST(samples))
