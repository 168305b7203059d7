// Explicit weights: statistics of source pictures and weighted planes are the CPU's, and so are the
// streams of fading pictures from host and device memory.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb/mb_cuda.h"
#include "encoder/weights/source_stats_cuda.h"
#include "motus/upload.h"
#include "tests/gpu/sequence.h"

// Memory that both sides read.
static void *shared(size_t bytes) {
    void *at = NULL;
    GPU_OK(cudaMallocManaged(&at, bytes, cudaMemAttachGlobal));
    CU_ASSERT_FATAL(at != NULL);
    memset(at, GPU_POISON, bytes);
    return at;
}

static void source_statistics(void) {
    for (int k = 0; k < 16; k++) {
        const int mb_width = k ? motus_test_range(1, 40) : 120,
                  mb_height = k ? motus_test_range(1, 30) : 68, width = 16 * mb_width,
                  height = 16 * mb_height;
        const size_t bytes = motus_source_stats_bytes(mb_width, mb_height);
        MotusFrame *frame = k % 4 ? gpu_picture(k % GPU_PICTURES, width, height, k) : NULL;
        if (!frame) CU_ASSERT_FATAL(!motus_frame_alloc(&frame, width, height));
        if (!(k % 4)) // the largest sums
            for (int p = 0; p < 3; p++)
                for (int y = 0; y < frame->plane[p].height; y++)
                    memset(frame->plane[p].data + y * frame->plane[p].stride, 255,
                           (size_t)frame->plane[p].width);
        DeviceFrame d = device_frame(width, height, 0, 0);
        MotusSourceStats *want = shared(bytes), *got = shared(bytes);
        MotusSourceShares *shares = shared(motus_source_shares_bytes(mb_width, mb_height));
        upload(&d, frame, NULL);
        motus_source_stats_measure(want, frame, 1);
        GPU_OK(motus_source_shares_measure(shares, d.frame->plane, NULL));
        GPU_OK(cudaDeviceSynchronize());
        motus_source_shares_add(got, shares, mb_width, mb_height);
        MOTUS_CHECK(!memcmp(want, got, bytes), "%dx%d, content %d", width, height, k);
        GPU_OK(cudaFree(want));
        GPU_OK(cudaFree(got));
        GPU_OK(cudaFree(shares));
        drop_device_frame(&d);
        motus_frame_unref(&frame);
    }
}

static void weighted_planes(void) {
    for (int k = 0; k < 40; k++) {
        const int width = 16 * motus_test_range(1, 30), height = 16 * motus_test_range(1, 20),
                  log2_denom = 1 + k % 6;
        const size_t bytes = motus_ref_luma_bytes(width, height);
        const MotusWeight w = {(int16_t)motus_test_range(-128, 127),
                               (int16_t)motus_test_range(-128, 127)};
        MotusRefLuma from, to;
        motus_ref_luma_layout(&from, shared(bytes), width, height);
        motus_ref_luma_layout(&to, shared(bytes + 64), width, height);
        for (size_t i = 0; i < bytes; i++) from.memory[i] = (uint8_t)motus_test_range(0, 255);
        GPU_OK(motus_weigh_luma_cuda(&to, &from, w, log2_denom, NULL));
        GPU_OK(cudaDeviceSynchronize());
        size_t same = 0;
        while (same < bytes &&
               to.memory[same] == motus_weighted_sample(from.memory[same], w, log2_denom))
            same++;
        MOTUS_CHECK(same == bytes, "%dx%d, %d / %d %+d: byte %zu", width, height, w.weight,
                    1 << log2_denom, w.offset, same);
        for (int i = 0; i < 64; i++)
            MOTUS_CHECK(to.memory[bytes + (size_t)i] == GPU_POISON, "byte %d behind", i);
        GPU_OK(cudaFree(from.memory));
        GPU_OK(cudaFree(to.memory));
    }
}

// ---- Streams ------------------------------------------------------------------------------------

enum { FRAMES = 16 };

