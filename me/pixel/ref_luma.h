// A reference luma plane prepared for quarter-sample prediction: the full samples and the three
// half-sample planes of 8.4.2.2.1, with a border.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_REF_LUMA_H
#define ME_PIXEL_REF_LUMA_H

#include "common/int_core.h"
#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// Border on each side. Beyond it samples only repeat, so clipping a position changes no sample.
#define MOTUS_REF_PAD 32

// The six-tap filter (1, -5, 20, 20, -5, 1) of 8.4.2.2.1. Over samples: -2550..10,710, which fits
// int16; over such sums: -214,200..475,320.
MOTUS_HD int motus_six_tap(int e, int f, int g, int h, int i, int j) {
    return (e + j) - 5 * (f + i) + 20 * (g + h);
}
MOTUS_HD uint8_t motus_round_once(int sum) { return motus_clip_u8((sum + 16) >> 5); }    // b, h
MOTUS_HD uint8_t motus_round_twice(int sum) { return motus_clip_u8((sum + 512) >> 10); } // j

#define MOTUS_LUMA_SLICE 512 // samples of a row filtered at once: their sums stay in the L1 cache

// Inner loops of preparation and prediction on the CPU.
typedef struct MotusLumaOps {
    // Writes half samples b, h, j of columns [0, n) of one row, n a multiple of 16 up to
    // MOTUS_LUMA_SLICE. row[0..5]: rows y - 2 .. y + 3 of full samples; columns -2 .. n + 2 count,
    // up to n + 18 must be readable.
    void (*half_row)(const uint8_t *const row[6], uint8_t *b, uint8_t *h, uint8_t *j, int n);
    // dst = (p + q + 1) >> 1 over w x h samples, multiples of 4 up to 16. p and q share a stride;
    // each of their rows must be readable for 16 samples.
    void (*average)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *p, const uint8_t *q,
                    ptrdiff_t stride, int w, int h);
} MotusLumaOps;

extern const MotusLumaOps motus_luma_ops_avx2;

// plane[k] points at sample (0, 0): [0] full samples G, [1] b (half to the right), [2] h (half
// below), [3] j (both). Valid from -MOTUS_REF_PAD to size + MOTUS_REF_PAD - 1 in both directions.
// The layout is the same in host and device memory.
typedef struct MotusRefLuma {
    int width, height; // multiples of 16
    ptrdiff_t stride;
    uint8_t *plane[4];
    uint8_t *memory;
    // Offsets from plane[0] to the two samples to average at position (mv.y & 3) * 4 + (mv.x & 3);
    // equal if one is enough.
    ptrdiff_t tap[16][2];
    const MotusLumaOps *ops; // set by alloc; NULL: planes in device memory
} MotusRefLuma;

// Bytes of all planes for a picture of this size, rounded up to whole MBs.
size_t motus_ref_luma_bytes(int width, int height);

// Lays out the planes in host or device memory at a multiple of 64 bytes. ops is NULL.
void motus_ref_luma_layout(MotusRefLuma *ref, void *memory, int width, int height);

// Allocates the planes. MOTUS_ERR_ARGUMENT, MOTUS_ERR_MEMORY.
MotusStatus motus_ref_luma_alloc(MotusRefLuma *ref, int width, int height);
void motus_ref_luma_free(MotusRefLuma *ref); // accepts a zeroed one

// Fills all planes from a luma plane of the size given to alloc, padded to whole MBs by edge
// repetition. Rows are spread over `threads`. with_half = 0 fills only plane 0.
void motus_ref_luma_build(MotusRefLuma *ref, const MotusPlane *luma, int with_half, int threads);

// Predicts the w x h block (multiples of 4 up to 16) at (x, y) displaced by any mv (8.4.2.2.1).
// Returns the samples and sets *stride: in dst, or in a plane if mv needs no averaging.
const uint8_t *motus_ref_luma_block(const MotusRefLuma *ref, int x, int y, MotusMv mv, int w, int h,
                                    uint8_t *dst, ptrdiff_t *stride);

// Clips a row or column so that no sample of a block of up to 16 changes: from 8 samples outside
// the picture on, the block, its right neighbour and the six taps see only repeated samples.
MOTUS_HD int motus_ref_luma_clip(int size, int at) { return motus_clip(-24, size + 8, at); }

// Sets tap to the two samples whose average predicts sample (x, y) with mv; equal if one suffices.
MOTUS_HD void motus_ref_luma_taps(const MotusRefLuma *ref, int x, int y, MotusMv mv,
                                  const uint8_t *tap[2]) {
    const uint8_t *full = ref->plane[0] +
                          motus_ref_luma_clip(ref->height, y + (mv.y >> 2)) * ref->stride +
                          motus_ref_luma_clip(ref->width, x + (mv.x >> 2));
    const ptrdiff_t *offset = ref->tap[4 * (mv.y & 3) + (mv.x & 3)];
    tap[0] = full + offset[0];
    tap[1] = full + offset[1];
}

#ifdef __cplusplus
}
#endif
#endif
