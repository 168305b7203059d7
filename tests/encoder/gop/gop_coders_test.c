// Pending pictures: with several GOP coders, without memory, at an early close, with a thread that
// sends and one that receives; stage times.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "motus/encoder.h"
#include "tests/encoder/encoder_case.h"
#include "tests/support/harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Makes every single allocation fail: a clean status, no leak (sanitizer build), and the next run
// works.
static void failing_allocations(void) {
    MotusFrame *frames[N_FRAMES];
    MotusEncoderConfig config = encoder_case_config(48, 48);
    encoder_case_frames(frames, 48, 48);
    int failures = 0;
    for (long n = 0; n < 300; n++) {
        motus_alloc_fail_after(n);
        MotusStatus status = encoder_case_encode(&config, frames, NULL);
        motus_alloc_fail_after(-1);
        failures += status != MOTUS_OK;
        MOTUS_CHECK(status == MOTUS_OK || status == MOTUS_ERR_MEMORY, "allocation %ld: %s", n,
                    motus_status_name(status));
    }
    CU_ASSERT(failures > 20);
    EXPECT_OK(encoder_case_encode(&config, frames, NULL));
    encoder_case_drop(frames);
}

// Makes an allocation fail while frame i is sent and coded. A refused frame may be sent again. A
// picture that could not be coded ends the stream with the same error for every call. The packets
// before it are those without the failure.
static void fail_while_coding(int gop_coders) {
    MotusFrame *frames[N_FRAMES];
    MotusEncoderConfig config = encoder_case_config(48, 48);
    Stream want = {0};
    int taken_later = 0, ended = 0;
    config.keyint = 3;
    config.gop_coders = gop_coders;
    encoder_case_frames(frames, 48, 48);
    REQUIRE_OK(encoder_case_encode(&config, frames, &want));
    for (long n = 0; n < 40; n++) {
        MotusEncoder *enc;
        MotusPacket *packet = NULL;
        size_t at = 0;
        REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
        for (int i = 0; i < N_FRAMES; i++) {
            if (n % N_FRAMES == i) motus_alloc_fail_after(n / N_FRAMES);
            MotusStatus status = motus_encoder_send(enc, frames[i], NULL);
            if (status) {
                motus_alloc_fail_after(-1);
                MOTUS_CHECK(status == MOTUS_ERR_MEMORY &&
                                motus_encoder_error(enc)->status == status,
                            "allocation %ld, frame %d", n, i);
                REQUIRE_OK(motus_encoder_send(enc, frames[i], NULL));
                taken_later++;
            }
            status = motus_encoder_receive(enc, &packet, -1);
            motus_alloc_fail_after(-1);
            if (status) {
                MOTUS_CHECK(status == MOTUS_ERR_MEMORY && motus_encoder_error(enc)->text[0],
                            "allocation %ld, frame %d", n, i);
                CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[i], NULL), MOTUS_ERR_MEMORY);
                CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, 0), MOTUS_ERR_MEMORY);
                ended++;
                break;
            }
            MOTUS_CHECK(at + packet->size <= want.size &&
                            !memcmp(want.data + at, packet->data, packet->size),
                        "allocation %ld, frame %d", n, i);
            at += packet->size;
            motus_packet_unref(&packet);
        }
        motus_encoder_close(&enc);
    }
    MOTUS_CHECK(taken_later >= N_FRAMES && ended >= N_FRAMES, "%d frames, %d streams", taken_later,
                ended);
    free(want.data);
    encoder_case_drop(frames);
}

// With several coders, most failures come before all of them have begun.
static void failures_keep_what_was_done(void) {
    fail_while_coding(1);
    fail_while_coding(4);
}

enum { LONG = 23 };

