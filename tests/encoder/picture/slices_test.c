// Slices of whole rows and slices of limited size: independent decoders give our reconstruction, no
// NAL unit exceeds its limit, and threads, GOP coders and executors change nothing.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "tests/conformance/decoders/conform.h"
#include "tests/conformance/decoders/decoders.h"
#include "tests/conformance/decoders/material.h"
#include "tests/support/harness.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FRAMES = 6 };

typedef struct Case {
    MotusMaterial material;
    int frames, maps;
    MotusEncoderConfig config;
} Case;

static Case make_case(MotusMaterial material, int width, int height, int frames, int qp) {
    Case c = {material, frames, 0,
              motus_encoder_config_default(width, height, (MotusRational){25, 1})};
    c.config.scenecut = 0;
    c.config.qp = qp;
    c.config.keyint = 3;
    c.config.backend = MOTUS_BACKEND_CPU;
    c.config.threads = 1;
    return c;
}

static void encode(MotusCoded *coded, const Case *c) {
    MotusFrame *frames[MOST_FRAMES];
    for (int i = 0; i < c->frames; i++)
        frames[i] = motus_material_frame(c->material, c->config.width, c->config.height, i);
    motus_conform_encode(coded, &c->config, frames, c->frames, c->maps);
    for (int i = 0; i < c->frames; i++) motus_frame_unref(&frames[i]);
}

static void describe(char text[200], const Case *c) {
    const MotusEncoderConfig *e = &c->config;
    snprintf(text, 200,
             "%s %dx%d qp=%d slices=%d size=%d deblock=%d preset=%d threads=%d rate=%d maps=%d",
             motus_material_name(c->material), e->width, e->height, e->qp, e->slices,
             e->slice_max_size, e->deblock, (int)e->preset, e->threads, (int)e->rate, c->maps);
}

// Encodes and judges. Returns the number of slices; stores the MB statistics in *stats if it is not
// NULL.
static int run_case(const Case *c, MotusPictureStats *stats) {
    MotusCoverage coverage = {0};
    MotusCoded coded;
    char text[200];
    int slices = 0;
    describe(text, c);
    encode(&coded, c);
    motus_conform_judge(&coded, &coverage);
    MOTUS_CHECK(!coded.failure[0], "%s: %s", text, coded.failure);
    for (int i = 0; i < coded.pictures; i++) slices += coded.slices[i];
    if (stats) *stats = coded.stats;
    motus_coded_free(&coded);
    return slices;
}

static const int sizes[][2] = {{112, 80}, {16, 16}, {2, 2}, {18, 290}, {130, 34}, {302, 18}};

// Numbers of slices from one to more than the rows, for every size; QPs, presets, rates and maps
// vary.
static void whole_rows(void) {
    static const int slices[] = {0, 1, 2, 3, 4, 17, 99, 1 << 30};
    int k = 0;
    for (int s = 0; s < 6; s++)
        for (int n = 0; n < 8; n++, k++) {
            Case c = make_case((MotusMaterial)(k % MOTUS_MATERIALS), sizes[s][0], sizes[s][1], 5,
                               k * 7 % 52);
            const int rows = (sizes[s][1] + 15) / 16, want = slices[n] < 1      ? 1
                                                             : slices[n] < rows ? slices[n]
                                                                                : rows;
            c.config.slices = slices[n];
            c.config.deblock = k % 5 != 0;
            c.config.preset = (MotusPreset)(k % MOTUS_PRESETS);
            c.config.threads = 1 + k % 3;
            c.maps = k % 4 == 1;
            motus_conform_rate(&c.config, k % MOTUS_CONFORM_RATES);
            const int got = run_case(&c, NULL);
            MOTUS_CHECK(got == 5 * want, "%d slices where %d are wanted", got, 5 * want);
        }
}

