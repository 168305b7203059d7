// Packets that stay in device memory have the bytes of those that are downloaded. They outlive the
// encoder, and are released in the order of a stream. Another thread may receive them.
// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>

#include "common/faults.h"
#include "tests/gpu/sequence.h"

enum { TURNS = 3, PACKETS = TURNS * N_FRAMES };

// Encodes the sequence TURNS times over.
static void encode(MotusPacket *packet[PACKETS], const Sequence *s, MotusMemory memory) {
    MotusEncoderConfig c = s->config;
    c.packet_memory = memory;
    MotusEncoder *enc = open_encoder(&c);
    for (int i = 0; i < PACKETS; i++)
        CU_ASSERT_EQUAL(motus_encoder_send(enc, s->frame[i % N_FRAMES], NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_send(enc, NULL, NULL), MOTUS_OK);
    for (int i = 0; i < PACKETS; i++) CU_ASSERT_FATAL(!motus_encoder_receive(enc, &packet[i], -1));
    motus_encoder_close(&enc);
}

// Varies slices, delimiters, filler, GOP coders and reconstruction.
static void vary(MotusEncoderConfig *c, int number) {
    c->gop_coders = 1 + number % 3;
    c->stream_only = number & 1;
    c->aud = number >> 1 & 1;
    c->slices = number % 4 == 3 ? 3 : 1;
    if (number % 5 != 4) return;
    c->rate = MOTUS_RATE_BITRATE;
    c->bitrate = c->vbv_maxrate = 8000000;
    c->vbv_bufsize = 800000;
    c->hrd = MOTUS_HRD_CBR;
    c->lookahead = 3;
}

static void the_same_bytes(void) {
    static const int sizes[][2] = {{16, 16}, {130, 66}, {352, 288}};
    for (int k = 0; k < 15; k++) {
        Sequence s;
        MotusPacket *here[PACKETS] = {NULL}, *there[PACKETS] = {NULL};
        make_sequence(&s, sizes[k % 3][0], sizes[k % 3][1]);
        vary(&s.config, k);
        encode(here, &s, MOTUS_MEMORY_HOST);
        encode(there, &s, MOTUS_MEMORY_DEVICE);
        for (int i = 0; i < PACKETS; i++) {
            MOTUS_CHECK(there[i]->device_data && !there[i]->data &&
                            packet_is(there[i], here[i]->data, here[i]->size),
                        "case %d, packet %d", k, i);
            CU_ASSERT(!memcmp(&there[i]->stats, &here[i]->stats, sizeof here[i]->stats) &&
                      there[i]->qp == here[i]->qp);
            CU_ASSERT(!there[i]->recon == !here[i]->recon && there[i]->slices == here[i]->slices);
            if (here[i]->recon) CU_ASSERT(motus_test_same_frames(there[i]->recon, here[i]->recon));
            motus_packet_unref(&here[i]);
            motus_packet_unref(&there[i]);
        }
        drop_sequence(&s);
    }
}

// Packets are released before a stream has read them, while more pictures are coded into what
// memory there is.
static void in_the_order_of_a_stream(void) {
    enum { MOST_BYTES = 1 << 20 };
    Sequence s;
    uint8_t *copies[N_FRAMES];
    make_sequence(&s, 352, 288);
    s.config.packet_memory = MOTUS_MEMORY_DEVICE;
    s.config.gop_coders = 1;
    cudaStream_t stream = open_stream();
    MotusEncoder *enc = open_encoder(&s.config);
    for (int i = 0; i < N_FRAMES; i++) {
        MotusPacket *packet, *other;
        CU_ASSERT_FATAL(GPU_OK(cudaMallocHost((void **)&copies[i], MOST_BYTES)));
        CU_ASSERT_EQUAL(motus_encoder_send(enc, s.frame[i], NULL), MOTUS_OK);
        CU_ASSERT_FATAL(!motus_encoder_receive(enc, &packet, -1));
        CU_ASSERT_FATAL(packet->size == s.size[i] && packet->size <= MOST_BYTES);
        sleep_on(stream, 20);
        GPU_OK(cudaMemcpyAsync(copies[i], packet->device_data, packet->size, cudaMemcpyDeviceToHost,
                               stream));
        other = i & 1 ? motus_packet_ref(packet) : NULL;
        motus_packet_unref_async(&packet, stream);
        CU_ASSERT_PTR_NULL(packet);
        motus_packet_unref(&other);
    }
    motus_encoder_close(&enc);
    GPU_OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N_FRAMES; i++) {
        MOTUS_CHECK(!memcmp(copies[i], s.data[i], s.size[i]), "packet %d", i);
        GPU_OK(cudaFreeHost(copies[i]));
    }
    close_stream(stream);
    drop_sequence(&s);
}

