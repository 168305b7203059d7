// Frames in CUDA device memory give the streams, reconstructions and sources that the same frames give from host memory on the CPU backend;
// stream order; devices that fail.
// SPDX-License-Identifier: BSD-2-Clause
#include <cuda_runtime_api.h>
#include <time.h>

#include "common/faults.h"
#include "motus/encoder.h"
#include "motus/upload.h"
#include "tests/gpu.h"

#define N_FRAMES 5
#define TEXTURE 1024

// Blocks of random grey that move by (3, 2) samples a frame over a gradient, with some noise.
static MotusFrame *make_frame(int width, int height, int t, const uint8_t *texture) {
    MotusFrame *frame = NULL;
    CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&frame, width, height), MOTUS_OK);
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = 0; x < frame->plane[p].width; x++) {
                int scale = p ? 2 : 1, u = (scale * x + 3 * t) / 5, v = (scale * y + 2 * t) / 6;
                frame->plane[p].data[y * frame->plane[p].stride + x] =
                    (uint8_t)(texture[(u * 31 + v * 17 + p) % TEXTURE] / 2 + x % 64 + motus_test_range(0, 3));
            }
    frame->number = 70 + t;
    return frame;
}

// What a sequence must become: by the CPU, from host memory.
typedef struct Sequence {
    MotusEncoderConfig config;
    MotusFrame *frame[N_FRAMES], *recon[N_FRAMES];
    uint8_t *data[N_FRAMES];
    size_t size[N_FRAMES];
} Sequence;

static void make_sliced_sequence(Sequence *s, int width, int height, int slices) {
    uint8_t texture[TEXTURE];
    MotusEncoder *enc = NULL;
    memset(s, 0, sizeof *s);
    s->config = motus_encoder_config_default(width, height, (MotusRational){25, 1});
    s->config.backend = MOTUS_BACKEND_CPU;
    s->config.keyint = 3;
    s->config.range = 8;
    s->config.slices = slices;
    motus_test_fill(texture, sizeof texture);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s->config, NULL), MOTUS_OK);
    for (int i = 0; i < N_FRAMES; i++) {
        MotusPacket *packet;
        s->frame[i] = make_frame(width, height, i, texture);
        CU_ASSERT_EQUAL_FATAL(motus_encoder_send(enc, s->frame[i], NULL), MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK);
        s->recon[i] = motus_frame_ref(packet->recon);
        s->size[i] = packet->size;
        s->data[i] = malloc(packet->size);
        memcpy(s->data[i], packet->data, packet->size);
        motus_packet_unref(&packet);
    }
    motus_encoder_close(&enc);
    s->config.backend = MOTUS_BACKEND_CUDA;
}

static void make_sequence(Sequence *s, int width, int height) { make_sliced_sequence(s, width, height, 1); }

static void drop_sequence(Sequence *s) {
    for (int i = 0; i < N_FRAMES; i++) {
        motus_frame_unref(&s->frame[i]);
        motus_frame_unref(&s->recon[i]);
        free(s->data[i]);
    }
}

// Takes the packet of frame i, and compares. 1: as it must be.
static int as_wanted(MotusEncoder *enc, const Sequence *s, int i) {
    MotusPacket *packet;
    if (motus_encoder_receive(enc, &packet, -1)) return 0;
    int same = packet->size == s->size[i] && !memcmp(packet->data, s->data[i], packet->size);
    if (packet->recon)
        same = same && motus_test_same_frames(packet->recon, s->recon[i]) &&
               motus_test_same_frames(packet->source, s->frame[i]) && packet->source->number == s->frame[i]->number;
    motus_packet_unref(&packet);
    return same;
}

// A frame in device memory: each plane begins `shift` bytes after a boundary, rows are `gap` bytes longer than they need be.
typedef struct DeviceFrame {
    uint8_t *memory;
    size_t size;
    MotusFrame *frame;
} DeviceFrame;

