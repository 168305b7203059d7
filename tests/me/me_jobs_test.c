// Several pictures in flight on the CPU give the fields of single searches; calls out of order.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/faults.h"
#include "motus/me.h"
#include "motus/upload.h"
#include "tests/support/harness.h"

#define FRAMES 7
#define WIDTH 70
#define HEIGHT 45

static MotusMe *open_cpu(void) {
    MotusMe *me = NULL;
    MotusMeConfig config = motus_me_config_default(WIDTH, HEIGHT);
    config.range = 5;
    config.backend = MOTUS_BACKEND_CPU;
    REQUIRE_OK(motus_me_open(&me, &config));
    return me;
}

static MotusField *new_field(void) {
    MotusField *field = NULL;
    REQUIRE_OK(motus_field_alloc(&field, WIDTH, HEIGHT));
    return field;
}

// A sequence in which each picture is passed once equals a search of each pair.
static void sequence(void) {
    static uint8_t samples[FRAMES][WIDTH * HEIGHT];
    MotusPlane plane[FRAMES];
    MotusField *want = new_field(), *field[FRAMES], *got = NULL;
    MotusMe *me = open_cpu(), *pairs = open_cpu();
    const MotusMeHints hints = {.lambda_q8 = 700};
    motus_test_fill(samples, sizeof samples);
    for (int i = 0; i < FRAMES; i++) {
        plane[i] = (MotusPlane){samples[i], WIDTH, WIDTH, HEIGHT};
        field[i] = new_field();
    }
    for (int sent = 0, received = 0; received < FRAMES;) {
        int reference = sent ? sent - 1 : 0;
        MotusMeJob job = {.cur = &plane[sent % FRAMES],
                          .ref = sent ? NULL : &plane[0],
                          .hints = &hints,
                          .field = field[sent % FRAMES]};
        MotusStatus status = sent < FRAMES ? motus_me_submit(me, &job) : MOTUS_AGAIN;
        MOTUS_CHECK(status == (sent < FRAMES && sent - received < MOTUS_ME_IN_FLIGHT ? MOTUS_OK
                                                                                     : MOTUS_AGAIN),
                    "%d sent", sent);
        if (status == MOTUS_OK) {
            EXPECT_OK(motus_me_search(pairs, &plane[sent], &plane[reference], &hints, want));
            MOTUS_CHECK(motus_test_same_fields(want, field[sent]), "picture %d", sent);
            sent++;
        } else {
            EXPECT_OK(motus_me_receive(me, &got));
            CU_ASSERT_PTR_EQUAL(got, field[received]);
            received++;
        }
    }
    CU_ASSERT_EQUAL(motus_me_receive(me, &got), MOTUS_END);
    for (int i = 0; i < FRAMES; i++) motus_field_free(&field[i]);
    motus_field_free(&want);
    motus_me_close(&me);
    motus_me_close(&pairs);
}

static void states(void) {
    static uint8_t samples[WIDTH * HEIGHT];
    MotusPlane plane = {samples, WIDTH, WIDTH, HEIGHT};
    MotusMe *me = open_cpu();
    MotusField *field = new_field();
    MotusMeJob good = {.cur = &plane, .ref = &plane, .field = field};
    CU_ASSERT_EQUAL(motus_me_receive(me, NULL), MOTUS_END);
    motus_alloc_fail_after(0);
    CU_ASSERT_EQUAL(motus_me_submit(me, &good), MOTUS_ERR_MEMORY);
    motus_alloc_fail_after(-1);
    EXPECT_OK(motus_me_submit(me, &good));
    CU_ASSERT_EQUAL(motus_me_search(me, &plane, &plane, NULL, field), MOTUS_ERR_STATE);
    EXPECT_OK(motus_me_receive(me, NULL));
    EXPECT_OK(motus_me_search(me, &plane, &plane, NULL, field));
    CU_ASSERT_EQUAL(motus_me_error(me)->text[0], 0);
    motus_field_free(&field);
    motus_me_close(&me);
}

static void host_memory(void) {
    uint8_t *memory = motus_host_alloc(1000);
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    CU_ASSERT_EQUAL((uintptr_t)memory % 64, 0);
    memset(memory, 1, 1000);
    motus_host_free(memory);
    motus_host_free(NULL);
}

MOTUS_SUITE("me_jobs", TEST(sequence), TEST(states), TEST(host_memory))
