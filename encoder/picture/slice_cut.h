// Slices that end before their NAL units exceed a size.
//
// Where slices begin is known only while they are written, and it changes what MBs may be predicted
// from. One walk in raster order codes the intra MBs that are decided to be intra, finalizes and
// writes each MB. An MB that would make the slice too large begins the next one; an MB that is too
// large alone is coded as intra at coarser QPs.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_SLICE_CUT_H
#define ENCODER_PICTURE_SLICE_CUT_H

#include "encoder/decide/decide.h"
#include "encoder/settings/stream.h"

typedef struct MotusSliceCut {
    const MotusDecideOps *ops;
    const MotusPictureJob *job; // slices of whole rows are cut further
    int *first;                 // n_mb: scratch for the slices that are found (motus_slice_first)
    uint8_t *rbsp, *nal;        // rbsp_capacity bytes, and motus_nal_bound of that
} MotusSliceCut;

// Codes and writes a picture; the MBs of a P picture are decided (MotusDecideOps.decide). cut->nal
// gets *n_slices NAL units, *size bytes; *stats is added to. One thread. MOTUS_ERR_INTERNAL: they
// are larger than rbsp_capacity.
MotusStatus motus_slice_cut_picture(const MotusSliceCut *cut, MotusPictureState *pic, size_t *size,
                                    int *n_slices, MotusPictureStats *stats);

#endif
