// Frames in device memory give the streams, reconstructions and sources that the same frames give
// from host memory on the CPU backend: slices, GOP coders, fields, the order of streams.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/upload.h"
#include "tests/gpu/sequence.h"

// Sends I and P pictures, all from the device or each third one from the host. The frame is
// overwritten as soon as it has been sent.
static void compare(const Sequence *s, int gap, int shift, int mixed, cudaStream_t stream) {
    DeviceFrame d = device_frame(s->config.width, s->config.height, gap, shift);
    MotusEncoder *enc = open_encoder(&s->config);
    CU_ASSERT_EQUAL(motus_encoder_backend(enc), MOTUS_BACKEND_CUDA);
    for (int i = 0; i < N_FRAMES; i++) {
        int on_host = mixed && i % 3 == 2;
        upload(&d, s->frame[i], stream);
        MotusStatus status = on_host ? motus_encoder_send(enc, s->frame[i], NULL)
                                     : motus_encoder_send_device(enc, d.frame, stream, NULL);
        overwrite(&d, stream);
        MOTUS_CHECK(!status && as_wanted(enc, s, i),
                    "%dx%d gap %d shift %d mixed %d frame %d: %d %s", s->config.width,
                    s->config.height, gap, shift, mixed, i, status, motus_encoder_error(enc)->text);
    }
    CU_ASSERT_EQUAL(motus_encoder_error(enc)->status, MOTUS_OK);
    release(enc, &d, NULL);
}

static void equal_to_the_cpu(void) {
    static const int cases[][3] = {{16, 16, 1},    {34, 18, 1},     {2, 2, 1},   {352, 288, 1},
                                   {130, 66, 1},   {1918, 1080, 1}, {34, 18, 2}, {352, 288, 4},
                                   {352, 288, 99}, {130, 66, 3},    {2, 2, 5},   {1918, 1080, 8}};
    cudaStream_t stream = open_stream();
    for (int k = 0; k < 12; k++) {
        const int width = cases[k][0], height = cases[k][1];
        Sequence s;
        make_sliced_sequence(&s, width, height, cases[k][2], (MotusProfile)((k + k / 6) % 3));
        s.config.stream_only = k >= 6 && k % 2;
        if (k < 5) compare(&s, 0, 0, 0, stream);
        compare(&s, 7, k < 6 ? 1 + k % 3 : k % 3, k % 2, stream);
        if (k < 5) compare(&s, 64 - width % 64, 0, 1, NULL);
        drop_sequence(&s);
    }
    close_stream(stream);
}

// ---- B pictures ---------------------------------------------------------------------------------

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

// ---- Others -------------------------------------------------------------------------------------

// Slices of a largest size are coded on the CPU: CUDA refuses them, and AUTO chooses the CPU.
static void cpu_only_settings_are_refused(void) {
    MotusEncoderConfig c = motus_encoder_config_default(64, 48, (MotusRational){25, 1});
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    c.slice_max_size = 1200;
    c.backend = MOTUS_BACKEND_CUDA;
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &c, &error), MOTUS_ERR_UNSUPPORTED);
    CU_ASSERT(!enc && strstr(error.text, "slices") && !strchr(error.text, '\n'));
    c.backend = MOTUS_BACKEND_AUTO;
    CU_ASSERT_FATAL(!motus_encoder_open(&enc, &c, &error));
    CU_ASSERT_EQUAL(motus_encoder_backend(enc), MOTUS_BACKEND_CPU);
    CU_ASSERT(strstr(motus_encoder_error(enc)->text, "slices") != NULL);
    motus_encoder_close(&enc);
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

