// Images in memory and their conversion to 4:2:0: planar or interleaved YUV or RGB, bytes or
// floats, any strides. The encoder takes them directly (motus_encoder_send_image).
//
//     MotusImage image;
//     motus_image_describe(&image, MOTUS_IMAGE_RGB24, 1280, 720, (const void *[3]){pixels},
//                          (ptrdiff_t[3]){3 * 1280});
//     config.colour = (MotusColour)MOTUS_COLOUR_BT709; // conversion and VUI
//     motus_encoder_open(&encoder, &config, &error);
//     motus_encoder_send_image(encoder, &image, NULL);
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_IMAGE_H
#define MOTUS_IMAGE_H

#include "motus/exec.h"
#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// Usual formats for motus_image_describe.
typedef enum MotusImageFormat {
    MOTUS_IMAGE_I420,             // 3 planes: Y, Cb, Cr
    MOTUS_IMAGE_NV12,             // 2 planes: Y, and Cb and Cr interleaved
    MOTUS_IMAGE_RGB24,            // 1 plane: bytes R, G, B
    MOTUS_IMAGE_BGR24,            // 1 plane: bytes B, G, R
    MOTUS_IMAGE_RGBA,             // 1 plane: bytes R, G, B and one that is not read
    MOTUS_IMAGE_BGRA,             // 1 plane: bytes B, G, R and one that is not read
    MOTUS_IMAGE_RGB_PLANES,       // 3 planes: bytes R, G, B
    MOTUS_IMAGE_RGB_FLOAT,        // 1 plane: floats R, G, B, 0..1
    MOTUS_IMAGE_RGB_FLOAT_PLANES, // 3 planes: floats R, G, B, 0..1
    MOTUS_IMAGE_FORMATS,
} MotusImageFormat;

// Type and range of an image's samples.
typedef enum MotusSamples {
    MOTUS_SAMPLES_YUV420,    // bytes Y, Cb, Cr, as in MotusFrame
    MOTUS_SAMPLES_RGB,       // bytes R, G, B, 0..255
    MOTUS_SAMPLES_RGB_FLOAT, // single precision, clipped to 0..1; NaN counts as 0
} MotusSamples;

// Image in memory, not owned. Component c (R, G, B or Y, Cb, Cr) of the pixel or chroma sample (x,
// y) lies at (const char *)data[c] + y * row[c] + x * pixel[c]. Strides may be negative (bottom-up
// images) or 0; for floats, strides and data are multiples of 4.
typedef struct MotusImage {
    size_t size;       // sizeof(MotusImage)
    int width, height; // pixels, 1..MOTUS_MAX_SIZE
    MotusSamples samples;
    const void *data[3];
    ptrdiff_t row[3];   // bytes from one row to the next
    ptrdiff_t pixel[3]; // bytes from one sample of a row to the next
} MotusImage;

// Fills *image for a usual format. data and stride (bytes per row) have an entry for each plane of
// the format. MOTUS_ERR_ARGUMENT: unknown format, size outside 1..MOTUS_MAX_SIZE, no address.
MOTUS_API MotusStatus motus_image_describe(MotusImage *image, MotusImageFormat format, int width,
                                           int height, const void *const data[3],
                                           const ptrdiff_t stride[3]);

// Square samples, limited range, chroma_location 1, which is where motus_image_convert puts chroma.
#define MOTUS_COLOUR_BT709                                                                         \
    { {1, 1}, 0, 1, 1, 1, 1 }
#define MOTUS_COLOUR_BT601                                                                         \
    { {1, 1}, 0, 6, 6, 6, 1 }

// Converts an image to a frame of the same size. RGB needs colour->matrix 1 (BT.709), 5 or 6
// (BT.601); colour->full_range is 1, else limited range. 4:2:0 is copied, and colour may be NULL.
// Integer arithmetic gives the same samples on every backend, within one level of the exact ones:
//
//   Y  = y0 + ((yr R + yg G + yb B + 4096) >> 13), factors in 1/8192, y0 = 16 or 0
//   Cb = 128 + ((ur R4 + ug G4 + ub B4 + 16384) >> 15), R4, G4, B4: sums of 2x2 pixels; Cr likewise
//
// Results are clipped to 0..255; edge pixels are repeated; floats are first scaled by 255 and
// rounded to nearest, ties to even. Chroma lies in the middle of its pixels (chroma_location 1).
// MOTUS_ERR_ARGUMENT: other sizes, no data, unaligned floats, another matrix.
MOTUS_API MotusStatus motus_image_convert(MotusFrame *dst, const MotusImage *src,
                                          const MotusColour *colour, const MotusExec *exec);

// Converts as motus_image_convert, an image and a frame in memory of the current CUDA device, in
// the order of `stream` (a cudaStream_t, NULL = the default stream). Returns immediately. error may
// be NULL. MOTUS_ERR_ARGUMENT, MOTUS_ERR_NO_DEVICE, MOTUS_ERR_CUDA, MOTUS_ERR_UNSUPPORTED (a build
// without CUDA).
MOTUS_API MotusStatus motus_cuda_image_convert(const MotusFrame *dst, const MotusImage *src,
                                               const MotusColour *colour, void *stream,
                                               MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
