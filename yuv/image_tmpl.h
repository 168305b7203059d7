// Reading rows of images, compiled as plain C and, vectorized by the compiler, for AVX2. Strides of
// usual formats are constants in a loop of their own, for the vectorizer. The includer defines
// round_row(dst, src, n), which converts n floats to bytes.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "yuv/image.h"

// True if the components of a pixel are `sample` bytes apart (negative: B first).
static inline int interleaved(const char *const src[3], const ptrdiff_t pixel[3],
                              ptrdiff_t sample) {
    return pixel[0] == pixel[1] && pixel[1] == pixel[2] && src[1] - src[0] == sample &&
           src[2] - src[1] == sample;
}

static inline __attribute__((always_inline)) void
split_bytes(uint8_t *restrict c0, uint8_t *restrict c1, uint8_t *restrict c2,
            const uint8_t *restrict src, int step, int n) {
    for (int i = 0; i < n; i++)
        c0[i] = src[step * i], c1[i] = src[step * i + 1], c2[i] = src[step * i + 2];
}

static void gather(uint8_t *restrict dst, const uint8_t *restrict src, ptrdiff_t pixel, int n) {
    if (pixel == 1)
        memcpy(dst, src, (size_t)n);
    else if (pixel == 2)
        for (int i = 0; i < n; i++) dst[i] = src[2 * i];
    else
        for (int i = 0; i < n; i++) dst[i] = src[i * pixel];
}

static void bytes(MotusRgbRow *dst, const char *const src[3], const ptrdiff_t pixel[3], int n) {
    const int forwards = interleaved(src, pixel, 1), backwards = interleaved(src, pixel, -1);
    if ((forwards || backwards) && (pixel[0] == 3 || pixel[0] == 4)) {
        uint8_t *low = dst->c[backwards ? 2 : 0], *high = dst->c[backwards ? 0 : 2];
        const uint8_t *first = (const uint8_t *)src[backwards ? 2 : 0];
        if (pixel[0] == 3)
            split_bytes(low, dst->c[1], high, first, 3, n);
        else
            split_bytes(low, dst->c[1], high, first, 4, n);
        return;
    }
    for (int k = 0; k < 3; k++) gather(dst->c[k], (const uint8_t *)src[k], pixel[k], n);
}

// Rounds interleaved floats in memory order, then splits them.
static void floats(MotusRgbRow *dst, const char *const src[3], const ptrdiff_t pixel[3], int n) {
    if (interleaved(src, pixel, 4) && (pixel[0] == 12 || pixel[0] == 16)) {
        alignas(32) uint8_t flat[4 * IMAGE_CHUNK];
        const int step = (int)(pixel[0] / 4);
        // Reads nothing behind the last B.
        round_row(flat, (const float *)(const void *)src[0], step * (n - 1) + 3);
        if (step == 3)
            split_bytes(dst->c[0], dst->c[1], dst->c[2], flat, 3, n);
        else
            split_bytes(dst->c[0], dst->c[1], dst->c[2], flat, 4, n);
        return;
    }
    for (int k = 0; k < 3; k++) {
        if (pixel[k] == 4)
            round_row(dst->c[k], (const float *)(const void *)src[k], n);
        else
            for (int i = 0; i < n; i++)
                dst->c[k][i] = unit_to_u8(*(const float *)(const void *)(src[k] + i * pixel[k]));
    }
}
