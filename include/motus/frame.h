// Frames: 8-bit 4:2:0 planes, allocated or wrapped, reference counted. Samples are in host memory
// unless a function says otherwise.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_FRAME_H
#define MOTUS_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTUS_MAX_SIZE 16384 // largest width or height of a picture, in luma samples

// Plane of samples; row y begins at data + y * stride. A plane owns nothing.
typedef struct MotusPlane {
    uint8_t *data;     // sample (0, 0)
    ptrdiff_t stride;  // bytes from one row to the next, at least width
    int width, height; // samples
} MotusPlane;

// 4:2:0 picture: plane 0 is luma (width x height), planes 1 and 2 are Cb and Cr
// ((width + 1) / 2 x (height + 1) / 2).
typedef struct MotusFrame {
    int width, height; // luma samples, 1..MOTUS_MAX_SIZE
    MotusPlane plane[3];
    int64_t number;                // the caller's counter, copied and never read
    struct MotusFrameOwner *owner; // private: reference count and release function
} MotusFrame;

// Rational number num / den, den > 0.
typedef struct MotusRational {
    int num, den;
} MotusRational;

// Colour description and sample aspect ratio of a sequence, with the numbers of the VUI (Annex E).
typedef struct MotusColour {
    MotusRational sar;   // sample aspect ratio (table E-1); 0/1 = unknown
    int full_range;      // 0 = limited (16..235), 1 = full, -1 = unknown
    int primaries;       // colour_primaries (table E-3); 2 = unspecified
    int transfer;        // transfer_characteristics (table E-4); 2 = unspecified
    int matrix;          // matrix_coefficients (table E-5); 2 = unspecified
    int chroma_location; // chroma_sample_loc_type 0..5; -1 = unknown
} MotusColour;

#define MOTUS_COLOUR_UNKNOWN                                                                       \
    { {0, 1}, -1, 2, 2, 2, -1 }

// Allocates a frame with one reference and rows aligned to 64 bytes. Samples are not initialized.
// MOTUS_ERR_ARGUMENT: size outside 1..MOTUS_MAX_SIZE. MOTUS_ERR_MEMORY.
MOTUS_API MotusStatus motus_frame_alloc(MotusFrame **frame, int width, int height);

// Makes a frame of the caller's planes without a copy; data[i] and stride[i] as in MotusPlane. The
// planes must stay valid until release(opaque) is called, once, with the last reference; release
// may be NULL. MOTUS_ERR_ARGUMENT, MOTUS_ERR_MEMORY: nothing is released.
MOTUS_API MotusStatus motus_frame_wrap(MotusFrame **frame, int width, int height,
                                       uint8_t *const data[3], const ptrdiff_t stride[3],
                                       void (*release)(void *opaque), void *opaque);

// Adds a reference and returns the frame; never fails. A const frame may be kept and released, but
// its samples must not be written.
MOTUS_API MotusFrame *motus_frame_ref(const MotusFrame *frame);

// True if others hold references too: then the caller must not write the samples.
MOTUS_API int motus_frame_shared(const MotusFrame *frame);

// Makes a frame of the top left width x height samples of `whole` without a copy; it holds a
// reference to `whole`. Planes may lie in any memory. MOTUS_ERR_ARGUMENT: larger than `whole`, or
// below 1. MOTUS_ERR_MEMORY.
MOTUS_API MotusStatus motus_frame_crop(MotusFrame **cropped, MotusFrame *whole, int width,
                                       int height);

// Drops a reference and sets *frame to NULL; accepts NULL and *frame == NULL. The last reference
// frees the frame.
MOTUS_API void motus_frame_unref(MotusFrame **frame);

// Copies samples. If dst is larger than src, the last column and row are repeated; dst may be up to
// src rounded up to whole macroblocks. MOTUS_ERR_ARGUMENT: dst is smaller than src.
MOTUS_API MotusStatus motus_frame_copy_padded(MotusFrame *dst, const MotusFrame *src);

// Returns the sum of squared differences (SSD) of width x height samples.
MOTUS_API uint64_t motus_plane_ssd(const MotusPlane *a, const MotusPlane *b, int width, int height);

// Returns the PSNR in dB for an SSD over n samples; 100 if ssd is 0, as x264 prints it.
MOTUS_API double motus_psnr(uint64_t ssd, uint64_t n);

// Returns the mean SSIM of two luma planes over 8x8 windows in steps of 4, as x264 and FFmpeg's
// ssim filter measure it. Planes smaller than 8x8 give 1.0 if they are equal, else 0.0.
MOTUS_API double motus_plane_ssim(const MotusPlane *a, const MotusPlane *b, int width, int height);

#ifdef __cplusplus
}
#endif
#endif
