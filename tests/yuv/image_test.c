// motus/image.h: every layout against the header's formula and against exact arithmetic in double
// precision; the encoder's images against its frames; memory that runs out.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/faults.h"
#include "motus/encoder.h"
#include "tests/support/harness.h"
#include "tests/yuv/image_case.h"

enum { ROOM = 1 << 20 };

// ---- The conversion by its definition -----------------------------------------------------------

typedef struct Reference {
    double kr, kb, luma, chroma, black;
} Reference;

static Reference reference_of(const MotusColour *colour) {
    const int m709 = colour->matrix == 1, full = colour->full_range == 1;
    return (Reference){m709 ? 0.2126 : 0.299, m709 ? 0.0722 : 0.114, full ? 1 : 219.0 / 255,
                       full ? 1 : 224.0 / 255, full ? 0 : 16};
}

// Component c (0: Y, 1: Cb, 2: Cr) of r, g, b in 0..255, in real numbers.
static double exact(const Reference *ref, int c, const double rgb[3]) {
    const double y = ref->kr * rgb[0] + (1 - ref->kr - ref->kb) * rgb[1] + ref->kb * rgb[2];
    if (c == 0) return ref->black + ref->luma * y;
    return c == 1 ? 128 + ref->chroma * (rgb[2] - y) / (2 * (1 - ref->kb))
                  : 128 + ref->chroma * (rgb[0] - y) / (2 * (1 - ref->kr));
}

// Factor of component c for one of R, G, B in 1/8192: c is linear in each.
static long factor(const Reference *ref, int c, int k) {
    double unit[3] = {0}, zero[3] = {0};
    unit[k] = 1;
    return lround(8192 * (exact(ref, c, unit) - exact(ref, c, zero)));
}

static long clip(long v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

// The header's formula, for n = 1 pixel or the sum of 4.
static int documented(const Reference *ref, int c, const int sum[3], int n) {
    long v = n == 1 ? 4096 : 16384;
    for (int k = 0; k < 3; k++) v += factor(ref, c, k) * sum[k];
    const long scale = n == 1 ? 8192 : 32768, floored = (v >= 0 ? v : v - scale + 1) / scale;
    return (int)clip((c ? 128 : (long)ref->black) + floored);
}

static const void *sample_at(const MotusImage *image, int k, int x, int y) {
    return (const char *)image->data[k] + y * image->row[k] + x * image->pixel[k];
}

static int byte_at(const MotusImage *image, int k, int x, int y) {
    if (image->samples != MOTUS_SAMPLES_RGB_FLOAT)
        return *(const uint8_t *)sample_at(image, k, x, y);
    const float v = *(const float *)sample_at(image, k, x, y);
    return v >= 1 ? 255 : v > 0 ? (int)rintf(v * 255.0f) : 0;
}

static double value_at(const MotusImage *image, int k, int x, int y) {
    if (image->samples != MOTUS_SAMPLES_RGB_FLOAT) return byte_at(image, k, x, y);
    const double v = *(const float *)sample_at(image, k, x, y);
    return v >= 1 ? 255 : v > 0 ? 255 * v : 0;
}

// Returns sample (x, y) of component c by the formula; *real is its value in real numbers.
static int expected(const MotusImage *image, const Reference *ref, int c, int x, int y,
                    double *real) {
    int sum[3] = {0};
    double mean[3] = {0};
    if (image->samples == MOTUS_SAMPLES_YUV420) return (int)(*real = byte_at(image, c, x, y));
    for (int i = 0; i < (c ? 4 : 1); i++)
        for (int k = 0; k < 3; k++) {
            int px = c ? 2 * x + i % 2 : x, py = c ? 2 * y + i / 2 : y;
            if (px >= image->width) px = image->width - 1;
            if (py >= image->height) py = image->height - 1;
            sum[k] += byte_at(image, k, px, py);
            mean[k] += value_at(image, k, px, py) / (c ? 4 : 1);
        }
    *real = fmin(fmax(exact(ref, c, mean), 0), 255);
    return documented(ref, c, sum, c ? 4 : 1);
}

// Returns the largest distance from real numbers, or -1 if a sample differs from the formula.
static double compare(const MotusFrame *got, const MotusImage *image, const MotusColour *colour) {
    const Reference ref = reference_of(colour);
    double worst = 0;
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < got->plane[c].height; y++)
            for (int x = 0; x < got->plane[c].width; x++) {
                double real;
                const int v = got->plane[c].data[y * got->plane[c].stride + x];
                if (v != expected(image, &ref, c, x, y, &real)) return -1;
                if (fabs(v - real) > worst) worst = fabs(v - real);
            }
    return worst;
}

