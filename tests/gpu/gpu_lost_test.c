// Devices that have no memory left, callers' streams that are no good, and a device that is lost:
// clear words, and everything goes on or is released.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "tests/gpu/gpu_sequence.h"
#include "tests/gpu/gpu_trap.h"

enum { BLOCKS = 4096 };

// All of the device's memory, down to pieces of 64 KiB.
typedef struct Hoard {
    void *block[BLOCKS];
    int n;
} Hoard;

static void take_all(Hoard *hoard) {
    hoard->n = 0;
    for (size_t size = (size_t)1 << 36; size >= 1 << 16 && hoard->n < BLOCKS;)
        if (cudaMalloc(&hoard->block[hoard->n], size) == cudaSuccess)
            hoard->n++;
        else
            size /= 2;
    cudaGetLastError();
}

static void give_back(Hoard *hoard) {
    while (hoard->n) cudaFree(hoard->block[--hoard->n]);
}

static size_t free_bytes(void) {
    size_t now = 0, total;
    CU_ASSERT_EQUAL(cudaMemGetInfo(&now, &total), cudaSuccess);
    return now;
}

// Whoever else works on the device would have no memory either, suites that run beside this one
// among them: only where that is wished.
static int may_exhaust(void) {
    const char *wish = getenv("MOTUS_EXHAUST");
    if (!motus_test_has_gpu()) return 0;
    if (wish && !strcmp(wish, "1")) return 1;
    motus_test_skip("takes all memory of the device: MOTUS_EXHAUST=1 allows it");
    return 0;
}

static void encode_all(MotusEncoder *enc, const Sequence *s) {
    for (int i = 0; i < N_FRAMES; i++) {
        MotusStatus status = motus_encoder_send(enc, s->frame[i], NULL);
        MOTUS_CHECK(status == MOTUS_OK, "frame %d: %s", i, motus_encoder_error(enc)->text);
        MOTUS_CHECK(as_wanted(enc, s, i), "picture %d", i);
    }
}

static void no_memory_at_the_opening(void) {
    if (!may_exhaust()) return;
    static Hoard hoard;
    Sequence s;
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    make_sequence(&s, 640, 352);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    encode_all(enc, &s); // loads what is loaded at its first use
    motus_encoder_close(&enc);
    const size_t before = free_bytes();
    take_all(&hoard);
    MotusStatus status = motus_encoder_open(&enc, &s.config, &error);
    MOTUS_CHECK(status == MOTUS_ERR_MEMORY && strstr(error.text, "memory"), "%d: %s", status,
                error.text);
    CU_ASSERT_PTR_NULL(enc);
    s.config.backend = MOTUS_BACKEND_AUTO;
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_backend(enc), MOTUS_BACKEND_CPU);
    MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, "memory") != NULL, "%s",
                motus_encoder_error(enc)->text);
    encode_all(enc, &s);
    motus_encoder_close(&enc);
    give_back(&hoard);
    // More is free than before where the driver, asked for the last of the memory, has given up
    // some that it kept.
    MOTUS_CHECK(free_bytes() >= before, "%zu bytes free, then %zu", before, free_bytes());
    s.config.backend = MOTUS_BACKEND_CUDA;
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    encode_all(enc, &s);
    motus_encoder_close(&enc);
    drop_sequence(&s);
}

// Memory runs out between the first GOP and the second, which has no lane yet: it is coded in the
// first GOP's.
static void no_memory_in_mid_run(void) {
    if (!may_exhaust()) return;
    static Hoard hoard;
    Sequence s;
    MotusEncoder *enc = NULL;
    make_sequence(&s, 640, 352);
    s.config.gop_coders = 2;
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    encode_all(enc, &s);
    motus_encoder_close(&enc);
    const size_t before = free_bytes();
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_gop_coders(enc), 2);
    for (int i = 0; i < N_FRAMES; i++) {
        if (i == 2) take_all(&hoard);
        MotusStatus status = motus_encoder_send(enc, s.frame[i], NULL);
        MOTUS_CHECK(status == MOTUS_OK, "frame %d: %s", i, motus_encoder_error(enc)->text);
        MOTUS_CHECK(as_wanted(enc, &s, i), "picture %d", i);
    }
    CU_ASSERT_EQUAL(motus_encoder_gop_coders(enc), 1);
    motus_encoder_close(&enc);
    give_back(&hoard);
    MOTUS_CHECK(free_bytes() >= before, "%zu bytes free, then %zu", before, free_bytes());
    drop_sequence(&s);
}

