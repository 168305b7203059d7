// Intra refresh: libavcodec decodes the whole stream as the encoder does, and from any picture on,
// is exact after one cycle. Sizes of pictures stay close to one another.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "encoder/mb/refresh_core.h"
#include "motus/encoder.h"
#include "tests/conformance/decoders/decoders.h"
#include "tests/conformance/decoders/material.h"
#include "tests/support/harness.h"

enum { PICTURES = 50 };

typedef struct Case {
    int width, height, period;
    MotusMaterial material;
    MotusPreset preset;
    MotusProfile profile;
    int deblock, slices, slice_max_size, qp, keep, lost; // lost: a picture that is lost; 0: none
    MotusRateControl rate;
    int pan; // half samples a picture, up, in place of the material; 0: none
} Case;

typedef struct Run {
    const Case *test;
    MotusPacket *packet[PICTURES];
    uint8_t *data;
    size_t size, at[PICTURES + 1];
    int first, exact_from; // picture that the decoder begins with; from here on it is exact
    int seen, wrong;
} Run;

static MotusEncoderConfig config_of(const Case *c) {
    MotusEncoderConfig config =
        motus_encoder_config_default(c->width, c->height, (MotusRational){25, 1});
    config.backend = MOTUS_BACKEND_CPU;
    config.intra_refresh = 1, config.keyint = c->period;
    config.preset = c->preset, config.profile = c->profile, config.deblock = c->deblock;
    config.slices = c->slices, config.slice_max_size = c->slice_max_size;
    config.qp = c->qp, config.keep_references = c->keep;
    config.rate = c->rate, config.bitrate = 300000, config.lookahead = 0;
    config.aq_mode = MOTUS_AQ_VARIANCE;
    return config;
}

// Draws picture i of a still texture that moves up by half samples, so that MVs point down.
static MotusFrame *draw_pan(const Case *c, int i) {
    static MotusFrame *tall;
    MotusFrame *frame;
    if (!tall) tall = motus_material_frame(MOTUS_MATERIAL_STILL, 96, 4096, 0);
    REQUIRE_OK(motus_frame_alloc(&frame, c->width, c->height));
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = 0; x < frame->plane[p].width; x++) {
                const uint8_t *at =
                    tall->plane[p].data + (2 * y + (c->pan * i >> !!p)) * tall->plane[p].stride + x;
                frame->plane[p].data[y * frame->plane[p].stride + x] =
                    (uint8_t)((at[0] + at[tall->plane[p].stride] + 1) / 2);
            }
    return frame;
}

static void encode(Run *r) {
    const MotusEncoderConfig config = config_of(r->test);
    MotusEncoder *enc = NULL;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    for (int i = 0; i < PICTURES; i++) {
        MotusFrame *frame = r->test->pan ? draw_pan(r->test, i)
                                         : motus_material_frame(r->test->material, r->test->width,
                                                                r->test->height, i);
        if (r->test->lost && i == r->test->lost + 2)
            EXPECT_OK(motus_encoder_reference_lost(enc, r->test->lost));
        EXPECT_OK(motus_encoder_send(enc, frame, NULL));
        motus_frame_unref(&frame);
        REQUIRE_OK(motus_encoder_receive(enc, &r->packet[i], -1));
        MOTUS_CHECK(r->packet[i]->is_idr == !i, "picture %d", i);
        r->data = realloc(r->data, r->size + r->packet[i]->size);
        memcpy(r->data + r->size, r->packet[i]->data, r->packet[i]->size);
        r->size += r->packet[i]->size;
        r->at[i + 1] = r->size;
    }
    motus_encoder_close(&enc);
}

static void compare(void *context, int number, const MotusPlane plane[3]) {
    Run *r = context;
    const int i = r->first + number;
    if (i < r->exact_from || i >= PICTURES) return;
    int same = 1;
    r->seen++;
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < plane[c].height; y++)
            same &= !memcmp(plane[c].data + y * plane[c].stride,
                            r->packet[i]->recon->plane[c].data +
                                y * r->packet[i]->recon->plane[c].stride,
                            (size_t)plane[c].width);
    r->wrong += !same;
}

// Decodes from picture `first` on. Cycles begin with picture `period`.
static void join(Run *r, int first) {
    const int period = r->test->period, cycle = (first + period - 1) / period * period;
    r->first = first;
    r->exact_from = cycle + motus_refresh_pictures((r->test->height + 15) / 16, period) - 1;
    r->seen = r->wrong = 0;
    motus_decode_joined(r->data + r->at[first], r->size - r->at[first], compare, r);
    const int expected = PICTURES - r->exact_from;
    MOTUS_CHECK(!r->wrong && r->seen == (expected > 0 ? expected : 0),
                "%dx%d period %d %s %d from %d: %d of %d exact pictures decoded, %d wrong",
                r->test->width, r->test->height, period, motus_material_name(r->test->material),
                r->test->pan, first, r->seen, expected, r->wrong);
}

static void check_case(const Case *c) {
    Run r = {.test = c};
    MotusDecodeReport report;
    encode(&r);
    motus_decode_libavcodec(r.data, r.size, compare, &r, &report);
    MOTUS_CHECK(!report.complaints && !r.wrong && r.seen == PICTURES, "%s, %d seen, %d wrong",
                report.first, r.seen, r.wrong);
    for (int k = 0; k < 5 && !c->lost; k++)
        join(&r, motus_test_range(1, PICTURES - 2 * c->period + 1));
    for (int i = 0; i < PICTURES; i++) motus_packet_unref(&r.packet[i]);
    free(r.data);
}

