// The encoder's contract: states, refusals, memory, and a stream that depends on nothing but frames and settings. That streams decode
// to the reconstruction is the conformance suite's part.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "encoder/headers.h"
#include "motus/encoder.h"
#include "tests/harness.h"

#include <stdlib.h>
#include <string.h>

#define N_FRAMES 4

// Blocks of random grey that move by (3, 2) samples a frame over a gradient, with some noise.
static MotusFrame *make_frame(int width, int height, int t, const uint8_t *texture) {
    MotusFrame *frame = NULL;
    if (motus_frame_alloc(&frame, width, height)) return NULL;
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = 0; x < frame->plane[p].width; x++) {
                int scale = p ? 2 : 1, u = (scale * x + 3 * t) / 5, v = (scale * y + 2 * t) / 6;
                frame->plane[p].data[y * frame->plane[p].stride + x] =
                    (uint8_t)(texture[(u * 31 + v * 17 + p) % 1024] / 2 + x % 64 + motus_test_range(0, 3));
            }
    return frame;
}

typedef struct Stream {
    uint8_t *data;
    size_t size;
    int idr[N_FRAMES];
} Stream;

static void append(Stream *stream, const MotusPacket *packet) {
    stream->data = realloc(stream->data, stream->size + packet->size);
    memcpy(stream->data + stream->size, packet->data, packet->size);
    stream->size += packet->size;
    stream->idr[packet->number] = packet->is_idr;
}

// Encodes the frames one at a time; returns the first error. *stream may be NULL.
static MotusStatus encode(const MotusEncoderConfig *config, MotusFrame **frames, Stream *stream) {
    MotusEncoder *enc = NULL;
    MotusStatus status = motus_encoder_open(&enc, config, NULL);
    for (int i = 0; i < N_FRAMES && !status; i++) {
        MotusPacket *packet = NULL;
        status = motus_encoder_send(enc, frames[i], NULL);
        if (!status) status = motus_encoder_receive(enc, &packet, -1);
        if (!status && stream) append(stream, packet);
        motus_packet_unref(&packet);
    }
    motus_encoder_close(&enc);
    return status;
}

static void make_frames(MotusFrame **frames, int width, int height) {
    uint8_t texture[1024];
    motus_test_fill(texture, sizeof texture);
    for (int t = 0; t < N_FRAMES; t++) {
        frames[t] = make_frame(width, height, t, texture);
        CU_ASSERT_PTR_NOT_NULL_FATAL(frames[t]);
    }
}

static void drop_frames(MotusFrame **frames) {
    for (int t = 0; t < N_FRAMES; t++) motus_frame_unref(&frames[t]);
}

static MotusEncoderConfig config_for(int width, int height) {
    MotusEncoderConfig config = motus_encoder_config_default(width, height, (MotusRational){25, 1});
    config.backend = MOTUS_BACKEND_CPU;
    return config;
}

// One thread, several threads, plain C: the same stream.
static void stream_depends_on_settings_only(void) {
    static const int sizes[][2] = {{16, 16}, {176, 144}, {70, 98}, {2, 34}};
    for (int s = 0; s < 4; s++) {
        MotusFrame *frames[N_FRAMES];
        MotusEncoderConfig config = config_for(sizes[s][0], sizes[s][1]);
        Stream one = {0}, many = {0}, plain = {0};
        make_frames(frames, config.width, config.height);
        config.qp = motus_test_range(0, 51);
        config.threads = 1;
        CU_ASSERT_EQUAL_FATAL(encode(&config, frames, &one), MOTUS_OK);
        config.threads = 5;
        CU_ASSERT_EQUAL_FATAL(encode(&config, frames, &many), MOTUS_OK);
        motus_test_cpu("c");
        CU_ASSERT_EQUAL_FATAL(encode(&config, frames, &plain), MOTUS_OK);
        motus_test_cpu(NULL);
        MOTUS_CHECK(one.size == many.size && !memcmp(one.data, many.data, one.size), "threads, %dx%d qp %d", config.width,
                    config.height, config.qp);
        MOTUS_CHECK(one.size == plain.size && !memcmp(one.data, plain.data, one.size), "plain C, %dx%d qp %d", config.width,
                    config.height, config.qp);
        free(one.data);
        free(many.data);
        free(plain.data);
        drop_frames(frames);
    }
}

