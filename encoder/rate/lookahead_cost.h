// What a source picture looks like before it is coded: on a picture of half the size, what each MB
// would cost as intra, what from the picture before, and where it comes from. Nothing here reads
// coded data, so that it is the same whatever is coded, in whatever order.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_LOOKAHEAD_COST_H
#define ENCODER_RATE_LOOKAHEAD_COST_H

#include "motus/frame.h"
#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// A luma plane at half the size, whole MBs (of 8x8 here), four times: the means of 2x2 samples that
// begin at even and odd columns and rows, so that vectors reach every sample of the full picture.
// plane[2 * (y & 1) + (x & 1)], each with a border of repeated samples.
#define MOTUS_HALF_BORDER 32
typedef struct MotusHalfPicture {
    uint8_t *memory, *plane[4];
    ptrdiff_t stride;
    int mb_width, mb_height;
} MotusHalfPicture;

// Bytes of one, and how it lies in a block of that size: in rows that are multiples of 64 bytes.
size_t motus_half_bytes(int mb_width, int mb_height);
void motus_half_lay_out(MotusHalfPicture *half, uint8_t *memory, int mb_width, int mb_height);

MotusStatus motus_half_alloc(MotusHalfPicture *half, int mb_width, int mb_height);
void motus_half_free(MotusHalfPicture *half); // accepts a zeroed one

// Scales a luma plane down; it covers the MBs but for less than one.
void motus_half_build(MotusHalfPicture *half, const MotusPlane *luma, int threads);

// Costs of a picture's MBs: SATD at half the size and what modes and vectors add, at most 65,535.
// Arrays have an entry per MB.
typedef struct MotusMbCosts {
    uint16_t *intra;
    uint16_t *inter; // never above intra; equal to it where there is no picture before
    MotusMv *mv;     // whole samples of the full picture
} MotusMbCosts;

// Fills *costs; before: the picture that is referred to, with its own vectors in earlier (NULL:
// none, or none of both). The result does not depend on `threads`.
void motus_mb_costs(const MotusMbCosts *costs, const MotusHalfPicture *cur,
                    const MotusHalfPicture *before, const MotusMv *earlier, int threads);

#ifdef __cplusplus
}
#endif
#endif
