// Suite faults: devices that fail at any call. Suite lost: devices without memory, streams that
// cannot be used, and a device that is lost; the process has none afterwards.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "motus/upload.h"
#include "tests/gpu/sequence.h"

void gpu_trap(cudaStream_t stream); // launches a kernel that fails: the process loses its device

// Failures while opening, of frames that were taken the next time, and of streams that ended
// (without a plan or a picture).
typedef struct Failures {
    int opening, intake, ended;
} Failures;

static void check_error(const MotusEncoder *enc, MotusStatus status, long n) {
    const MotusError *error = motus_encoder_error(enc);
    MOTUS_CHECK(status == MOTUS_ERR_CUDA && error->status == status &&
                    strstr(error->text, "unknown error"),
                "n=%ld: %d %s", n, status, error->text);
}

// Sends frame i while CUDA call n and all later ones fail. A frame that could not be taken may be
// sent again; a picture that could not be planned or coded ends the stream. Returns MOTUS_OK if
// the packet came, which must be right.
static MotusStatus send_with_fault(MotusEncoder *enc, const Sequence *s, const DeviceFrame *d,
                                   int i, long n, Failures *failures) {
    MotusPacket *packet;
    motus_device_fail_after(n);
    upload(d, s->frame[i], NULL);
    MotusStatus status = motus_encoder_send_device(enc, d->frame, NULL, NULL);
    if (status) {
        motus_device_fail_after(-1);
        check_error(enc, status, n);
        status = motus_encoder_send_device(enc, d->frame, NULL, NULL);
        failures->intake += !status;
        if (status) check_error(enc, status, n); // it was taken, and could not be planned
        CU_ASSERT(!status || s->config.rate != MOTUS_RATE_QP);
    }
    const MotusStatus sent = status;
    status = motus_encoder_receive(enc, &packet, -1);
    motus_device_fail_after(-1);
    if (status) {
        check_error(enc, status, n);
        failures->ended++;
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d->frame, NULL, NULL), status);
        CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), status);
        return status;
    }
    CU_ASSERT_EQUAL(sent, MOTUS_OK);
    MOTUS_CHECK(packet->size == s->size[i] && !memcmp(packet->data, s->data[i], packet->size),
                "n=%ld frame %d", n, i);
    motus_packet_unref(&packet);
    return MOTUS_OK;
}

// Encodes. While frame `at` is sent (-1: while opening), CUDA call n and all later ones fail.
// Returns 1 if nothing failed.
static int encode_with_fault(const Sequence *s, const DeviceFrame *d, int at, long n,
                             Failures *failures) {
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    const Failures before = *failures;
    motus_device_fail_after(at < 0 ? n : -1);
    MotusStatus status = motus_encoder_open(&enc, &s->config, &error);
    motus_device_fail_after(-1);
    if (!status) error = *motus_encoder_error(enc);
    if (error.status) {
        failures->opening++;
        MOTUS_CHECK(error.status == MOTUS_ERR_CUDA && strstr(error.text, "unknown error"),
                    "n=%ld: %s", n, error.text);
    }
    MOTUS_CHECK(!status || (s->config.backend == MOTUS_BACKEND_CUDA && status == error.status),
                "n=%ld: %d", n, status);
    if (!status)
        CU_ASSERT_EQUAL(motus_encoder_backend(enc),
                        error.status ? MOTUS_BACKEND_CPU : MOTUS_BACKEND_CUDA);
    for (int i = 0; i < N_FRAMES && !status; i++)
        status = send_with_fault(enc, s, d, i, i == at ? n : -1, failures);
    motus_encoder_close(&enc);
    return !memcmp(&before, failures, sizeof before);
}

static MotusStatus ring_with_fault(long n, MotusError *error) {
    MotusCudaRing *ring = NULL;
    const void *output;
    void *input, *stream;
    size_t bytes = 10000;
    motus_device_fail_after(n);
    MotusStatus status = motus_cuda_ring_open(&ring, 3, bytes, bytes, 1, error);
    for (int i = 0; i < 4 && !status; i++) {
        status = motus_cuda_ring_input(ring, &input, error);
        if (!status) status = motus_cuda_ring_submit(ring, copy_job, &bytes, error);
        if (!status && i) status = motus_cuda_ring_take(ring, &output, &stream, error);
    }
    motus_device_fail_after(-1);
    motus_cuda_ring_close(&ring);
    return status;
}

static int attempt_ring(void *unused, long n) {
    MotusError error = {0};
    const MotusStatus status = ring_with_fault(n, &error);
    (void)unused;
    MOTUS_CHECK(!status || (status == MOTUS_ERR_CUDA && strstr(error.text, "unknown error")),
                "n=%ld: %d %s", n, status, error.text);
    return status != MOTUS_OK;
}

