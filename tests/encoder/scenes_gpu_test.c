// Scenes give the CPU's streams: B pictures, MVs by reference, intra refresh, lost pictures.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/gpu/sequence.h"

enum { B_FRAMES = 20, ENTRIES = 400 };

// External MVs by reference of the pictures of a scene.
typedef struct GivenMvs {
    MotusCodedMv entry[B_FRAMES][ENTRIES];
    int final;
} GivenMvs;

// Codes frames of a scene and keeps the packets in coding order. given: NULL: search.
static void code_scene(const MotusEncoderConfig *config, const GivenMvs *given,
                       MotusPacket *packet[B_FRAMES]) {
    MotusEncoder *enc = open_encoder(config);
    for (int i = 0; i < B_FRAMES; i++) {
        MotusFrame *frame = gpu_picture(i % 11 > 8 ? MOTUS_MATERIAL_NOISE : MOTUS_MATERIAL_SCENE,
                                        config->width, config->height, i);
        const MotusFrameParams params = {.size = sizeof params,
                                         .pts = i,
                                         .duration = 1,
                                         .external_final = given && given->final,
                                         .reference_mvs = given ? given->entry[i] : NULL,
                                         // None for some pictures.
                                         .n_reference_mvs = given && i % 7 ? ENTRIES >> i % 3 : 0};
        CU_ASSERT_EQUAL(motus_encoder_send(enc, frame, given ? &params : NULL), MOTUS_OK);
        motus_frame_unref(&frame);
    }
    CU_ASSERT_EQUAL(motus_encoder_send(enc, NULL, NULL), MOTUS_OK);
    for (int i = 0; i < B_FRAMES; i++)
        CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet[i], -1), MOTUS_OK);
    motus_encoder_close(&enc);
}

static int same_packets(const MotusPacket *a, const MotusPacket *b) {
    return a->number == b->number && a->type == b->type && a->coded_again == b->coded_again &&
           packet_is(b, a->data, a->size) && !memcmp(&a->stats, &b->stats, sizeof a->stats) &&
           !a->recon == !b->recon && (!a->recon || motus_test_same_frames(a->recon, b->recon)) &&
           a->n_mvs == b->n_mvs &&
           (!a->n_mvs || !memcmp(a->mvs, b->mvs, a->n_mvs * sizeof *a->mvs));
}

// Codes the scene on the CPU and on the device. k: the case's number.
static void compare_scene_of(MotusEncoderConfig *c, const GivenMvs *given, int k) {
    MotusPacket *want[B_FRAMES] = {0}, *got[B_FRAMES] = {0};
    c->backend = MOTUS_BACKEND_CPU;
    code_scene(c, given, want);
    c->backend = MOTUS_BACKEND_CUDA;
    code_scene(c, given, got);
    for (int i = 0; i < B_FRAMES; i++) {
        MOTUS_CHECK(same_packets(want[i], got[i]), "case %d, packet %d: %c %d", k, i, want[i]->type,
                    (int)want[i]->number);
        motus_packet_unref(&want[i]);
        motus_packet_unref(&got[i]);
    }
}

static void compare_scene(MotusEncoderConfig *c, int k) { compare_scene_of(c, NULL, k); }

// Draws blocks anywhere, with MVs of whole samples and with fractions into references before and
// behind.
static void draw_mvs(GivenMvs *given, int mb_width, int mb_height) {
    MotusCodedMv *entry = &given->entry[0][0];
    for (int i = 0; i < B_FRAMES * ENTRIES; i++) {
        const MotusBlock *block = &motus_blocks[motus_test_range(0, MOTUS_BLOCKS - 1)];
        const int reach = motus_test_range(0, 9) ? 40 : 252, step = motus_test_range(0, 1) ? 4 : 1,
                  distance = motus_test_range(-6, 5);
        entry[i] =
            (MotusCodedMv){.x = (uint16_t)(16 * motus_test_range(0, mb_width - 1) + block->x),
                           .y = (uint16_t)(16 * motus_test_range(0, mb_height - 1) + block->y),
                           .width = block->width,
                           .height = block->height,
                           .distance = (int16_t)(distance + (distance >= 0)),
                           .mv = {(int16_t)(motus_test_range(-reach, reach) / step * step),
                                  (int16_t)(motus_test_range(-reach, reach) / step * step)}};
    }
}

static void mvs_by_reference_as_on_the_cpu(void) {
    GivenMvs *given = calloc(1, sizeof *given);
    CU_ASSERT_PTR_NOT_NULL_FATAL(given);
    for (int k = 0; k < 12; k++) {
        MotusEncoderConfig c = motus_encoder_config_default(k % 4 ? 176 : 322, k % 3 ? 144 : 98,
                                                            (MotusRational){25, 1});
        c.profile = k % 6 ? MOTUS_PROFILE_HIGH : MOTUS_PROFILE_BASELINE;
        c.cabac = k % 6 > 0, c.bframes = k % 6 ? k % 5 : 0, c.references = 1 + k % 4;
        c.preset = (MotusPreset)(k % MOTUS_PRESETS);
        c.subpel = k % 3 == 1 ? MOTUS_SUBPEL_FULL
                   : k % 5    ? MOTUS_SUBPEL_QUARTER
                              : MOTUS_SUBPEL_HALF;
        c.direct = (MotusDirectMode)(k / 2 % 4), c.weightp = k % 3, c.keyint = k % 2 ? 250 : 9;
        c.rate = k % 3 ? MOTUS_RATE_QP : MOTUS_RATE_CRF;
        c.gop_coders = 1 + k % 2;
        given->final = k % 4 == 3;
        draw_mvs(given, (c.width + 15) / 16, (c.height + 15) / 16);
        compare_scene_of(&c, given, k);
    }
    free(given);
}