static void keyint_places_idr_pictures(void) {
    static const struct {
        int keyint, idr[N_FRAMES];
    } cases[] = {{0, {1, 0, 0, 0}}, {1, {1, 1, 1, 1}}, {2, {1, 0, 1, 0}}, {3, {1, 0, 0, 1}}};
    MotusFrame *frames[N_FRAMES];
    make_frames(frames, 48, 32);
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        MotusEncoderConfig config = config_for(48, 32);
        Stream stream = {0};
        config.keyint = cases[c].keyint;
        CU_ASSERT_EQUAL_FATAL(encode(&config, frames, &stream), MOTUS_OK);
        MOTUS_CHECK(!memcmp(stream.idr, cases[c].idr, sizeof stream.idr), "keyint %d", config.keyint);
        free(stream.data);
    }
    drop_frames(frames);
}

static void calls_out_of_order_are_refused(void) {
    MotusFrame *frames[N_FRAMES];
    MotusEncoder *enc;
    MotusPacket *packet;
    MotusEncoderConfig config = config_for(32, 32);
    make_frames(frames, 32, 32);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &config, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, 0), MOTUS_AGAIN);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_AGAIN);
    CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[0], NULL), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK);
    motus_packet_unref(&packet);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_AGAIN);
    CU_ASSERT_PTR_NULL(packet);
    MotusFrame *wrong = NULL;
    CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&wrong, 32, 34), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_send(enc, wrong, NULL), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[1], &(MotusFrameParams){.size = 3}), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_encoder_send(enc, NULL, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_END);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, 0), MOTUS_END);
    CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[1], NULL), MOTUS_ERR_STATE);
    motus_encoder_close(&enc);
    motus_encoder_close(&enc);
    motus_frame_unref(&wrong);
    drop_frames(frames);
}

// Frames that the caller keeps do not change when more pictures are coded, nor when the frame sent is drawn over.
static void kept_frames_stay(void) {
    MotusFrame *frames[N_FRAMES], *recon = NULL, *source[N_FRAMES], *sent = NULL;
    MotusEncoder *enc;
    uint64_t ssd = 0;
    MotusEncoderConfig config = config_for(62, 50);
    make_frames(frames, 62, 50);
    CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&sent, 62, 50), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &config, NULL), MOTUS_OK);
    for (int i = 0; i < N_FRAMES; i++) {
        MotusPacket *packet;
        CU_ASSERT_EQUAL(motus_frame_copy_padded(sent, frames[i]), MOTUS_OK);
        sent->number = 100 + i;
        CU_ASSERT_EQUAL_FATAL(motus_encoder_send(enc, sent, NULL), MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK);
        CU_ASSERT_EQUAL(packet->source->number, 100 + i);
        source[i] = motus_frame_ref(packet->source);
        if (!i) {
            recon = motus_frame_ref(packet->recon);
            ssd = packet->stats.ssd[0];
        }
        motus_packet_unref(&packet);
    }
    motus_encoder_close(&enc);
    CU_ASSERT_EQUAL(motus_plane_ssd(&recon->plane[0], &frames[0]->plane[0], 62, 50), ssd);
    for (int i = 0; i < N_FRAMES; i++) MOTUS_CHECK(motus_test_same_frames(source[i], frames[i]), "frame %d", i);
    for (int i = 0; i < N_FRAMES; i++) motus_frame_unref(&source[i]);
    motus_frame_unref(&recon);
    motus_frame_unref(&sent);
    drop_frames(frames);
}

