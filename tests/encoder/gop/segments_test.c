// Segments: a stream coded by independent encoders (first_picture, first_gop), or in turn by two
// (motus_encoder_next_segment), has the packets of one encoder's stream.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "motus/encoder.h"
#include "tests/support/harness.h"

enum { W = 80, H = 48, PICTURES = 70, SCENES = 5 };

typedef struct Coded {
    MotusPacket *packet[PICTURES];
    int n;
    char *log; // of a first pass
} Coded;

static MotusFrame *frames[PICTURES];

static uint8_t texture(int scene, int x, int y) {
    uint32_t h =
        (uint32_t)(x / 5) * 73856093u ^ (uint32_t)(y / 4) * 19349663u ^ (uint32_t)scene * 83492791u;
    h = (h ^ h >> 13) * 0x5bd1e995u;
    return (uint8_t)(h >> 24);
}

// Draws scenes of different lengths and motion.
static void draw_frames(void) {
    static const int begins[SCENES + 1] = {0, 3, 24, 25, 47, PICTURES};
    for (int i = 0, scene = 0; i < PICTURES; i++) {
        while (i >= begins[scene + 1]) scene++;
        REQUIRE_OK(motus_frame_alloc(&frames[i], W, H));
        for (int c = 0; c < 3; c++) {
            const MotusPlane *p = &frames[i]->plane[c];
            for (int y = 0; y < p->height; y++)
                for (int x = 0; x < p->width; x++)
                    p->data[y * p->stride + x] =
                        (uint8_t)(texture(3 * scene + c, x + scene * i + 900, y + i + 900) / 2 +
                                  (motus_test_random() & 7));
        }
    }
}

static void receive(MotusEncoder *enc, Coded *to, int timeout) {
    while (to->n < PICTURES && !motus_encoder_receive(enc, &to->packet[to->n], timeout)) to->n++;
}

static void code(const MotusEncoderConfig *config, int from, int end, Coded *to) {
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    MOTUS_CHECK(!motus_encoder_open(&enc, config, &error), "%s", error.text);
    for (int i = from; enc && i < end; i++) {
        EXPECT_OK(motus_encoder_send(enc, frames[i], NULL));
        receive(enc, to, 0);
    }
    EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
    receive(enc, to, -1);
    motus_encoder_close(&enc);
}

static void drop(Coded *coded) {
    for (int i = 0; i < coded->n; i++) motus_packet_unref(&coded->packet[i]);
    free(coded->log);
    *coded = (Coded){0};
}

// Codes segments of `gops` GOPs each and compares them with the whole stream.
static void in_segments(MotusEncoderConfig config, int gops, const Coded *whole, const char *name) {
    Coded segments = {0};
    int gop = 0, found = 0;
    for (int from = 0, end; from < PICTURES; from = end) {
        for (end = from + 1, found = 1;
             end < PICTURES && (!whole->packet[end]->is_idr || found < gops); end++)
            found += whole->packet[end]->is_idr;
        config.first_picture = from;
        config.first_gop = gop;
        code(&config, from, end, &segments);
        gop += found;
    }
    CU_ASSERT_EQUAL_FATAL(segments.n, PICTURES);
    int same = 1;
    for (int i = 0; i < PICTURES && same; i++) {
        const MotusPacket *a = whole->packet[i], *b = segments.packet[i];
        same = a->number == b->number && a->pts == b->pts && a->dts == b->dts &&
               a->is_idr == b->is_idr && a->size == b->size && !memcmp(a->data, b->data, a->size);
        MOTUS_CHECK(same, "%s, %d GOPs a segment: picture %d", name, gops, i);
    }
    drop(&segments);
}

static void same_packet(const MotusPacket *a, const MotusPacket *b, int i, const char *name) {
    const int same = a->number == b->number && a->is_idr == b->is_idr && a->size == b->size &&
                     !memcmp(a->data, b->data, a->size);
    MOTUS_CHECK(same, "%s, segments in turn: picture %d", name, i);
}

// Codes segments of one GOP by two encoders that stay open; one of them takes its segments in
// reverse order. Pictures may still be pending when the next segment begins.
static void in_turn(MotusEncoderConfig config, const Coded *whole, const char *name) {
    int begin[PICTURES + 1], gops = 0;
    for (int i = 0; i < PICTURES; i++)
        if (whole->packet[i]->is_idr) begin[gops++] = i;
    begin[gops] = PICTURES;
    for (int k = 0; k < 2; k++) {
        MotusEncoder *enc = NULL;
        Coded segments = {0};
        int from[PICTURES], n = 0;
        for (int i = k; i < gops; i += 2) {
            const int gop = k ? gops / 2 * 2 - i : i, first = n;
            config.first_picture = begin[gop];
            config.first_gop = gop;
            MotusStatus status = enc ? motus_encoder_next_segment(enc, begin[gop], gop)
                                     : motus_encoder_open(&enc, &config, NULL);
            REQUIRE_OK(status);
            CU_ASSERT_EQUAL(motus_encoder_next_segment(enc, begin[gop], gop), MOTUS_ERR_STATE);
            for (; begin[gop] + n - first < begin[gop + 1]; n++) {
                from[n] = begin[gop] + n - first;
                EXPECT_OK(motus_encoder_send(enc, frames[from[n]], NULL));
                receive(enc, &segments, 0);
            }
            EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
            if (gop % 3 == 0) receive(enc, &segments, -1);
        }
        receive(enc, &segments, -1);
        CU_ASSERT_EQUAL_FATAL(segments.n, n);
        for (int i = 0; i < n; i++)
            same_packet(whole->packet[from[i]], segments.packet[i], from[i], name);
        motus_encoder_close(&enc);
        drop(&segments);
    }
}

