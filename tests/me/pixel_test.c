// Block distances: plain C and AVX2 against their definition, for every size, content and
// alignment.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/pixel/pixel.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>

#define SIDE 48 // 31 + 15 * 60 + 16 samples fit

// The 4x4 Hadamard transform by its matrix, halved.
static uint32_t satd4x4(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                        ptrdiff_t b_stride) {
    static const int H[4][4] = {{1, 1, 1, 1}, {1, 1, -1, -1}, {1, -1, -1, 1}, {1, -1, 1, -1}};
    int sum = 0;
    for (int u = 0; u < 4; u++)
        for (int v = 0; v < 4; v++) {
            int c = 0;
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++)
                    c += H[u][y] * H[v][x] * (a[y * a_stride + x] - b[y * b_stride + x]);
            sum += abs(c);
        }
    CU_ASSERT_EQUAL(sum % 2, 0);
    return (uint32_t)(sum / 2);
}

static void expect(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                   int w, int h, uint32_t want[3]) {
    want[0] = want[1] = want[2] = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int d = a[y * a_stride + x] - b[y * b_stride + x];
            want[0] += (uint32_t)abs(d);
            want[1] += (uint32_t)(d * d);
            if (y % 4 == 0 && x % 4 == 0)
                want[2] += satd4x4(a + y * a_stride + x, a_stride, b + y * b_stride + x, b_stride);
        }
}

static void compare(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                    int w, int h, const char *what) {
    uint32_t want[3];
    expect(a, a_stride, b, b_stride, w, h, want);
    for (int v = 0; v < MOTUS_TEST_CPUS; v++) {
        motus_test_cpu(motus_test_cpus[v]);
        const MotusPixelOps *ops = motus_pixel_ops();
        uint32_t got[3] = {ops->sad(a, a_stride, b, b_stride, w, h),
                           ops->ssd(a, a_stride, b, b_stride, w, h),
                           ops->satd(a, a_stride, b, b_stride, w, h)};
        MOTUS_CHECK(!memcmp(got, want, sizeof want), "%s %s %dx%d: %u %u %u, want %u %u %u",
                    ops->name, what, w, h, got[0], got[1], got[2], want[0], want[1], want[2]);
    }
}

static void random_blocks(void) {
    uint8_t a[SIDE * SIDE], b[SIDE * SIDE];
    for (int i = 0; i < 2000; i++) {
        motus_test_fill(a, sizeof a);
        motus_test_fill(b, sizeof b);
        for (int k = 0; i % 4 == 0 && k < SIDE * SIDE; k++)
            a[k] = a[k] & 1 ? 255 : 0, b[k] = b[k] & 1 ? 255 : 0;
        for (int k = 0; i % 4 == 1 && k < SIDE * SIDE; k++) b[k] = a[k] ^ (b[k] < 8);
        int w = 4 * motus_test_range(1, 4), h = 4 * motus_test_range(1, 4);
        compare(a + motus_test_range(0, 31), motus_test_range(16, 60), b + motus_test_range(0, 31),
                motus_test_range(16, 60), w, h, "random");
    }
}

static void extremes(void) {
    for (int w = 4; w <= 16; w += 4)
        for (int h = 4; h <= 16; h += 4)
            for (int pattern = 0; pattern < 5; pattern++) {
                uint8_t a[256], b[256];
                for (int i = 0; i < 256; i++) {
                    int x = i % 16, y = i / 16;
                    int on = pattern == 0   ? 1
                             : pattern == 1 ? x & 1
                             : pattern == 2 ? y & 1
                             : pattern == 3 ? (x ^ y) & 1
                                            : 0;
                    a[i] = on ? 255 : 0;
                    b[i] = pattern == 4 ? 0 : (uint8_t)(255 - a[i]);
                }
                compare(a, 16, b, 16, w, h, "extreme");
            }
}

// Blocks end where their memory ends: sanitizers see reads outside.
static void exact_memory(void) {
    for (int w = 4; w <= 16; w += 4)
        for (int h = 4; h <= 16; h += 4) {
            size_t size = (size_t)(w * h);
            uint8_t *a = malloc(size), *b = malloc(size);
            motus_test_fill(a, size);
            motus_test_fill(b, size);
            compare(a, w, b, w, w, h, "exact");
            free(a);
            free(b);
        }
}

MOTUS_SUITE("pixel", TEST(random_blocks), TEST(extremes), TEST(exact_memory))