// Sends all frames before the first receive, requests an IDR picture at frame 9, and keeps the
// packets beyond the encoder's close.
static void encode_all(int gop_coders, int threads, MotusFrame **frames, MotusPacket **packets) {
    MotusEncoder *enc;
    MotusEncoderConfig config = encoder_case_config(64, 48);
    MotusPacket *packet;
    int n = 0;
    config.gop_coders = gop_coders;
    config.threads = threads;
    config.keyint = 4;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    MOTUS_CHECK(gop_coders ? motus_encoder_gop_coders(enc) == gop_coders
                           : motus_encoder_gop_coders(enc) >= 1,
                "%d GOP coders", motus_encoder_gop_coders(enc));
    CU_ASSERT(motus_encoder_gop_coder_bytes(enc) > 0);
    for (int i = 0; i < LONG; i++) {
        const MotusFrameParams params = {.size = sizeof params,
                                         .pts = 1000 + 7 * i,
                                         .duration = 5,
                                         .opaque = &frames[i % N_FRAMES],
                                         .force_idr = i == 9};
        REQUIRE_OK(motus_encoder_send(enc, frames[i % N_FRAMES], &params));
    }
    EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
    while (n < LONG && motus_encoder_receive(enc, &packet, n % 2 ? -1 : 10000) == MOTUS_OK)
        packets[n++] = packet;
    CU_ASSERT_EQUAL_FATAL(n, LONG);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_END);
    motus_encoder_close(&enc);
}

static void lanes_give_one_stream(void) {
    static const int counts[][2] = {{1, 2}, {2, 5}, {3, 2},
                                    {7, 9}, {5, 1}, {0, 4}}; // GOP coders, threads
    MotusFrame *frames[N_FRAMES];
    MotusPacket *want[LONG], *got[LONG];
    encoder_case_frames(frames, 64, 48);
    encode_all(1, 1, frames, want);
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
        encode_all(counts[c][0], counts[c][1], frames, got);
        for (int i = 0; i < LONG; i++) {
            const MotusPacket *a = want[i], *b = got[i];
            int idr = i == 0 || i == 4 || i == 8 || i == 9 || i == 13 || i == 17 || i == 21;
            MOTUS_CHECK(a->size == b->size && !memcmp(a->data, b->data, a->size),
                        "%d GOP coders, %d threads, picture %d", counts[c][0], counts[c][1], i);
            MOTUS_CHECK(b->number == i && b->is_idr == idr && b->pts == 1000 + 7 * i &&
                            b->duration == 5 && b->opaque == &frames[i % N_FRAMES],
                        "%d GOP coders, %d threads, picture %d", counts[c][0], counts[c][1], i);
            CU_ASSERT(motus_test_same_frames(b->recon, a->recon) &&
                      motus_test_same_frames(b->source, frames[i % N_FRAMES]));
            CU_ASSERT(a->n_mvs == b->n_mvs &&
                      (!a->n_mvs || !memcmp(a->mvs, b->mvs, a->n_mvs * sizeof *a->mvs)));
            motus_packet_unref(&got[i]);
        }
    }
    MotusPacket *again = motus_packet_ref(want[3]);
    for (int i = 0; i < LONG; i++) motus_packet_unref(&want[i]);
    CU_ASSERT(again->size > 0 && !again->is_idr);
    motus_packet_unref(&again);
    encoder_case_drop(frames);
}

// An encoder closed in the middle drops its pending pictures.
static void closed_in_the_middle(void) {
    MotusFrame *frames[N_FRAMES];
    encoder_case_frames(frames, 64, 48);
    for (int gop_coders = 1; gop_coders < 6; gop_coders++) {
        MotusEncoder *enc;
        MotusPacket *packet;
        MotusEncoderConfig config = encoder_case_config(64, 48);
        config.gop_coders = gop_coders;
        config.keyint = 2;
        REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
        for (int i = 0; i < 5; i++) EXPECT_OK(motus_encoder_send(enc, frames[i % N_FRAMES], NULL));
        if (gop_coders > 2) EXPECT_OK(motus_encoder_receive(enc, &packet, -1));
        motus_encoder_close(&enc);
        if (gop_coders > 2) motus_packet_unref(&packet);
    }
    encoder_case_drop(frames);
}

