// interop/av: samples are shared, references kept, and MVs equal those that libavcodec reads from
// our stream.
// SPDX-License-Identifier: BSD-2-Clause
#include "interop/av.h"

#include <libavcodec/avcodec.h>
#include <libavutil/motion_vector.h>
#include <string.h>

#include "interop/av_cuda.h"
#include "tests/interop/av_cuda_frame.h"
#include "tests/support/harness.h"

#define SIZE 96
#define N_FRAMES 6

static void frames_share_samples(void) {
    MotusFrame *frame = NULL, *back = NULL;
    AVFrame *av = NULL;
    REQUIRE_OK(motus_frame_alloc(&frame, 34, 18));
    uint8_t *data = frame->plane[0].data;
    frame->number = 7;
    memset(data, 50, 34);
    REQUIRE_OK(motus_frame_to_av(&av, frame));
    motus_frame_unref(&frame); // av holds the samples now
    CU_ASSERT(av->data[0] == data && av->width == 34 && av->height == 18 && av->pts == 7);
    REQUIRE_OK(motus_frame_from_av(&back, av));
    av_frame_free(&av); // and now `back` does
    CU_ASSERT(back->plane[0].data == data && back->plane[2].width == 17 && back->number == 7);
    CU_ASSERT_EQUAL(back->plane[0].data[33], 50);
    motus_frame_unref(&back);
}

static void other_formats_are_refused(void) {
    MotusFrame *frame = NULL;
    AVFrame *av = av_frame_alloc();
    CU_ASSERT_PTR_NOT_NULL_FATAL(av);
    av->format = AV_PIX_FMT_YUV422P;
    av->width = av->height = 16;
    CU_ASSERT_EQUAL_FATAL(av_frame_get_buffer(av, 0), 0);
    CU_ASSERT(motus_frame_from_av(&frame, av) == MOTUS_ERR_UNSUPPORTED && !frame);
    av_frame_free(&av);
}

// A device frame's addresses, strides and stream stay as they are, with the visible size; other
// frames are refused. No address is read.
static void cuda_frames_are_described(void) {
    AvCudaFrame f;
    MotusImage image;
    void *stream, *some = (void *)(uintptr_t)0x1230;
    av_cuda_frame(&f, AV_PIX_FMT_NV12, 350, 286, some);
    f.av.data[0] = (uint8_t *)(uintptr_t)0x10000, f.av.data[1] = (uint8_t *)(uintptr_t)0x50000;
    f.av.linesize[0] = f.av.linesize[1] = 512;
    EXPECT_OK(motus_image_from_av_cuda(&image, &stream, &f.av));
    CU_ASSERT(image.width == 350 && image.height == 286 && image.samples == MOTUS_SAMPLES_YUV420 &&
              stream == some);
    CU_ASSERT(image.data[0] == f.av.data[0] && image.data[1] == f.av.data[1] &&
              image.data[2] == f.av.data[1] + 1);
    CU_ASSERT(image.pixel[0] == 1 && image.pixel[1] == 2 && image.pixel[2] == 2 &&
              image.row[0] == 512 && image.row[2] == 512);
    f.frames.sw_format = AV_PIX_FMT_YUV420P;
    CU_ASSERT_EQUAL(motus_image_from_av_cuda(&image, &stream, &f.av),
                    MOTUS_ERR_ARGUMENT); // no third plane
    f.av.data[2] = (uint8_t *)(uintptr_t)0x70000, f.av.linesize[1] = f.av.linesize[2] = 256;
    EXPECT_OK(motus_image_from_av_cuda(&image, &stream, &f.av));
    CU_ASSERT(image.data[2] == f.av.data[2] && image.pixel[2] == 1 && image.row[0] == 512 &&
              image.row[2] == 256);
    CU_ASSERT_EQUAL(motus_image_from_av_cuda(&image, &stream, NULL), MOTUS_ERR_ARGUMENT);
    f.frames.sw_format = AV_PIX_FMT_P010;
    CU_ASSERT_EQUAL(motus_image_from_av_cuda(&image, &stream, &f.av), MOTUS_ERR_UNSUPPORTED);
    f.frames.sw_format = AV_PIX_FMT_NV12;
    f.device.type = AV_HWDEVICE_TYPE_VAAPI;
    CU_ASSERT_EQUAL(motus_image_from_av_cuda(&image, &stream, &f.av), MOTUS_ERR_UNSUPPORTED);
    f.device.type = AV_HWDEVICE_TYPE_CUDA;
    f.av.format = AV_PIX_FMT_NV12;
    CU_ASSERT_EQUAL(motus_image_from_av_cuda(&image, &stream, &f.av), MOTUS_ERR_UNSUPPORTED);
    f.av.format = AV_PIX_FMT_CUDA;
    f.av.hw_frames_ctx = NULL;
    CU_ASSERT_EQUAL(motus_image_from_av_cuda(&image, &stream, &f.av), MOTUS_ERR_UNSUPPORTED);
}