// Limits from the smallest to more than a picture, over QPs and materials, without and with
// whole-row slices.
static void limited(void) {
    static const int limits[] = {MOTUS_MIN_SLICE_SIZE, 300, 500, 1200, 1500, 5000};
    int k = 0;
    for (int material = 0; material < MOTUS_MATERIALS; material++)
        for (int n = 0; n < 6; n++)
            for (int qp = n; qp < 52; qp += 17, k++) {
                Case c =
                    make_case((MotusMaterial)material, sizes[k % 6][0], sizes[k % 6][1], 4, qp);
                c.config.slice_max_size = limits[n];
                c.config.slices = k % 3 ? 1 : 3;
                c.config.deblock = k % 5 != 0;
                c.config.preset = (MotusPreset)(k % MOTUS_PRESETS);
                c.config.aud = k % 2;
                c.config.threads = 1 + k % 2;
                c.maps = k % 4 == 1;
                motus_conform_rate(&c.config, k / 3 % MOTUS_CONFORM_RATES);
                run_case(&c, NULL);
            }
}

// Noise at QP 0 is I_PCM if that fits into a slice; a smaller limit raises the QP.
static void mbs_too_large(void) {
    MotusPictureStats fits, does_not, at_one_qp;
    Case c = make_case(MOTUS_MATERIAL_NOISE, 64, 48, 4, 0);
    c.config.slice_max_size = 700;
    MOTUS_CHECK(run_case(&c, &fits) == 4 * 12, "an MB a slice");
    c.config.slice_max_size = 300;
    MOTUS_CHECK(run_case(&c, &does_not) == 4 * 12, "an MB a slice");
    c.config.slice_max_size = 1300;
    MOTUS_CHECK(run_case(&c, &at_one_qp) == 4 * 4, "three MBs a slice");
    MOTUS_CHECK(fits.mb[MOTUS_MB_I_PCM] == 48 && fits.ssd[0] == 0, "%u I_PCM",
                fits.mb[MOTUS_MB_I_PCM]);
    MOTUS_CHECK(does_not.mb[MOTUS_MB_I_PCM] == 0 && does_not.ssd[0] > 0, "%u I_PCM",
                does_not.mb[MOTUS_MB_I_PCM]);
    MOTUS_CHECK(at_one_qp.mb[MOTUS_MB_I_PCM] == 48, "%u I_PCM", at_one_qp.mb[MOTUS_MB_I_PCM]);
}

// A limit that no picture reaches changes nothing: MBs coded in order equal MBs coded in parallel.
static void unlimited(void) {
    for (int material = 0; material < MOTUS_MATERIALS; material++) {
        Case c = make_case((MotusMaterial)material, 112, 80, 5, 20 + material * 3);
        MotusCoded plain, limited_far;
        c.config.preset = (MotusPreset)(material % MOTUS_PRESETS);
        c.config.slices = 1 + material % 3;
        encode(&plain, &c);
        c.config.slice_max_size = 1 << 30;
        encode(&limited_far, &c);
        motus_conform_same(&plain, &limited_far, motus_material_name(c.material));
        motus_coded_free(&plain);
        motus_coded_free(&limited_far);
    }
}

static void threads_and_lanes(void) {
    for (int k = 0; k < 4; k++) {
        Case c = make_case(MOTUS_MATERIAL_SCENE, 112, 176, 6, 26);
        MotusCoded first, again;
        c.config.slices = 1 + 3 * (k & 1);
        c.config.slice_max_size = k & 2 ? 400 : 0;
        motus_conform_rate(&c.config, k & 1 ? 2 : 0);
        encode(&first, &c);
        for (int other = 0; other < 4; other++) {
            static const int threads[] = {2, 3, 8, 4}, gop_coders[] = {1, 2, 1, 3};
            char what[64];
            snprintf(what, sizeof what, "case %d, %d threads, %d GOP coders", k, threads[other],
                     gop_coders[other]);
            c.config.threads = threads[other];
            c.config.gop_coders = gop_coders[other];
            encode(&again, &c);
            motus_conform_same(&first, &again, what);
            motus_coded_free(&again);
        }
        motus_coded_free(&first);
    }
}

// Plain C and all versions for this CPU.
static void executors_agree(void) {
    for (int k = 0; k < 6; k++) {
        Case c = make_case((MotusMaterial)k, 112, 80, 4, 8 + 7 * k);
        MotusCoded fast, plain;
        c.config.slices = 1 + k;
        c.config.slice_max_size = k % 2 ? 300 : 0;
        encode(&fast, &c);
        motus_test_cpu("c");
        encode(&plain, &c);
        motus_test_cpu(NULL);
        motus_conform_same(&fast, &plain, motus_material_name(c.material));
        motus_coded_free(&fast);
        motus_coded_free(&plain);
    }
}