// An encoder that was told to use the CPU takes no device frames, and says so without touching them.
static void device_frames_need_cuda(void) {
    MotusEncoder *enc;
    MotusFrame *frame = NULL;
    MotusPacket *packet;
    uint8_t *const nowhere[3] = {(uint8_t *)4096, (uint8_t *)4096, (uint8_t *)4096};
    const ptrdiff_t stride[3] = {64, 32, 32};
    MotusEncoderConfig config = config_for(64, 48);
    CU_ASSERT_EQUAL_FATAL(motus_frame_wrap(&frame, 64, 48, nowhere, stride, NULL, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &config, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, frame, NULL, NULL), MOTUS_ERR_UNSUPPORTED);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_AGAIN);
    CU_ASSERT_EQUAL(motus_encoder_error(enc)->status, MOTUS_ERR_UNSUPPORTED);
    CU_ASSERT(motus_encoder_error(enc)->text[0] != 0);
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, NULL, NULL, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_END);
    CU_ASSERT_EQUAL(motus_encoder_send_device(NULL, frame, NULL, NULL), MOTUS_ERR_ARGUMENT);
    motus_encoder_close(&enc);
    motus_frame_unref(&frame);
}

static void bad_settings_are_refused(void) {
    static const MotusRational zero = {0, 1};
    MotusEncoder *enc;
    for (int i = 0; i < 17; i++) {
        MotusError error = {0};
        MotusEncoderConfig c = config_for(64, 48);
        switch (i) {
        case 0:
            c.width = 0;
            break;
        case 1:
            c.height = 33;
            break;
        case 2:
            c.width = 100000;
            break;
        case 3:
            c.qp = 52;
            break;
        case 4:
            c.qp = -1;
            break;
        case 5:
            c.keyint = -1;
            break;
        case 6:
            c.range = -1;
            break;
        case 7:
            c.range = 129;
            break;
        case 8:
            c.subpel = (MotusSubpel)3;
            break;
        case 9:
            c.partitions = 0x80;
            break;
        case 10:
            c.preset = MOTUS_PRESETS;
            break;
        case 11:
            c.fps = zero;
            break;
        case 12:
            c.threads = -1;
            break;
        case 13:
            c.qp_i_offset = 99;
            break;
        case 14:
            c.lanes = MOTUS_MAX_LANES + 1;
            break;
        case 15:
            c.size = 1;
            break;
        case 16:
            c.device = -2;
            break;
        }
        MOTUS_CHECK(motus_encoder_open(&enc, &c, &error) == MOTUS_ERR_ARGUMENT && !enc && error.text[0], "case %d", i);
    }
    MotusEncoderConfig huge = config_for(16384, 16384); // more MBs than level 6.2 has
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &huge, NULL), MOTUS_ERR_UNSUPPORTED);
}

// What a list may hold; where it cannot be used, AUTO takes the CPU, as without a list, and CUDA does not open.
static void lists_of_devices(void) {
    static const struct {
        int n, device, list[3];
        const char *why;
    } bad[] = {{2, -1, {0, 0}, "device 0 is listed twice"},
               {3, -1, {1, 0, 1}, "device 1 is listed twice"},
               {2, -1, {0, -1}, "device -1"},
               {1, 0, {0}, "beside a list"},
               {MOTUS_ALL_DEVICES, 2, {0}, "beside a list"},
               {-2, -1, {0}, "-2 CUDA devices"},
               {MOTUS_MAX_LANES + 1, -1, {0}, "65 CUDA devices"}};
    static const int absent[] = {200, 201};
    MotusEncoder *enc;
    MotusError error = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        MotusEncoderConfig c = config_for(48, 32);
        c.device = bad[i].device, c.n_devices = bad[i].n, c.devices = bad[i].list;
        MOTUS_CHECK(motus_encoder_open(&enc, &c, &error) == MOTUS_ERR_ARGUMENT && strstr(error.text, bad[i].why), "case %zu: %s",
                    i, error.text);
    }
    MotusEncoderConfig c = config_for(48, 32);
    c.n_devices = 2;
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &c, &error), MOTUS_ERR_ARGUMENT); // no list
    c.devices = absent;
    c.backend = MOTUS_BACKEND_CUDA;
    MotusStatus status = motus_encoder_open(&enc, &c, &error);
    CU_ASSERT((status == MOTUS_ERR_NO_DEVICE || status == MOTUS_ERR_UNSUPPORTED) && !enc && error.text[0]);
    c.backend = MOTUS_BACKEND_AUTO;
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &c, &error), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_backend(enc), MOTUS_BACKEND_CPU);
    motus_encoder_close(&enc);
}