static void failing_ring(void) {
    CU_ASSERT_EQUAL(ring_with_fault(-1, NULL), MOTUS_OK);
    CU_ASSERT(gpu_fail_everywhere(attempt_ring, NULL) >= 40);
}

// Lets CUDA call n fail while opening, of the first frame (an I picture) and of the second (a P
// picture), for every n up to success. Twice: only the first turn may leave memory to CUDA itself.
static void fail_everywhere(Sequence *s) {
    DeviceFrame d = device_frame(s->config.width, s->config.height, 0, 0);
    size_t free_bytes[2] = {0};
    for (int k = 0; k < 2; k++) {
        Failures failures = {0};
        s->config.backend = k ? MOTUS_BACKEND_AUTO : MOTUS_BACKEND_CUDA;
        CU_ASSERT(encode_with_fault(s, &d, 0, -1, &failures)); // loads kernels
        for (int at = -1; at < 2; at++)
            for (long n = 0, done = 0; !done; n++)
                done = encode_with_fault(s, &d, at, n, &failures);
        free_bytes[k] = gpu_free_bytes();
        MOTUS_CHECK(failures.opening > 5 && failures.intake > 10 && failures.ended > 20,
                    "failures: %d, %d, %d", failures.opening, failures.intake, failures.ended);
    }
    MOTUS_CHECK(free_bytes[0] == free_bytes[1], "%zu bytes free, then %zu", free_bytes[0],
                free_bytes[1]);
    drop_device_frame(&d);
}

static void failing_device(void) {
    Sequence s;
    make_sequence(&s, 66, 34);
    fail_everywhere(&s);
    drop_sequence(&s);
}

static void failing_lookahead(void) {
    Sequence s;
    make_rated_sequence(&s, 66, 34);
    fail_everywhere(&s);
    drop_sequence(&s);
}

static const GpuRow fault_rows[] = {
    GPU_TEST(failing_ring), GPU_TEST(failing_device), GPU_TEST(failing_lookahead), {0}};
const GpuSuite gpu_faults = {"faults", fault_rows};

// ---- No memory ----------------------------------------------------------------------------------

enum { BLOCKS = 4096 };

// All memory of the device, down to pieces of 64 KiB.
typedef struct Hoard {
    void *block[BLOCKS];
    int n;
} Hoard;

static void take_memory(Hoard *hoard) {
    hoard->n = 0;
    for (size_t size = (size_t)1 << 36; size >= 1 << 16 && hoard->n < BLOCKS;)
        if (cudaMalloc(&hoard->block[hoard->n], size) == cudaSuccess)
            hoard->n++;
        else
            size /= 2;
    cudaGetLastError();
}

static void free_memory(Hoard *hoard) {
    while (hoard->n) GPU_OK(cudaFree(hoard->block[--hoard->n]));
}

// True if the test may take all memory of the device. Nothing else can run there meanwhile.
static int may_exhaust(void) {
    const char *wish = getenv("MOTUS_EXHAUST");
    const int may = wish && !strcmp(wish, "1");
    if (!may) motus_test_skip("takes all memory of the device: MOTUS_EXHAUST=1 allows it");
    return may;
}

static void no_memory_while_opening(void) {
    if (!may_exhaust()) return;
    static Hoard hoard;
    Sequence s;
    MotusError error = {0};
    make_sequence(&s, 640, 352);
    MotusEncoder *enc = open_encoder(&s.config);
    encode_all(enc, &s); // loads kernels
    motus_encoder_close(&enc);
    const size_t before = gpu_free_bytes();
    take_memory(&hoard);
    MotusStatus status = motus_encoder_open(&enc, &s.config, &error);
    MOTUS_CHECK(status == MOTUS_ERR_MEMORY && strstr(error.text, "memory"), "%d: %s", status,
                error.text);
    CU_ASSERT_PTR_NULL(enc);
    s.config.backend = MOTUS_BACKEND_AUTO;
    enc = open_encoder(&s.config);
    CU_ASSERT_EQUAL(motus_encoder_backend(enc), MOTUS_BACKEND_CPU);
    MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, "memory") != NULL, "%s",
                motus_encoder_error(enc)->text);
    encode_all(enc, &s);
    motus_encoder_close(&enc);
    free_memory(&hoard);
    // More is free than before if the driver has given up memory that it kept.
    MOTUS_CHECK(gpu_free_bytes() >= before, "%zu bytes free, then %zu", before, gpu_free_bytes());
    s.config.backend = MOTUS_BACKEND_CUDA;
    enc = open_encoder(&s.config);
    encode_all(enc, &s);
    release(enc, NULL, &s);
}

