// Logs of a first pass: written and read again, cut short, damaged.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "encoder/rate/rate.h"
#include "tests/support/harness.h"

static void logs(void) {
    static const char fingerprint[] = "352x288 25/1 keyint 250";
    MotusPassLog log = {0}, read = {0};
    char text[20000] = "";
    size_t size = 0;
    for (int i = 0; i < 300; i++) {
        const MotusPassPicture p = {
            i % 50 == 0, motus_test_range(-999, 13056), motus_test_range(1, 1 << 30), 1 + i % 3,
            motus_test_random(), motus_test_random(),
            // Six B pictures, and a P behind them; every other time in a pyramid.
            i % 50 % 7 == 0                    ? MOTUS_NOT_B
            : i % 50 / 7 % 2 && i % 50 % 7 % 2 ? MOTUS_B_REFERENCE
                                               : MOTUS_B};
        REQUIRE_OK(motus_pass_log_add(&log, &p));
    }
    // In stream order: picture 7 of a mini-GOP comes first.
    for (int64_t i = 0; i < log.n; i++) {
        static const int order[2][7] = {{7, 1, 2, 3, 4, 5, 6}, {7, 3, 1, 2, 5, 4, 6}};
        const int64_t at = i % 50, k = (at + 6) % 7, pyramid = (at + 6) / 7 % 2 == 0;
        const int64_t shown = at ? i - k + order[pyramid][k] - 1 : i;
        char *lines = motus_pass_log_text(&log.picture[shown], i ? NULL : fingerprint);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s", lines);
        motus_free(lines);
    }
    const size_t last_line = size;
    size += (size_t)snprintf(text + size, sizeof text - size, "end %d\n", (int)log.n);
    CU_ASSERT_FATAL(size < sizeof text);
    MotusError error = {0};
    EXPECT_OK(motus_pass_log_read(&read, text, &error));
    CU_ASSERT_EQUAL_FATAL(read.n, log.n);
    CU_ASSERT_STRING_EQUAL(read.fingerprint, fingerprint);
    for (int i = 0; i < log.n; i++) {
        const MotusPassPicture *a = &log.picture[i], *b = &read.picture[i];
        CU_ASSERT(a->idr == b->idr && a->qp_q8 == b->qp_q8 && a->bits == b->bits &&
                  a->duration == b->duration && a->cost == b->cost && a->weighted == b->weighted &&
                  a->b == b->b);
    }
    motus_pass_log_free(&read);
    for (int k = 0; k < 300; k++) { // cut short
        char part[sizeof text];
        const size_t kept = (size_t)motus_test_range(0, (int)last_line);
        memcpy(part, text, kept);
        part[kept] = 0;
        CU_ASSERT(motus_pass_log_read(&read, part, &error) != MOTUS_OK);
        motus_pass_log_free(&read);
    }
    for (int k = 0; k < 300; k++) { // damaged: refused, or read with values in range
        char part[sizeof text];
        memcpy(part, text, sizeof part);
        part[motus_test_range(0, (int)size - 1)] = (char)motus_test_range(1, 255);
        if (motus_pass_log_read(&read, part, &error) == MOTUS_OK)
            for (int i = 0; i < read.n; i++)
                CU_ASSERT(read.picture[i].bits > 0 && read.picture[i].duration > 0);
        motus_pass_log_free(&read);
    }
    motus_pass_log_free(&log);
}

MOTUS_SUITE("pass_log", TEST(logs))
