// Rate control in the encoder: every mode gives the same stream for any number of threads and GOP
// coders, and decoders follow it; packets come when promised; rates that change; maps and logs that
// do not fit.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/faults.h"
#include "tests/conformance/decoders/conform.h"
#include "tests/encoder/rate/rate_modes.h"
#include "tests/support/harness.h"

static MotusStatus send(MotusEncoder *enc, int i) {
    int8_t map[N_MB];
    const MotusFrameParams params = params_of(i, map);
    return motus_encoder_send(enc, frames[i], &params);
}

// Encodes the whole sequence; a first pass writes log_text. `again` counts discarded codings.
static int again; // codings that the last stream threw away

static void encode(const MotusEncoderConfig *config, MotusCoded *coded) {
    again = 0;
    MotusEncoder *enc;
    MotusError error = {0};
    MotusPacket *packet;
    size_t logged = 0;
    memset(coded, 0, sizeof *coded);
    coded->recon = calloc(N, sizeof *coded->recon);
    coded->slices = calloc(N, sizeof *coded->slices);
    MOTUS_CHECK(motus_encoder_open(&enc, config, &error) == MOTUS_OK, "%s", error.text);
    CU_ASSERT_FATAL(enc != NULL);
    for (int i = 0; i <= N; i++) {
        REQUIRE_OK(i < N ? send(enc, i) : motus_encoder_send(enc, NULL, NULL));
        while (motus_encoder_receive(enc, &packet, i < N ? 0 : -1) == MOTUS_OK) {
            CU_ASSERT_EQUAL(packet->number, coded->pictures);
            coded->data = realloc(coded->data, coded->size + packet->size);
            memcpy(coded->data + coded->size, packet->data, packet->size);
            coded->size += packet->size;
            again += packet->coded_again;
            coded->slices[coded->pictures] = packet->slices;
            coded->recon[coded->pictures++] = motus_frame_ref(packet->recon);
            CU_ASSERT(packet->vbv_fullness >= 0 &&
                      (packet->vbv_fullness == INT64_MAX) == !config->vbv_maxrate);
            CU_ASSERT_EQUAL(packet->pass_log != NULL, config->pass == 1);
            if (packet->pass_log)
                logged += (size_t)snprintf(log_text + logged, sizeof log_text - logged, "%s",
                                           packet->pass_log);
            motus_packet_unref(&packet);
        }
    }
    if (logged) snprintf(log_text + logged, sizeof log_text - logged, "end %d\n", coded->pictures);
    CU_ASSERT_EQUAL(coded->pictures, N);
    motus_encoder_close(&enc);
}

static void make_log(void) {
    MotusEncoderConfig c = config_of(MOTUS_RATE_BITRATE);
    MotusCoded coded;
    c.pass = 1;
    encode(&c, &coded);
    motus_coded_free(&coded);
}

static void one_stream(void) {
    make_frames();
    make_log();
    for (int mode = 0; mode < MODES; mode++) {
        MotusEncoderConfig c = config_of_mode(mode);
        MotusCoded want, got;
        MotusCoverage coverage = {0};
        encode(&c, &want);
        if (mode == TIGHT) CU_ASSERT(again > 0);
        motus_conform_judge(&want, &coverage);
        MOTUS_CHECK(!want.failure[0], "mode %d: %s", mode, want.failure);
        for (int k = 0; k < 3; k++) {
            c = config_of_mode(mode);
            c.threads = k == 1 ? 3 : 1;
            c.gop_coders = k == 0 ? 3 : 1;
            if (k == 2) setenv("MOTUS_CPU", "c", 1);
            encode(&c, &got);
            unsetenv("MOTUS_CPU");
            MOTUS_CHECK(want.size == got.size && !memcmp(want.data, got.data, want.size),
                        "mode %d, %s", mode,
                        k == 0   ? "GOP coders"
                        : k == 1 ? "threads"
                                 : "plain C");
            motus_coded_free(&got);
        }
        motus_coded_free(&want);
    }
    drop_frames();
}

