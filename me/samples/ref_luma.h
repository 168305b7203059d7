// A reference luma plane made ready for quarter-sample prediction: the full samples and the three
// half-sample planes of 8.4.2.2.1, with a border.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SAMPLES_REF_LUMA_H
#define ME_SAMPLES_REF_LUMA_H

#include "common/int_core.h"
#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// Border on each side; beyond it samples only repeat, so that positions can be clipped without
// changing a sample.
#define MOTUS_REF_PAD 32

#define MOTUS_LUMA_SLICE 512 // samples of a row filtered at once: the sums stay in the L1 cache

// The inner loops of preparation and prediction.
typedef struct MotusLumaOps {
    // Half samples of n neighbours of one row (n a multiple of 16, at most MOTUS_LUMA_SLICE):
    // row[0..5] are the rows y - 2 .. y + 3 of full samples; columns -2 .. n + 2 count, and up to n
    // + 18 must be readable. Writes b, h, j for [0, n).
    void (*half_row)(const uint8_t *const row[6], uint8_t *b, uint8_t *h, uint8_t *j, int n);
    // dst = (p + q + 1) >> 1 over w x h samples, w and h multiples of 4 up to 16; p and q have the
    // same stride and are readable for 16 samples in every row.
    void (*average)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *p, const uint8_t *q,
                    ptrdiff_t stride, int w, int h);
} MotusLumaOps;

extern const MotusLumaOps motus_luma_ops_avx2;

// plane[k] points at sample (0, 0), rows `stride` bytes apart, valid from -MOTUS_REF_PAD to size +
// MOTUS_REF_PAD - 1 in both directions: [0] full samples G, [1] b (half to the right), [2] h (half
// below), [3] j (both). The layout is one for the CPU and for CUDA devices.
typedef struct MotusRefLuma {
    int width, height; // multiples of 16
    ptrdiff_t stride;
    uint8_t *plane[4];
    uint8_t *memory;
    // Of position (mv.y & 3) * 4 + (mv.x & 3): offsets from plane[0] to the two samples that are
    // averaged, equal where one is enough.
    ptrdiff_t tap[16][2];
    const MotusLumaOps *ops; // what this CPU runs, set by alloc; NULL: for a device
} MotusRefLuma;

// Bytes of all planes for a picture of this size (rounded up to whole MBs), and where they are in
// `memory`: of a CUDA device, too, at a multiple of 64 bytes. ops is NULL.
size_t motus_ref_luma_bytes(int width, int height);
void motus_ref_luma_layout(MotusRefLuma *ref, void *memory, int width, int height);

MotusStatus motus_ref_luma_alloc(MotusRefLuma *ref, int width,
                                 int height); // rounds the size up to whole MBs
void motus_ref_luma_free(MotusRefLuma *ref);  // accepts a zeroed one

// Fills all planes from a luma plane (of the size given to alloc; filled up to whole MBs by edge
// repetition), rows spread over `threads`. with_half = 0 makes only plane 0.
void motus_ref_luma_build(MotusRefLuma *ref, const MotusPlane *luma, int with_half, int threads);

// Predicted samples of the w x h block at (x, y) displaced by mv (8.4.2.2.1), any vector; w, h
// multiples of 4 up to 16. Writes dst, and returns where the samples are: dst, or straight into a
// plane when mv needs no averaging (*stride tells the row distance).
const uint8_t *motus_ref_luma_block(const MotusRefLuma *ref, int x, int y, MotusMv mv, int w, int h,
                                    uint8_t *dst, ptrdiff_t *stride);

// Row or column, clipped so that the samples of a block of up to 16 from there on do not change:
// from 8 samples outside the picture on, the block, its right neighbour and the six taps see only
// repeated samples.
MOTUS_HD int motus_ref_luma_place(int size, int at) { return motus_clip(-24, size + 8, at); }

#ifdef __cplusplus
}
#endif

#endif