static DeviceFrame device_frame(int width, int height, int gap, int shift) {
    DeviceFrame d = {0};
    size_t at[3];
    ptrdiff_t stride[3];
    for (int p = 0; p < 3; p++) {
        int w = p ? (width + 1) / 2 : width, h = p ? (height + 1) / 2 : height;
        at[p] = (d.size + 255) / 256 * 256 + (size_t)shift;
        stride[p] = w + gap;
        d.size = at[p] + (size_t)(stride[p] * (h - 1) + w); // nothing may be read beyond the last sample
    }
    CU_ASSERT_EQUAL_FATAL(cudaMalloc((void **)&d.memory, d.size), cudaSuccess);
    uint8_t *const data[3] = {d.memory + at[0], d.memory + at[1], d.memory + at[2]};
    CU_ASSERT_EQUAL_FATAL(motus_frame_wrap(&d.frame, width, height, data, stride, NULL, NULL), MOTUS_OK);
    return d;
}

static void drop_device_frame(DeviceFrame *d) {
    cudaFree(d->memory);
    motus_frame_unref(&d->frame);
}

static void upload(const DeviceFrame *d, const MotusFrame *frame, cudaStream_t stream) {
    for (int p = 0; p < 3; p++) {
        const MotusPlane *to = &d->frame->plane[p], *from = &frame->plane[p];
        CU_ASSERT_EQUAL(cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data, (size_t)from->stride, (size_t)from->width,
                                          (size_t)from->height, cudaMemcpyHostToDevice, stream),
                        cudaSuccess);
    }
    d->frame->number = frame->number;
}

// I and P pictures, all from the device or each third one from the host; the frame is drawn over as soon as it has been sent.
static void compare(const Sequence *s, int gap, int shift, int mixed, cudaStream_t stream) {
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    DeviceFrame d = device_frame(s->config.width, s->config.height, gap, shift);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s->config, &error), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_backend(enc), MOTUS_BACKEND_CUDA);
    for (int i = 0; i < N_FRAMES; i++) {
        int on_host = mixed && i % 3 == 2;
        upload(&d, s->frame[i], stream);
        MotusStatus status =
            on_host ? motus_encoder_send(enc, s->frame[i], NULL) : motus_encoder_send_device(enc, d.frame, stream, NULL);
        CU_ASSERT_EQUAL(cudaMemsetAsync(d.memory, 0x5A, d.size, stream), cudaSuccess);
        MOTUS_CHECK(!status && as_wanted(enc, s, i), "%dx%d gap %d shift %d mixed %d frame %d: %d %s", s->config.width,
                    s->config.height, gap, shift, mixed, i, status, motus_encoder_error(enc)->text);
    }
    CU_ASSERT_EQUAL(motus_encoder_error(enc)->status, MOTUS_OK);
    motus_encoder_close(&enc);
    drop_device_frame(&d);
}

static void equal_to_the_cpu(void) {
    static const int sizes[][2] = {{16, 16}, {34, 18}, {2, 2}, {352, 288}, {130, 66}, {1918, 1080}};
    if (!motus_test_has_gpu()) return;
    cudaStream_t stream;
    CU_ASSERT_EQUAL_FATAL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (int k = 0; k < 6; k++) {
        Sequence s;
        make_sequence(&s, sizes[k][0], sizes[k][1]);
        if (k < 5) compare(&s, 0, 0, 0, stream);
        compare(&s, 7, 1 + k % 3, k % 2, stream);
        if (k < 5) compare(&s, 64 - sizes[k][0] % 64, 0, 1, NULL);
        drop_sequence(&s);
    }
    cudaStreamDestroy(stream);
}

static void slices(void) {
    static const int cases[][3] = {{34, 18, 2}, {352, 288, 4}, {352, 288, 99}, {130, 66, 3}, {2, 2, 5}, {1918, 1080, 8}};
    if (!motus_test_has_gpu()) return;
    cudaStream_t stream;
    CU_ASSERT_EQUAL_FATAL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (int k = 0; k < 6; k++) {
        Sequence s;
        make_sliced_sequence(&s, cases[k][0], cases[k][1], cases[k][2]);
        s.config.stream_only = k % 2;
        compare(&s, 7, k % 3, k % 2, stream);
        drop_sequence(&s);
    }
    cudaStreamDestroy(stream);
}

// Slices of a largest size are cut on the CPU: the device says so, and AUTO goes there.
static void sizes_of_slices_are_refused(void) {
    if (!motus_test_has_gpu()) return;
    MotusEncoderConfig c = motus_encoder_config_default(64, 48, (MotusRational){25, 1});
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    c.slice_max_size = 1200;
    c.backend = MOTUS_BACKEND_CUDA;
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &c, &error), MOTUS_ERR_UNSUPPORTED);
    CU_ASSERT(!enc && strstr(error.text, "slices") && !strchr(error.text, '\n'));
    c.backend = MOTUS_BACKEND_AUTO;
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &c, &error), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_backend(enc), MOTUS_BACKEND_CPU);
    CU_ASSERT(strstr(motus_encoder_error(enc)->text, "slices") != NULL);
    motus_encoder_close(&enc);
}