static MotusColour colours(int n) {
    static const int matrix[] = {1, 5, 6};
    return (MotusColour){{1, 1}, n / 3 % 3 - 1, 1, 1, matrix[n % 3], 1};
}

// ---- Conversion ---------------------------------------------------------------------------------

static void fill(uint8_t *memory, MotusSamples samples, int n) {
    if (samples == MOTUS_SAMPLES_RGB_FLOAT) {
        motus_test_unit_floats((float *)(void *)memory, ROOM / 4);
        return;
    }
    motus_test_fill(memory, ROOM);
    for (int i = 0; n % 4 == 3 && i < ROOM; i++)
        memory[i] = memory[i] & 1 ? 255 : 0; // corners of the RGB cube
}

static void every_layout(void) {
    uint8_t *memory = motus_test_guarded(ROOM);
    for (int n = 0; n < 300; n++) {
        const MotusSamples samples = (MotusSamples)(n % 3);
        const int width = n % 7 ? motus_test_range(1, 70) : motus_test_range(250, 600),
                  height = motus_test_range(1, 24);
        const MotusColour colour = colours(n);
        MotusImage image;
        MotusFrame *frame = NULL, *plain = NULL;
        fill(memory, samples, n);
        const size_t used = motus_test_image(&image, samples, width, height, memory, ROOM);
        CU_ASSERT_FATAL(used > 0 && used <= ROOM);
        REQUIRE_OK(motus_frame_alloc(&frame, width, height));
        REQUIRE_OK(motus_frame_alloc(&plain, width, height));
        EXPECT_OK(motus_image_convert(frame, &image, &colour, &(MotusExec){1 + n % 3, 0}));
        EXPECT_OK(motus_image_convert(plain, &image, &colour, &(MotusExec){1, 1}));
        // Bound for bytes: half a level by rounding, 3 * 255 / 16384 by the factors. Floats add
        // half a level.
        const double worst = compare(frame, &image, &colour),
                     most = samples == MOTUS_SAMPLES_RGB_FLOAT ? 1.05 : 0.55;
        MOTUS_CHECK(worst >= 0 && worst < most && motus_test_same_frames(frame, plain),
                    "case %d: %dx%d samples %d matrix %d full %d: %f", n, width, height, samples,
                    colour.matrix, colour.full_range, worst);
        motus_frame_unref(&frame), motus_frame_unref(&plain);
    }
    CU_ASSERT(motus_test_guard_ok(memory));
    motus_test_guard_free(memory);
}

// One picture in all formats gives one frame.
static void formats(void) {
    static const int at[][3] = {{0, 1, 2}, {2, 1, 0}};
    enum { W = 37, H = 11 };
    static uint8_t planes[3][W * H], pixels[4 * W * H];
    static float floats[3 * W * H], float_planes[3][W * H];
    const MotusColour colour = MOTUS_COLOUR_BT709;
    motus_test_fill(planes, sizeof planes);
    MotusFrame *want = NULL, *got = NULL;
    MotusImage image;
    REQUIRE_OK(motus_frame_alloc(&want, W, H));
    REQUIRE_OK(motus_frame_alloc(&got, W, H));
    const void *const data[] = {planes[0], planes[1], planes[2]};
    EXPECT_OK(
        motus_image_describe(&image, MOTUS_IMAGE_RGB_PLANES, W, H, data, (ptrdiff_t[]){W, W, W}));
    EXPECT_OK(motus_image_convert(want, &image, &colour, NULL));
    for (int f = MOTUS_IMAGE_RGB24; f <= MOTUS_IMAGE_BGRA; f++) {
        const int size = f < MOTUS_IMAGE_RGBA ? 3 : 4,
                  backwards = f == MOTUS_IMAGE_BGR24 || f == MOTUS_IMAGE_BGRA;
        for (int i = 0; i < W * H; i++)
            for (int k = 0; k < 3; k++) pixels[size * i + at[backwards][k]] = planes[k][i];
        EXPECT_OK(motus_image_describe(&image, (MotusImageFormat)f, W, H,
                                       (const void *[]){pixels, NULL, NULL},
                                       (ptrdiff_t[]){size * W, 0, 0}));
        EXPECT_OK(motus_image_convert(got, &image, &colour, NULL));
        MOTUS_CHECK(motus_test_same_frames(want, got), "format %d", f);
    }
    for (int i = 0; i < W * H; i++)
        for (int k = 0; k < 3; k++)
            floats[3 * i + k] = float_planes[k][i] = (float)planes[k][i] / 255;
    EXPECT_OK(motus_image_describe(&image, MOTUS_IMAGE_RGB_FLOAT, W, H,
                                   (const void *[]){floats, NULL, NULL},
                                   (ptrdiff_t[]){12 * W, 0, 0}));
    EXPECT_OK(motus_image_convert(got, &image, &colour, NULL));
    CU_ASSERT(motus_test_same_frames(want, got));
    const void *const float_data[] = {float_planes[0], float_planes[1], float_planes[2]};
    EXPECT_OK(motus_image_describe(&image, MOTUS_IMAGE_RGB_FLOAT_PLANES, W, H, float_data,
                                   (ptrdiff_t[]){4 * W, 4 * W, 4 * W}));
    EXPECT_OK(motus_image_convert(got, &image, &colour, NULL));
    CU_ASSERT(motus_test_same_frames(want, got));
    motus_frame_unref(&want), motus_frame_unref(&got);
}