// Fixed QPs, CRF with mb-tree, and pictures that are coded again because of the VBV.
static void b_pictures_as_on_the_cpu(void) {
    for (int k = 0; k < 21; k++) {
        MotusEncoderConfig c = motus_encoder_config_default(k % 4 ? 176 : 322, k % 3 ? 144 : 98,
                                                            (MotusRational){25, 1});
        c.profile = k % 2 ? MOTUS_PROFILE_HIGH : MOTUS_PROFILE_MAIN;
        c.cabac = k % 5 > 0, c.bframes = 1 + k % 7, c.references = 1 + k % 4, c.weightb = k % 4 > 1,
        c.weightp = k % 3, c.direct = (MotusDirectMode)(k / 2 % 4),
        c.b_pyramid = k / 7 == 1 ? MOTUS_B_PYRAMID_NONE : MOTUS_B_PYRAMID_NORMAL;
        c.keyint = k % 2 ? 250 : 9;
        c.slices = 1 + k % 4 / 3 * 2, c.stream_only = k % 6 == 5, c.deblock = k % 8 != 7;
        c.no_ssd = k % 9 > 4;
        c.lookahead = 5;
        c.rate = k % 3 == 1 ? MOTUS_RATE_CRF : k % 3 ? MOTUS_RATE_BITRATE : MOTUS_RATE_QP;
        c.aq_mode = k % 3 ? MOTUS_AQ_VARIANCE : MOTUS_AQ_OFF;
        if (c.rate == MOTUS_RATE_BITRATE) c.bitrate = c.vbv_maxrate = 200000, c.vbv_bufsize = 40000;
        c.gop_coders = 1 + k % 2;
        compare_scene(&c, k);
    }
}

// Every preset and profile; cycles of fewer and of more pictures than rows.
static void intra_refresh_as_on_the_cpu(void) {
    for (int k = 0; k < 2 * MOTUS_PRESETS; k++) {
        MotusEncoderConfig c = motus_encoder_config_default(k % 4 ? 176 : 322, k % 3 ? 144 : 98,
                                                            (MotusRational){25, 1});
        c.intra_refresh = 1, c.keyint = k % 2 ? 5 : 14;
        c.preset = (MotusPreset)(k % MOTUS_PRESETS);
        c.profile = k % 3 ? MOTUS_PROFILE_HIGH : MOTUS_PROFILE_BASELINE;
        c.slices = 1 + k % 5 / 4, c.deblock = k % 4 != 3, c.qp = 20 + 2 * k;
        c.keep_references = k % 6 == 5 ? 4 : 0;
        compare_scene(&c, k);
    }
}

// Codes frames of which some are lost, which is told up to three pictures late. The frames of
// `burst` are sent before their packets are received.
static void code_with_losses(const MotusEncoderConfig *config, int burst,
                             MotusPacket *packet[B_FRAMES]) {
    static const int told[B_FRAMES] = {[5] = 3, [8] = 7, [12] = 9, [13] = 12, [18] = 15};
    MotusEncoder *enc = open_encoder(config);
    for (int i = 0, received = 0; i < B_FRAMES; i++) {
        MotusFrame *frame = gpu_picture(MOTUS_MATERIAL_SCENE, config->width, config->height, i);
        if (told[i]) CU_ASSERT_EQUAL(motus_encoder_reference_lost(enc, told[i]), MOTUS_OK);
        CU_ASSERT_EQUAL(motus_encoder_send(enc, frame, NULL), MOTUS_OK);
        motus_frame_unref(&frame);
        for (; received + burst <= i + 1; received++)
            CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet[received], -1), MOTUS_OK);
        if (i + 1 < B_FRAMES) continue;
        for (; received < B_FRAMES; received++)
            CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet[received], -1), MOTUS_OK);
    }
    motus_encoder_close(&enc);
}

static void losses_as_on_the_cpu(void) {
    static const int cases[][2] = {{4, 1}, {8, 1}, {8, 3}, {2, 1}}; // kept, used
    for (int k = 0; k < 8; k++) {
        MotusPacket *on_cpu[B_FRAMES] = {0}, *on_gpu[B_FRAMES] = {0};
        MotusEncoderConfig c = motus_encoder_config_default(176, 144, (MotusRational){25, 1});
        c.keep_references = cases[k / 2][0], c.references = cases[k / 2][1];
        c.keyint = 0, c.profile = k % 2 ? MOTUS_PROFILE_HIGH : MOTUS_PROFILE_BASELINE;
        c.backend = MOTUS_BACKEND_CPU;
        code_with_losses(&c, 1, on_cpu);
        c.backend = MOTUS_BACKEND_CUDA;
        code_with_losses(&c, 1 + k % 2, on_gpu);
        for (int i = 0; i < B_FRAMES; i++) {
            MOTUS_CHECK(same_packets(on_cpu[i], on_gpu[i]), "kept %d ref %d: picture %d",
                        c.keep_references, c.references, i);
            motus_packet_unref(&on_cpu[i]);
            motus_packet_unref(&on_gpu[i]);
        }
    }
}

static const GpuRow rows[] = {GPU_TEST(b_pictures_as_on_the_cpu),
                              GPU_TEST(mvs_by_reference_as_on_the_cpu),
                              GPU_TEST(intra_refresh_as_on_the_cpu),
                              GPU_TEST(losses_as_on_the_cpu),
                              {0}};
const GpuSuite gpu_scenes = {"scenes", rows};