// All frames sent before the first packet is waited for, on any number of lanes, with and without what comes down beside the stream.
static void lanes_give_one_stream(void) {
    static const int lanes[] = {1, 2, 3, 7, 16, 0};
    if (!motus_test_has_gpu()) return;
    cudaStream_t stream;
    CU_ASSERT_EQUAL_FATAL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (int c = 0; c < 12; c++) {
        Sequence s;
        MotusEncoder *enc = NULL;
        make_sequence(&s, c % 2 ? 176 : 130, c % 2 ? 144 : 66);
        s.config.lanes = lanes[c / 2];
        s.config.stream_only = c % 2;
        DeviceFrame d = device_frame(s.config.width, s.config.height, 0, 0);
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
        // The sequence again and again: each time it begins with an IDR picture, and every second time it is in host memory.
        for (int i = 0; i < 8 * N_FRAMES; i++) {
            const MotusFrameParams params = {.size = sizeof params, .force_idr = i % N_FRAMES == 0};
            const MotusFrame *frame = s.frame[i % N_FRAMES];
            if (i / N_FRAMES % 2) {
                CU_ASSERT_EQUAL(motus_encoder_send(enc, frame, &params), MOTUS_OK);
                continue;
            }
            upload(&d, frame, stream);
            CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, stream, &params), MOTUS_OK);
            CU_ASSERT_EQUAL(cudaMemsetAsync(d.memory, 0x5A, d.size, stream), cudaSuccess);
        }
        // idr_pic_id differs from the sequence's alone: the first time is compared, later ones by their size.
        for (int i = 0; i < 8 * N_FRAMES; i++) {
            MotusPacket *packet;
            if (i < N_FRAMES) {
                MOTUS_CHECK(as_wanted(enc, &s, i), "%d lanes, picture %d", s.config.lanes, i);
                continue;
            }
            CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK);
            const int want = (int)s.size[i % N_FRAMES], off = abs((int)packet->size - want);
            MOTUS_CHECK(packet->is_idr == (i % N_FRAMES % 3 == 0) && (packet->is_idr ? off < 4 : !off), "%d lanes, picture %d",
                        s.config.lanes, i);
            if (packet->recon) CU_ASSERT(motus_test_same_frames(packet->recon, s.recon[i % N_FRAMES]));
            motus_packet_unref(&packet);
        }
        motus_encoder_close(&enc);
        drop_device_frame(&d);
        drop_sequence(&s);
    }
    cudaStreamDestroy(stream);
}

