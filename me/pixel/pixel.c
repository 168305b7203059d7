// SPDX-License-Identifier: BSD-2-Clause
#include "me/pixel/pixel.h"

#include "common/cpu.h"
#include "me/pixel/pixel_core.h"

static uint32_t sad_c(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                      int width, int height) {
    uint32_t sum = 0;
    for (int y = 0; y < height; y++, a += a_stride, b += b_stride)
        for (int x = 0; x < width; x++) sum += (uint32_t)motus_abs(a[x] - b[x]);
    return sum;
}

static uint32_t ssd_c(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                      int width, int height) {
    uint32_t sum = 0;
    for (int y = 0; y < height; y++, a += a_stride, b += b_stride)
        for (int x = 0; x < width; x++) sum += (uint32_t)((a[x] - b[x]) * (a[x] - b[x]));
    return sum;
}

static uint32_t satd_c(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                       int width, int height) {
    uint32_t sum = 0;
    for (int y = 0; y < height; y += 4, a += 4 * a_stride, b += 4 * b_stride)
        for (int x = 0; x < width; x += 4) sum += motus_satd4x4(a + x, a_stride, b + x, b_stride);
    return sum;
}

static const MotusPixelOps pixel_ops_c = {"c", sad_c, ssd_c, satd_c};

const MotusPixelOps *motus_pixel_ops(void) {
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) return &motus_pixel_ops_avx2;
#endif
    return &pixel_ops_c;
}