// Sends all frames before the first packet is received, to any number of GOP coders, with and
// without reconstructions.
static void gop_coders_give_one_stream(void) {
    static const int gop_coders[] = {1, 2, 3, 7, 16, 0};
    cudaStream_t stream = open_stream();
    for (int c = 0; c < 12; c++) {
        Sequence s;
        make_sequence(&s, c % 2 ? 176 : 130, c % 2 ? 144 : 66);
        s.config.gop_coders = gop_coders[c / 2];
        s.config.stream_only = c % 2;
        DeviceFrame d = device_frame(s.config.width, s.config.height, 0, 0);
        MotusEncoder *enc = open_encoder(&s.config);
        // The sequence in turns: each begins with an IDR picture, every second one is in host
        // memory.
        for (int i = 0; i < 8 * N_FRAMES; i++) {
            const MotusFrameParams params = {.size = sizeof params, .force_idr = i % N_FRAMES == 0};
            const MotusFrame *frame = s.frame[i % N_FRAMES];
            if (i / N_FRAMES % 2) {
                CU_ASSERT_EQUAL(motus_encoder_send(enc, frame, &params), MOTUS_OK);
                continue;
            }
            upload(&d, frame, stream);
            CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, stream, &params), MOTUS_OK);
            overwrite(&d, stream);
        }
        // Later turns have another idr_pic_id: only their sizes are compared.
        for (int i = 0; i < 8 * N_FRAMES; i++) {
            MotusPacket *packet;
            if (i < N_FRAMES) {
                MOTUS_CHECK(as_wanted(enc, &s, i), "%d GOP coders, picture %d", s.config.gop_coders,
                            i);
                continue;
            }
            CU_ASSERT_FATAL(!motus_encoder_receive(enc, &packet, -1));
            const int want = (int)s.size[i % N_FRAMES], off = abs((int)packet->size - want);
            MOTUS_CHECK(packet->is_idr == (i % N_FRAMES % 3 == 0) &&
                            (packet->is_idr ? off < 4 : !off),
                        "%d GOP coders, picture %d", s.config.gop_coders, i);
            if (packet->recon)
                CU_ASSERT(motus_test_same_frames(packet->recon, s.recon[i % N_FRAMES]));
            motus_packet_unref(&packet);
        }
        release(enc, &d, &s);
    }
    close_stream(stream);
}

// The sequence's GOPs as segments, the second before the first, in turns in GOP coders that stay
// open: each turn gives the same packets.
static void segments_in_any_order(void) {
    static const int first[2] = {3, 0}, end[2] = {N_FRAMES, 3};
    for (int gop_coders = 1; gop_coders < 4; gop_coders++) {
        Sequence s;
        make_sequence(&s, 176, 144);
        s.config.gop_coders = gop_coders;
        s.config.stream_only = gop_coders % 2;
        MotusEncoder *enc = open_encoder(&s.config);
        for (int k = 0; k < 8; k++) {
            CU_ASSERT_EQUAL(motus_encoder_send(enc, NULL, NULL), MOTUS_OK);
            CU_ASSERT_FATAL(!motus_encoder_next_segment(enc, first[k % 2], 1 - k % 2));
            for (int i = first[k % 2]; i < end[k % 2]; i++)
                CU_ASSERT_EQUAL(motus_encoder_send(enc, s.frame[i], NULL), MOTUS_OK);
        }
        for (int k = 0; k < 8; k++)
            for (int i = first[k % 2]; i < end[k % 2]; i++)
                MOTUS_CHECK(as_wanted(enc, &s, i), "%d GOP coders, turn %d, picture %d", gop_coders,
                            k, i);
        release(enc, NULL, &s);
    }
}

// A frame that is not ready when it is sent: the encoder waits for the stream.
static void frames_made_late(void) {
    Sequence s;
    make_sequence(&s, 96, 80);
    DeviceFrame now = device_frame(96, 80, 3, 0), later = device_frame(96, 80, 3, 0);
    cudaStream_t stream = open_stream();
    MotusEncoder *enc = open_encoder(&s.config);
    for (int i = 0; i < N_FRAMES; i++) {
        upload(&later, s.frame[i], stream);
        GPU_OK(cudaStreamSynchronize(stream));
        sleep_on(stream, 30);
        GPU_OK(
            cudaMemcpyAsync(now.memory, later.memory, now.size, cudaMemcpyDeviceToDevice, stream));
        now.frame->number = s.frame[i]->number;
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, now.frame, stream, NULL), MOTUS_OK);
        MOTUS_CHECK(as_wanted(enc, &s, i), "frame %d", i);
    }
    motus_encoder_close(&enc);
    drop_device_frame(&now);
    drop_device_frame(&later);
    drop_sequence(&s);
    close_stream(stream);
}