// Packets stay on a device only where one codes them.
static void packets_on_a_device(void) {
    MotusEncoder *enc;
    MotusError error = {0};
    MotusEncoderConfig c = config_for(48, 32);
    c.packets_memory = MOTUS_MEMORY_DEVICE;
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &c, &error), MOTUS_ERR_UNSUPPORTED);
    CU_ASSERT(!enc && strstr(error.text, "packets in device memory need the CUDA backend") && !strchr(error.text, '\n'));
    c.packets_memory = (MotusMemory)2;
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &c, &error), MOTUS_ERR_ARGUMENT);
    CU_ASSERT(!enc && strstr(error.text, "unknown memory 2"));
}

// Every single allocation may fail: a clean status, nothing leaked (the sanitizer build sees that), and the next run works.
static void failing_allocations(void) {
    MotusFrame *frames[N_FRAMES];
    MotusEncoderConfig config = config_for(48, 48);
    make_frames(frames, 48, 48);
    int failures = 0;
    for (long n = 0; n < 300; n++) {
        motus_alloc_fail_after(n);
        MotusStatus status = encode(&config, frames, NULL);
        motus_alloc_fail_after(-1);
        failures += status != MOTUS_OK;
        MOTUS_CHECK(status == MOTUS_OK || status == MOTUS_ERR_MEMORY, "allocation %ld: %s", n, motus_status_name(status));
    }
    CU_ASSERT(failures > 20);
    CU_ASSERT_EQUAL(encode(&config, frames, NULL), MOTUS_OK);
    drop_frames(frames);
}

// An allocation fails while frame i is sent and coded. A frame that was not taken in may be sent again; a picture that could not be coded ends the stream, with
// the same words from then on. What came before is the stream without the failure.
static void failures_keep_what_was_done(void) {
    MotusFrame *frames[N_FRAMES];
    MotusEncoderConfig config = config_for(48, 48);
    Stream want = {0};
    int taken_later = 0, ended = 0;
    config.keyint = 3;
    make_frames(frames, 48, 48);
    CU_ASSERT_EQUAL_FATAL(encode(&config, frames, &want), MOTUS_OK);
    for (long n = 0; n < 40; n++) {
        MotusEncoder *enc;
        MotusPacket *packet = NULL;
        size_t at = 0;
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &config, NULL), MOTUS_OK);
        for (int i = 0; i < N_FRAMES; i++) {
            if (n % N_FRAMES == i) motus_alloc_fail_after(n / N_FRAMES);
            MotusStatus status = motus_encoder_send(enc, frames[i], NULL);
            if (status) {
                motus_alloc_fail_after(-1);
                MOTUS_CHECK(status == MOTUS_ERR_MEMORY && motus_encoder_error(enc)->status == status, "allocation %ld, frame %d",
                            n, i);
                CU_ASSERT_EQUAL_FATAL(motus_encoder_send(enc, frames[i], NULL), MOTUS_OK);
                taken_later++;
            }
            status = motus_encoder_receive(enc, &packet, -1);
            motus_alloc_fail_after(-1);
            if (status) {
                MOTUS_CHECK(status == MOTUS_ERR_MEMORY && motus_encoder_error(enc)->text[0], "allocation %ld, frame %d", n, i);
                CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[i], NULL), MOTUS_ERR_MEMORY);
                CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, 0), MOTUS_ERR_MEMORY);
                ended++;
                break;
            }
            MOTUS_CHECK(at + packet->size <= want.size && !memcmp(want.data + at, packet->data, packet->size),
                        "allocation %ld, frame %d", n, i);
            at += packet->size;
            motus_packet_unref(&packet);
        }
        motus_encoder_close(&enc);
    }
    MOTUS_CHECK(taken_later >= N_FRAMES && ended >= N_FRAMES, "%d frames, %d streams", taken_later, ended);
    free(want.data);
    drop_frames(frames);
}