// Grey has neutral chroma; black and white are those of the range.
static void greys(void) {
    uint8_t grey[256];
    MotusFrame *frame = NULL;
    REQUIRE_OK(motus_frame_alloc(&frame, 256, 1));
    for (int i = 0; i < 256; i++) grey[i] = (uint8_t)i;
    for (int n = 0; n < 9; n++) {
        const MotusColour colour = colours(n);
        const MotusImage image = {
            sizeof image, 256, 1, MOTUS_SAMPLES_RGB, {grey, grey, grey}, {256, 0, -256}, {1, 1, 1}};
        EXPECT_OK(motus_image_convert(frame, &image, &colour, NULL));
        const uint8_t *y = frame->plane[0].data;
        MOTUS_CHECK(y[0] == (n / 3 == 2 ? 0 : 16) && y[255] == (n / 3 == 2 ? 255 : 235),
                    "case %d: %d..%d", n, y[0], y[255]);
        for (int i = 0; i < 128; i++)
            CU_ASSERT(frame->plane[1].data[i] == 128 && frame->plane[2].data[i] == 128);
    }
    motus_frame_unref(&frame);
}

// ---- The encoder --------------------------------------------------------------------------------

typedef struct Stream {
    uint8_t data[1 << 16];
    size_t size;
} Stream;

static void receive(MotusEncoder *enc, Stream *to, int timeout) {
    MotusPacket *packet;
    while (motus_encoder_receive(enc, &packet, timeout) == MOTUS_OK) {
        CU_ASSERT_FATAL(to->size + packet->size <= sizeof to->data);
        memcpy(to->data + to->size, packet->data, packet->size);
        to->size += packet->size;
        motus_packet_unref(&packet);
    }
}

static MotusEncoder *open_encoder(int look) {
    MotusEncoder *enc = NULL;
    MotusEncoderConfig config = motus_encoder_config_default(48, 34, (MotusRational){25, 1});
    config.backend = MOTUS_BACKEND_CPU;
    config.colour = (MotusColour)MOTUS_COLOUR_BT601;
    config.keyint = 4;
    config.rate = look ? MOTUS_RATE_CRF : MOTUS_RATE_QP;
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    return enc;
}

