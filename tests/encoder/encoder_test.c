// The encoder's contract: states, refusals, and streams that depend on frames and settings alone.
// The conformance suite checks their reconstruction.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/encoder.h"
#include "tests/encoder/encoder_case.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>

// One thread, several threads and plain C give the same stream.
static void stream_depends_on_settings_only(void) {
    static const int sizes[][2] = {{16, 16}, {176, 144}, {70, 98}, {2, 34}};
    for (int s = 0; s < 4; s++) {
        MotusFrame *frames[N_FRAMES];
        MotusEncoderConfig config = encoder_case_config(sizes[s][0], sizes[s][1]);
        Stream one = {0}, many = {0}, plain = {0};
        encoder_case_frames(frames, config.width, config.height);
        config.qp = motus_test_range(0, 51);
        config.threads = 1;
        REQUIRE_OK(encoder_case_encode(&config, frames, &one));
        config.threads = 5;
        REQUIRE_OK(encoder_case_encode(&config, frames, &many));
        motus_test_cpu("c");
        REQUIRE_OK(encoder_case_encode(&config, frames, &plain));
        motus_test_cpu(NULL);
        MOTUS_CHECK(one.size == many.size && !memcmp(one.data, many.data, one.size),
                    "threads, %dx%d qp %d", config.width, config.height, config.qp);
        MOTUS_CHECK(one.size == plain.size && !memcmp(one.data, plain.data, one.size),
                    "plain C, %dx%d qp %d", config.width, config.height, config.qp);
        free(one.data);
        free(many.data);
        free(plain.data);
        encoder_case_drop(frames);
    }
}

static void keyint_places_idr_pictures(void) {
    static const struct {
        int keyint, idr[N_FRAMES];
    } cases[] = {{0, {1, 0, 0, 0}}, {1, {1, 1, 1, 1}}, {2, {1, 0, 1, 0}}, {3, {1, 0, 0, 1}}};
    MotusFrame *frames[N_FRAMES];
    encoder_case_frames(frames, 48, 32);
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        MotusEncoderConfig config = encoder_case_config(48, 32);
        Stream stream = {0};
        config.keyint = cases[c].keyint;
        REQUIRE_OK(encoder_case_encode(&config, frames, &stream));
        MOTUS_CHECK(!memcmp(stream.idr, cases[c].idr, sizeof stream.idr), "keyint %d",
                    config.keyint);
        free(stream.data);
    }
    encoder_case_drop(frames);
}

static void calls_out_of_order_are_refused(void) {
    MotusFrame *frames[N_FRAMES];
    MotusEncoder *enc;
    MotusPacket *packet;
    MotusEncoderConfig config = encoder_case_config(32, 32);
    encoder_case_frames(frames, 32, 32);
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, 0), MOTUS_AGAIN);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_AGAIN);
    EXPECT_OK(motus_encoder_send(enc, frames[0], NULL));
    REQUIRE_OK(motus_encoder_receive(enc, &packet, -1));
    motus_packet_unref(&packet);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_AGAIN);
    CU_ASSERT_PTR_NULL(packet);
    MotusFrame *wrong = NULL;
    REQUIRE_OK(motus_frame_alloc(&wrong, 32, 34));
    CU_ASSERT_EQUAL(motus_encoder_send(enc, wrong, NULL), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[1], &(MotusFrameParams){.size = 3}),
                    MOTUS_ERR_ARGUMENT);
    EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_END);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, 0), MOTUS_END);
    CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[1], NULL), MOTUS_ERR_STATE);
    motus_encoder_close(&enc);
    motus_encoder_close(&enc);
    motus_frame_unref(&wrong);
    encoder_case_drop(frames);
}

// Packets' frames that the caller keeps never change, nor does a source when the sent frame is
// overwritten.
static void kept_frames_stay(void) {
    MotusFrame *frames[N_FRAMES], *recon = NULL, *source[N_FRAMES], *sent = NULL;
    MotusEncoder *enc;
    uint64_t ssd = 0;
    MotusEncoderConfig config = encoder_case_config(62, 50);
    encoder_case_frames(frames, 62, 50);
    REQUIRE_OK(motus_frame_alloc(&sent, 62, 50));
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    for (int i = 0; i < N_FRAMES; i++) {
        MotusPacket *packet;
        EXPECT_OK(motus_frame_copy_padded(sent, frames[i]));
        sent->number = 100 + i;
        REQUIRE_OK(motus_encoder_send(enc, sent, NULL));
        REQUIRE_OK(motus_encoder_receive(enc, &packet, -1));
        CU_ASSERT_EQUAL(packet->source->number, 100 + i);
        source[i] = motus_frame_ref(packet->source);
        if (!i) {
            recon = motus_frame_ref(packet->recon);
            ssd = packet->stats.ssd[0];
        }
        motus_packet_unref(&packet);
    }
    motus_encoder_close(&enc);
    CU_ASSERT_EQUAL(motus_plane_ssd(&recon->plane[0], &frames[0]->plane[0], 62, 50), ssd);
    for (int i = 0; i < N_FRAMES; i++)
        MOTUS_CHECK(motus_test_same_frames(source[i], frames[i]), "frame %d", i);
    for (int i = 0; i < N_FRAMES; i++) motus_frame_unref(&source[i]);
    motus_frame_unref(&recon);
    motus_frame_unref(&sent);
    encoder_case_drop(frames);
}

// An encoder on the CPU refuses device frames without touching them.
static void device_frames_need_cuda(void) {
    MotusEncoder *enc;
    MotusFrame *frame = NULL;
    MotusPacket *packet;
    uint8_t *const nowhere[3] = {(uint8_t *)4096, (uint8_t *)4096, (uint8_t *)4096};
    const ptrdiff_t stride[3] = {64, 32, 32};
    MotusEncoderConfig config = encoder_case_config(64, 48);
    REQUIRE_OK(motus_frame_wrap(&frame, 64, 48, nowhere, stride, NULL, NULL));
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, frame, NULL, NULL), MOTUS_ERR_UNSUPPORTED);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_AGAIN);
    CU_ASSERT_EQUAL(motus_encoder_error(enc)->status, MOTUS_ERR_UNSUPPORTED);
    CU_ASSERT(motus_encoder_error(enc)->text[0] != 0);
    EXPECT_OK(motus_encoder_send_device(enc, NULL, NULL, NULL));
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_END);
    motus_encoder_close(&enc);
    motus_frame_unref(&frame);
}

// If no listed device exists, AUTO takes the CPU and CUDA does not open.
static void lists_of_devices(void) {
    static const int absent[] = {200, 201};
    MotusEncoder *enc;
    MotusError error = {0};
    MotusEncoderConfig c = encoder_case_config(48, 32);
    c.n_devices = 2;
    c.devices = absent;
    c.backend = MOTUS_BACKEND_CUDA;
    MotusStatus status = motus_encoder_open(&enc, &c, &error);
    CU_ASSERT((status == MOTUS_ERR_NO_DEVICE || status == MOTUS_ERR_UNSUPPORTED) && !enc &&
              error.text[0]);
    c.backend = MOTUS_BACKEND_AUTO;
    REQUIRE_OK(motus_encoder_open(&enc, &c, &error));
    CU_ASSERT_EQUAL(motus_encoder_backend(enc), MOTUS_BACKEND_CPU);
    motus_encoder_close(&enc);
}

MOTUS_SUITE("encoder", TEST(stream_depends_on_settings_only), TEST(keyint_places_idr_pictures),
            TEST(calls_out_of_order_are_refused), TEST(kept_frames_stay),
            TEST(device_frames_need_cuda), TEST(lists_of_devices))