// A stream that is being captured into a graph cannot hand a frame over. The frame may come again
// on another.
static void stream_that_is_captured(void) {
    if (!motus_test_has_gpu()) return;
    Sequence s;
    MotusEncoder *enc = NULL;
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    make_sequence(&s, 64, 48);
    DeviceFrame d = device_frame(64, 48, 0, 0);
    CU_ASSERT_EQUAL_FATAL(cudaStreamCreate(&stream), cudaSuccess);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    for (int i = 0; i < N_FRAMES; i++) {
        upload(&d, s.frame[i], stream);
        CU_ASSERT_EQUAL_FATAL(cudaStreamSynchronize(stream), cudaSuccess);
        if (i == 1 || i == 3) {
            CU_ASSERT_EQUAL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                            cudaSuccess);
            MotusStatus status = motus_encoder_send_device(enc, d.frame, stream, NULL);
            MOTUS_CHECK(status == MOTUS_ERR_CUDA &&
                            strstr(motus_encoder_error(enc)->text, "captur"),
                        "frame %d: %d %s", i, status, motus_encoder_error(enc)->text);
            cudaStreamEndCapture(stream, &graph);
            if (graph) cudaGraphDestroy(graph);
            graph = NULL;
            cudaGetLastError();
        }
        MotusStatus status = motus_encoder_send_device(enc, d.frame, stream, NULL);
        MOTUS_CHECK(status == MOTUS_OK, "frame %d: %s", i, motus_encoder_error(enc)->text);
        MOTUS_CHECK(as_wanted(enc, &s, i), "picture %d", i);
    }
    motus_encoder_close(&enc);
    cudaStreamDestroy(stream);
    drop_device_frame(&d);
    drop_sequence(&s);
}

// What comes behind a kernel that failed ends in an error, on this stream and on all others. Last,
// since nothing works on the device afterwards.
static void lost_device(void) {
    if (!motus_test_has_gpu()) return;
    Sequence s;
    MotusEncoder *enc = NULL, *other = NULL, *later = NULL;
    MotusPacket *packet = NULL;
    MotusError error = {0};
    cudaStream_t stream;
    make_sequence(&s, 320, 192);
    s.config.gop_coders = 2;
    DeviceFrame d = device_frame(320, 192, 0, 0);
    CU_ASSERT_EQUAL_FATAL(cudaStreamCreate(&stream), cudaSuccess);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&other, &s.config, NULL), MOTUS_OK);
    for (int i = 0; i < 2; i++) {
        upload(&d, s.frame[i], stream);
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, stream, NULL), MOTUS_OK);
        CU_ASSERT_EQUAL(motus_encoder_send(other, s.frame[i], NULL), MOTUS_OK);
    }
    MOTUS_CHECK(as_wanted(enc, &s, 0) && as_wanted(enc, &s, 1), "before");
    motus_test_trap(stream);
    MotusStatus status = motus_encoder_send_device(enc, d.frame, stream, NULL);
    if (!status) status = motus_encoder_receive(enc, &packet, -1);
    error = *motus_encoder_error(enc);
    MOTUS_CHECK(status == MOTUS_ERR_CUDA && error.status == status && error.text[0], "%d: %s",
                status, error.text);
    printf("the caller's stream: %s\n", error.text);
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, stream, NULL), MOTUS_ERR_CUDA);
    CU_ASSERT_NOT_EQUAL(motus_encoder_receive(enc, &packet, -1),
                        MOTUS_OK); // AGAIN where no picture was under way
    for (status = MOTUS_OK; !status;
         motus_packet_unref(&packet)) { // another encoder: what was done may still come out
        status = motus_encoder_send(other, s.frame[2], NULL);
        if (!status) status = motus_encoder_receive(other, &packet, -1);
    }
    MOTUS_CHECK(status == MOTUS_ERR_CUDA && motus_encoder_error(other)->text[0], "%d: %s", status,
                motus_encoder_error(other)->text);
    motus_encoder_close(&enc);
    motus_encoder_close(&other);
    status = motus_encoder_open(&later, &s.config, &error);
    MOTUS_CHECK((status == MOTUS_ERR_CUDA || status == MOTUS_ERR_NO_DEVICE) && error.text[0],
                "%d: %s", status, error.text);
    printf("a new encoder: %s\n", error.text);
    CU_ASSERT_PTR_NULL(later);
    s.config.backend = MOTUS_BACKEND_AUTO;
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&later, &s.config, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_backend(later), MOTUS_BACKEND_CPU);
    encode_all(later, &s);
    motus_encoder_close(&later);
    drop_device_frame(&d);
    drop_sequence(&s);
}

static const MotusTest tests[] = {{"no_memory_at_the_opening", no_memory_at_the_opening},
                                  {"no_memory_in_mid_run", no_memory_in_mid_run},
                                  {"stream_that_is_captured", stream_that_is_captured},
                                  {"lost_device", lost_device},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_lost", tests, argc, argv); }