// A stream of images equals the stream of their frames. Memory is overwritten after each call.
static void images_as_frames(void) {
    static Stream as_images, as_frames;
    const MotusColour colour = MOTUS_COLOUR_BT601;
    uint8_t *memory = malloc(ROOM);
    for (int n = 0; n < 6; n++) {
        MotusEncoder *a = open_encoder(n / 3), *b = open_encoder(n / 3);
        as_images.size = as_frames.size = 0;
        for (int t = 0; t < 7; t++) {
            MotusImage image;
            MotusFrame *frame = NULL;
            const MotusSamples samples = (MotusSamples)((t + n) % 3);
            REQUIRE_OK(motus_frame_alloc(&frame, 48, 34));
            fill(memory, samples, t);
            CU_ASSERT_FATAL(motus_test_image(&image, samples, 48, 34, memory, ROOM) > 0);
            if (t == 5) {
                const void *const data[] = {memory, memory + 48 * 34,
                                            memory + 48 * 34 * 5 / 4}; // planes without gaps
                EXPECT_OK(motus_image_describe(&image, MOTUS_IMAGE_I420, 48, 34, data,
                                               (ptrdiff_t[]){48, 24, 24}));
            }
            EXPECT_OK(motus_image_convert(frame, &image, &colour, NULL));
            EXPECT_OK(motus_encoder_send(b, frame, NULL));
            EXPECT_OK(motus_encoder_send_image(a, &image, NULL));
            memset(memory, 0x5A, ROOM);
            motus_frame_unref(&frame);
            receive(a, &as_images, 0), receive(b, &as_frames, 0);
        }
        CU_ASSERT_EQUAL(motus_encoder_send_image(a, NULL, NULL), MOTUS_ERR_ARGUMENT);
        EXPECT_OK(motus_encoder_send(a, NULL, NULL));
        EXPECT_OK(motus_encoder_send(b, NULL, NULL));
        receive(a, &as_images, -1), receive(b, &as_frames, -1);
        MOTUS_CHECK(as_images.size > 0 && as_images.size == as_frames.size &&
                        !memcmp(as_images.data, as_frames.data, as_frames.size),
                    "case %d", n);
        motus_encoder_close(&a), motus_encoder_close(&b);
    }
    free(memory);
}

// Formats and sizes that an encoder without a colour refuses; the rest is in tests/arguments.
static void refusals(void) {
    static uint8_t memory[4 * 64 * 64];
    const void *const data[] = {memory, memory, memory};
    const ptrdiff_t stride[] = {192, 64, 64};
    MotusImage rgb, image;
    EXPECT_OK(motus_image_describe(&rgb, MOTUS_IMAGE_RGB24, 48, 34, data, stride));
    image = rgb, image.width = 46;

    MotusEncoder *enc = NULL;
    MotusEncoderConfig config = motus_encoder_config_default(48, 34, (MotusRational){25, 1});
    config.backend = MOTUS_BACKEND_CPU; // no colour
    REQUIRE_OK(motus_encoder_open(&enc, &config, NULL));
    CU_ASSERT_EQUAL(motus_encoder_send_image(enc, &image, NULL), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_encoder_send_image(enc, &rgb, NULL), MOTUS_ERR_ARGUMENT);
    MOTUS_CHECK(strstr(motus_encoder_error(enc)->text, "colour.matrix") != NULL, "%s",
                motus_encoder_error(enc)->text);
    CU_ASSERT_EQUAL(motus_encoder_send_image_device(enc, &rgb, NULL, NULL), MOTUS_ERR_UNSUPPORTED);
    EXPECT_OK(motus_image_describe(&image, MOTUS_IMAGE_NV12, 48, 34, data, stride));
    EXPECT_OK(motus_encoder_send_image(enc, &image, NULL));
    EXPECT_OK(motus_encoder_send(enc, NULL, NULL));
    CU_ASSERT_EQUAL(motus_encoder_send_image(enc, &image, NULL), MOTUS_ERR_STATE);
    motus_encoder_close(&enc);
}

static void memory_runs_out(void) {
    static uint8_t memory[3 * 48 * 34];
    MotusImage image;
    EXPECT_OK(motus_image_describe(&image, MOTUS_IMAGE_RGB24, 48, 34,
                                   (const void *[]){memory, NULL, NULL},
                                   (ptrdiff_t[]){3 * 48, 0, 0}));
    MotusEncoder *enc = open_encoder(0);
    motus_alloc_fail_after(0);
    MotusStatus status = motus_encoder_send_image(enc, &image, NULL);
    motus_alloc_fail_after(-1);
    CU_ASSERT_EQUAL(status, MOTUS_ERR_MEMORY);
    EXPECT_OK(motus_encoder_send_image(enc, &image, NULL));
    motus_encoder_close(&enc);
}

MOTUS_SUITE("image", TEST(every_layout), TEST(formats), TEST(greys), TEST(images_as_frames),
            TEST(refusals), TEST(memory_runs_out))
