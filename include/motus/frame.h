// Pictures: 8-bit 4:2:0 planes, owned or wrapped, reference counted; in host memory where a
// function does not say otherwise.
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

// One plane of samples. `data` points at sample (0, 0); row y begins at data + y * stride.
typedef struct MotusPlane {
    uint8_t *data;
    ptrdiff_t stride;  // bytes from one row to the next; at least width
    int width, height; // samples
} MotusPlane;

// A picture, 4:2:0: plane 0 is luma (width x height), planes 1 and 2 are Cb and Cr ((width + 1) / 2
// x (height + 1) / 2).
typedef struct MotusFrame {
    int width, height; // luma samples, 1..MOTUS_MAX_SIZE
    MotusPlane plane[3];
    int64_t number; // the owner's counter; motus copies it through and never reads it
    struct MotusFrameOwner *owner; // reference count and release function; private
} MotusFrame;

// A rational number num/den, den > 0.
typedef struct MotusRational {
    int num, den;
} MotusRational;

// What a sequence says of its colours and sample shape, numbered as in H.264 Annex E tables E-1,
// E-3..E-5; 2 = unspecified.
typedef struct MotusColour {
    MotusRational sar; // sample aspect ratio; 0/1 = unknown
    int full_range;    // 0 = limited (16..235), 1 = full, -1 = unknown
    int primaries, transfer, matrix;
    int chroma_location; // chroma_sample_loc_type 0..5, -1 = unknown
} MotusColour;

#define MOTUS_COLOUR_UNKNOWN                                                                       \
    { {0, 1}, -1, 2, 2, 2, -1 }

// Allocates a frame with rows aligned to 64 bytes; samples are not initialized. MOTUS_ERR_ARGUMENT:
// size out of 1..MOTUS_MAX_SIZE. MOTUS_ERR_MEMORY.
MOTUS_API MotusStatus motus_frame_alloc(MotusFrame **frame, int width, int height);

// Makes a frame around the caller's planes (no copy). `release(opaque)` is called once when the
// last reference goes; NULL: never. The planes must stay valid until then. data[i] and stride[i] as
// in MotusPlane. On failure (MOTUS_ERR_ARGUMENT, MOTUS_ERR_MEMORY) nothing is released.
MOTUS_API MotusStatus motus_frame_wrap(MotusFrame **frame, int width, int height,
                                       uint8_t *const data[3], const ptrdiff_t stride[3],
                                       void (*release)(void *opaque), void *opaque);

// Adds a reference and returns the same frame; never fails. The count is not part of what const
// protects, the samples are: who got a const frame may keep it and let go of it, but not write to
// it.
MOTUS_API MotusFrame *motus_frame_ref(const MotusFrame *frame);

// 1 when others hold references too: then its samples are not the caller's alone.
MOTUS_API int motus_frame_shared(const MotusFrame *frame);

// Makes a frame of the top left width x height of `whole` (no copy), which it holds a reference to.
// Planes may lie in any memory. MOTUS_ERR_ARGUMENT: larger than `whole`, or width or height
// below 1. MOTUS_ERR_MEMORY.
MOTUS_API MotusStatus motus_frame_crop(MotusFrame **part, MotusFrame *whole, int width, int height);

// Drops a reference and sets *frame to NULL; accepts NULL and *frame == NULL.
MOTUS_API void motus_frame_unref(MotusFrame **frame);

// Copies samples; where dst is larger than src (dst may be src rounded up to whole macroblocks) the
// last column and row are repeated. MOTUS_ERR_ARGUMENT: dst smaller than src.
MOTUS_API MotusStatus motus_frame_copy_padded(MotusFrame *dst, const MotusFrame *src);

// Sum of squared differences over width x height samples of two planes.
MOTUS_API uint64_t motus_plane_ssd(const MotusPlane *a, const MotusPlane *b, int width, int height);

// PSNR in dB from a sum of squared differences over n samples; 100 where ssd is 0 (as x264 and
// others print it).
MOTUS_API double motus_psnr(uint64_t ssd, uint64_t n);

// Mean SSIM of two luma planes, 8x8 windows at steps of 4 (as x264 and FFmpeg's ssim filter measure
// it). Planes smaller than 8x8 give 1.0 when equal, else 0.0.
MOTUS_API double motus_plane_ssim(const MotusPlane *a, const MotusPlane *b, int width, int height);

#ifdef __cplusplus
}
#endif
#endif