// Pictures that are coded again for their VBV, and filler data, which is split as well.
static void with_a_vbv(void) {
    for (int limit = 200; limit < 1000; limit += 350) {
        Case c = make_case(MOTUS_MATERIAL_SCENE, 112, 80, 6, 30);
        c.config.slice_max_size = limit;
        c.config.rate = MOTUS_RATE_BITRATE;
        c.config.bitrate = c.config.vbv_maxrate = 200000;
        c.config.vbv_bufsize = 60000;
        c.config.lookahead = 0;
        c.config.keyint = 0;
        run_case(&c, NULL);
        c.material = MOTUS_MATERIAL_STILL;
        c.config.hrd = MOTUS_HRD_CBR;
        c.config.bitrate = c.config.vbv_maxrate = 2000000;
        c.config.vbv_bufsize = 200000;
        run_case(&c, NULL);
    }
}

static void ignore(void *context, int number, const MotusPlane plane[3]) {
    (void)context, (void)number, (void)plane;
}

// The judges must notice a missing slice.
static void a_lost_slice_is_found(void) {
    Case c = make_case(MOTUS_MATERIAL_SCENE, 112, 80, 3, 24);
    MotusCoded coded;
    c.config.slices = 5;
    encode(&coded, &c);
    CU_ASSERT_FATAL(!coded.failure[0]);
    size_t start, end, nal = 0;
    for (int n = 0; n < 5; n++)
        nal = motus_next_nal(coded.data, coded.size, nal,
                             &start); // SPS, PPS and two slices precede it
    motus_next_nal(coded.data, coded.size, nal, &end);
    CU_ASSERT_EQUAL_FATAL(coded.data[nal] & 31, 5);
    memmove(coded.data + start, coded.data + end, coded.size - end);
    for (int d = 0; d < MOTUS_DECODERS; d++) {
        MotusDecodeReport report;
        motus_decoders[d].decode(coded.data, coded.size - (end - start), ignore, NULL, &report);
        MOTUS_CHECK(report.complaints > 0, "%s: a lost slice", motus_decoders[d].name);
    }
    motus_coded_free(&coded);
}

// A program compiled before slices existed: members beyond its size are not read.
static void older_program(void) {
    Case c = make_case(MOTUS_MATERIAL_SCENE, 64, 48, 3, 20);
    MotusCoded plain, older;
    encode(&plain, &c);
    c.config.size = offsetof(MotusEncoderConfig, slices);
    encode(&older, &c);
    motus_conform_same(&plain, &older, "an older program");
    motus_coded_free(&plain);
    motus_coded_free(&older);
}

static void failing_allocations(void) {
    MotusFrame *frame = motus_material_frame(MOTUS_MATERIAL_SCENE, 64, 80, 0);
    int failed = 0;
    for (int n = 1; n < 120; n++) {
        Case c = make_case(MOTUS_MATERIAL_SCENE, 64, 80, 1, 20);
        MotusEncoder *enc = NULL;
        MotusPacket *packet = NULL;
        c.config.slices = 3;
        c.config.slice_max_size = 300;
        motus_alloc_fail_after(n);
        MotusStatus status = motus_encoder_open(&enc, &c.config, NULL);
        if (!status) status = motus_encoder_send(enc, frame, NULL);
        if (!status) status = motus_encoder_receive(enc, &packet, -1);
        motus_packet_unref(&packet);
        motus_encoder_close(&enc);
        motus_alloc_fail_after(-1);
        failed += status == MOTUS_ERR_MEMORY;
        MOTUS_CHECK(status == MOTUS_OK || status == MOTUS_ERR_MEMORY, "allocation %d: %d", n,
                    (int)status);
    }
    CU_ASSERT(failed > 10);
    motus_frame_unref(&frame);
}

MOTUS_SUITE("slices", TEST(whole_rows), TEST(limited), TEST(mbs_too_large), TEST(unlimited),
            TEST(threads_and_lanes), TEST(executors_agree), TEST(with_a_vbv),
            TEST(a_lost_slice_is_found), TEST(older_program), TEST(failing_allocations))
