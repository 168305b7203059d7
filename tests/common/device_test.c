// common/device.h: devices that the build has no code for. One is pretended, so no GPU is needed.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/device.h"
#include "common/faults.h"
#include "motus/motus.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>

#define VOLTA 70 // no build has code for it

static void code_runs(void) {
    static const struct {
        const char *code;
        int capability, runs;
    } rows[] = {
        {"sm_90", 90, 1},         {"sm_90", 89, 0},         {"sm_90", 100, 0},
        {"sm_80", 86, 1},         {"sm_86", 80, 0},         {"sm_80", 90, 0},
        {"sm_100", 103, 1},       {"sm_100", 120, 0},       {"sm_75 sm_80", 89, 1},
        {"compute_90", 120, 1},   {"compute_90", 89, 0},    {"sm_75 compute_90", 100, 1},
        {"sm_90a", 90, 1},        {"sm_100a", 103, 0},      {"sm_100f", 103, 1},
        {"compute_90a", 100, 0},  {"compute_100f", 103, 1}, {"compute_100f", 120, 0},
        {"sm_90 sm_120", 121, 1}, {"sm_90 sm_120", 110, 0}, {"", VOLTA, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        MOTUS_CHECK(motus_device_code_runs(rows[i].code, rows[i].capability) == rows[i].runs,
                    "\"%s\" on %d", rows[i].code, rows[i].capability);
}

static int says_why(const MotusError *error) {
    return error->status == MOTUS_ERR_NO_DEVICE && strstr(error->text, "sm_70") &&
           strstr(error->text, motus_device_code());
}

static void code_is_missing(void) {
    MotusBackend chosen;
    MotusError error = {0};
    MotusMeConfig me_config = motus_me_config_default(64, 48);
    MotusEncoderConfig config = motus_encoder_config_default(64, 48, (MotusRational){25, 1});
    MotusMe *me = NULL;
    MotusEncoder *encoder = NULL;
    if (!*motus_device_code()) return; // a build without CUDA
    motus_device_pretend(VOLTA);
    CU_ASSERT(motus_device_lacks_code(NULL));
    CU_ASSERT_EQUAL(motus_device_check(&error), MOTUS_ERR_NO_DEVICE);
    CU_ASSERT(says_why(&error));
    CU_ASSERT_EQUAL(motus_backend_choose(MOTUS_BACKEND_CUDA, &chosen), MOTUS_ERR_NO_DEVICE);

    me_config.error = &error, error = (MotusError){0};
    EXPECT_OK(motus_me_open(&me, &me_config)); // AUTO
    CU_ASSERT(motus_me_backend(me) == MOTUS_BACKEND_CPU && says_why(&error));
    CU_ASSERT(says_why(motus_me_error(me)));
    motus_me_close(&me);
    me_config.backend = MOTUS_BACKEND_CUDA, error = (MotusError){0};
    CU_ASSERT(motus_me_open(&me, &me_config) == MOTUS_ERR_NO_DEVICE && says_why(&error));

    EXPECT_OK(motus_encoder_open(&encoder, &config, NULL));
    CU_ASSERT(motus_encoder_backend(encoder) == MOTUS_BACKEND_CPU);
    CU_ASSERT(says_why(motus_encoder_error(encoder)));
    motus_encoder_close(&encoder);
    config.backend = MOTUS_BACKEND_CUDA, error = (MotusError){0};
    CU_ASSERT(motus_encoder_open(&encoder, &config, &error) == MOTUS_ERR_NO_DEVICE);
    CU_ASSERT(says_why(&error));
    motus_device_pretend(0);
}

static void code_is_there(void) {
    const char *sm = strstr(motus_device_code(), "sm_");
    int device = -1;
    if (!sm) return;
    motus_device_pretend(atoi(sm + 3));
    EXPECT_OK(motus_device_choose(-1, &device, NULL));
    CU_ASSERT(device == 0 && !motus_device_lacks_code(NULL));
    CU_ASSERT_EQUAL(motus_device_choose(1, &device, NULL), MOTUS_ERR_NO_DEVICE);
    motus_device_pretend(0);
}

MOTUS_SUITE("device", TEST(code_runs), TEST(code_is_missing), TEST(code_is_there))
