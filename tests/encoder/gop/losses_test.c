// Lost pictures that the encoder is told of (motus_encoder_reference_lost): a decoder of the
// surviving packets agrees with the encoder's reconstruction in each picture that was sent when all
// losses before it had been told.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "motus/encoder.h"
#include "tests/conformance/decoders/decoders.h"
#include "tests/conformance/decoders/material.h"
#include "tests/support/harness.h"

enum { W = 112, H = 80, PICTURES = 80 };

typedef struct Case {
    int keep, references, cabac, slices, weightp;
    MotusRateControl rate;
    int percent; // of pictures that are lost
    int late;    // most pictures from a loss to its report
} Case;

// One picture as the test expects it.
typedef struct Picture {
    int idr;
    int ref[MOTUS_MAX_REFERENCES], refs;
    int is_lost, told; // number of the first picture that may know of the loss
    int is_exact;      // the decoder has to agree
    int bad;
    MotusPacket *packet;
} Picture;

typedef struct Run {
    const Case *test;
    int kept;
    Picture picture[PICTURES];
    uint8_t *data;
    size_t size;
    int survivor[PICTURES], survivors;
    int wrong; // decoded pictures that differ though they must not
} Run;

// ---- What is expected ---------------------------------------------------------------------------

// Marks the pictures that are lost, or predicted from such, as far as is told before picture `now`.
static void find_bad(Run *r, int now) {
    for (int i = 0; i < now; i++) {
        Picture *p = &r->picture[i];
        p->bad = p->is_lost && p->told <= now;
        for (int k = 0; k < p->refs; k++) p->bad |= r->picture[p->ref[k]].bad;
    }
}

// Chooses the references of picture `now`: the newest good one, and further ones up to a bad one.
static void expect_references(Run *r, int now) {
    Picture *p = &r->picture[now];
    int oldest = now, first = -1;
    find_bad(r, now);
    while (oldest > 0 && now - oldest < r->kept && !r->picture[oldest].idr) oldest--;
    for (int i = now - 1; i >= oldest && first < 0; i--)
        if (!r->picture[i].bad) first = i;
    p->idr = first < 0;
    if (p->idr) return;
    p->ref[p->refs++] = first;
    for (int i = now - 1; i >= oldest && p->refs < r->test->references; i--) {
        if (r->picture[i].bad) break;
        if (i != first) p->ref[p->refs++] = i;
    }
}

// ---- Coding -------------------------------------------------------------------------------------

static MotusEncoderConfig config_of(const Case *c) {
    MotusEncoderConfig config = motus_encoder_config_default(W, H, (MotusRational){25, 1});
    config.keyint = 0;
    config.keep_references = c->keep, config.references = c->references;
    config.profile = MOTUS_PROFILE_HIGH;
    config.cabac = c->cabac, config.slices = c->slices, config.weightp = c->weightp;
    config.rate = c->rate, config.bitrate = 200000, config.lookahead = 0, config.scenecut = 0;
    config.backend = MOTUS_BACKEND_CPU;
    return config;
}

static void code_picture(Run *r, MotusEncoder *enc, int i) {
    Picture *p = &r->picture[i];
    int untold = 0;
    for (int k = 0; k < i; k++) {
        if (!r->picture[k].is_lost) continue;
        if (r->picture[k].told == i) EXPECT_OK(motus_encoder_reference_lost(enc, k));
        untold |= r->picture[k].told > i;
    }
    expect_references(r, i);
    MotusFrame *frame = motus_material_frame(MOTUS_MATERIAL_SCENE, W, H, i);
    EXPECT_OK(motus_encoder_send(enc, frame, NULL));
    motus_frame_unref(&frame);
    REQUIRE_OK(motus_encoder_receive(enc, &p->packet, -1));
    MOTUS_CHECK(p->packet->is_idr == p->idr, "picture %d", i);
    p->is_exact = !untold || p->idr;
    p->is_lost = i && motus_test_range(1, 100) <= r->test->percent;
    p->told = i + 1 + motus_test_range(0, r->test->late);
    if (p->is_lost) return;
    r->data = realloc(r->data, r->size + p->packet->size);
    memcpy(r->data + r->size, p->packet->data, p->packet->size);
    r->size += p->packet->size;
    r->survivor[r->survivors++] = i;
}

static void compare(void *context, int number, const MotusPlane plane[3]) {
    Run *r = context;
    if (number >= r->survivors) return;
    const Picture *p = &r->picture[r->survivor[number]];
    for (int c = 0; c < 3 && p->is_exact; c++)
        for (int y = 0; y < plane[c].height; y++) {
            const MotusPlane *own = &p->packet->recon->plane[c];
            if (!memcmp(plane[c].data + y * plane[c].stride, own->data + y * own->stride,
                        (size_t)own->width))
                continue;
            r->wrong++;
            return;
        }
}