// Lanes on all devices there are, in another order than CUDA's; frames in host memory and on any device. One device makes a list, too.
static void lanes_on_all_devices(void) {
    if (!motus_test_has_gpu()) return;
    int n = 0, list[16], none = 16;
    CU_ASSERT_EQUAL_FATAL(cudaGetDeviceCount(&n), cudaSuccess);
    n = n > 16 ? 16 : n;
    printf("%d devices\n", n);
    for (int i = 0; i < n; i++) list[i] = n - 1 - i;
    for (int c = 0; c < 8; c++) {
        Sequence s;
        MotusEncoder *enc = NULL;
        MotusError error = {0};
        DeviceFrame d[16];
        make_sequence(&s, c % 2 ? 176 : 130, c % 2 ? 144 : 66);
        s.config.lanes = (int[]){0, n, 2 * n + 1, 1}[c / 2];
        s.config.stream_only = c % 2;
        s.config.n_devices = c / 2 % 2 ? n : MOTUS_ALL_DEVICES;
        s.config.devices = c / 2 % 2 ? list : NULL;
        for (int i = 0; i < n; i++) {
            CU_ASSERT_EQUAL(cudaSetDevice(i), cudaSuccess);
            d[i] = device_frame(s.config.width, s.config.height, 5, 3);
        }
        CU_ASSERT_EQUAL(cudaSetDevice(0), cudaSuccess);
        MotusStatus opened = motus_encoder_open(&enc, &s.config, &error);
        MOTUS_CHECK(!opened, "%d: %s", opened, error.text);
        for (int turn = 0, sent = 0; !opened && turn < 3; turn++) {
            for (int i = 0; i < N_FRAMES; i++, sent++) {
                const int at = sent % (n + 1);
                if (at < n) {
                    CU_ASSERT_EQUAL(cudaSetDevice(at), cudaSuccess);
                    upload(&d[at], s.frame[i], NULL);
                    CU_ASSERT_EQUAL(cudaSetDevice(sent % n),
                                    cudaSuccess); // the current one does not matter: frames tell where they lie
                }
                MotusStatus status =
                    at < n ? motus_encoder_send_device(enc, d[at].frame, NULL, NULL) : motus_encoder_send(enc, s.frame[i], NULL);
                MOTUS_CHECK(!status, "frame %d of device %d: %s", i, at, motus_encoder_error(enc)->text);
            }
            for (int i = 0; i < N_FRAMES; i++)
                MOTUS_CHECK(as_wanted(enc, &s, i), "%d devices, %d lanes, picture %d", n, s.config.lanes, i);
            motus_encoder_close(&enc);
            opened = motus_encoder_open(&enc, &s.config, &error);
        }
        motus_encoder_close(&enc);
        for (int i = 0; i < n; i++) drop_device_frame(&d[i]);
        CU_ASSERT_EQUAL(cudaSetDevice(0), cudaSuccess);
        drop_sequence(&s);
    }
    MotusEncoderConfig c = motus_encoder_config_default(64, 48, (MotusRational){25, 1});
    MotusError error = {0};
    MotusEncoder *enc = NULL;
    c.backend = MOTUS_BACKEND_CUDA;
    c.devices = &none;
    c.n_devices = 1;
    CU_ASSERT_EQUAL(motus_encoder_open(&enc, &c, &error), MOTUS_ERR_NO_DEVICE);
    MOTUS_CHECK(strstr(error.text, "16") != NULL, "%s", error.text);
}

static void CUDART_CB sleep_a_while(void *unused) {
    (void)unused;
    const struct timespec a_while = {.tv_nsec = 30000000};
    nanosleep(&a_while, NULL);
}

// A frame that is not ready when it is sent: what comes before it on the stream is awaited.
static void frames_made_late(void) {
    if (!motus_test_has_gpu()) return;
    Sequence s;
    MotusEncoder *enc = NULL;
    cudaStream_t stream;
    make_sequence(&s, 96, 80);
    DeviceFrame now = device_frame(96, 80, 3, 0), later = device_frame(96, 80, 3, 0);
    CU_ASSERT_EQUAL_FATAL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    for (int i = 0; i < N_FRAMES; i++) {
        upload(&later, s.frame[i], stream);
        CU_ASSERT_EQUAL(cudaStreamSynchronize(stream), cudaSuccess);
        CU_ASSERT_EQUAL(cudaLaunchHostFunc(stream, sleep_a_while, NULL), cudaSuccess);
        CU_ASSERT_EQUAL(cudaMemcpyAsync(now.memory, later.memory, now.size, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
        now.frame->number = s.frame[i]->number;
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, now.frame, stream, NULL), MOTUS_OK);
        MOTUS_CHECK(as_wanted(enc, &s, i), "frame %d", i);
    }
    motus_encoder_close(&enc);
    drop_device_frame(&now);
    drop_device_frame(&later);
    drop_sequence(&s);
    cudaStreamDestroy(stream);
}

// Sources that are kept outlive the frames that follow, and the encoder.
static void kept_sources(void) {
    if (!motus_test_has_gpu()) return;
    Sequence s;
    MotusEncoder *enc = NULL;
    MotusFrame *source[N_FRAMES];
    make_sequence(&s, 70, 50);
    DeviceFrame d = device_frame(70, 50, 0, 0);
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &s.config, NULL), MOTUS_OK);
    for (int i = 0; i < N_FRAMES; i++) {
        MotusPacket *packet;
        upload(&d, s.frame[i], NULL);
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, NULL, NULL), MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc, &packet, -1), MOTUS_OK);
        source[i] = motus_frame_ref(packet->source);
        motus_packet_unref(&packet);
    }
    motus_encoder_close(&enc);
    for (int i = 0; i < N_FRAMES; i++) MOTUS_CHECK(motus_test_same_frames(source[i], s.frame[i]), "frame %d", i);
    for (int i = 0; i < N_FRAMES; i++) motus_frame_unref(&source[i]);
    drop_device_frame(&d);
    drop_sequence(&s);
}

