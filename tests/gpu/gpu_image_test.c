// Images in device memory become the frames and streams that they become in host memory.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "motus/encoder.h"
#include "motus/upload.h"
#include "tests/gpu/gpu.h"
#include "tests/gpu/gpu_ring.h"
#include "tests/yuv/image_case.h"

typedef struct Job {
    MotusImage image; // data[]: at the host's copy
    const uint8_t *host;
    MotusFrame *frame; // its shape
    MotusColour colour;
} Job;

static MotusImage image_at(const MotusImage *shape, const uint8_t *host, const void *device) {
    MotusImage image = *shape;
    for (int k = 0; k < 3; k++)
        image.data[k] = (const char *)device + ((const uint8_t *)shape->data[k] - host);
    return image;
}

static MotusFrame frame_at(const MotusFrame *shape, void *memory) {
    MotusFrame f = *shape;
    uint8_t *p = memory;
    for (int k = 0; k < 3; k++) f.plane[k].data = p, p += f.plane[k].stride * f.plane[k].height;
    return f;
}

static MotusStatus convert_job(void *opaque, const void *d_in, void *d_out, void *stream,
                               MotusError *error) {
    Job *j = opaque;
    const MotusImage image = image_at(&j->image, j->host, d_in);
    const MotusFrame frame = frame_at(j->frame, d_out);
    return motus_cuda_image_convert(&frame, &image, &j->colour, stream, error);
}

static void conversions(void) {
    static const int matrix[] = {1, 5, 6};
    if (!gpu_begin()) return;
    for (int n = 0; n < 120; n++) {
        Job j = {.colour = {{1, 1}, n / 3 % 3 - 1, 1, 1, matrix[n % 3], 1}};
        const MotusSamples samples = (MotusSamples)(n % 3);
        int width, height;
        gpu_random_size(&width, &height, samples == MOTUS_SAMPLES_RGB_FLOAT ? 300 : 600, 300);
        uint8_t *input = gpu_fill_input(n % 5);
        if (samples == MOTUS_SAMPLES_RGB_FLOAT && n % 2)
            motus_test_unit_floats((float *)(void *)input, GPU_IN_BYTES / 4); // else random bits
        j.host = input;
        if (!motus_test_image(&j.image, samples, width, height, input, GPU_IN_BYTES)) continue;
        CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&j.frame, width, height), MOTUS_OK);
        MotusFrame want = frame_at(j.frame, gpu_expected);
        CU_ASSERT_EQUAL(motus_image_convert(&want, &j.image, &j.colour, NULL), MOTUS_OK);
        const uint8_t *out = gpu_run(convert_job, &j);
        MotusFrame got = frame_at(j.frame, (void *)(uintptr_t)out);
        MOTUS_CHECK(out && motus_test_same_frames(&got, &want), "case %d: %dx%d samples %d", n,
                    width, height, samples);
        motus_frame_unref(&j.frame);
    }
    gpu_end();
}

enum { WIDTH = 112, HEIGHT = 70, FRAMES = 12, BYTES = 8 * 4 * WIDTH * HEIGHT };

static void receive(MotusEncoder *enc, uint8_t *to, size_t *size, int timeout) {
    MotusPacket *packet;
    while (motus_encoder_receive(enc, &packet, timeout) == MOTUS_OK) {
        memcpy(to + *size, packet->data, packet->size);
        *size += packet->size;
        motus_packet_unref(&packet);
    }
}