// Memory runs out between the first GOP and the second, which then shares the first one's coder.
static void no_memory_in_mid_run(void) {
    if (!may_exhaust()) return;
    static Hoard hoard;
    Sequence s;
    make_sequence(&s, 640, 352);
    s.config.gop_coders = 2;
    MotusEncoder *enc = open_encoder(&s.config);
    encode_all(enc, &s);
    motus_encoder_close(&enc);
    const size_t before = gpu_free_bytes();
    enc = open_encoder(&s.config);
    CU_ASSERT_EQUAL(motus_encoder_gop_coders(enc), 2);
    for (int i = 0; i < N_FRAMES; i++) {
        if (i == 2) take_memory(&hoard);
        CU_ASSERT_EQUAL(motus_encoder_send(enc, s.frame[i], NULL), MOTUS_OK);
        MOTUS_CHECK(as_wanted(enc, &s, i), "%d: %s", i, motus_encoder_error(enc)->text);
    }
    CU_ASSERT_EQUAL(motus_encoder_gop_coders(enc), 1);
    motus_encoder_close(&enc);
    free_memory(&hoard);
    MOTUS_CHECK(gpu_free_bytes() >= before, "%zu bytes free, then %zu", before, gpu_free_bytes());
    drop_sequence(&s);
}

// A stream that is captured into a graph cannot hand a frame over. The frame may be sent again.
static void stream_that_is_captured(void) {
    Sequence s;
    cudaStream_t stream;
    make_sequence(&s, 64, 48);
    DeviceFrame d = device_frame(64, 48, 0, 0);
    CU_ASSERT_FATAL(GPU_OK(cudaStreamCreate(&stream)));
    MotusEncoder *enc = open_encoder(&s.config);
    for (int i = 0; i < N_FRAMES; i++) {
        upload(&d, s.frame[i], stream);
        CU_ASSERT_FATAL(GPU_OK(cudaStreamSynchronize(stream)));
        if (i == 1 || i == 3) {
            cudaGraph_t graph = NULL;
            GPU_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
            MotusStatus status = motus_encoder_send_device(enc, d.frame, stream, NULL);
            MOTUS_CHECK(status == MOTUS_ERR_CUDA &&
                            strstr(motus_encoder_error(enc)->text, "captur"),
                        "frame %d: %d %s", i, status, motus_encoder_error(enc)->text);
            cudaStreamEndCapture(stream, &graph); // the capture is invalid now
            if (graph) cudaGraphDestroy(graph);
            cudaGetLastError();
        }
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, stream, NULL), MOTUS_OK);
        MOTUS_CHECK(as_wanted(enc, &s, i), "%d: %s", i, motus_encoder_error(enc)->text);
    }
    motus_encoder_close(&enc);
    close_stream(stream);
    release(NULL, &d, &s);
}

// All work behind a kernel that failed ends in an error, on every stream. Nothing works on the
// device afterwards.
static void lost_device(void) {
    Sequence s;
    MotusEncoder *later = NULL;
    MotusPacket *packet = NULL;
    MotusError error = {0};
    cudaStream_t stream;
    make_sequence(&s, 320, 192);
    s.config.gop_coders = 2;
    DeviceFrame d = device_frame(320, 192, 0, 0);
    CU_ASSERT_FATAL(GPU_OK(cudaStreamCreate(&stream)));
    MotusEncoder *enc = open_encoder(&s.config), *other = open_encoder(&s.config);
    for (int i = 0; i < 2; i++) {
        upload(&d, s.frame[i], stream);
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, stream, NULL), MOTUS_OK);
        CU_ASSERT_EQUAL(motus_encoder_send(other, s.frame[i], NULL), MOTUS_OK);
    }
    MOTUS_CHECK(as_wanted(enc, &s, 0) && as_wanted(enc, &s, 1), "before");
    gpu_trap(stream);
    MotusStatus status = motus_encoder_send_device(enc, d.frame, stream, NULL);
    if (!status) status = motus_encoder_receive(enc, &packet, -1);
    error = *motus_encoder_error(enc);
    MOTUS_CHECK(status == MOTUS_ERR_CUDA && error.status == status && error.text[0], "%d: %s",
                status, error.text);
    printf("the caller's stream: %s\n", error.text);
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, stream, NULL), MOTUS_ERR_CUDA);
    CU_ASSERT_NOT_EQUAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK); // or AGAIN
    // Another encoder: finished packets may still come out.
    for (status = MOTUS_OK; !status; motus_packet_unref(&packet)) {
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
    later = open_encoder(&s.config);
    CU_ASSERT_EQUAL(motus_encoder_backend(later), MOTUS_BACKEND_CPU);
    encode_all(later, &s);
    motus_encoder_close(&later);
    release(NULL, &d, &s);
}

static const GpuRow lost_rows[] = {GPU_TEST(no_memory_while_opening),
                                   GPU_TEST(no_memory_in_mid_run),
                                   GPU_TEST(stream_that_is_captured),
                                   GPU_TEST(lost_device),
                                   {0}};
const GpuSuite gpu_lost = {"lost", lost_rows};