static MotusStatus copy_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
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

// Results of the ring that stay on the device go into the encoder while the pictures after them are on their way through the same slots.
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
    MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, "device memory") != NULL, "%s", motus_encoder_error(enc)->text);
    upload(&d, s.frame[0], NULL);
    CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d.frame, NULL, NULL), MOTUS_OK);
    CU_ASSERT(as_wanted(enc, &s, 0));
    CU_ASSERT_EQUAL(motus_encoder_error(enc)->status, MOTUS_OK);
    motus_encoder_close(&enc);
    drop_device_frame(&d);
    drop_sequence(&s);
}

// What became of failures: at the opening, of frames that were taken the next time, of streams that ended.
typedef struct Failures {
    int opening, intake, ended;
} Failures;

static void check_words(const MotusEncoder *enc, MotusStatus status, long n) {
    const MotusError *error = motus_encoder_error(enc);
    MOTUS_CHECK(status == MOTUS_ERR_CUDA && error->status == status && strstr(error->text, "unknown error"), "n=%ld: %d %s", n,
                status, error->text);
}

// Sends frame i while CUDA call n fails, and those after it. A frame that could not be brought in may be sent again; a picture that could not be coded ends the
// stream. MOTUS_OK: the packet is there and as it must be.
static MotusStatus send_with_fault(MotusEncoder *enc, const Sequence *s, const DeviceFrame *d, int i, long n,
                                   Failures *failures) {
    MotusPacket *packet;
    motus_device_fail_after(n);
    upload(d, s->frame[i], NULL);
    MotusStatus status = motus_encoder_send_device(enc, d->frame, NULL, NULL);
    if (status) {
        motus_device_fail_after(-1);
        check_words(enc, status, n);
        failures->intake++;
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d->frame, NULL, NULL), MOTUS_OK);
    }
    status = motus_encoder_receive(enc, &packet, -1);
    motus_device_fail_after(-1);
    if (status) {
        check_words(enc, status, n);
        failures->ended++;
        CU_ASSERT_EQUAL(motus_encoder_send_device(enc, d->frame, NULL, NULL), status);
        CU_ASSERT_EQUAL(motus_encoder_receive(enc, &packet, -1), status);
        return status;
    }
    MOTUS_CHECK(packet->size == s->size[i] && !memcmp(packet->data, s->data[i], packet->size), "n=%ld frame %d", n, i);
    motus_packet_unref(&packet);
    return MOTUS_OK;
}

// Encodes; CUDA call n of sending frame `at` fails (-1: of the opening), and those after it. Returns 1 when nothing failed.
static int encode_with_fault(const Sequence *s, const DeviceFrame *d, int at, long n, Failures *failures) {
    MotusEncoder *enc = NULL;
    MotusError error = {0};
    const Failures before = *failures;
    motus_device_fail_after(at < 0 ? n : -1);
    MotusStatus status = motus_encoder_open(&enc, &s->config, &error);
    motus_device_fail_after(-1);
    if (!status) error = *motus_encoder_error(enc);
    if (error.status) {
        failures->opening++;
        MOTUS_CHECK(error.status == MOTUS_ERR_CUDA && strstr(error.text, "unknown error"), "n=%ld: %s", n, error.text);
    }
    MOTUS_CHECK(!status || (s->config.backend == MOTUS_BACKEND_CUDA && status == error.status), "n=%ld: %d", n, status);
    if (!status) CU_ASSERT_EQUAL(motus_encoder_backend(enc), error.status ? MOTUS_BACKEND_CPU : MOTUS_BACKEND_CUDA);
    for (int i = 0; i < N_FRAMES && !status; i++) status = send_with_fault(enc, s, d, i, i == at ? n : -1, failures);
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
        MOTUS_CHECK(done || (status == MOTUS_ERR_CUDA && strstr(error.text, "unknown error")), "n=%ld: %d %s", n, status,
                    error.text);
        cudaMemGetInfo(n < 2 ? &before : &after, &total);
    }
    MOTUS_CHECK(before == after && n > 40, "%zu bytes free, then %zu; %ld failures", before, after, n - 1);
}

