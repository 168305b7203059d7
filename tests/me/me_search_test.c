// Exhaustive search against the oracle: MV, SAD and cost of every block, with all versions for this
// CPU, one thread and several.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "me/me_cpu.h"
#include "me/search/search.h"
#include "tests/me/me_case.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>

static void random_cases(void) {
    for (int i = 0; i < 520; i++) {
        static const int ranges[] = {1, 2, 3, 4, 5, 7, 8, 11, 12, 15, 16, 17, 20, 23, 24};
        MeCase c;
        me_case_random(&c, ranges[motus_test_range(0, 14)], MOTUS_SUBPEL_FULL);
        me_case_check(&c, i);
        me_case_free(&c);
    }
}

static void wide_ranges(void) {
    static const int ranges[] = {32, 33, 63, 64, 100, 127, 128};
    for (int i = 0; i < 7; i++) {
        MeCase c;
        me_case_random(&c, ranges[i], MOTUS_SUBPEL_FULL);
        c.config.modes = 1u << motus_test_range(0, 6); // the oracle is slow
        me_case_check(&c, i);
        me_case_free(&c);
    }
}

// J of 65,535 and more at every point: the largest SAD plus an MV cost.
static void costs_beyond_16_bits(void) {
    for (int i = 0; i < 40; i++) {
        MeCase c;
        me_case_random(&c, motus_test_range(1, 8), MOTUS_SUBPEL_FULL);
        me_case_fill(&c, i % 4 ? ME_OPPOSITE : ME_NEARLY_OPPOSITE);
        c.hints.lambda = NULL;
        c.hints.lambda_q8 = (uint32_t[]){65535, 33000, 32768, 20000, 8192, 4000, 40, 1}[i / 4 % 8];
        me_case_check(&c, i);
        me_case_free(&c);
    }
}

// All points tie: the first in raster order must win.
static void ties(void) {
    for (int i = 0; i < 24; i++) {
        MeCase c;
        me_case_random(&c, motus_test_range(1, 20), MOTUS_SUBPEL_FULL);
        me_case_fill(&c, i % 2 ? ME_FLAT : ME_CHECKERBOARD);
        c.hints.lambda = NULL;
        c.hints.lambda_q8 = i % 3 ? 0 : 100;
        me_case_check(&c, i);
        me_case_free(&c);
    }
}

// Searches one MB with each version: the 41 results of plain C, no other write, within the scratch
// memory.
static void check_versions(const MotusMbJob *job, int number) {
    MotusMbMotion want;
    for (int v = 0; v < MOTUS_TEST_CPUS; v++) {
        motus_test_cpu(motus_test_cpus[v]);
        const MotusSearchOps *ops = motus_search_ops();
        uint8_t *scratch = motus_test_guarded(ops->scratch_bytes(job->range));
        MotusMbMotion out;
        memset(&out, 0xA5, sizeof out);
        ops->search(job, &out, scratch);
        if (v == 0) want = out;
        // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): padding was filled alike
        MOTUS_CHECK(!memcmp(&out, &want, sizeof out) && motus_test_guard_ok(scratch),
                    "case %d version %d R=%d at %d,%d centre %d,%d modes %#x lambda %u", number, v,
                    job->range, job->x, job->y, job->centre.x, job->centre.y, job->modes,
                    job->lambda_q8);
        motus_test_guard_free(scratch);
    }
}

static void versions(void) {
    enum { W = 96, H = 64 };
    static uint8_t cur[W * H], luma[W * H];
    const MotusPlane plane = {luma, W, W, H};
    MotusRefLuma ref;
    REQUIRE_OK(motus_ref_luma_alloc(&ref, W, H));
    for (int i = 0; i < 400; i++) {
        int noise = motus_test_range(0, 3),
            step = 1 << motus_test_range(0, 7); // few different samples: many ties
        for (int k = 0; k < W * H; k++) {
            luma[k] = (uint8_t)(motus_test_range(0, 255) / step * step);
            cur[k] = (uint8_t)(noise ? motus_test_range(0, 255) / step * step
                                     : luma[(k + 3 * W + 2) % (W * H)]);
        }
        motus_ref_luma_build(&ref, &plane, 0, 1);
        int x = 16 * motus_test_range(0, W / 16 - 1), y = 16 * motus_test_range(0, H / 16 - 1);
        MotusMbJob job = {.cur = cur + y * W + x, .cur_stride = W, .ref = &ref, .x = x, .y = y};
        if (i % 2)
            job.centre = (MotusMv){(int16_t)(4 * motus_test_range(-90, 90)),
                                   (int16_t)(4 * motus_test_range(-90, 90))};
        job.predictor =
            (MotusMv){(int16_t)motus_test_range(-300, 300), (int16_t)motus_test_range(-300, 300)};
        job.lambda_q8 = (uint32_t)motus_test_range(0, 4) * (uint32_t)motus_test_range(0, 700);
        job.modes = i % 3 ? MOTUS_MODES_ALL : (uint32_t)motus_test_range(1, MOTUS_MODES_ALL);
        job.range = i < 80    ? i % 40 + 1
                    : i < 384 ? motus_test_range(1, 16)
                    : i < 392 ? 128
                              : motus_test_range(60, 127);
        check_versions(&job, i);
    }
    motus_ref_luma_free(&ref);
}

