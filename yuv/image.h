// Conversion of images to 4:2:0: checks, matrices, row functions (plain C and AVX2).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IMAGE_H
#define YUV_IMAGE_H

#include <stdalign.h>

#include "motus/image.h"
#include "yuv/rgb_core.h"

#ifdef __cplusplus
extern "C" {
#endif

MotusYuvMatrix motus_yuv_matrix(int matrix_709, int full_range);

// True if data, sizes and alignment are as motus/image.h requires.
int motus_image_usable(const MotusImage *image);

// Gets the matrix of an RGB image, a zeroed one for 4:2:0. MOTUS_ERR_ARGUMENT: `colour` has none.
MotusStatus motus_image_matrix(MotusYuvMatrix *matrix, const MotusImage *image,
                               const MotusColour *colour);

enum { IMAGE_CHUNK = 256 }; // pixels per call, even

// R, G and B of up to IMAGE_CHUNK pixels.
typedef struct MotusRgbRow {
    alignas(32) uint8_t c[3][IMAGE_CHUNK];
} MotusRgbRow;

// Functions on n <= IMAGE_CHUNK pixels; addresses and strides as in MotusImage.
typedef struct MotusImageOps {
    void (*bytes)(MotusRgbRow *dst, const char *const src[3], const ptrdiff_t pixel[3], int n);
    void (*floats)(MotusRgbRow *dst, const char *const src[3], const ptrdiff_t pixel[3], int n);
    void (*luma)(uint8_t *y, const MotusRgbRow *rgb, int n, const MotusYuvMatrix *matrix);
    void (*chroma)(uint8_t *cb, uint8_t *cr, const MotusRgbRow rgb[2], int n,
                   const MotusYuvMatrix *matrix); // n even; n / 2 of each
    void (*gather)(uint8_t *dst, const uint8_t *src, ptrdiff_t pixel, int n); // any n
} MotusImageOps;

extern const MotusImageOps motus_image_ops_c;
#if defined(__x86_64__)
extern const MotusImageOps motus_image_ops_avx2;
#endif

#ifdef __cplusplus
}
#endif
#endif
