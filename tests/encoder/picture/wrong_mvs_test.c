// Wrong external MVs are refused, with the reason, and leave the encoder as it was.
// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>
#include <string.h>

#include "motus/encoder.h"
#include "tests/conformance/decoders/material.h"
#include "tests/support/harness.h"

enum { PICTURES = 9 };

typedef struct Wrong {
    const char *what; // part of the error's text
    int width, b;     // of the field; the changed block
    MotusMv mv;
    uint32_t modes;
} Wrong;

static void refuse(MotusEncoder *enc, const MotusFrame *frame, const Wrong *w) {
    MotusField *field = NULL;
    REQUIRE_OK(motus_field_alloc(&field, w->width, 48));
    field->mv[w->b][5] = w->mv;
    const MotusFrameParams params = {
        .size = sizeof params, .duration = 1, .external_mvs = field, .external_modes = w->modes};
    CU_ASSERT_EQUAL(motus_encoder_send(enc, frame, &params), MOTUS_ERR_ARGUMENT);
    MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, w->what), "\"%s\" in \"%s\"", w->what,
                motus_encoder_error(enc)->text);
    motus_field_free(&field);
}

static void wrong_fields_are_refused(void) {
    static const Wrong wrong[] = {{"the picture 4x3", 80, 0, {0, 0}, 0},
                                  {"macroblock 5, block 0", 64, 0, {8192, 0}, 0},
                                  {"macroblock 5, block 40", 64, 40, {-8189, 0}, 0},
                                  {"macroblock 5, block 3", 64, 3, {0, 512}, 0},
                                  {"macroblock 5, block 7", 64, 7, {0, -32768}, 0},
                                  {"finer", 64, 1, {2, 1}, 0},
                                  {"lack 16x16", 64, 0, {0, 0}, 2},
                                  {"unknown", 64, 0, {0, 0}, 0x81}};
    MotusEncoderConfig c = motus_encoder_config_default(64, 48, (MotusRational){25, 1});
    c.backend = MOTUS_BACKEND_CPU;
    c.subpel = MOTUS_SUBPEL_HALF;
    MotusEncoder *enc = NULL, *untouched = NULL;
    MotusPacket *packet, *wanted;
    REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
    REQUIRE_OK(motus_encoder_open(&untouched, &c, NULL));
    for (int i = 0; i < PICTURES; i++) {
        MotusFrame *frame = motus_material_frame(MOTUS_MATERIAL_SCENE, 64, 48, i);
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) refuse(enc, frame, &wrong[k]);
        // A program compiled before fields existed.
        const MotusFrameParams params = {.size = offsetof(MotusFrameParams, external_mvs),
                                         .duration = 1,
                                         .external_mvs = (MotusField *)&c};
        EXPECT_OK(motus_encoder_send(enc, frame, &params));
        EXPECT_OK(motus_encoder_send(untouched, frame, NULL));
        REQUIRE_OK(motus_encoder_receive(enc, &packet, -1));
        REQUIRE_OK(motus_encoder_receive(untouched, &wanted, -1));
        CU_ASSERT_TRUE(packet->size == wanted->size &&
                       !memcmp(packet->data, wanted->data, packet->size));
        CU_ASSERT_PTR_NULL(packet->field);
        motus_packet_unref(&packet);
        motus_packet_unref(&wanted);
        motus_frame_unref(&frame);
    }
    motus_encoder_close(&enc);
    motus_encoder_close(&untouched);
}

static void wrong_mvs_by_reference_are_refused(void) {
    static const struct {
        const char *what;
        MotusCodedMv entry;
    } wrong[] = {
        {"outside the picture", {.x = 64, .width = 16, .height = 16, .distance = -1}},
        {"outside the picture", {.y = 48, .width = 16, .height = 16, .distance = -1}},
        {"no block", {.x = 8, .width = 16, .height = 8, .distance = -1}},
        {"no block", {.width = 0, .height = 8, .distance = -1}},
        {"distance is 0", {.x = 56, .y = 40, .width = 8, .height = 8}},
        {"range", {.width = 16, .height = 16, .distance = 1, .mv = {8193, 0}}},
        {"range", {.width = 16, .height = 16, .distance = 1, .mv = {0, INT16_MIN}}},
    };
    MotusEncoderConfig c = motus_encoder_config_default(64, 48, (MotusRational){25, 1});
    MotusEncoder *enc = NULL;
    MotusFrame *frame = motus_material_frame(MOTUS_MATERIAL_SCENE, 64, 48, 0);
    MotusField *field = NULL;
    c.backend = MOTUS_BACKEND_CPU;
    REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
    REQUIRE_OK(motus_field_alloc(&field, 64, 48));
    MotusFrameParams params = {.size = sizeof params, .duration = 1, .n_reference_mvs = 1};
    CU_ASSERT_EQUAL(motus_encoder_send(enc, frame, &params), MOTUS_ERR_ARGUMENT);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        params.reference_mvs = &wrong[i].entry;
        CU_ASSERT_EQUAL(motus_encoder_send(enc, frame, &params), MOTUS_ERR_ARGUMENT);
        MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, wrong[i].what), "\"%s\" in \"%s\"",
                    wrong[i].what, motus_encoder_error(enc)->text);
    }
    params.reference_mvs = &(MotusCodedMv){.width = 16, .height = 16, .distance = -1};
    params.external_mvs = field;
    CU_ASSERT_EQUAL(motus_encoder_send(enc, frame, &params), MOTUS_ERR_ARGUMENT);
    params.external_mvs = NULL;
    EXPECT_OK(motus_encoder_send(enc, frame, &params));
    motus_encoder_close(&enc);
    motus_field_free(&field);
    motus_frame_unref(&frame);
}

MOTUS_SUITE("wrong_mvs", TEST(wrong_fields_are_refused), TEST(wrong_mvs_by_reference_are_refused))