// Each packet owns its memory, also after the encoder is closed, and gives it back. CUDA takes 2
// MiB more for itself in one of the first turns, or in none.
static void memory_comes_back(void) {
    enum { MOST_TURNS = 12, SAME = 4 };
    Sequence s;
    size_t before = 0, held = 0, after = 0;
    int same = 0; // turns in a row with as much free memory as the one before
    make_sequence(&s, 352, 288);
    for (int turn = 0; turn < MOST_TURNS && same < SAME; turn++) {
        MotusPacket *packet[PACKETS];
        encode(packet, &s, MOTUS_MEMORY_DEVICE);
        GPU_OK(cudaDeviceSynchronize());
        held = gpu_free_bytes();
        for (int i = 0; i < PACKETS; i++) {
            MotusPacket *more = motus_packet_ref(packet[i]);
            motus_packet_unref(&packet[i]);
            // Later GOPs have another idr_pic_id than the sequence.
            if (i < 3) CU_ASSERT(packet_is(more, s.data[i], s.size[i]));
            motus_packet_unref(&more);
        }
        GPU_OK(cudaDeviceSynchronize());
        before = after;
        after = gpu_free_bytes();
        same = before == after ? same + 1 : 0;
    }
    MOTUS_CHECK(same == SAME && held < after,
                "%zu bytes free, then %zu, %zu while packets were held", before, after, held);
    drop_sequence(&s);
}

// CUDA call n and all later ones fail: a clear status, and no memory is lost.
static void failing_device(void) {
    Sequence s;
    size_t before = 0, after = 0;
    int failed = 0, whole = 0;
    make_sequence(&s, 64, 48);
    s.config.packet_memory = MOTUS_MEMORY_DEVICE;
    s.config.stream_only = s.config.gop_coders = 1;
    for (long n = 1000000; n >= 0; n = n > 400 ? 400 : n - 3) { // the first loads every kernel
        MotusEncoder *enc = NULL;
        MotusPacket *packet = NULL;
        motus_device_fail_after(n);
        MotusStatus status = motus_encoder_open(&enc, &s.config, NULL);
        if (!status) status = motus_encoder_send(enc, s.frame[0], NULL);
        if (!status) status = motus_encoder_receive(enc, &packet, -1);
        motus_device_fail_after(-1);
        MOTUS_CHECK(status == MOTUS_OK || (status == MOTUS_ERR_CUDA && !packet), "call %ld: %d", n,
                    status);
        if (!status) CU_ASSERT(packet_is(packet, s.data[0], s.size[0]));
        failed += status != MOTUS_OK, whole += status == MOTUS_OK;
        motus_packet_unref(&packet);
        motus_encoder_close(&enc);
        GPU_OK(cudaDeviceSynchronize());
        *(before ? &after : &before) = gpu_free_bytes();
    }
    MOTUS_CHECK(before == after && failed > 10 && whole > 1,
                "%zu bytes free, then %zu; %d failures", before, after, failed);
    drop_sequence(&s);
}

// A thread that receives all packets with this timeout; it may have to ask again.
typedef struct Receiver {
    MotusEncoder *enc;
    int timeout_ms;
    MotusPacket *packet[PACKETS];
    MotusStatus status;
} Receiver;

static void *receive_all(void *argument) {
    Receiver *r = argument;
    for (int i = 0; i < PACKETS && r->status >= 0; i += !r->status)
        r->status = motus_encoder_receive(r->enc, &r->packet[i], r->timeout_ms);
    return NULL;
}

// Threads that begin and finish a picture: the coder's, the sender's or the receiver's.
static void from_another_thread(void) {
    static const int timeouts[] = {-1, 0, 2};
    Sequence s;
    make_sequence(&s, 130, 66);
    s.config.gop_coders = s.config.stream_only = 1;
    for (int k = 0; k < 12; k++) {
        MotusPacket *alone[PACKETS];
        Receiver r = {.enc = open_encoder(&s.config), .timeout_ms = timeouts[k % 3]};
        pthread_t thread;
        encode(alone, &s, MOTUS_MEMORY_HOST);
        CU_ASSERT_FATAL(!pthread_create(&thread, NULL, receive_all, &r));
        for (int i = 0; i < PACKETS; i++)
            CU_ASSERT_EQUAL(motus_encoder_send(r.enc, s.frame[i % N_FRAMES], NULL), MOTUS_OK);
        CU_ASSERT_EQUAL(motus_encoder_send(r.enc, NULL, NULL), MOTUS_OK);
        CU_ASSERT_FATAL(!pthread_join(thread, NULL) && !r.status);
        for (int i = 0; i < PACKETS; i++) {
            MOTUS_CHECK(packet_is(r.packet[i], alone[i]->data, alone[i]->size),
                        "timeout %d, packet %d", r.timeout_ms, i);
            motus_packet_unref(&r.packet[i]);
            motus_packet_unref(&alone[i]);
        }
        motus_encoder_close(&r.enc);
    }
    drop_sequence(&s);
}

static const GpuRow rows[] = {GPU_TEST(the_same_bytes),           GPU_TEST(from_another_thread),
                              GPU_TEST(in_the_order_of_a_stream), GPU_TEST(memory_comes_back),
                              GPU_TEST(failing_device),           {0}};
const GpuSuite gpu_packets = {"packets", rows};