// An encoder on the CPU takes neither kind.
static void cuda_frames_need_cuda(void) {
    AvCudaFrame f;
    MotusEncoder *enc = NULL;
    MotusEncoderConfig config = motus_encoder_config_default(SIZE, SIZE, (MotusRational){25, 1});
    static uint8_t samples[2 * SIZE * SIZE];
    config.backend = MOTUS_BACKEND_CPU;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    for (int planes = 0; planes < 2; planes++) {
        av_cuda_frame(&f, planes ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_NV12, SIZE, SIZE, NULL);
        for (int p = 0; p < 2 + planes; p++) f.av.data[p] = samples, f.av.linesize[p] = SIZE;
        CU_ASSERT_EQUAL(motus_encoder_send_av_cuda(enc, &f.av, NULL), MOTUS_ERR_UNSUPPORTED);
        CU_ASSERT(motus_encoder_error(enc)->text[0]);
    }
    motus_encoder_close(&enc);
}

// Decodes one access unit and compares libavcodec's MVs with ours. It exports no blocks below 8x8;
// the caller uses none.
static void compare_vectors(AVCodecContext *decoder, const MotusPacket *picture, int number) {
    AVPacket *packet = av_packet_alloc();
    AVFrame *theirs = av_frame_alloc(), *ours = NULL;
    CU_ASSERT_EQUAL_FATAL(av_new_packet(packet, (int)picture->size), 0);
    memcpy(packet->data, picture->data, picture->size);
    CU_ASSERT_EQUAL_FATAL(avcodec_send_packet(decoder, packet), 0);
    CU_ASSERT_EQUAL_FATAL(avcodec_receive_frame(decoder, theirs), 0);
    REQUIRE_OK(motus_frame_to_av(&ours, picture->recon));
    REQUIRE_OK(motus_mvs_to_av(ours, picture->mvs, picture->n_mvs));
    const AVFrameSideData *a = av_frame_get_side_data(ours, AV_FRAME_DATA_MOTION_VECTORS);
    const AVFrameSideData *b = av_frame_get_side_data(theirs, AV_FRAME_DATA_MOTION_VECTORS);
    size_t n = a ? a->size / sizeof(AVMotionVector) : 0;
    MOTUS_CHECK((a ? a->size : 0) == (b ? b->size : 0), "picture %d: %zu vectors", number, n);
    for (size_t i = 0; i < n && b && a->size == b->size; i++) {
        const AVMotionVector *x = (const AVMotionVector *)a->data + i,
                             *y = (const AVMotionVector *)b->data + i;
        MOTUS_CHECK(x->source == y->source && x->w == y->w && x->h == y->h &&
                        x->dst_x == y->dst_x && x->dst_y == y->dst_y && x->src_x == y->src_x &&
                        x->src_y == y->src_y && x->motion_x == y->motion_x &&
                        x->motion_y == y->motion_y && x->motion_scale == y->motion_scale,
                    "picture %d vector %zu: (%d, %d) %d %d", number, i, x->dst_x, x->dst_y,
                    x->motion_x, x->motion_y);
    }
    av_frame_free(&ours);
    av_frame_free(&theirs);
    av_packet_free(&packet);
}

static void fill(MotusFrame *frame, int t, const uint8_t *texture) {
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = 0; x < frame->plane[p].width; x++) {
                int u = x + (y < SIZE / 2 ? 2 : -3) * t, v = y + t * (x / 24 % 3);
                frame->plane[p].data[y * frame->plane[p].stride + x] =
                    texture[(u / 3 * 29 + v / 4 * 13) & 1023];
            }
}

static void vectors_are_those_of_the_stream(void) {
    uint8_t texture[1024];
    MotusEncoder *enc = NULL;
    MotusEncoderConfig config = motus_encoder_config_default(SIZE, SIZE, (MotusRational){25, 1});
    const AVCodec *codec = avcodec_find_decoder_by_name("h264");
    AVCodecContext *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(decoder);
    decoder->thread_count = 1;
    decoder->flags |= AV_CODEC_FLAG_LOW_DELAY;
    decoder->flags2 |= AV_CODEC_FLAG2_EXPORT_MVS;
    CU_ASSERT_EQUAL_FATAL(avcodec_open2(decoder, codec, NULL), 0);
    motus_test_fill(texture, sizeof texture);
    config.partitions =
        1 << MOTUS_MODE_16x16 | 1 << MOTUS_MODE_16x8 | 1 << MOTUS_MODE_8x16 | 1 << MOTUS_MODE_8x8;
    config.backend = MOTUS_BACKEND_CPU;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    size_t vectors = 0;
    for (int t = 0; t < N_FRAMES; t++) {
        MotusFrame *frame = NULL;
        MotusPacket *picture;
        REQUIRE_OK(motus_frame_alloc(&frame, SIZE, SIZE));
        fill(frame, t, texture);
        REQUIRE_OK(motus_encoder_send(enc, frame, NULL));
        REQUIRE_OK(motus_encoder_receive(enc, &picture, -1));
        motus_frame_unref(&frame);
        compare_vectors(decoder, picture, t);
        vectors += picture->n_mvs;
        motus_packet_unref(&picture);
    }
    MOTUS_CHECK(vectors > 40, "%zu vectors in all", vectors);
    motus_encoder_close(&enc);
    avcodec_free_context(&decoder);
}

MOTUS_SUITE("interop_av", TEST(frames_share_samples), TEST(other_formats_are_refused),
            TEST(cuda_frames_are_described), TEST(cuda_frames_need_cuda),
            TEST(vectors_are_those_of_the_stream))