// Stage times exist if requested; they do not change the stream.
static void stages_are_timed(void) {
    MotusFrame *frames[N_FRAMES];
    Stream want = {0}, got = {0};
    encoder_case_frames(frames, 64, 48);
    for (int timed = 0; timed < 2; timed++) {
        MotusEncoderConfig config = encoder_case_config(64, 48);
        MotusEncoder *enc = NULL;
        MotusPacket *packet;
        config.time_stages = timed;
        REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
        for (int i = 0; i < N_FRAMES; i++) {
            EXPECT_OK(motus_encoder_send(enc, frames[i], NULL));
            REQUIRE_OK(motus_encoder_receive(enc, &packet, -1));
            for (int k = 0; k < MOTUS_STAGES; k++)
                MOTUS_CHECK((packet->stage_us[k] > 0) ==
                                (timed && (k >= MOTUS_STAGE_INTRA || !packet->is_idr)),
                            "picture %d, %s: %f us", i, motus_stage_name((MotusStage)k),
                            packet->stage_us[k]);
            encoder_case_append(timed ? &got : &want, packet);
            motus_packet_unref(&packet);
        }
        motus_encoder_close(&enc);
    }
    CU_ASSERT(got.size == want.size && !memcmp(got.data, want.data, want.size));
    CU_ASSERT_STRING_EQUAL(motus_stage_name(MOTUS_STAGES), "unknown");
    free(want.data);
    free(got.data);
    encoder_case_drop(frames);
}

typedef struct Sender {
    MotusEncoder *enc;
    MotusFrame **frames;
    int refused; // calls that failed, each with its own text
} Sender;

static void *send_all(void *argument) {
    Sender *s = argument;
    for (int i = 0; i < LONG; i++) {
        s->refused += motus_encoder_set_rate(s->enc, 1000, 0, 0) == MOTUS_ERR_UNSUPPORTED &&
                      motus_encoder_error(s->enc)->status == MOTUS_ERR_UNSUPPORTED;
        if (motus_encoder_send(s->enc, s->frames[i % N_FRAMES], NULL)) return NULL;
    }
    motus_encoder_send(s->enc, NULL, NULL);
    s->refused += motus_encoder_set_rate(s->enc, 1000, 0, 0) == MOTUS_ERR_UNSUPPORTED;
    return NULL;
}

// One thread sends while another receives: each has its own errors. With the tsan preset this also
// shows that they share nothing without a lock.
static void a_sender_and_a_receiver(void) {
    MotusFrame *frames[N_FRAMES];
    encoder_case_frames(frames, 48, 48);
    for (int gop_coders = 1; gop_coders < 4; gop_coders++) {
        MotusEncoderConfig config = encoder_case_config(48, 48);
        Sender sender = {.frames = frames};
        MotusPacket *packet;
        MotusStatus status;
        pthread_t thread;
        int n = 0;
        config.keyint = 4, config.gop_coders = gop_coders, config.threads = 1;
        REQUIRE_OK(motus_encoder_open(&sender.enc, &config, NULL));
        CU_ASSERT_FATAL(!pthread_create(&thread, NULL, send_all, &sender));
        while ((status = motus_encoder_receive(sender.enc, &packet, 1)) >= 0 && status != MOTUS_END)
            if (!status) n++, motus_packet_unref(&packet);
        pthread_join(thread, NULL);
        CU_ASSERT(status == MOTUS_END && n == LONG && sender.refused == LONG + 1);
        MOTUS_CHECK(!motus_encoder_error(sender.enc)->status, "the sender's error: %s",
                    motus_encoder_error(sender.enc)->text);
        motus_encoder_close(&sender.enc);
    }
    encoder_case_drop(frames);
}

MOTUS_SUITE("gop_coders", TEST(failing_allocations), TEST(failures_keep_what_was_done),
            TEST(lanes_give_one_stream), TEST(closed_in_the_middle), TEST(stages_are_timed),
            TEST(a_sender_and_a_receiver))