static void joined_late(void) {
    static const Case cases[] = {
        {176, 96, 20, MOTUS_MATERIAL_SCENE, MOTUS_PRESET_SLOW, MOTUS_PROFILE_HIGH, 1, 1, 0, 26, 0,
         0, MOTUS_RATE_QP, 0},
        {176, 96, 5, MOTUS_MATERIAL_FAST, MOTUS_PRESET_FAST, MOTUS_PROFILE_BASELINE, 1, 1, 0, 32, 0,
         0, MOTUS_RATE_QP, 0},
        {112, 64, 7, MOTUS_MATERIAL_SCENE, MOTUS_PRESET_FASTER, MOTUS_PROFILE_HIGH, 1, 3, 0, 36, 0,
         0, MOTUS_RATE_QP, 0},
        {112, 64, 11, MOTUS_MATERIAL_STILL, MOTUS_PRESET_FAST, MOTUS_PROFILE_HIGH, 1, 1, 0, 40, 0,
         0, MOTUS_RATE_QP, 0},
        {112, 64, 7, MOTUS_MATERIAL_PATCHES, MOTUS_PRESET_SLOW, MOTUS_PROFILE_HIGH, 0, 1, 400, 20,
         0, 0, MOTUS_RATE_QP, 0},
        {64, 98, 9, MOTUS_MATERIAL_PATCHES, MOTUS_PRESET_FAST, MOTUS_PROFILE_BASELINE, 1, 3, 400,
         22, 0, 0, MOTUS_RATE_QP, 0},
        {98, 50, 20, MOTUS_MATERIAL_SCENE, MOTUS_PRESET_FAST, MOTUS_PROFILE_BASELINE, 1, 1, 0, 28,
         0, 0, MOTUS_RATE_BITRATE, 0},
        {16, 64, 4, MOTUS_MATERIAL_SCENE, MOTUS_PRESET_FAST, MOTUS_PROFILE_HIGH, 1, 1, 0, 28, 0, 0,
         MOTUS_RATE_QP, 0},
        {112, 64, 2, MOTUS_MATERIAL_HARD, MOTUS_PRESET_FAST, MOTUS_PROFILE_HIGH, 1, 1, 0, 10, 0, 0,
         MOTUS_RATE_QP, 0},
        {176, 96, 12, MOTUS_MATERIAL_FAST, MOTUS_PRESET_SLOW, MOTUS_PROFILE_HIGH, 0, 1, 0, 30, 0, 0,
         MOTUS_RATE_QP, 0},
        {176, 96, 12, MOTUS_MATERIAL_SCENE, MOTUS_PRESET_FAST, MOTUS_PROFILE_HIGH, 1, 1, 0, 30, 4,
         17, MOTUS_RATE_QP, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i]);
}

// Best matches lie on both sides of the bound of MVs, which whole and half samples meet
// differently.
static void motion_upwards(void) {
    for (int k = 0; k < 12; k++) {
        const Case c = {64,
                        96,
                        motus_test_range(6, 11),
                        MOTUS_MATERIAL_STILL,
                        MOTUS_PRESET_FAST,
                        MOTUS_PROFILE_HIGH,
                        k % 4 != 0,
                        1,
                        0,
                        motus_test_range(20, 44),
                        0,
                        0,
                        MOTUS_RATE_QP,
                        20 + k};
        check_case(&c);
    }
}

// The largest picture of two cycles is at most twice the mean one; with I pictures in their place
// it is three times as large and more.
static void sizes_stay_close(void) {
    for (int refresh = 0; refresh < 2; refresh++) {
        Case c = {96,
                  176,
                  15,
                  MOTUS_MATERIAL_STILL,
                  MOTUS_PRESET_FAST,
                  MOTUS_PROFILE_BASELINE,
                  1,
                  1,
                  0,
                  28,
                  0,
                  0,
                  MOTUS_RATE_QP,
                  0};
        MotusEncoderConfig config = config_of(&c);
        MotusEncoder *enc = NULL;
        size_t sum = 0, most = 0;
        config.intra_refresh = refresh;
        REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
        for (int i = 0; i < 46; i++) {
            MotusPacket *packet = NULL;
            MotusFrame *frame = motus_material_frame(c.material, c.width, c.height, i);
            EXPECT_OK(motus_encoder_send(enc, frame, NULL));
            motus_frame_unref(&frame);
            REQUIRE_OK(motus_encoder_receive(enc, &packet, -1));
            if (i > 15) sum += packet->size, most = packet->size > most ? packet->size : most;
            motus_packet_unref(&packet);
        }
        MOTUS_CHECK(refresh ? most * 30 < 2 * sum : most * 30 > 3 * sum, "%zu of %zu bytes", most,
                    sum / 30);
        motus_encoder_close(&enc);
    }
}

static void refused(void) {
    const Case c = {.width = 64, .height = 48, .period = 10, .profile = MOTUS_PROFILE_MAIN};
    MotusEncoder *enc = NULL;
    for (int k = 0; k < 3; k++) {
        MotusEncoderConfig config = config_of(&c);
        config.qp = 30;
        if (k == 0) config.keyint = 0;
        if (k == 1) config.bframes = 2;
        if (k == 2) config.references = 2;
        CU_ASSERT_EQUAL(motus_encoder_open(&enc, &config, NULL), MOTUS_ERR_ARGUMENT);
    }
}

MOTUS_SUITE("refresh", TEST(joined_late), TEST(motion_upwards), TEST(sizes_stay_close),
            TEST(refused))
