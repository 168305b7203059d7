// Slices that end before their NAL units pass a size.
//
// Decisions run over whole pictures; where slices begin is known only while they are written, and
// changes what MBs may be predicted from. So what the decisions leave open (inter MBs: nothing;
// intra MBs: all but that they are intra) is done in one walk over the MBs in raster order, which
// codes, settles and writes one after another. Where an MB would make the slice too large, the
// slice ends before it, and the MB is done again as the first one of the next slice. An MB that is
// too large alone becomes intra at a coarser QP, in the end a flat one of a few bits, so that the
// walk ends and every slice fits.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_SLICE_CUT_H
#define ENCODER_PICTURE_SLICE_CUT_H

#include "encoder/decide/decide.h"
#include "encoder/settings/stream.h"

typedef struct MotusSliceCut {
    const MotusStream
        *stream; // its slice_max_size, and its slices of whole rows, which are cut further
    const MotusPictureParams *place;
    const MotusPasses *passes;
    const MotusCoding *coding;
    int *first;          // per MB: room for the slices that are found (motus_slice_first)
    uint8_t *rbsp, *nal; // rbsp_capacity bytes, and motus_nal_bound of that
} MotusSliceCut;

// Codes and settles the MBs of a picture (a P picture's are decided: decide_p) and writes its
// *n_slices NAL units, *size bytes, to cut->nal; adds to *stats. One thread. MOTUS_ERR_INTERNAL:
// they are larger than rbsp_capacity, which cannot be.
MotusStatus motus_slice_cut_picture(const MotusSliceCut *cut, MotusPictureState *pic, size_t *size,
                                    int *n_slices, MotusPictureStats *stats);

#endif
