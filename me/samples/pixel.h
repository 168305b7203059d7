// Distances between two blocks of 8-bit samples. Any width and height that are multiples of 4, up
// to 16x16; strides in bytes.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SAMPLES_PIXEL_H
#define ME_SAMPLES_PIXEL_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t (*MotusPixelCompare)(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                                      ptrdiff_t b_stride, int width, int height);

typedef struct MotusPixelOps {
    const char *name; // "c", "avx2"
    MotusPixelCompare sad;
    MotusPixelCompare ssd;
    // Sum over the 4x4 blocks of (sum of |4x4 Hadamard coefficient of a - b|) / 2. The inner sum is
    // always even, so that nothing is rounded and the SATD of a block is exactly the sum of its
    // parts.
    MotusPixelCompare satd;
} MotusPixelOps;

// The fastest table this CPU runs; the plain C one with plain_c != 0.
const MotusPixelOps *motus_pixel_ops(int plain_c);
extern const MotusPixelOps motus_pixel_ops_avx2;

#endif
