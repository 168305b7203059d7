// Slices of whole rows and slices of limited size: independent decoders give our reconstruction, no
// NAL unit exceeds its limit, and threads, GOP coders and executors change nothing.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "tests/conformance/decoders/conform_case.h"
#include "tests/conformance/decoders/decoders.h"
#include "tests/support/harness.h"

#include <string.h>

static ConformCase make_case(MotusMaterial material, int width, int height, int frames, int qp) {
    ConformCase c = conform_case(material, width, height, frames, qp);
    c.config.keyint = 3;
    c.config.profile = qp % 2 ? MOTUS_PROFILE_HIGH : MOTUS_PROFILE_BASELINE;
    return c;
}

// Encodes and judges the case. Returns the number of slices.
static int run_case(const ConformCase *c, MotusPictureStats *stats) {
    MotusCoverage coverage = {0};
    return conform_case_run(c, &coverage, stats);
}

static const int sizes[][2] = {{112, 80}, {16, 16}, {2, 2}, {18, 290}, {130, 34}, {302, 18}};

// Numbers of slices from one to more than the rows, for every size; QPs, presets, rates and maps
// vary.
static void whole_rows(void) {
    static const int slices[] = {0, 1, 2, 3, 4, 17, 99, 1 << 30};
    int k = 0;
    for (int s = 0; s < 6; s++)
        for (int n = 0; n < 8; n++, k++) {
            ConformCase c = make_case((MotusMaterial)(k % MOTUS_MATERIALS), sizes[s][0],
                                      sizes[s][1], 5, k * 7 % 52);
            const int rows = (sizes[s][1] + 15) / 16, want = slices[n] < 1      ? 1
                                                             : slices[n] < rows ? slices[n]
                                                                                : rows;
            c.config.slices = slices[n];
            c.config.deblock = k % 5 != 0;
            c.config.preset = (MotusPreset)(k % MOTUS_PRESETS);
            c.config.threads = 1 + k % 3;
            c.maps = k % 4 == 1 ? MOTUS_MAPS_MIXED : MOTUS_MAPS_NONE;
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
                ConformCase c =
                    make_case((MotusMaterial)material, sizes[k % 6][0], sizes[k % 6][1], 4, qp);
                c.config.slice_max_size = limits[n];
                c.config.slices = k % 3 ? 1 : 3;
                c.config.deblock = k % 5 != 0;
                c.config.preset = (MotusPreset)(k % MOTUS_PRESETS);
                c.config.aud = k % 2;
                c.config.threads = 1 + k % 2;
                c.maps = k % 4 == 1 ? MOTUS_MAPS_MIXED : MOTUS_MAPS_NONE;
                motus_conform_rate(&c.config, k / 3 % MOTUS_CONFORM_RATES);
                run_case(&c, NULL);
            }
}

// Noise at QP 0 is I_PCM if that fits into a slice; a smaller limit raises the QP.
static void mbs_too_large(void) {
    MotusPictureStats fits, does_not, at_one_qp;
    ConformCase c = make_case(MOTUS_MATERIAL_NOISE, 64, 48, 4, 0);
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
        ConformCase c = make_case((MotusMaterial)material, 112, 80, 5, 20 + material * 3);
        c.config.preset = (MotusPreset)(material % MOTUS_PRESETS);
        c.config.slices = 1 + material % 3;
        ConformCase far = c;
        far.config.slice_max_size = 1 << 30;
        conform_case_same(&c, &far, NULL, "a limit out of reach");
    }
}

static void threads_and_gop_coders(void) {
    static const int threads[] = {2, 3, 8, 4}, gop_coders[] = {1, 2, 1, 3};
    for (int k = 0; k < 4; k++) {
        ConformCase c = make_case(MOTUS_MATERIAL_SCENE, 112, 176, 6, 26);
        c.config.slices = 1 + 3 * (k & 1);
        c.config.slice_max_size = k & 2 ? 400 : 0;
        motus_conform_rate(&c.config, k & 1 ? 2 : 0);
        for (int i = 0; i < 4; i++) {
            ConformCase other = c;
            other.config.threads = threads[i];
            other.config.gop_coders = gop_coders[i];
            conform_case_same(&c, &other, NULL, "threads and GOP coders");
        }
    }
}

// Plain C and all versions for this CPU.
static void executors_agree(void) {
    for (int k = 0; k < 6; k++) {
        ConformCase c = make_case((MotusMaterial)k, 112, 80, 4, 8 + 7 * k);
        c.config.slices = 1 + k;
        c.config.slice_max_size = k % 2 ? 300 : 0;
        conform_case_same(&c, &c, "c", "plain C");
    }
}

// Pictures that are coded again for their VBV, and filler data, which is split as well.
static void with_a_vbv(void) {
    for (int limit = 200; limit < 1000; limit += 350) {
        ConformCase c = make_case(MOTUS_MATERIAL_SCENE, 112, 80, 6, 30);
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
    ConformCase c = make_case(MOTUS_MATERIAL_SCENE, 112, 80, 3, 24);
    MotusCoded coded;
    c.config.slices = 5;
    conform_case_encode(&coded, &c);
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

static void failing_allocations(void) {
    MotusFrame *frame = motus_material_frame(MOTUS_MATERIAL_SCENE, 64, 80, 0);
    int failed = 0;
    for (int n = 1; n < 120; n++) {
        ConformCase c = make_case(MOTUS_MATERIAL_SCENE, 64, 80, 1, 20);
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
            TEST(threads_and_gop_coders), TEST(executors_agree), TEST(with_a_vbv),
            TEST(a_lost_slice_is_found), TEST(failing_allocations))