static int idrs(const Coded *coded) {
    int n = 0;
    for (int i = 0; i < coded->n; i++) n += coded->packet[i]->is_idr;
    return n;
}

static void check(const MotusEncoderConfig *config, int at_least, const char *name) {
    Coded whole = {0};
    code(config, 0, PICTURES, &whole);
    CU_ASSERT_EQUAL_FATAL(whole.n, PICTURES);
    MOTUS_CHECK(idrs(&whole) >= at_least, "%s: %d IDR pictures", name, idrs(&whole));
    for (int gops = 1; gops < 4; gops++) in_segments(*config, gops, &whole, name);
    in_turn(*config, &whole, name);
    drop(&whole);
}

static MotusEncoderConfig config_of(MotusRateControl rate) {
    if (!frames[0]) draw_frames();
    MotusEncoderConfig c = motus_encoder_config_default(W, H, (MotusRational){25, 1});
    c.preset = MOTUS_PRESET_FASTER;
    c.backend = MOTUS_BACKEND_CPU;
    c.threads = 2;
    c.keyint = 12;
    c.rate = rate;
    return c;
}

static void fixed_qp(void) {
    MotusEncoderConfig c = config_of(MOTUS_RATE_QP);
    check(&c, 6, "QP");
    c.gop_coders = 3;
    check(&c, 6, "QP, three GOP coders");
    c.profile = MOTUS_PROFILE_MAIN;
    c.bframes = 2;
    check(&c, 6, "QP, B pictures");
    c.b_adapt = 0;
    check(&c, 6, "QP, B pictures, no b_adapt");
    c.bframes = 3;
    c.b_pyramid = MOTUS_B_PYRAMID_NORMAL;
    check(&c, 6, "QP, B pyramid");
    c.keyint = 1;
    check(&c, PICTURES, "QP, IDR pictures alone");
}

static void crf(void) {
    for (int lookahead = 0; lookahead < 48; lookahead += lookahead ? 19 : 9)
        for (int keyint = 12; keyint <= 30; keyint += 18) {
            MotusEncoderConfig c = config_of(MOTUS_RATE_CRF);
            c.lookahead = lookahead;
            c.keyint = keyint;
            c.min_keyint = 1;
            c.aq_mode = lookahead % 2 ? MOTUS_AQ_AUTO : MOTUS_AQ_OFF;
            check(&c, 4, "CRF");
            if (lookahead != 28) continue;
            c.profile = MOTUS_PROFILE_HIGH;
            c.bframes = 3;
            check(&c, 4, "CRF, B pictures");
            c.b_pyramid = MOTUS_B_PYRAMID_NORMAL;
            check(&c, 4, "CRF, B pyramid");
        }
}

// One encoder writes the log of the first pass; segments use it.
static void second_pass(void) {
    MotusEncoderConfig c = config_of(MOTUS_RATE_BITRATE);
    Coded first = {0};
    char end[32];
    size_t used = 0;
    c.bitrate = 200000;
    c.min_keyint = 1;
    c.pass = 1;
    code(&c, 0, PICTURES, &first);
    CU_ASSERT_EQUAL_FATAL(first.n, PICTURES);
    first.log = calloc(PICTURES + 1, 600);
    for (int i = 0; i < PICTURES; i++) {
        const size_t size = strlen(first.packet[i]->pass_log);
        memcpy(first.log + used, first.packet[i]->pass_log, size);
        used += size;
    }
    snprintf(end, sizeof end, "end %d\n", PICTURES);
    memcpy(first.log + used, end, strlen(end));
    c.pass = 2;
    c.pass_log = first.log;
    check(&c, 6, "second pass");
    drop(&first);
}

static void refused(void) {
    static const int64_t bad[][2] = {{-1, 0}, {5, -1}, {5, 6}, {INT64_MAX, 0}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        MotusEncoderConfig c = config_of(MOTUS_RATE_QP);
        MotusEncoder *enc;
        REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
        EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
        CU_ASSERT_EQUAL(motus_encoder_next_segment(enc, bad[i][0], bad[i][1]), MOTUS_ERR_ARGUMENT);
        motus_encoder_close(&enc);
    }
    MotusEncoderConfig c = config_of(MOTUS_RATE_BITRATE);
    MotusEncoder *enc;
    c.bitrate = 100000;
    REQUIRE_OK(motus_encoder_open(&enc, &c, NULL));
    EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
    CU_ASSERT_EQUAL(motus_encoder_next_segment(enc, 12, 1), MOTUS_ERR_UNSUPPORTED);
    motus_encoder_close(&enc);
}

static int run(const char *suite, const MotusTest *tests, int argc, char **argv) {
    int status = motus_test_main(suite, tests, argc, argv);
    for (int i = 0; i < PICTURES; i++) motus_frame_unref(&frames[i]);
    return status;
}

MOTUS_SUITE_BY(run, "segments", TEST(fixed_qp), TEST(crf), TEST(second_pass), TEST(refused))