// Checks the number of packets after each frame; receive() blocks.
static void packets_come_as_stated(void) {
    static const int depths[] = {0, 1, 5, 12};
    make_frames();
    for (int d = 0; d < 4; d++)
        for (int vbv = 0; vbv < 2; vbv++) {
            MotusEncoder *enc;
            MotusPacket *packet;
            MotusEncoderConfig c = config_of(vbv ? MOTUS_RATE_BITRATE : MOTUS_RATE_CRF);
            int received = 0;
            c.lookahead = depths[d];
            if (vbv) c.vbv_maxrate = c.bitrate, c.vbv_bufsize = c.bitrate;
            REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
            for (int i = 0; i < N; i++) {
                REQUIRE_OK(send(enc, i));
                MotusStatus status;
                while ((status = motus_encoder_receive(enc, &packet, -1)) == MOTUS_OK)
                    received++, motus_packet_unref(&packet);
                CU_ASSERT_EQUAL(status, MOTUS_AGAIN);
                const int want = i + 1 - depths[d];
                MOTUS_CHECK(received == (want > 0 ? want : 0),
                            "look-ahead %d, frame %d: %d packets", depths[d], i, received);
            }
            motus_encoder_close(&enc);
        }
    drop_frames();
}

static void rates_change(void) {
    MotusEncoder *enc;
    MotusPacket *packet;
    MotusEncoderConfig c = config_of(MOTUS_RATE_BITRATE);
    double bits[2] = {0, 0};
    make_frames();
    c.vbv_maxrate = c.vbv_bufsize = c.bitrate = 400000;
    c.lookahead = 0;
    c.scenecut = 0;
    c.keyint = 0;
    REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
    for (int i = 0; i < 4 * N; i++) {
        if (i == 2 * N) EXPECT_OK(motus_encoder_set_rate(enc, 100000, 100000, 50000));
        REQUIRE_OK(motus_encoder_send(enc, frames[i % 12], NULL));
        REQUIRE_OK(motus_encoder_receive(enc, &packet, -1));
        CU_ASSERT(packet->vbv_fullness >= 0);
        bits[i / (2 * N)] += 8.0 * (double)packet->size;
        motus_packet_unref(&packet);
    }
    MOTUS_CHECK(bits[1] * 2 < bits[0], "%.0f, then %.0f bits", bits[0], bits[1]);
    CU_ASSERT_EQUAL(motus_encoder_set_rate(enc, 0, 0, 0), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_encoder_set_rate(enc, 100000, 0, 0), MOTUS_ERR_UNSUPPORTED);
    CU_ASSERT_EQUAL(motus_encoder_set_rate(enc, 100000, 90000, 50000), MOTUS_ERR_ARGUMENT);
    motus_encoder_close(&enc);
    c = config_of(MOTUS_RATE_CRF);
    REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
    CU_ASSERT_EQUAL(motus_encoder_set_rate(enc, 100000, 0, 0), MOTUS_ERR_UNSUPPORTED);
    motus_encoder_close(&enc);
    drop_frames();
}

static void refuse(MotusEncoderConfig c, const char *what) {
    MotusEncoder *enc;
    MotusError error = {0};
    const MotusStatus status = motus_encoder_open(&enc, &c, &error);
    MOTUS_CHECK(status < 0 && !enc && error.text[0] && !strchr(error.text, '\n'), "%s: %d \"%s\"",
                what, (int)status, error.text);
    motus_encoder_close(&enc);
}

// Maps of a wrong size; logs of other clips, other settings, or cut short.
static void what_does_not_fit(void) {
    MotusEncoder *enc;
    MotusEncoderConfig c = config_of(MOTUS_RATE_CRF);
    const int8_t map[N_MB] = {0};
    make_frames();
    REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
    for (size_t n = 0; n < N_MB; n += N_MB - 1) {
        const MotusFrameParams params = {.size = sizeof params, .qp_offset = map, .n_qp_offset = n};
        CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[0], &params), MOTUS_ERR_ARGUMENT);
    }
    const MotusFrameParams older = {.size = offsetof(MotusFrameParams, qp_offset),
                                    .qp_offset = map}; // members beyond size are not read
    EXPECT_OK(motus_encoder_send(enc, frames[0], &older));
    motus_encoder_close(&enc);
    make_log();
    c = config_of_mode(SECOND_PASS);
    c.lookahead++;
    refuse(c, "another look-ahead");
    char part[sizeof log_text];
    snprintf(part, sizeof part, "%.*s", (int)strlen(log_text) - 30, log_text);
    c = config_of_mode(SECOND_PASS);
    c.pass_log = part;
    refuse(c, "a log that is cut short");
    drop_frames();
}