static void check_case(const Case *c) {
    Run r = {.test = c, .kept = c->keep > c->references ? c->keep : c->references};
    const MotusEncoderConfig config = config_of(c);
    MotusEncoder *enc = NULL;
    MotusDecodeReport report;
    int losses = 0;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    for (int i = 0; i < PICTURES; i++) code_picture(&r, enc, i);
    CU_ASSERT_EQUAL(motus_encoder_reference_lost(enc, PICTURES), MOTUS_ERR_ARGUMENT);
    motus_encoder_close(&enc);
    motus_decode_libavcodec(r.data, r.size, compare, &r, &report);
    for (int i = 0; i < PICTURES; i++) losses += r.picture[i].is_lost;
    MOTUS_CHECK(report.pictures == r.survivors && !r.wrong,
                "keep %d ref %d slices %d cabac %d late %d: %d of %d decoded, %d wrong, %d lost",
                c->keep, c->references, c->slices, c->cabac, c->late, report.pictures, r.survivors,
                r.wrong, losses);
    MOTUS_CHECK(losses || !report.complaints, "%s", report.first);
    for (int i = 0; i < PICTURES; i++) motus_packet_unref(&r.picture[i].packet);
    free(r.data);
}

static void decoders_agree(void) {
    static const Case cases[] = {
        {16, 1, 1, 1, 0, MOTUS_RATE_QP, 5, 2},      {4, 1, 0, 1, 0, MOTUS_RATE_QP, 5, 2},
        {8, 1, 1, 3, 0, MOTUS_RATE_BITRATE, 10, 2}, {2, 1, 0, 1, 0, MOTUS_RATE_QP, 10, 0},
        {8, 3, 1, 1, 0, MOTUS_RATE_QP, 10, 3},      {6, 2, 0, 1, 1, MOTUS_RATE_QP, 5, 2},
        {0, 1, 1, 1, 0, MOTUS_RATE_QP, 5, 2},       {4, 1, 1, 1, 0, MOTUS_RATE_QP, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i]);
}

// ---- Single losses ------------------------------------------------------------------------------

static char code_one(MotusEncoder *enc, int i) {
    MotusPacket *packet = NULL;
    MotusFrame *frame = motus_material_frame(MOTUS_MATERIAL_STILL, W, H, i);
    EXPECT_OK(motus_encoder_send(enc, frame, NULL));
    motus_frame_unref(&frame);
    REQUIRE_OK(motus_encoder_receive(enc, &packet, -1));
    const char type = packet->type;
    motus_packet_unref(&packet);
    return type;
}

// Without a kept picture a loss means an IDR picture; one before the last IDR picture means
// nothing.
static void lost_for_good(void) {
    const Case c = {.keep = 2, .references = 1};
    const MotusEncoderConfig config = config_of(&c);
    MotusEncoder *enc = NULL;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    CU_ASSERT_EQUAL(motus_encoder_reference_lost(enc, 0), MOTUS_ERR_ARGUMENT);
    for (int i = 0; i < 70; i++) CU_ASSERT_EQUAL(code_one(enc, i), i ? 'P' : 'I');
    EXPECT_OK(motus_encoder_reference_lost(enc, 3)); // further back than dependences are known
    CU_ASSERT_EQUAL(code_one(enc, 70), 'I');
    EXPECT_OK(motus_encoder_reference_lost(enc, 69));
    CU_ASSERT_EQUAL(code_one(enc, 71), 'P');
    EXPECT_OK(motus_encoder_reference_lost(enc, 71));
    EXPECT_OK(motus_encoder_reference_lost(enc, 71));
    CU_ASSERT_EQUAL(code_one(enc, 72), 'P');
    EXPECT_OK(motus_encoder_reference_lost(enc, 70));
    CU_ASSERT_EQUAL(code_one(enc, 73), 'I');
    CU_ASSERT_EQUAL(motus_encoder_reference_lost(enc, 74), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_encoder_reference_lost(NULL, 0), MOTUS_ERR_ARGUMENT);
    EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
    CU_ASSERT_EQUAL(motus_encoder_reference_lost(enc, 73), MOTUS_ERR_STATE);
    motus_encoder_close(&enc);
}

static void refused(void) {
    MotusEncoder *enc = NULL;
    MotusError error;
    const Case c = {.keep = 4, .references = 1};
    MotusEncoderConfig config = config_of(&c);
    config.bframes = 2;
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &config, &error), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "without B pictures"));
    config.bframes = 0, config.keep_references = 17;
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &config, &error), MOTUS_ERR_ARGUMENT);
}

MOTUS_SUITE("losses", TEST(decoders_agree), TEST(lost_for_good), TEST(refused))
