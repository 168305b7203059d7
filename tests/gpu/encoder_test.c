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
    CU_ASSERT_FATAL(!motus_cuda_ring_open(&ring, 2, bytes, bytes, 1, NULL));
    CU_ASSERT_EQUAL(motus_cuda_ring_take(ring, &output, &stream, NULL), MOTUS_END);
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
        CU_ASSERT_EQUAL(motus_cuda_ring_take(ring, &output, NULL, NULL), MOTUS_ERR_ARGUMENT);
        CU_ASSERT_FATAL(!motus_cuda_ring_take(ring, &output, &stream, NULL));
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
                              GPU_TEST(cpu_only_settings_are_refused),
                              GPU_TEST(gop_coders_give_one_stream),
                              GPU_TEST(segments_in_any_order),
                              GPU_TEST(fields_as_on_the_cpu),
                              GPU_TEST(frames_made_late),
                              GPU_TEST(kept_sources),
                              GPU_TEST(frames_from_a_ring),
                              GPU_TEST(host_memory_is_refused),
                              {0}};
const GpuSuite gpu_encoder = {"encoder", rows};
