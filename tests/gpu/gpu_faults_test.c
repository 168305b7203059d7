// The encoder behind an upload ring, frames that are no device frames, and devices that fail at any
// call: words, and nothing lost that was done.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "motus/upload.h"
#include "tests/gpu/gpu_sequence.h"

static MotusStatus copy_job(void *opaque, const void *d_in, void *d_out, void *stream,
                            MotusError *error) {
    return motus_cuda_copy(d_out, d_in, *(size_t *)opaque, stream, error);
}

static MotusFrame *tight_frame(const Sequence *s, void *memory) {
    int w = s->config.width, h = s->config.height;
    MotusFrame *frame = NULL;
    uint8_t *luma = memory, *cb = luma + w * h;
    uint8_t *const data[3] = {luma, cb, cb + w * h / 4};
    const ptrdiff_t stride[3] = {w, w / 2, w / 2};
    CU_ASSERT_EQUAL_FATAL(motus_frame_wrap(&frame, w, h, data, stride, NULL, NULL), MOTUS_OK);
    return frame;
}

// Results of the ring that stay on the device go into the encoder while the pictures after them are
// on their way through the same slots.
static void frames_from_a_ring(void) {
    if (!motus_test_has_gpu()) return;
    Sequence s;
    MotusEncoder *enc = NULL;
    MotusCudaRing *ring = NULL;
    const void *output;
    void *input, *stream;
    make_sequence(&s, 192, 112);
    size_t bytes = 192 * 112 * 3 / 2;
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_cuda_ring_open_device(&ring, 2, bytes, bytes, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_cuda_ring_take_device(ring, &output, &stream, NULL), MOTUS_END);
    for (int n = 0; n < 40; n++) {
        if (n < 38) {
            CU_ASSERT_EQUAL_FATAL(motus_cuda_ring_input(ring, &input, NULL), MOTUS_OK);
            MotusFrame *up = tight_frame(&s, input);
            CU_ASSERT_EQUAL(motus_frame_copy_padded(up, s.frame[n % N_FRAMES]), MOTUS_OK);
            motus_frame_unref(&up);
            CU_ASSERT_EQUAL(motus_cuda_ring_submit(ring, copy_job, &bytes, NULL), MOTUS_OK);
        }
        if (!n || n > 38) continue;
        int i = (n - 1) % N_FRAMES;
        CU_ASSERT_EQUAL(motus_cuda_ring_take(ring, &output, NULL), MOTUS_ERR_STATE);
        CU_ASSERT_EQUAL_FATAL(motus_cuda_ring_take_device(ring, &output, &stream, NULL), MOTUS_OK);
        MotusFrame *down = tight_frame(&s, (void *)(uintptr_t)output);
        down->number = s.frame[i]->number;
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, down, stream, NULL), MOTUS_OK);
        motus_frame_unref(&down);
        MOTUS_CHECK(as_wanted(enc, &s, i), "picture %d", n - 1);
        if (i < N_FRAMES - 1) continue;
        motus_encoder_close(&enc);
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    }
    motus_cuda_ring_close(&ring);
    motus_encoder_close(&enc);
    drop_sequence(&s);
}

// A plane that the device cannot read is refused before it is touched; the encoder works on.
static void host_memory_is_refused(void) {
    if (!motus_test_has_gpu()) return;
    Sequence s;
    MotusEncoder *enc = NULL;
    make_sequence(&s, 64, 48);
    DeviceFrame d = device_frame(64, 48, 0, 0);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, s.frame[0], NULL, NULL), MOTUS_ERR_ARGUMENT);
    MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, "device memory") != NULL, "%s",
                motus_encoder_error(enc)->text);
    upload(&d, s.frame[0], NULL);
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, NULL, NULL), MOTUS_OK);
    CU_ASSERT(as_wanted(enc, &s, 0));
    CU_ASSERT_EQUAL(motus_encoder_error(enc)->status, MOTUS_OK);
    motus_encoder_close(&enc);
    drop_device_frame(&d);
    drop_sequence(&s);
}

// What became of failures: at the opening, of frames that were taken the next time, of streams that
// ended (without a plan or a picture).
typedef struct Failures {
    int opening, intake, ended;
} Failures;

static void check_words(const MotusEncoder *enc, MotusStatus status, long n) {
    const MotusError *error = motus_encoder_error(enc);
    MOTUS_CHECK(status == MOTUS_ERR_CUDA && error->status == status &&
                    strstr(error->text, "unknown error"),
                "n=%ld: %d %s", n, status, error->text);
}

