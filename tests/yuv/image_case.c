// SPDX-License-Identifier: BSD-2-Clause
#include "tests/yuv/image_case.h"

#include <math.h>

#include "tests/support/harness.h"

// Returns the first sample of a component in a block at `at`; its rows and pixels may run
// backwards.
static const void *corner(const char *at, ptrdiff_t row, ptrdiff_t pixel, int width, int height) {
    return at + (row < 0 ? -row * (height - 1) : 0) + (pixel < 0 ? -pixel * (width - 1) : 0);
}

static size_t planes(MotusImage *image, char *base, int size, int subsampled) {
    size_t used = 0;
    for (int k = 0; k < 3; k++) {
        const int half = subsampled && k, width = half ? (image->width + 1) / 2 : image->width,
                  height = half ? (image->height + 1) / 2 : image->height;
        const ptrdiff_t pixel = size * motus_test_range(1, 2),
                        row = pixel * width + size * motus_test_range(0, 5);
        image->pixel[k] = motus_test_range(0, 3) ? pixel : -pixel;
        image->row[k] = motus_test_range(0, 3) ? row : -row;
        image->data[k] = corner(base + used, image->row[k], image->pixel[k], width, height);
        used += (size_t)(row * height);
    }
    return used;
}

// R, G, B in any order, with up to two unread samples a pixel.
static size_t interleaved(MotusImage *image, char *base, int size) {
    const int samples = motus_test_range(3, 5), first = motus_test_range(0, samples - 3),
              backwards = motus_test_range(0, 1);
    const ptrdiff_t pixel = size * samples,
                    row = pixel * image->width + size * motus_test_range(0, 5);
    const int upside_down = !motus_test_range(0, 3);
    for (int k = 0; k < 3; k++) {
        image->pixel[k] = pixel;
        image->row[k] = upside_down ? -row : row;
        image->data[k] =
            (const char *)corner(base, image->row[k], pixel, image->width, image->height) +
            size * (first + (backwards ? 2 - k : k));
    }
    return (size_t)(row * image->height);
}

size_t motus_test_image(MotusImage *image, MotusSamples samples, int width, int height, void *base,
                        size_t bytes) {
    const int size = samples == MOTUS_SAMPLES_RGB_FLOAT ? 4 : 1;
    if ((size_t)width * (size_t)height * (size_t)size * 8 > bytes) return 0;
    *image =
        (MotusImage){.size = sizeof *image, .width = width, .height = height, .samples = samples};
    if (samples == MOTUS_SAMPLES_YUV420) return planes(image, base, 1, 1);
    return motus_test_range(0, 1) ? interleaved(image, base, size) : planes(image, base, size, 0);
}

void motus_test_unit_floats(float *to, size_t n) {
    static const float odd[] = {0, -0.0f, 1, 1.0000001f, -1e-9f, 2, -3, 1e-45f, 1e38f, -1e38f};
    for (size_t i = 0; i < n; i++) {
        const float byte = (float)motus_test_range(0, 510) / 510; // k / 255, and half-way between
        switch (motus_test_range(0, 9)) {
        case 0:
            to[i] = byte;
            break;
        case 1:
            to[i] = nextafterf(byte, motus_test_range(0, 1) ? 2.0f : -1.0f);
            break;
        case 2:
            to[i] = odd[motus_test_range(0, 9)];
            break;
        case 3:
            to[i] = motus_test_range(0, 9)   ? byte
                    : motus_test_range(0, 1) ? (float)NAN
                    : motus_test_range(0, 1) ? (float)INFINITY
                                             : -(float)INFINITY;
            break;
        default:
            to[i] = (float)(motus_test_random() >> 8) / (1 << 24);
        }
    }
}
