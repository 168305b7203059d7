// Decided macroblocks of a picture: input of the entropy coder and of deblocking.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_CODED_MBS_H
#define ENCODER_MB_CODED_MBS_H

#include "encoder/mb/direct_core.h"
#include "encoder/mb/mb.h"
#include "motus/frame.h"

// MBs in raster order. Finalizing changes their types and QPs (encoder/slice/slice.h).
typedef struct MotusCodedMbs {
    int mb_width, mb_height, n_mb;
    int slice_type;         // MotusSliceType; P will do for I
    int refs;               // num_ref_idx_l0_active; 0 = 1
    int copies;             // P: ref_idx 1 to here are the picture of ref_idx 0
    int threads;            // of loops over MB rows
    const int *slice_first; // per MB (motus_slice_first); NULL: one slice. Not owned
    int apart_row;          // slices that begin in this MB row are apart in deblocking; 0: none
    const MotusFrame *src;  // whole MBs; I_PCM samples. Not owned
    MotusMb *mb;
    MotusMbCoef *coef;
    MotusMbContext *context;     // with CABAC, else NULL
    MotusDirectSource direct;    // B. Not owned
    struct MotusBinCounts *bins; // gets the bins of slices that are written; NULL: not counted
} MotusCodedMbs;

static inline MotusNeighbours motus_neighbours_at(const MotusCodedMbs *mbs, int i) {
    return motus_neighbours(mbs->mb, mbs->mb_width, i % mbs->mb_width, i / mbs->mb_width,
                            motus_slice_first(mbs->slice_first, i));
}

// Returns the samples of MB (mb_x, mb_y). Inline: a call would return the struct through memory, in
// stores that the reads after it wait for.
static inline MotusMbSource motus_mb_source(const MotusFrame *frame, int mb_x, int mb_y) {
    MotusMbSource src;
    for (int p = 0; p < 3; p++) {
        int size = p ? 8 : 16;
        src.stride[p] = frame->plane[p].stride;
        src.plane[p] = frame->plane[p].data + mb_y * size * src.stride[p] + mb_x * size;
    }
    return src;
}

// MotusCodedMv.distance by list and ref_idx.
typedef struct MotusRefDistances {
    int16_t to[2][MOTUS_MAX_REFERENCES];
} MotusRefDistances;

// Lists the MVs of a coded P or B picture, up to 16 per MB. Blocks are not cropped to the visible
// size. Returns their number.
size_t motus_list_mvs(const MotusCodedMbs *mbs, const MotusRefDistances *distances,
                      MotusCodedMv *mvs);

#endif