// Sends frame i while CUDA call n fails, and those after it. A frame that could not be brought in
// may be sent again; a picture that could not be planned or coded ends the stream. MOTUS_OK: the
// packet is there and as it must be.
static MotusStatus send_with_fault(MotusEncoder *enc, const Sequence *s, const DeviceFrame *d,
                                   int i, long n, Failures *failures) {
    MotusPacket *packet;
    motus_device_fail_after(n);
    upload(d, s->frame[i], NULL);
    MotusStatus status = motus_encoder_send_device(enc, d->frame, NULL, NULL);
    if (status) {
        motus_device_fail_after(-1);
        check_words(enc, status, n);
        status = motus_encoder_send_device(enc, d->frame, NULL, NULL);
        failures->intake += !status;
        if (status) check_words(enc, status, n); // it was brought in, and could not be planned
        CU_ASSERT(!status || s->config.rate != MOTUS_RATE_QP);
    }
    const MotusStatus sent = status;
    status = motus_encoder_receive(enc, &packet, -1);
    motus_device_fail_after(-1);
    if (status) {
        check_words(enc, status, n);
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

// Encodes; CUDA call n of sending frame `at` fails (-1: of the opening), and those after it.
// Returns 1 when nothing failed.
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
    MotusStatus status = motus_cuda_ring_open_device(&ring, 3, bytes, bytes, error);
    for (int i = 0; i < 4 && !status; i++) {
        status = motus_cuda_ring_input(ring, &input, error);
        if (!status) status = motus_cuda_ring_submit(ring, copy_job, &bytes, error);
        if (!status && i) status = motus_cuda_ring_take_device(ring, &output, &stream, error);
    }
    motus_device_fail_after(-1);
    motus_cuda_ring_close(&ring);
    return status;
}

static void failing_ring(void) {
    if (!motus_test_has_gpu()) return;
    size_t before = 0, after = 0, total;
    long n = 0;
    CU_ASSERT_EQUAL(ring_with_fault(-1, NULL), MOTUS_OK);
    for (int done = 0; !done; n++) {
        MotusError error = {0};
        MotusStatus status = ring_with_fault(n, &error);
        done = !status;
        MOTUS_CHECK(done || (status == MOTUS_ERR_CUDA && strstr(error.text, "unknown error")),
                    "n=%ld: %d %s", n, status, error.text);
        cudaMemGetInfo(n < 2 ? &before : &after, &total);
    }
    MOTUS_CHECK(before == after && n > 40, "%zu bytes free, then %zu; %ld failures", before, after,
                n - 1);
}

// Lets the n-th CUDA call of the opening, of the first frame (an I picture) and of the second (a P
// picture) fail, for every n up to success. All of that twice: the second time leaves no memory
// behind, of which CUDA may have taken some for itself the first time.
static void fail_everywhere(Sequence *s) {
    DeviceFrame d = device_frame(s->config.width, s->config.height, 0, 0);
    size_t free_bytes[2] = {0}, total;
    for (int k = 0; k < 2; k++) {
        Failures failures = {0};
        s->config.backend = k ? MOTUS_BACKEND_AUTO : MOTUS_BACKEND_CUDA;
        CU_ASSERT(
            encode_with_fault(s, &d, 0, -1, &failures)); // loads what is loaded at its first use
        for (int at = -1; at < 2; at++)
            for (long n = 0, done = 0; !done; n++)
                done = encode_with_fault(s, &d, at, n, &failures);
        cudaMemGetInfo(&free_bytes[k], &total);
        MOTUS_CHECK(failures.opening > 5 && failures.intake > 10 && failures.ended > 20,
                    "failures: %d, %d, %d", failures.opening, failures.intake, failures.ended);
    }
    MOTUS_CHECK(free_bytes[0] == free_bytes[1], "%zu bytes free, then %zu", free_bytes[0],
                free_bytes[1]);
    drop_device_frame(&d);
}

static void failing_device(void) {
    if (!motus_test_has_gpu()) return;
    Sequence s;
    make_sequence(&s, 66, 34);
    fail_everywhere(&s);
    drop_sequence(&s);
}

static void failing_look_ahead(void) {
    if (!motus_test_has_gpu()) return;
    Sequence s;
    make_rated_sequence(&s, 66, 34);
    fail_everywhere(&s);
    drop_sequence(&s);
}

static const MotusTest tests[] = {{"frames_from_a_ring", frames_from_a_ring},
                                  {"host_memory_is_refused", host_memory_is_refused},
                                  {"failing_ring", failing_ring},
                                  {"failing_device", failing_device},
                                  {"failing_look_ahead", failing_look_ahead},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_faults", tests, argc, argv); }