enum { LONG = 23 };

// Sends all frames before it waits for a packet, with an IDR picture asked for at frame 9, and keeps the packets beyond the encoder's end.
static void encode_in_lanes(int lanes, int threads, MotusFrame **frames, MotusPacket **packets) {
    MotusEncoder *enc;
    MotusEncoderConfig config = config_for(64, 48);
    MotusPacket *packet;
    int n = 0;
    config.lanes = lanes;
    config.threads = threads;
    config.keyint = 4;
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &config, NULL), MOTUS_OK);
    MOTUS_CHECK(lanes ? motus_encoder_lanes(enc) == lanes : motus_encoder_lanes(enc) >= 1, "%d lanes", motus_encoder_lanes(enc));
    CU_ASSERT(motus_encoder_lane_bytes(enc) > 0);
    for (int i = 0; i < LONG; i++) {
        const MotusFrameParams params = {
            .size = sizeof params, .pts = 1000 + 7 * i, .duration = 5, .opaque = &frames[i % N_FRAMES], .force_idr = i == 9};
        CU_ASSERT_EQUAL_FATAL(motus_encoder_send(enc, frames[i % N_FRAMES], &params), MOTUS_OK);
    }
    CU_ASSERT_EQUAL(motus_encoder_send(enc, NULL, NULL), MOTUS_OK);
    while (n < LONG && motus_encoder_receive(enc, &packet, n % 2 ? -1 : 10000) == MOTUS_OK) packets[n++] = packet;
    CU_ASSERT_EQUAL_FATAL(n, LONG);
    CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_END);
    motus_encoder_close(&enc);
}

static void lanes_give_one_stream(void) {
    static const int counts[][2] = {{1, 2}, {2, 5}, {3, 2}, {7, 9}, {5, 1}, {0, 4}}; // lanes, threads
    MotusFrame *frames[N_FRAMES];
    MotusPacket *want[LONG], *got[LONG];
    make_frames(frames, 64, 48);
    encode_in_lanes(1, 1, frames, want);
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
        encode_in_lanes(counts[c][0], counts[c][1], frames, got);
        for (int i = 0; i < LONG; i++) {
            const MotusPacket *a = want[i], *b = got[i];
            int idr = i == 0 || i == 4 || i == 8 || i == 9 || i == 13 || i == 17 || i == 21;
            MOTUS_CHECK(a->size == b->size && !memcmp(a->data, b->data, a->size), "%d lanes, %d threads, picture %d",
                        counts[c][0], counts[c][1], i);
            MOTUS_CHECK(b->number == i && b->is_idr == idr && b->pts == 1000 + 7 * i && b->duration == 5 &&
                            b->opaque == &frames[i % N_FRAMES],
                        "%d lanes, %d threads, picture %d", counts[c][0], counts[c][1], i);
            CU_ASSERT(motus_test_same_frames(b->recon, a->recon) && motus_test_same_frames(b->source, frames[i % N_FRAMES]));
            CU_ASSERT(a->n_mvs == b->n_mvs && (!a->n_mvs || !memcmp(a->mvs, b->mvs, a->n_mvs * sizeof *a->mvs)));
            motus_packet_unref(&got[i]);
        }
    }
    MotusPacket *again = motus_packet_ref(want[3]);
    for (int i = 0; i < LONG; i++) motus_packet_unref(&want[i]);
    CU_ASSERT(again->size > 0 && !again->is_idr);
    motus_packet_unref(&again);
    drop_frames(frames);
}

