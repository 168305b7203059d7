// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <string.h>

#include "motus/frame.h"
#include "yuv/usable.h"

// Returns the SSD of a row, at most 16384 * 255^2 = 1,065,369,600.
// 16-bit factors are multiplied and added in pairs by SIMD code.
static uint32_t row_ssd(const uint8_t *a, const uint8_t *b, int width) {
    int sum = 0;
    for (int x = 0; x < width; x++) {
        const int16_t d = (int16_t)(a[x] - b[x]);
        sum += d * d;
    }
    return (uint32_t)sum;
}

// True if both planes are usable and have this many samples.
static int reach(const MotusPlane *a, const MotusPlane *b, int width, int height) {
    return motus_plane_usable(a) && motus_plane_usable(b) && width >= 1 && height >= 1 &&
           width <= a->width && width <= b->width && height <= a->height && height <= b->height;
}

uint64_t motus_plane_ssd(const MotusPlane *a, const MotusPlane *b, int width, int height) {
    uint64_t sum = 0;
    if (!reach(a, b, width, height)) return 0;
    for (int y = 0; y < height; y++)
        sum += row_ssd(a->data + y * a->stride, b->data + y * b->stride, width);
    return sum;
}

double motus_psnr(uint64_t ssd, uint64_t n) {
    return ssd ? 10 * log10(255.0 * 255.0 * (double)n / (double)ssd) : 100;
}

// Sums over a 4x4 block or an 8x8 window: of a, b, a^2 + b^2, a * b.
typedef struct Sums {
    int a, b, squares, product; // at most 16320, 16320, 8323200, 4161600 for a window
} Sums;

#define STRIP 64 // windows per strip: keeps two rows of block sums on the stack

// Sums up a row of 4x4 blocks.
static void row_sums(Sums *sums, const MotusPlane *a, const MotusPlane *b, int x4, int y4,
                     int blocks) {
    const uint8_t *pa = a->data + 4 * y4 * a->stride + 4 * x4,
                  *pb = b->data + 4 * y4 * b->stride + 4 * x4;
    for (int i = 0; i < blocks; i++, pa += 4, pb += 4) {
        Sums s = {0, 0, 0, 0};
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 4; x++) {
                const int v = pa[y * a->stride + x], w = pb[y * b->stride + x];
                s.a += v;
                s.b += w;
                s.squares += v * v + w * w;
                s.product += v * w;
            }
        sums[i] = s;
    }
}

// Returns the sum of the SSIM of windows of 64 samples that begin in 4x4 columns x4 .. x4 + windows
// - 1. Means are scaled by 64^2, variances by 64 * 63.
static double strip_ssim(const MotusPlane *a, const MotusPlane *b, int x4, int windows, int rows) {
    const int c1 = 416;    // (0.01 * 255)^2 * 64, rounded
    const int c2 = 235963; // (0.03 * 255)^2 * 64 * 63, rounded
    Sums sums[2][STRIP + 1];
    double total = 0;
    row_sums(sums[0], a, b, x4, 0, windows + 1);
    for (int y = 0; y < rows; y++) {
        const Sums *p = sums[y & 1];
        Sums *q = sums[~y & 1];
        row_sums(q, a, b, x4, y + 1, windows + 1);
        for (int i = 0; i < windows; i++, p++, q++) {
            const int sum_a = p[0].a + p[1].a + q[0].a + q[1].a,
                      sum_b = p[0].b + p[1].b + q[0].b + q[1].b,
                      squares = p[0].squares + p[1].squares + q[0].squares + q[1].squares,
                      product = p[0].product + p[1].product + q[0].product + q[1].product;
            const int means = sum_a * sum_a + sum_b * sum_b, mean_product = sum_a * sum_b;
            const int variances = squares * 64 - means, covariance = product * 64 - mean_product;
            total += (2.0 * mean_product + c1) * (2.0 * covariance + c2) /
                     (((double)means + c1) * ((double)variances + c2));
        }
    }
    return total;
}

double motus_plane_ssim(const MotusPlane *a, const MotusPlane *b, int width, int height) {
    int columns = width / 4 - 1, rows = height / 4 - 1;
    if (!reach(a, b, width, height)) return 0;
    if (columns < 1 || rows < 1) {
        int equal = 1;
        for (int y = 0; y < height; y++)
            equal &= !memcmp(a->data + y * a->stride, b->data + y * b->stride, (size_t)width);
        return equal ? 1.0 : 0.0;
    }
    double total = 0;
    for (int x4 = 0; x4 < columns; x4 += STRIP)
        total += strip_ssim(a, b, x4, columns - x4 < STRIP ? columns - x4 : STRIP, rows);
    return total / ((double)columns * rows);
}
