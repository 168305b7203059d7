// encoder/mb/chroma_mc_core.h against equation 8-270, with every sample fetched and clipped
// separately.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/predict_cpu.h"
#include "motus/me.h"
#include "tests/support/harness.h"

#include <stdlib.h>

static int fetch(const MotusPlane *ref, int x, int y) {
    x = x < 0 ? 0 : x >= ref->width ? ref->width - 1 : x;
    y = y < 0 ? 0 : y >= ref->height ? ref->height - 1 : y;
    return ref->data[y * ref->stride + x];
}

static int floor_div8(int v) { return v >= 0 ? v / 8 : -((7 - v) / 8); }

static int naive(const MotusPlane *ref, int x, int y, MotusMv mv) {
    const int xi = x + floor_div8(mv.x), yi = y + floor_div8(mv.y);
    const int xf = mv.x - 8 * floor_div8(mv.x), yf = mv.y - 8 * floor_div8(mv.y);
    return ((8 - xf) * (8 - yf) * fetch(ref, xi, yi) + xf * (8 - yf) * fetch(ref, xi + 1, yi) +
            (8 - xf) * yf * fetch(ref, xi, yi + 1) + xf * yf * fetch(ref, xi + 1, yi + 1) + 32) >>
           6;
}

static void one_block(const MotusPlane *ref, int x, int y, MotusMv mv, int w, int h) {
    const ptrdiff_t stride = w + motus_test_range(0, 2) * 8;
    const size_t bytes = (size_t)(stride * (h - 1) + w);
    uint8_t *dst = motus_test_guarded(bytes);
    motus_chroma_block(dst, stride, ref->data, ref->stride, ref->width, ref->height,
                       x + (mv.x >> 3), y + (mv.y >> 3), motus_chroma_weights(mv.x & 7, mv.y & 7),
                       w, h);
    int wrong = 0;
    for (size_t i = 0; i < bytes; i++) {
        const int dx = (int)((ptrdiff_t)i % stride), dy = (int)((ptrdiff_t)i / stride);
        wrong += dst[i] != (dx < w ? naive(ref, x + dx, y + dy, mv) : 0xDB);
    }
    MOTUS_CHECK(wrong == 0, "plane=%dx%d block=%dx%d at %d,%d mv=%d,%d: %d samples", ref->width,
                ref->height, w, h, x, y, mv.x, mv.y, wrong);
    MOTUS_CHECK(motus_test_guard_ok(dst), "block=%dx%d", w, h);
    motus_test_guard_free(dst);
}

// Returns a plane without a border: a sanitizer sees reads outside its samples.
static MotusPlane random_plane(int width, int height, int extremes) {
    MotusPlane plane = {NULL, width, width, height};
    const size_t bytes = (size_t)width * (size_t)height;
    plane.data = malloc(bytes);
    if (!plane.data) abort();
    motus_test_fill(plane.data, bytes);
    for (size_t i = 0; extremes && i < bytes; i++) plane.data[i] = plane.data[i] & 1 ? 255 : 0;
    return plane;
}

static void random_vectors(int reach) {
    static const int sizes[] = {2, 4, 8};
    for (int round = 0; round < 400; round++) {
        MotusPlane plane =
            random_plane(8 * motus_test_range(1, 6), 8 * motus_test_range(1, 6), round % 4 == 0);
        for (int i = 0; i < 40; i++) {
            const int w = sizes[motus_test_range(0, 2)], h = sizes[motus_test_range(0, 2)];
            const int x = 2 * motus_test_range(0, (plane.width - w) / 2),
                      y = 2 * motus_test_range(0, (plane.height - h) / 2);
            const MotusMv mv = {(int16_t)motus_test_range(-reach, reach),
                                (int16_t)motus_test_range(-reach, reach)};
            one_block(&plane, x, y, mv, w, h);
        }
        free(plane.data);
    }
}

static void near_vectors(void) { random_vectors(40); }
static void far_vectors(void) { random_vectors(32767); }

static void every_fraction(void) {
    MotusPlane plane = random_plane(24, 24, 1);
    for (int y = -12; y < 12; y++)
        for (int x = -12; x < 12; x++)
            one_block(&plane, 8, 8, (MotusMv){(int16_t)x, (int16_t)y}, 8, 8);
    free(plane.data);
}

// The four extreme MVs, from the corners of the plane.
static void extreme_vectors(void) {
    MotusPlane plane = random_plane(16, 16, 0);
    for (int i = 0; i < 16; i++) {
        const MotusMv mv = {i & 1 ? INT16_MIN : INT16_MAX, i & 2 ? INT16_MIN : INT16_MAX};
        one_block(&plane, i & 4 ? 8 : 0, i & 8 ? 8 : 0, mv, 8, 8);
    }
    free(plane.data);
}

MOTUS_SUITE("chroma_mc", TEST(near_vectors), TEST(far_vectors), TEST(every_fraction),
            TEST(extreme_vectors))
