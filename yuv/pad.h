// Padding of planes to a larger size, usually whole MBs: the last column and row repeat
// (8.4.2.2.1).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_PAD_H
#define YUV_PAD_H

#include <string.h>

#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// Repeats the first sample of a row `left` times before it and the last one `right` times after it.
static inline void motus_row_pad(uint8_t *row, int width, int left, int right) {
    memset(row - left, row[0], (size_t)left);
    memset(row + width, row[width - 1], (size_t)right);
}

// Returns up to n rows of a plane, from row `first` on.
static inline MotusPlane motus_plane_rows(const MotusPlane *plane, int first, int n) {
    MotusPlane rows = *plane;
    rows.data += first * plane->stride;
    rows.height = plane->height - first < n ? plane->height - first : n;
    return rows;
}

// Copies src to dst, which is as large or larger, and pads it.
void motus_plane_copy_padded(const MotusPlane *dst, const MotusPlane *src);

// Copies n <= 3 planes of a frame, luma first, likewise, in device memory, on the cudaStream_t
// `stream`. Returns immediately. Widths, strides and addresses of dst are multiples of 4, those of
// src need not be. MOTUS_ERR_CUDA.
MotusStatus motus_planes_copy_padded_cuda(const MotusPlane *dst, const MotusPlane *src, int n,
                                          void *stream, MotusError *error);

// Pads n planes in device memory, from `first` on, that already hold those of a frame of width x
// height luma samples, both even unless only luma is padded.
MotusStatus motus_planes_pad_cuda(const MotusPlane planes[3], int first, int n, int width,
                                  int height, void *stream, MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
