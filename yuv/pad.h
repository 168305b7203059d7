// Filling planes up to a larger size, whole MBs as a rule: the last column and row are repeated
// (8.4.2.2.1 sees samples beyond a picture so).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_PAD_H
#define YUV_PAD_H

#include <string.h>

#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// Repeats the first sample of a row `left` times in front of it and the last one `right` times
// behind it.
static inline void motus_row_pad(uint8_t *row, int width, int left, int right) {
    memset(row - left, row[0], (size_t)left);
    memset(row + width, row[width - 1], (size_t)right);
}

// `n` rows of a plane from row `first` on, or those there are.
static inline MotusPlane motus_plane_rows(const MotusPlane *plane, int first, int n) {
    MotusPlane rows = *plane;
    rows.data += first * plane->stride;
    rows.height = plane->height - first < n ? plane->height - first : n;
    return rows;
}

// Copies src into dst, which is as large or larger.
void motus_plane_copy_padded(const MotusPlane *dst, const MotusPlane *src);

// The same for a plane, and for the three planes of a frame, on a CUDA device, on `stream` (a
// cudaStream_t): returns at once. Of dst, widths, strides and addresses are multiples of 4; src
// lies in any way. MOTUS_ERR_CUDA.
MotusStatus motus_plane_copy_padded_cuda(const MotusPlane *dst, const MotusPlane *src, void *stream,
                                         MotusError *error);
MotusStatus motus_planes_copy_padded_cuda(const MotusPlane dst[3], const MotusPlane src[3],
                                          void *stream, MotusError *error);

// Where the frame lies in these planes already, 4:2:0 with width x height samples of luma, both
// even: only what is beyond it is written.
MotusStatus motus_planes_pad_cuda(const MotusPlane planes[3], int width, int height, void *stream,
                                  MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
