// Bodies of the row functions of image.h; compiled once as plain C and once for AVX2, where the compiler vectorizes the loops. Strides of the usual formats are
// constants in a loop of their own, for the sake of the vectorizer.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "yuv/image.h"

// The components follow one another, `sample` bytes apart (negative: B first), in every pixel.
static inline int interleaved(const char *const src[3], const ptrdiff_t pixel[3], ptrdiff_t sample) {
    return pixel[0] == pixel[1] && pixel[1] == pixel[2] && src[1] - src[0] == sample && src[2] - src[1] == sample;
}

static inline __attribute__((always_inline)) void split_bytes(uint8_t *restrict c0, uint8_t *restrict c1, uint8_t *restrict c2,
                                                              const uint8_t *restrict src, int step, int n) {
    for (int i = 0; i < n; i++) c0[i] = src[step * i], c1[i] = src[step * i + 1], c2[i] = src[step * i + 2];
}

static void gather(uint8_t *restrict dst, const uint8_t *restrict src, ptrdiff_t pixel, int n) {
    if (pixel == 1)
        memcpy(dst, src, (size_t)n);
    else if (pixel == 2)
        for (int i = 0; i < n; i++) dst[i] = src[2 * i];
    else
        for (int i = 0; i < n; i++) dst[i] = src[i * pixel];
}

static void bytes(MotusRgbRow *dst, const uint8_t *const src[3], const ptrdiff_t pixel[3], int n) {
    const char *const at[3] = {(const char *)src[0], (const char *)src[1], (const char *)src[2]};
    const int forwards = interleaved(at, pixel, 1), backwards = interleaved(at, pixel, -1);
    if ((forwards || backwards) && (pixel[0] == 3 || pixel[0] == 4)) {
        uint8_t *low = dst->c[backwards ? 2 : 0], *high = dst->c[backwards ? 0 : 2];
        const uint8_t *first = src[backwards ? 2 : 0];
        if (pixel[0] == 3)
            split_bytes(low, dst->c[1], high, first, 3, n);
        else
            split_bytes(low, dst->c[1], high, first, 4, n);
        return;
    }
    for (int k = 0; k < 3; k++) gather(dst->c[k], src[k], pixel[k], n);
}

static inline __attribute__((always_inline)) void round_floats(uint8_t *restrict dst, const float *restrict src, int step,
                                                               int n) {
    for (int i = 0; i < n; i++) dst[i] = motus_unit_to_u8(src[step * i]);
}

static void floats(MotusRgbRow *dst, const char *const src[3], const ptrdiff_t pixel[3], int n) {
    for (int k = 0; k < 3; k++) {
        const float *from = (const float *)(const void *)src[k];
        if (pixel[k] == 4)
            round_floats(dst->c[k], from, 1, n);
        else if (pixel[k] == 12)
            round_floats(dst->c[k], from, 3, n);
        else
            for (int i = 0; i < n; i++) dst->c[k][i] = motus_unit_to_u8(*(const float *)(const void *)(src[k] + i * pixel[k]));
    }
}

static void luma(uint8_t *restrict y, const MotusRgbRow *restrict rgb, int n, const MotusYuvMatrix *matrix) {
    const MotusYuvMatrix m = *matrix;
    for (int i = 0; i < n; i++) y[i] = motus_rgb_to_y(rgb->c[0][i], rgb->c[1][i], rgb->c[2][i], &m);
}

static void chroma(uint8_t *restrict cb, uint8_t *restrict cr, const MotusRgbRow *restrict rgb, int n,
                   const MotusYuvMatrix *matrix) {
    const MotusYuvMatrix m = *matrix;
    uint16_t sum[3][IMAGE_CHUNK / 2];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n / 2; i++)
            sum[k][i] = (uint16_t)(rgb[0].c[k][2 * i] + rgb[0].c[k][2 * i + 1] + rgb[1].c[k][2 * i] + rgb[1].c[k][2 * i + 1]);
    for (int i = 0; i < n / 2; i++) cb[i] = motus_rgb4_to_cb(sum[0][i], sum[1][i], sum[2][i], &m);
    for (int i = 0; i < n / 2; i++) cr[i] = motus_rgb4_to_cr(sum[0][i], sum[1][i], sum[2][i], &m);
}