// The match is perfect just beyond the range and poor within it, and MVs cost the maximum: the
// points that pad a vector register must not win.
static void beyond_range(void) {
    enum { W = 96, H = 80 };
    static uint8_t cur[W * H], luma[W * H]; // cur is black
    const MotusPlane plane = {luma, W, W, H};
    MotusRefLuma ref;
    REQUIRE_OK(motus_ref_luma_alloc(&ref, W, H));
    for (int i = 0; i < 80; i++) {
        MotusMbJob job = {
            .cur = cur, .cur_stride = W, .ref = &ref, .x = 16, .y = 16, .range = i % 16 + 1};
        for (int k = 0; k < W * H; k++)
            luma[k] =
                k % W > 16 + 15 + job.range || (i & 16 && k / W > 16 + 15 + job.range) ? 0 : 255;
        motus_ref_luma_build(&ref, &plane, 0, 1);
        job.predictor = (MotusMv){-8191, -8191};
        job.lambda_q8 = 65535;
        job.modes = i < 64 ? MOTUS_MODES_ALL & ~(1u << MOTUS_MODE_16x16)
                           : 1u << (i % 6 + 1); // 16x16 costs more than 65,535
        check_versions(&job, i);
    }
    motus_ref_luma_free(&ref);
}

static MotusStatus search_with(const MeCase *c, const MotusMeHints *hints) {
    MotusMe *me = NULL;
    MotusField *field = NULL;
    MotusStatus status = motus_me_open(&me, &c->config);
    if (status == MOTUS_OK) status = motus_field_alloc(&field, c->config.width, c->config.height);
    if (status == MOTUS_OK) status = motus_me_search(me, &c->cur, &c->ref, hints, field);
    motus_field_free(&field);
    motus_me_close(&me);
    return status;
}

// The limits of centres, predictors and lambda.
static void hints_out_of_range(void) {
    MeCase c;
    me_case_random(&c, 2, MOTUS_SUBPEL_FULL);
    MotusMv outside[64] = {{0, 0}};
    MotusMeHints hints = {.centre = outside};
    EXPECT_OK(search_with(&c, &hints));
    static const MotusMv wrong[] = {
        {2, 0}, {0, -1}, {MOTUS_MAX_CENTRE + 4, 0}, {0, -MOTUS_MAX_CENTRE - 4}};
    for (int i = 0; i < 4; i++) {
        outside[0] = wrong[i];
        MOTUS_CHECK(search_with(&c, &hints) == MOTUS_ERR_ARGUMENT, "centre %d", i);
    }
    outside[0] = (MotusMv){0, -8192};
    CU_ASSERT_EQUAL(search_with(&c, &(MotusMeHints){.predictor = outside}), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(search_with(&c, &(MotusMeHints){.lambda_q8 = MOTUS_MAX_LAMBDA_Q8 + 1}),
                    MOTUS_ERR_ARGUMENT);
    me_case_free(&c);
    motus_me_close(NULL);
    motus_field_free(NULL);
}

// A context's scratch memory serves every lower range, too.
static void lowered_ranges(void) {
    for (int range = 1; range <= MOTUS_MAX_RANGE; range++) {
        MotusMeConfig config = motus_me_config_default(16, 16);
        MotusMeCpu *cpu = NULL;
        config.range = range, config.threads = 1;
        REQUIRE_OK(motus_me_cpu_open(&cpu, &config));
        for (int lower = 1; lower <= range; lower++)
            MOTUS_CHECK(cpu->scratch_size >= cpu->search->scratch_bytes(lower), "range %d of %d",
                        lower, range);
        motus_me_cpu_close(&cpu);
    }
}

static void memory_runs_out(void) {
    MeCase c;
    me_case_random(&c, 2, MOTUS_SUBPEL_QUARTER);
    MotusStatus status = MOTUS_ERR_MEMORY;
    int n = 0;
    for (; status == MOTUS_ERR_MEMORY && n < 100; n++) {
        motus_alloc_fail_after(n);
        status = search_with(&c, NULL);
    }
    motus_alloc_fail_after(-1);
    EXPECT_OK(status);
    CU_ASSERT(n > 5);
    me_case_free(&c);
}

MOTUS_SUITE("me_search", TEST(random_cases), TEST(wide_ranges), TEST(costs_beyond_16_bits),
            TEST(ties), TEST(versions), TEST(beyond_range), TEST(hints_out_of_range),
            TEST(lowered_ranges), TEST(memory_runs_out))