static void check_lost(const MotusEncoder *enc, MotusStatus status) {
    MOTUS_CHECK(status == MOTUS_ERR_FORMAT && strstr(motus_encoder_error(enc)->text, "pass log"),
                "status %d: %s", status, motus_encoder_error(enc)->text);
}

// Picture `wrong` differs from the log, which planning detects. Earlier packets still arrive; then
// every call returns the error, and no call waits forever.
static void end_with_a_wrong_picture(int wrong, int gop_coders, int flush) {
    MotusEncoderConfig c = config_of_mode(SECOND_PASS);
    MotusEncoder *enc;
    MotusPacket *packet;
    MotusStatus status = MOTUS_OK;
    c.gop_coders = gop_coders;
    REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
    for (int i = 0; i < N && !status; i++)
        status = i == wrong ? motus_encoder_send(enc, frames[N - 1], NULL) : send(enc, i);
    const int ended = !status; // it is planned at the end
    if (ended) status = motus_encoder_send(enc, NULL, NULL);
    check_lost(enc, status);
    if (!ended) check_lost(enc, motus_encoder_send(enc, frames[0], NULL));
    if (!ended && flush) check_lost(enc, motus_encoder_send(enc, NULL, NULL));
    if (ended) CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[0], NULL), MOTUS_ERR_STATE);
    int n = 0;
    for (; (status = motus_encoder_receive(enc, &packet, n % 2 ? -1 : 60000)) == MOTUS_OK; n++) {
        CU_ASSERT_EQUAL(packet->number, n);
        motus_packet_unref(&packet);
    }
    check_lost(enc, status);
    MOTUS_CHECK(n == wrong, "picture %d, %d GOP coders: %d packets", wrong, gop_coders, n);
    for (int timeout = -1; timeout < 2; timeout++)
        check_lost(enc, motus_encoder_receive(enc, &packet, timeout)); // and later calls as well
    motus_encoder_close(&enc);
}

static void pictures_that_cannot_be_planned(void) {
    make_frames();
    make_log();
    end_with_a_wrong_picture(0, 1, 0);
    end_with_a_wrong_picture(9, 2, 1);
    end_with_a_wrong_picture(16, 3, 0);
    end_with_a_wrong_picture(N - 2, 2, 0);
    drop_frames();
}

static void failing_allocations(void) {
    make_frames();
    make_log();
    for (int mode = CRF_AQ; mode < MODES; mode += 3) {
        int failed = 0;
        for (int n = 1; n < 400; n += 1 + n / 20) {
            const MotusEncoderConfig c = config_of_mode(mode);
            MotusEncoder *enc = NULL;
            MotusPacket *packet;
            motus_alloc_fail_after(n);
            MotusStatus status = motus_encoder_open(&enc, &c, NULL);
            for (int i = 0; i < 14 && !status; i++) {
                status = send(enc, i);
                while (!status && motus_encoder_receive(enc, &packet, 0) == MOTUS_OK)
                    motus_packet_unref(&packet);
            }
            motus_encoder_close(&enc);
            motus_alloc_fail_after(-1);
            failed += status == MOTUS_ERR_MEMORY;
            CU_ASSERT(status == MOTUS_OK || status == MOTUS_ERR_MEMORY);
        }
        MOTUS_CHECK(failed > 5, "mode %d: %d failures", mode, failed);
    }
    drop_frames();
}

MOTUS_SUITE("encoder_rate", TEST(one_stream), TEST(packets_come_as_stated), TEST(rates_change),
            TEST(what_does_not_fit), TEST(pictures_that_cannot_be_planned),
            TEST(failing_allocations))