// Returns picture i of a scene that fades out and in again, or of which two thirds flicker.
static MotusFrame *fading(const MotusEncoderConfig *c, int i, int flickers) {
    MotusFrame *frame = gpu_picture(MOTUS_MATERIAL_SCENE, c->width, c->height, i);
    const int scale = flickers ? 64 - 8 * (i & 1) : i < 8 ? 64 - 7 * i : 64 - 7 * (FRAMES - i);
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = flickers ? frame->plane[p].width / 3 : 0; x < frame->plane[p].width; x++) {
                uint8_t *v = &frame->plane[p].data[y * frame->plane[p].stride + x];
                *v = (uint8_t)((p ? 128 : 16) + (*v - (p ? 128 : 16)) * scale / 64);
            }
    return frame;
}

// Codes the frames from host memory, or from device memory where a frame is overwritten as soon as
// it has been sent.
static void code(const MotusEncoderConfig *c, int flickers, int on_device,
                 MotusPacket *packet[FRAMES]) {
    cudaStream_t stream = on_device ? open_stream() : NULL;
    DeviceFrame d = {0};
    MotusEncoder *enc = open_encoder(c);
    if (on_device) d = device_frame(c->width, c->height, 0, 0);
    for (int i = 0; i < FRAMES; i++) {
        MotusFrame *frame = fading(c, i, flickers);
        if (on_device) upload(&d, frame, stream);
        CU_ASSERT_EQUAL(on_device ? motus_encoder_send_device(enc, d.frame, stream, NULL)
                                  : motus_encoder_send(enc, frame, NULL),
                        MOTUS_OK);
        if (on_device) overwrite(&d, stream);
        motus_frame_unref(&frame);
    }
    CU_ASSERT_EQUAL(motus_encoder_send(enc, NULL, NULL), MOTUS_OK);
    for (int i = 0; i < FRAMES; i++)
        CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet[i], -1), MOTUS_OK);
    release(enc, on_device ? &d : NULL, NULL);
    if (on_device) close_stream(stream);
}

static size_t code_fade(const MotusEncoderConfig *config, int k, int weightp) {
    MotusEncoderConfig c = *config;
    MotusPacket *want[FRAMES] = {0}, *got[FRAMES] = {0};
    size_t bytes = 0;
    c.weightp = weightp;
    c.backend = MOTUS_BACKEND_CPU;
    code(&c, k % 4 == 3, 0, want);
    c.backend = MOTUS_BACKEND_CUDA;
    code(&c, k % 4 == 3, k % 2, got);
    for (int i = 0; i < FRAMES; i++) {
        MOTUS_CHECK(packet_is(got[i], want[i]->data, want[i]->size) &&
                        motus_test_same_frames(want[i]->recon, got[i]->recon),
                    "case %d, weightp %d, packet %d: %c %d", k, weightp, i, want[i]->type,
                    (int)want[i]->number);
        bytes += want[i]->size;
        motus_packet_unref(&want[i]);
        motus_packet_unref(&got[i]);
    }
    return bytes;
}

static void fades_as_on_the_cpu(void) {
    size_t bytes[3] = {0};
    for (int k = 0; k < 12; k++) {
        MotusEncoderConfig c = motus_encoder_config_default(k % 3 ? 176 : 322, k % 3 ? 144 : 98,
                                                            (MotusRational){25, 1});
        c.profile = k % 2 ? MOTUS_PROFILE_HIGH : MOTUS_PROFILE_MAIN;
        c.cabac = k % 5 > 0, c.references = 1 + k % 4, c.bframes = k % 4 == 2 ? 3 : 0;
        c.slices = 1 + k % 3, c.gop_coders = 1 + k / 6, c.keyint = k / 6 ? 5 : 250;
        c.deblock = k % 8 != 7;
        for (int weightp = 0; weightp < 3; weightp++) bytes[weightp] += code_fade(&c, k, weightp);
    }
    MOTUS_CHECK(bytes[1] * 10 < bytes[0] * 9 && bytes[2] < bytes[1],
                "%zu bytes with weights, of parts %zu, %zu without", bytes[1], bytes[2], bytes[0]);
}

static const GpuRow rows[] = {
    GPU_TEST(source_statistics), GPU_TEST(weighted_planes), GPU_TEST(fades_as_on_the_cpu), {0}};
const GpuSuite gpu_weights = {"weights", rows};
