// Images as programs have them in memory, and their way into 4:2:0: planes or interleaved samples,
// RGB in bytes or floats, in any order and with any strides. The encoder takes them as they are
// (motus_encoder_send_image, motus/encoder.h).
//
//     MotusImage image;
//     motus_image_describe(&image, MOTUS_IMAGE_RGB24, 1280, 720, (const void *[3]){pixels},
//     (ptrdiff_t[3]){3 * 1280}); config.colour = (MotusColour)MOTUS_COLOUR_BT709;              //
//     what RGB becomes, and what the stream says of it motus_encoder_open(&encoder, &config,
//     &error); motus_encoder_send_image(encoder, &image, NULL);
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_IMAGE_H
#define MOTUS_IMAGE_H

#include "motus/exec.h"
#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// The usual formats. Planes: the addresses that motus_image_describe wants.
typedef enum MotusImageFormat {
    MOTUS_IMAGE_I420,             // 3 planes: Y; Cb; Cr
    MOTUS_IMAGE_NV12,             // 2: Y; Cb and Cr in turn
    MOTUS_IMAGE_RGB24,            // 1: bytes R, G, B
    MOTUS_IMAGE_BGR24,            // 1: B, G, R
    MOTUS_IMAGE_RGBA,             // 1: R, G, B and a fourth byte that is not read
    MOTUS_IMAGE_BGRA,             // 1
    MOTUS_IMAGE_RGB_PLANES,       // 3: R; G; B
    MOTUS_IMAGE_RGB_FLOAT,        // 1: floats R, G, B, 0..1
    MOTUS_IMAGE_RGB_FLOAT_PLANES, // 3: R; G; B
    MOTUS_IMAGE_FORMATS,
} MotusImageFormat;

// What the samples are, whatever their order.
typedef enum MotusSamples {
    MOTUS_SAMPLES_YUV420,    // bytes Y, Cb, Cr, as in MotusFrame
    MOTUS_SAMPLES_RGB,       // bytes R, G, B, 0..255
    MOTUS_SAMPLES_RGB_FLOAT, // single precision, 0..1: what lies outside is clipped, NaN is 0
} MotusSamples;

// Component c (R, G, B or Y, Cb, Cr) of the pixel or chroma sample (x, y) lies at (const char
// *)data[c] + y * row[c] + x * pixel[c]. Any strides will do, also negative ones (an image that
// stands on its head) and 0; those of floats, and data, are multiples of 4.
typedef struct MotusImage {
    size_t size;       // sizeof(MotusImage)
    int width, height; // pixels, 1..MOTUS_MAX_SIZE
    MotusSamples samples;
    const void *data[3];
    ptrdiff_t row[3], pixel[3]; // bytes from one row to the next, and from one sample to the next
} MotusImage;

// Describes an image of a usual format. data, stride: of as many planes as the format has, strides
// in bytes; others are not read. MOTUS_ERR_ARGUMENT: an unknown format, a size out
// of 1..MOTUS_MAX_SIZE, no address.
MOTUS_API MotusStatus motus_image_describe(MotusImage *image, MotusImageFormat format, int width,
                                           int height, const void *const data[3],
                                           const ptrdiff_t stride[3]);

// Limited range; chroma as motus_image_convert places it.
#define MOTUS_COLOUR_BT709                                                                         \
    { {1, 1}, 0, 1, 1, 1, 1 }
#define MOTUS_COLOUR_BT601                                                                         \
    { {1, 1}, 0, 6, 6, 6, 1 }

// An image as a frame of the same size. RGB by colour->matrix, which is 1 (BT.709), 5 or 6
// (BT.601), and colour->full_range (1, else limited); 4:2:0 is copied, and colour may be NULL. In
// integers, the same on every machine and on a GPU:
//   floats first become bytes: x clipped to 0..1, x * 255 in single precision, rounded to nearest,
//   ties to even; Y  = y0 + ((yr R + yg G + yb B + 4096) >> 13), factors in 1/8192 (rounded to
//   nearest), y0 = 16 or 0, clipped to 0..255; Cb = 128 + ((ur R4 + ug G4 + ub B4 + 16384) >> 15)
//   of the sums R4, G4, B4 of 2x2 pixels (edges repeated), clipped; Cr likewise.
// So chroma lies in the middle of its four pixels (chroma_location 1), and is the mean of their
// chroma. Results are within one level of exact arithmetic. MOTUS_ERR_ARGUMENT: another size, no
// data, floats that are not aligned, no such matrix.
MOTUS_API MotusStatus motus_image_convert(MotusFrame *dst, const MotusImage *src,
                                          const MotusColour *colour, const MotusExec *exec);

// The same for an image and a frame in CUDA device memory, in the order of `stream` (a
// cudaStream_t, NULL: the default stream) of the current device: returns at once. error (may be
// NULL) gets CUDA's own words. MOTUS_ERR_ARGUMENT, MOTUS_ERR_NO_DEVICE, MOTUS_ERR_CUDA;
// MOTUS_ERR_UNSUPPORTED: a build without CUDA.
MOTUS_API MotusStatus motus_cuda_image_convert(const MotusFrame *dst, const MotusImage *src,
                                               const MotusColour *colour, void *stream,
                                               MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