// Images from the device, from the host with the CUDA backend, and from the host on the CPU give
// one stream, with look-ahead and without. The device's memory is overwritten, in stream order, as
// soon as it has been sent.
static void streams(void) {
    if (!motus_test_has_gpu()) return;
    uint8_t *host = calloc(2, BYTES), *stream[2] = {malloc(1 << 22), malloc(1 << 22)};
    void *device = NULL;
    MotusError error = {0};
    MOTUS_CHECK(motus_cuda_alloc(&device, BYTES, &error) == MOTUS_OK, "%s", error.text);
    for (int n = 0; n < 8; n++) {
        MotusEncoder *enc[2] = {NULL, NULL};
        size_t size[2] = {0};
        MotusEncoderConfig config =
            motus_encoder_config_default(WIDTH, HEIGHT, (MotusRational){30, 1});
        config.colour = (MotusColour)MOTUS_COLOUR_BT709;
        config.keyint = 5;
        config.rate = n & 1 ? MOTUS_RATE_CRF : MOTUS_RATE_QP;
        config.stream_only = n >> 1 & 1;
        config.backend = MOTUS_BACKEND_CPU;
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc[0], &config, NULL), MOTUS_OK);
        config.backend = MOTUS_BACKEND_CUDA;
        CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc[1], &config, NULL), MOTUS_OK);
        for (int t = 0; t < FRAMES; t++) {
            const MotusSamples samples = (MotusSamples)(t % 3);
            MotusImage image;
            if (samples == MOTUS_SAMPLES_RGB_FLOAT)
                motus_test_unit_floats((float *)(void *)host, BYTES / 4);
            else
                motus_test_fill(host, BYTES);
            CU_ASSERT_FATAL(motus_test_image(&image, samples, WIDTH, HEIGHT, host, BYTES) > 0);
            CU_ASSERT_EQUAL(motus_encoder_send_image(enc[0], &image, NULL), MOTUS_OK);
            MotusStatus status = motus_cuda_copy(device, host, BYTES, NULL, &error);
            const MotusImage there = image_at(&image, host, device);
            if (!status)
                status = n < 4 || t % 2
                             ? motus_encoder_send_image_device(enc[1], &there, NULL, NULL)
                             : motus_encoder_send_image(enc[1], &image, NULL);
            if (!status) status = motus_cuda_copy(device, host + BYTES, BYTES, NULL, &error);
            MOTUS_CHECK(!status, "case %d frame %d: %s %s", n, t, error.text,
                        motus_encoder_error(enc[1])->text);
            for (int e = 0; e < 2; e++) receive(enc[e], stream[e], &size[e], 0);
        }
        for (int e = 0; e < 2; e++) {
            CU_ASSERT_EQUAL(motus_encoder_send(enc[e], NULL, NULL), MOTUS_OK);
            receive(enc[e], stream[e], &size[e], -1);
            motus_encoder_close(&enc[e]);
        }
        MOTUS_CHECK(size[0] > 0 && size[0] == size[1] && !memcmp(stream[0], stream[1], size[0]),
                    "case %d", n);
    }
    motus_cuda_free(device);
    free(host), free(stream[0]), free(stream[1]);
}

static void host_memory_is_refused(void) {
    if (!motus_test_has_gpu()) return;
    static uint8_t memory[3 * 64 * 48];
    MotusImage image;
    MotusEncoder *enc = NULL;
    MotusEncoderConfig config = motus_encoder_config_default(64, 48, (MotusRational){30, 1});
    config.colour = (MotusColour)MOTUS_COLOUR_BT709;
    config.backend = MOTUS_BACKEND_CUDA;
    CU_ASSERT_EQUAL_FATAL(motus_encoder_open(&enc, &config, NULL), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_image_describe(&image, MOTUS_IMAGE_RGB24, 64, 48,
                                         (const void *[]){memory, NULL, NULL},
                                         (ptrdiff_t[]){192, 0, 0}),
                    MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_send_image_device(enc, &image, NULL, NULL), MOTUS_ERR_ARGUMENT);
    MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, "device memory") != NULL, "%s",
                motus_encoder_error(enc)->text);
    CU_ASSERT_EQUAL(motus_encoder_send_image(enc, &image, NULL), MOTUS_OK);
    motus_encoder_close(&enc);
}

static const MotusTest tests[] = {{"conversions", conversions},
                                  {"streams", streams},
                                  {"host_memory_is_refused", host_memory_is_refused},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_image", tests, argc, argv); }
