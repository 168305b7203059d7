// common/: integer helpers, allocator, statuses.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/faults.h"
#include "common/int_core.h"
#include "motus/motus.h"
#include "tests/support/harness.h"

#include <stdint.h>

// Length of the ue(v) code, from the definition in 9.1.
static int ue_length(uint32_t v) {
    int zeros = 0;
    while (v + 1 >= 2u << zeros) zeros++;
    return 2 * zeros + 1;
}

static void exp_golomb_lengths(void) {
    for (uint32_t v = 0; v < 70000; v++) MOTUS_CHECK(motus_ue_bits(v) == ue_length(v), "v=%u", v);
    for (int v = -40000; v < 40000; v++)
        MOTUS_CHECK(motus_se_bits(v) == ue_length(v > 0 ? 2u * v - 1 : 2u * -v), "v=%d", v);
}

static void clips_and_median(void) {
    for (int v = -1000; v < 1300; v++)
        MOTUS_CHECK(motus_clip_u8(v) == motus_clip(0, 255, v), "v=%d", v);
    for (int i = 0; i < 1000; i++) {
        int v[3] = {motus_test_range(-9, 9), motus_test_range(-9, 9), motus_test_range(-9, 9)};
        int m = motus_median(v[0], v[1], v[2]), below = 0, above = 0;
        for (int k = 0; k < 3; k++) below += v[k] <= m, above += v[k] >= m;
        MOTUS_CHECK(below >= 2 && above >= 2 && (m == v[0] || m == v[1] || m == v[2]), "%d %d %d",
                    v[0], v[1], v[2]);
    }
}

static void allocator(void) {
    CU_ASSERT_PTR_NULL(motus_alloc(SIZE_MAX / 2, 3));
    uint8_t *p = motus_alloc(3, 7);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    CU_ASSERT_EQUAL((uintptr_t)p % 64, 0);
    for (int i = 0; i < 21; i++) CU_ASSERT_EQUAL(p[i], 0);
    motus_free(p);
    motus_alloc_fail_after(1);
    void *first = motus_alloc(1, 1), *second = motus_alloc(1, 1), *third = motus_alloc(1, 1);
    CU_ASSERT(first && !second && third);
    motus_alloc_fail_after(-1);
    motus_free(first);
    motus_free(third);
}

static void statuses(void) {
    CU_ASSERT_STRING_EQUAL(motus_status_name(MOTUS_ERR_FORMAT), "MOTUS_ERR_FORMAT");
    for (int s = MOTUS_END; s <= MOTUS_AGAIN; s++)
        CU_ASSERT_STRING_NOT_EQUAL(motus_status_text(s), "unknown status");
    for (int s = MOTUS_ERR_INTERNAL; s <= MOTUS_OK; s++) {
        CU_ASSERT_STRING_NOT_EQUAL(motus_status_name(s), "MOTUS_ERR_?");
        CU_ASSERT_STRING_NOT_EQUAL(motus_status_text(s), "unknown status");
    }
    CU_ASSERT_STRING_EQUAL(motus_status_name(MOTUS_ERR_INTERNAL), "MOTUS_ERR_INTERNAL");
    CU_ASSERT_STRING_EQUAL(motus_status_name((MotusStatus)-99), "MOTUS_ERR_?");
    CU_ASSERT_STRING_EQUAL(motus_status_text(MOTUS_END), "no more data");
    CU_ASSERT_STRING_EQUAL(motus_version(), "0.2.0");
    MotusBackend chosen = MOTUS_BACKEND_AUTO;
    EXPECT_OK(motus_backend_choose(MOTUS_BACKEND_AUTO, &chosen));
    CU_ASSERT_NOT_EQUAL(chosen, MOTUS_BACKEND_AUTO);
}

MOTUS_SUITE("common", TEST(exp_golomb_lengths), TEST(clips_and_median), TEST(allocator),
            TEST(statuses))