// Sources that are kept outlive the frames that follow, and the encoder.
static void kept_sources(void) {
    Sequence s;
    MotusFrame *source[N_FRAMES];
    make_sequence(&s, 70, 50);
    DeviceFrame d = device_frame(70, 50, 0, 0);
    MotusEncoder *enc = open_encoder(&s.config);
    for (int i = 0; i < N_FRAMES; i++) {
        MotusPacket *packet;
        upload(&d, s.frame[i], NULL);
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, NULL, NULL), MOTUS_OK);
        CU_ASSERT_FATAL(!motus_encoder_receive(enc, &packet, -1));
        source[i] = motus_frame_ref(packet->source);
        motus_packet_unref(&packet);
    }
    motus_encoder_close(&enc);
    for (int i = 0; i < N_FRAMES; i++)
        MOTUS_CHECK(motus_test_same_frames(source[i], s.frame[i]), "frame %d", i);
    for (int i = 0; i < N_FRAMES; i++) motus_frame_unref(&source[i]);
    release(NULL, &d, &s);
}

// Draws MVs of whole samples and with fractions, some far outside.
static void fill_field(MotusField *field) {
    for (int i = 0; i < MOTUS_BLOCKS * field->n_mb; i++) {
        const int reach = motus_test_range(0, 9) ? 40 : 250, step = motus_test_range(0, 1) ? 4 : 1;
        field->mv[0][i] = (MotusMv){(int16_t)(motus_test_range(-reach, reach) / step * step),
                                    (int16_t)(motus_test_range(-reach, reach) / step * step)};
    }
}

static int same_field(const MotusPacket *a, const MotusPacket *b) {
    if (!a->field != !b->field || a->field_modes != b->field_modes) return 0;
    for (int k = 0; k < MOTUS_BLOCKS && a->field; k++) {
        const size_t n = (size_t)a->field->n_mb;
        if (!(a->field_modes >> motus_blocks[k].mode & 1)) continue;
        if (memcmp(a->field->mv[k], b->field->mv[k], n * sizeof(MotusMv)) ||
            memcmp(a->field->sad[k], b->field->sad[k], n * 2) ||
            memcmp(a->field->cost[k], b->field->cost[k], n * 4))
            return 0;
    }
    return 1;
}

// Codes the sequence on both backends, with external MVs or without: equal packets and fields.
static void code_both(const Sequence *s, uint32_t modes, int final, int given) {
    MotusEncoder *enc[2] = {0};
    MotusEncoderConfig c = s->config;
    MotusField *field = NULL;
    c.export_field = 1;
    for (int k = 0; k < 2; k++) {
        c.backend = k ? MOTUS_BACKEND_CUDA : MOTUS_BACKEND_CPU;
        enc[k] = open_encoder(&c);
    }
    CU_ASSERT_FATAL(!motus_field_alloc(&field, c.width, c.height));
    for (int i = 0; i < N_FRAMES; i++) {
        MotusPacket *packet[2] = {0};
        fill_field(field);
        const MotusFrameParams params = {.size = sizeof params,
                                         .duration = 1,
                                         .external_mvs = given ? field : NULL,
                                         .external_modes = modes,
                                         .external_final = final};
        for (int k = 0; k < 2; k++) {
            CU_ASSERT_FATAL(!motus_encoder_send(enc[k], s->frame[i], &params));
            CU_ASSERT_FATAL(!motus_encoder_receive(enc[k], &packet[k], -1));
        }
        MOTUS_CHECK(packet[0]->size == packet[1]->size &&
                        !memcmp(packet[0]->data, packet[1]->data, packet[0]->size) &&
                        same_field(packet[0], packet[1]),
                    "preset %d subpel %d modes 0x%x final %d given %d frame %d", (int)c.preset,
                    (int)c.subpel, (unsigned)modes, final, given, i);
        for (int k = 0; k < 2; k++) motus_packet_unref(&packet[k]);
    }
    for (int k = 0; k < 2; k++) motus_encoder_close(&enc[k]);
    motus_field_free(&field);
}

static void fields_as_on_the_cpu(void) {
    Sequence s;
    make_sequence(&s, 162, 98);
    for (int i = 0; i < 16; i++) {
        s.config.preset = (MotusPreset)(i % MOTUS_PRESETS);
        s.config.subpel = i % 3 ? MOTUS_SUBPEL_QUARTER : MOTUS_SUBPEL_HALF;
        code_both(&s, 0, 0, 0);
        if (i % 3) code_both(&s, (uint32_t)motus_test_range(0, 63) << 1 | 1, i / 4 % 2, 1);
    }
    drop_sequence(&s);
}