// An encoder that is closed in the middle drops what it had.
static void closed_in_the_middle(void) {
    MotusFrame *frames[N_FRAMES];
    make_frames(frames, 64, 48);
    for (int lanes = 1; lanes < 6; lanes++) {
        MotusEncoder *enc;
        MotusPacket *packet;
        MotusEncoderConfig config = config_for(64, 48);
        config.lanes = lanes;
        config.keyint = 2;
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &config, NULL), MOTUS_OK);
        for (int i = 0; i < 5; i++) CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[i % N_FRAMES], NULL), MOTUS_OK);
        if (lanes > 2) CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK);
        motus_encoder_close(&enc);
        if (lanes > 2) motus_packet_unref(&packet);
    }
    drop_frames(frames);
}

// The level leaves room for the window: R = 128 at QCIF needs 2.1, whose vertical range is +-256.
// Times are there where they are asked for, and the stream does not know.
static void stages_are_timed(void) {
    MotusFrame *frames[N_FRAMES];
    Stream want = {0}, got = {0};
    make_frames(frames, 64, 48);
    for (int timed = 0; timed < 2; timed++) {
        MotusEncoderConfig config = config_for(64, 48);
        MotusEncoder *enc = NULL;
        MotusPacket *packet;
        config.time_stages = timed;
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &config, NULL), MOTUS_OK);
        for (int i = 0; i < N_FRAMES; i++) {
            CU_ASSERT_EQUAL(motus_encoder_send(enc, frames[i], NULL), MOTUS_OK);
            CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK);
            for (int k = 0; k < MOTUS_STAGES; k++)
                MOTUS_CHECK((packet->stage_us[k] > 0) == (timed && (k >= MOTUS_STAGE_INTRA || !packet->is_idr)),
                            "picture %d, %s: %f us", i, motus_stage_name((MotusStage)k), packet->stage_us[k]);
            append(timed ? &got : &want, packet);
            motus_packet_unref(&packet);
        }
        motus_encoder_close(&enc);
    }
    CU_ASSERT(got.size == want.size && !memcmp(got.data, want.data, want.size));
    CU_ASSERT_STRING_EQUAL(motus_stage_name(MOTUS_STAGES), "unknown");
    free(want.data);
    free(got.data);
    drop_frames(frames);
}

static void level_follows_range(void) {
    static const int cases[][2] = {{16, 10}, {63, 10}, {64, 11}, {128, 21}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        MotusEncoder *enc;
        MotusEncoderConfig config = config_for(176, 144);
        config.fps = (MotusRational){15, 1};
        config.range = cases[i][0];
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &config, NULL), MOTUS_OK);
        MOTUS_CHECK(motus_encoder_level(enc) == cases[i][1], "R %d: level %d", config.range, motus_encoder_level(enc));
        motus_encoder_close(&enc);
    }
}

static const MotusTest tests[] = {{"stream_depends_on_settings_only", stream_depends_on_settings_only},
                                  {"keyint_places_idr_pictures", keyint_places_idr_pictures},
                                  {"calls_out_of_order_are_refused", calls_out_of_order_are_refused},
                                  {"kept_frames_stay", kept_frames_stay},
                                  {"device_frames_need_cuda", device_frames_need_cuda},
                                  {"bad_settings_are_refused", bad_settings_are_refused},
                                  {"lists_of_devices", lists_of_devices},
                                  {"packets_on_a_device", packets_on_a_device},
                                  {"failing_allocations", failing_allocations},
                                  {"failures_keep_what_was_done", failures_keep_what_was_done},
                                  {"lanes_give_one_stream", lanes_give_one_stream},
                                  {"closed_in_the_middle", closed_in_the_middle},
                                  {"stages_are_timed", stages_are_timed},
                                  {"level_follows_range", level_follows_range},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("encoder", tests, argc, argv); }
