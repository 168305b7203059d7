// QPs of macroblocks from a picture's QP, the lookahead's and the caller's offsets.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/rate.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/harness.h"

static void maps(void) {
    enum { N = 300 };
    int16_t offset[N];
    int8_t extra[N], map[N];
    for (int k = 0; k < 500; k++) {
        const int lo = motus_test_range(0, 30), hi = motus_test_range(lo, 51),
                  base = motus_test_range(-2000, 16000), with = k % 3;
        int mean;
        for (int i = 0; i < N; i++)
            offset[i] = (int16_t)motus_test_range(k & 1 ? -5120 : -600, k & 1 ? 5120 : 600),
            extra[i] = (int8_t)motus_test_range(-128, 127);
        const int slice = motus_rate_map(map, base, with ? offset : NULL, with == 2 ? extra : NULL,
                                         N, 0, lo, hi, &mean);
        CU_ASSERT(slice >= lo && slice <= hi && mean >= lo * 256 && mean <= hi * 256);
        double kept = 0;
        for (int i = 0; i < N; i++) {
            const double exact = (base + (with ? offset[i] : 0)) / 256.0;
            if (!i || fabs(exact - kept) >= 1.5) kept = floor(exact + 0.5);
            const double qp = kept + (with == 2 ? extra[i] : 0);
            CU_ASSERT_EQUAL(slice + map[i], (int)fmin(fmax(qp, lo), hi));
        }
    }
}

// Rows of MBs take the two nearest QPs, upper ones the lower, and their mean is near the exact one.
static void spread_maps(void) {
    enum { WIDTH = 10, ROWS = 32, N = WIDTH * ROWS };
    int8_t map[N];
    for (int qp_q8 = 20 * 256; qp_q8 < 22 * 256; qp_q8 += 8) {
        int mean;
        const int slice = motus_rate_map(map, qp_q8, NULL, NULL, N, WIDTH, 0, 51, &mean);
        CU_ASSERT(abs(mean - qp_q8) <= 256 / ROWS);
        for (int i = 0; i < N; i++) {
            const int qp = slice + map[i];
            CU_ASSERT(qp == qp_q8 / 256 || qp == qp_q8 / 256 + 1);
            CU_ASSERT(!i || (map[i] >= map[i - 1] && (i % WIDTH == 0 || map[i] == map[i - 1])));
        }
    }
}

MOTUS_SUITE("rate_map", TEST(maps), TEST(spread_maps))
