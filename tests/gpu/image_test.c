// Images in device memory become the frames and streams that they become in host memory.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/encoder.h"
#include "motus/upload.h"
#include "tests/gpu/gpu_test.h"
#include "tests/yuv/image_case.h"

// The image with its samples at `to`, where they are at `from`.
static MotusImage image_at(const MotusImage *image, const void *from, const void *to) {
    MotusImage moved = *image;
    for (int k = 0; k < 3; k++)
        moved.data[k] = (const char *)to + ((const char *)image->data[k] - (const char *)from);
    return moved;
}

// ---- Conversion ---------------------------------------------------------------------------------

typedef struct Convert {
    MotusImage image[2];
    GpuBuffer *memory;
    GpuFrame frame;
    MotusColour colour;
} Convert;

static void open_convert(GpuCase *c) {
    static const int matrix[] = {1, 5, 6};
    Convert *v = c->state;
    const int n = c->number;
    const MotusSamples samples = (MotusSamples)((n + 1) % 3);
    if (samples == MOTUS_SAMPLES_RGB_FLOAT && c->row->most.width) c->width = (c->width + 1) / 2;
    const size_t most = (size_t)c->width * (size_t)c->height * 8 * 4;
    char *unused = malloc(most);
    MotusImage image;
    const size_t bytes = motus_test_image(&image, samples, c->width, c->height, unused, most);
    CU_ASSERT_FATAL(bytes > 0);
    v->colour = (MotusColour){{1, 1}, n / 3 % 3 - 1, 1, 1, matrix[n / 2 % 3], 1};
    v->memory = gpu_buffer(c, "image", GPU_INPUT, bytes);
    v->frame = gpu_frame(c, "frame", GPU_OUTPUT, c->width, c->height, 1);
    for (int on = 0; on < 2; on++) v->image[on] = image_at(&image, unused, v->memory->at[on]);
    free(unused);
    snprintf(c->what, sizeof c->what, "samples %d", (int)samples);
}

// Floats are mostly 0..1, in every second case any bits.
static void fill_convert(GpuCase *c) {
    Convert *v = c->state;
    if (v->image[ON_CPU].samples == MOTUS_SAMPLES_RGB_FLOAT && c->number % 2)
        motus_test_unit_floats(v->memory->at[ON_CPU], v->memory->bytes / sizeof(float));
    else
        gpu_fill(v->memory->at[ON_CPU], v->memory->bytes, c->content);
}

static MotusStatus run_convert(GpuCase *c, int on) {
    const Convert *v = c->state;
    MotusFrame frame = v->frame.at[on];
    return on ? motus_cuda_image_convert(&frame, &v->image[on], &v->colour, c->stream, &c->error)
              : motus_image_convert(&frame, &v->image[on], &v->colour, NULL);
}

static const GpuKernel convert = {sizeof(Convert), open_convert, fill_convert,
                                  run_convert,     NULL,         NULL};

// ---- Streams ------------------------------------------------------------------------------------

enum { WIDTH = 112, HEIGHT = 70, FRAMES = 12, BYTES = 8 * 4 * WIDTH * HEIGHT };

static void receive(MotusEncoder *enc, uint8_t *to, size_t *size, int timeout) {
    MotusPacket *packet;
    while (motus_encoder_receive(enc, &packet, timeout) == MOTUS_OK) {
        memcpy(to + *size, packet->data, packet->size);
        *size += packet->size;
        motus_packet_unref(&packet);
    }
}

static MotusEncoder *open_encoder(int number, MotusBackend backend) {
    MotusEncoder *enc = NULL;
    MotusEncoderConfig config = motus_encoder_config_default(WIDTH, HEIGHT, (MotusRational){30, 1});
    config.colour = (MotusColour)MOTUS_COLOUR_BT709;
    config.keyint = 5;
    config.rate = number & 1 ? MOTUS_RATE_CRF : MOTUS_RATE_QP;
    config.stream_only = number >> 1 & 1;
    config.backend = backend;
    CU_ASSERT_FATAL(!motus_encoder_open(&enc, &config, NULL));
    return enc;
}

// Sends frame t of the case to both encoders: to the CPU's from `host`, to the other from `device`
// or from `host`. The device memory is overwritten in stream order as soon as it has been sent.
static void send_both(MotusEncoder *enc[2], int number, int t, uint8_t *host, void *device) {
    const MotusSamples samples = (MotusSamples)(t % 3);
    MotusImage image;
    MotusError error = {0};
    if (samples == MOTUS_SAMPLES_RGB_FLOAT)
        motus_test_unit_floats((float *)(void *)host, BYTES / 4);
    else
        motus_test_fill(host, BYTES);
    CU_ASSERT_FATAL(motus_test_image(&image, samples, WIDTH, HEIGHT, host, BYTES) > 0);
    CU_ASSERT_EQUAL(motus_encoder_send_image(enc[0], &image, NULL), MOTUS_OK);
    MotusStatus status = motus_cuda_copy(device, host, BYTES, NULL, &error);
    const MotusImage there = image_at(&image, host, device);
    if (!status)
        status = number < 4 || t % 2 ? motus_encoder_send_image_device(enc[1], &there, NULL, NULL)
                                     : motus_encoder_send_image(enc[1], &image, NULL);
    if (!status) status = motus_cuda_copy(device, host + BYTES, BYTES, NULL, &error);
    MOTUS_CHECK(!status, "case %d frame %d: %s %s", number, t, error.text,
                motus_encoder_error(enc[1])->text);
}

// Images from the device, from the host with the CUDA backend, and from the host on the CPU give
// one stream, with lookahead and without.
static void streams(void) {
    uint8_t *host = calloc(2, BYTES), *stream[2] = {malloc(1 << 22), malloc(1 << 22)};
    void *device = NULL;
    MotusError error = {0};
    MOTUS_CHECK(motus_cuda_alloc(&device, BYTES, &error) == MOTUS_OK, "%s", error.text);
    for (int n = 0; n < 8; n++) {
        MotusEncoder *enc[2] = {open_encoder(n, MOTUS_BACKEND_CPU),
                                open_encoder(n, MOTUS_BACKEND_CUDA)};
        size_t size[2] = {0};
        for (int t = 0; t < FRAMES; t++) {
            send_both(enc, n, t, host, device);
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
    static uint8_t memory[3 * WIDTH * HEIGHT];
    MotusImage image;
    MotusEncoder *enc = open_encoder(0, MOTUS_BACKEND_CUDA);
    CU_ASSERT_EQUAL(motus_image_describe(&image, MOTUS_IMAGE_RGB24, WIDTH, HEIGHT,
                                         (const void *[]){memory, NULL, NULL},
                                         (ptrdiff_t[]){3 * WIDTH, 0, 0}),
                    MOTUS_OK);
    CU_ASSERT_EQUAL(motus_encoder_send_image_device(enc, &image, NULL, NULL), MOTUS_ERR_ARGUMENT);
    MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, "device memory") != NULL, "%s",
                motus_encoder_error(enc)->text);
    CU_ASSERT_EQUAL(motus_encoder_send_image(enc, &image, NULL), MOTUS_OK);
    motus_encoder_close(&enc);
}

static const GpuRow rows[] = {GPU_TEST(streams),
                              GPU_TEST(host_memory_is_refused),
                              {.name = "convert",
                               .kernel = &convert,
                               .most = {600, 300, 0},
                               .cases = 120,
                               .bench = {1920, 1080, 0}},
                              {0}};
const GpuSuite gpu_image = {"image", rows};