// Lets the n-th CUDA call of the opening, of the first frame (an I picture) and of the second (a P picture) fail, for every n up to success.
static void failing_device(void) {
    if (!motus_test_has_gpu()) return;
    Sequence s;
    make_sequence(&s, 66, 34);
    DeviceFrame d = device_frame(66, 34, 0, 0);
    for (int k = 0; k < 2; k++) {
        size_t before = 0, after = 0, total;
        Failures failures = {0};
        s.config.backend = k ? MOTUS_BACKEND_AUTO : MOTUS_BACKEND_CUDA;
        CU_ASSERT(encode_with_fault(&s, &d, 0, -1, &failures)); // loads what is loaded at its first use
        for (int at = -1; at < 2; at++)
            for (long n = 0, done = 0; !done; n++) {
                done = encode_with_fault(&s, &d, at, n, &failures);
                cudaMemGetInfo(n < 2 && at < 0 ? &before : &after, &total);
            }
        MOTUS_CHECK(before == after, "%zu bytes free, then %zu", before, after);
        MOTUS_CHECK(failures.opening > 5 && failures.intake > 10 && failures.ended > 20, "failures: %d, %d, %d", failures.opening,
                    failures.intake, failures.ended);
    }
    drop_device_frame(&d);
    drop_sequence(&s);
}

// Vectors of whole samples and with fractions, some far outside, in place of the search's: the same streams and fields from both backends.
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
        if (memcmp(a->field->mv[k], b->field->mv[k], n * sizeof(MotusMv)) || memcmp(a->field->sad[k], b->field->sad[k], n * 2) ||
            memcmp(a->field->cost[k], b->field->cost[k], n * 4))
            return 0;
    }
    return 1;
}

static void code_both(const Sequence *s, uint32_t modes, int final, int given) {
    MotusEncoder *enc[2] = {0};
    MotusEncoderConfig c = s->config;
    MotusField *field = NULL;
    c.with_field = 1;
    for (int k = 0; k < 2; k++) {
        c.backend = k ? MOTUS_BACKEND_CUDA : MOTUS_BACKEND_CPU;
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc[k], &c, NULL), MOTUS_OK);
    }
    CU_ASSERT_EQUAL_FATAL(motus_field_alloc(&field, c.width, c.height), MOTUS_OK);
    for (int i = 0; i < N_FRAMES; i++) {
        MotusPacket *packet[2] = {0};
        fill_field(field);
        const MotusFrameParams params = {
            .size = sizeof params, .duration = 1, .field = given ? field : NULL, .field_modes = modes, .field_final = final};
        for (int k = 0; k < 2; k++) {
            CU_ASSERT_EQUAL_FATAL(motus_encoder_send(enc[k], s->frame[i], &params), MOTUS_OK);
            CU_ASSERT_EQUAL_FATAL(motus_encoder_receive(enc[k], &packet[k], -1), MOTUS_OK);
        }
        MOTUS_CHECK(packet[0]->size == packet[1]->size && !memcmp(packet[0]->data, packet[1]->data, packet[0]->size) &&
                        same_field(packet[0], packet[1]),
                    "preset %d subpel %d modes 0x%x final %d given %d frame %d", (int)c.preset, (int)c.subpel, (unsigned)modes,
                    final, given, i);
        for (int k = 0; k < 2; k++) motus_packet_unref(&packet[k]);
    }
    for (int k = 0; k < 2; k++) motus_encoder_close(&enc[k]);
    motus_field_free(&field);
}

static void fields_as_on_the_cpu(void) {
    if (!motus_test_has_gpu()) return;
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

static const MotusTest tests[] = {{"equal_to_the_cpu", equal_to_the_cpu},
                                  {"slices", slices},
                                  {"sizes_of_slices_are_refused", sizes_of_slices_are_refused},
                                  {"lanes_give_one_stream", lanes_give_one_stream},
                                  {"fields_as_on_the_cpu", fields_as_on_the_cpu},
                                  {"lanes_on_all_devices", lanes_on_all_devices},
                                  {"frames_made_late", frames_made_late},
                                  {"kept_sources", kept_sources},
                                  {"frames_from_a_ring", frames_from_a_ring},
                                  {"host_memory_is_refused", host_memory_is_refused},
                                  {"failing_ring", failing_ring},
                                  {"failing_device", failing_device},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_encoder", tests, argc, argv); }
