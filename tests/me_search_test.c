// Exhaustive search against the oracle: every block's vector, SAD and cost, plain C and AVX2, one thread and several.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "tests/harness.h"
#include "tests/me_case.h"

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
        c.config.modes = 1u << motus_test_range(0, 6); // the oracle takes its time
        me_case_check(&c, i);
        me_case_free(&c);
    }
}

// J of 65,535 and more at every point: the largest SAD and a vector cost on top.
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

// All points tie: the first in raster order must win everywhere.
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

static void arguments(void) {
    MotusMe *me = NULL;
    const MotusMeConfig good = motus_me_config_default(32, 16);
    MotusMeConfig bad[] = {good, good, good, good, good, good, good, good, good};
    bad[0].width = 0, bad[1].height = MOTUS_MAX_SIZE + 1, bad[2].range = 0, bad[3].range = 129, bad[4].modes = 0;
    bad[5].modes = 0x80, bad[6].subpel = (MotusSubpel)3, bad[7].threads = -1, bad[8].backend = (MotusBackend)7;
    for (int i = 0; i < 9; i++) MOTUS_CHECK(motus_me_open(&me, &bad[i]) == MOTUS_ERR_ARGUMENT && !me, "setting %d", i);
    CU_ASSERT_EQUAL(motus_me_open(NULL, &good), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_me_open(&me, NULL), MOTUS_ERR_ARGUMENT);

    MeCase c;
    me_case_random(&c, 2, MOTUS_SUBPEL_FULL);
    MotusMv outside[64] = {{0, 0}};
    MotusMeHints hints = {.centre = outside};
    CU_ASSERT_EQUAL(search_with(&c, &hints), MOTUS_OK);
    static const MotusMv wrong[] = {{2, 0}, {0, -1}, {MOTUS_MAX_CENTRE + 4, 0}, {0, -MOTUS_MAX_CENTRE - 4}};
    for (int i = 0; i < 4; i++) {
        outside[0] = wrong[i];
        MOTUS_CHECK(search_with(&c, &hints) == MOTUS_ERR_ARGUMENT, "centre %d", i);
    }
    outside[0] = (MotusMv){0, -8192};
    CU_ASSERT_EQUAL(search_with(&c, &(MotusMeHints){.predictor = outside}), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(search_with(&c, &(MotusMeHints){.lambda_q8 = MOTUS_MAX_LAMBDA_Q8 + 1}), MOTUS_ERR_ARGUMENT);
    c.ref.width++;
    CU_ASSERT_EQUAL(search_with(&c, NULL), MOTUS_ERR_ARGUMENT);
    c.ref.width--;
    me_case_free(&c);
    motus_me_close(&me);
    motus_me_close(NULL);
    motus_field_free(NULL);
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
    CU_ASSERT_EQUAL(status, MOTUS_OK);
    CU_ASSERT(n > 5);
    me_case_free(&c);
}

static const MotusTest tests[] = {{"random_cases", random_cases},
                                  {"wide_ranges", wide_ranges},
                                  {"costs_beyond_16_bits", costs_beyond_16_bits},
                                  {"ties", ties},
                                  {"arguments", arguments},
                                  {"memory_runs_out", memory_runs_out},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("me_search", tests, argc, argv); }
