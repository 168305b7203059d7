// Distances between two blocks of 8-bit samples. Widths and heights are multiples of 4 up to 16,
// strides are in bytes.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_PIXEL_H
#define ME_PIXEL_PIXEL_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t (*MotusPixelCompare)(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                                      ptrdiff_t b_stride, int width, int height);

typedef struct MotusPixelOps {
    const char *name; // "c", "avx2"
    MotusPixelCompare sad;
    MotusPixelCompare ssd;
    // Sum over the 4x4 blocks of (sum of |4x4 Hadamard coefficient of a - b|) / 2. The inner sum is
    // even, so the SATD of a block is exactly the sum of its parts.
    MotusPixelCompare satd;
} MotusPixelOps;

// Returns the fastest table that this CPU runs (motus_cpu_flags).
const MotusPixelOps *motus_pixel_ops(void);
extern const MotusPixelOps motus_pixel_ops_avx2;

#endif