// ---- Where frames come from ---------------------------------------------------------------------

static MotusFrame *tight_frame(const Sequence *s, void *memory) {
    int w = s->config.width, h = s->config.height;
    MotusFrame *frame = NULL;
    uint8_t *luma = memory, *cb = luma + w * h;
    uint8_t *const data[3] = {luma, cb, cb + w * h / 4};
    const ptrdiff_t stride[3] = {w, w / 2, w / 2};
    CU_ASSERT_FATAL(!motus_frame_wrap(&frame, w, h, data, stride, NULL, NULL));
    return frame;
}

// Results of the ring that stay on the device go into the encoder while the next pictures pass
// through the same slots.
static void frames_from_a_ring(void) {
    Sequence s;
    MotusCudaRing *ring = NULL;
    const void *output;
    void *input, *stream;
    make_sequence(&s, 192, 112);
    size_t bytes = 192 * 112 * 3 / 2;
    MotusEncoder *enc = open_encoder(&s.config);
    CU_ASSERT_FATAL(!motus_cuda_ring_open_device(&ring, 2, bytes, bytes, NULL));
    CU_ASSERT_EQUAL(motus_cuda_ring_take_device(ring, &output, &stream, NULL), MOTUS_END);
    for (int n = 0; n < 40; n++) {
        if (n < 38) {
            CU_ASSERT_FATAL(!motus_cuda_ring_input(ring, &input, NULL));
            MotusFrame *up = tight_frame(&s, input);
            CU_ASSERT_EQUAL(motus_frame_copy_padded(up, s.frame[n % N_FRAMES]), MOTUS_OK);
            motus_frame_unref(&up);
            CU_ASSERT_EQUAL(motus_cuda_ring_submit(ring, copy_job, &bytes, NULL), MOTUS_OK);
        }
        if (!n || n > 38) continue;
        const int i = (n - 1) % N_FRAMES;
        CU_ASSERT_EQUAL(motus_cuda_ring_take(ring, &output, NULL), MOTUS_ERR_STATE);
        CU_ASSERT_FATAL(!motus_cuda_ring_take_device(ring, &output, &stream, NULL));
        MotusFrame *down = tight_frame(&s, (void *)(uintptr_t)output);
        down->number = s.frame[i]->number;
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, down, stream, NULL), MOTUS_OK);
        motus_frame_unref(&down);
        MOTUS_CHECK(as_wanted(enc, &s, i), "picture %d", n - 1);
        if (i < N_FRAMES - 1) continue;
        motus_encoder_close(&enc);
        enc = open_encoder(&s.config);
    }
    motus_cuda_ring_close(&ring);
    release(enc, NULL, &s);
}

// A plane that the device cannot read is refused before it is touched. The encoder goes on.
static void host_memory_is_refused(void) {
    Sequence s;
    make_sequence(&s, 64, 48);
    DeviceFrame d = device_frame(64, 48, 0, 0);
    MotusEncoder *enc = open_encoder(&s.config);
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, s.frame[0], NULL, NULL), MOTUS_ERR_ARGUMENT);
    MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, "device memory") != NULL, "%s",
                motus_encoder_error(enc)->text);
    upload(&d, s.frame[0], NULL);
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, NULL, NULL), MOTUS_OK);
    CU_ASSERT(as_wanted(enc, &s, 0));
    CU_ASSERT_EQUAL(motus_encoder_error(enc)->status, MOTUS_OK);
    release(enc, &d, &s);
}

static const GpuRow rows[] = {GPU_TEST(equal_to_the_cpu),
                              GPU_TEST(b_pictures_as_on_the_cpu),
                              GPU_TEST(intra_refresh_as_on_the_cpu),
                              GPU_TEST(cpu_only_settings_are_refused),
                              GPU_TEST(losses_as_on_the_cpu),
                              GPU_TEST(gop_coders_give_one_stream),
                              GPU_TEST(segments_in_any_order),
                              GPU_TEST(fields_as_on_the_cpu),
                              GPU_TEST(mvs_by_reference_as_on_the_cpu),
                              GPU_TEST(frames_made_late),
                              GPU_TEST(kept_sources),
                              GPU_TEST(frames_from_a_ring),
                              GPU_TEST(host_memory_is_refused),
                              {0}};
const GpuSuite gpu_encoder = {"encoder", rows};
