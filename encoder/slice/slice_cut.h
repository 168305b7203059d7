// Slices that end before their NAL units exceed a size.
//
// Where slices begin is known only while they are written, and it changes what MBs may be predicted
// from. One walk in raster order codes the intra MBs that are decided to be intra, finalizes and
// writes each MB. An MB that would make the slice too large begins the next one; an MB that is too
// large alone is coded as intra at coarser QPs.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SLICE_SLICE_CUT_H
#define ENCODER_SLICE_SLICE_CUT_H

#include "encoder/decide/decide.h"
#include "encoder/settings/stream.h"

// A picture on its way; the caller fills in the first members.
typedef struct MotusSliceCut {
    const MotusDecideOps *ops;
    const MotusPictureJob *job; // slices of whole rows are cut further
    MotusPictureState *pic;
    int *first;               // n_mb: scratch for the slices that are found (motus_slice_first)
    uint8_t *rbsp, *nal;      // rbsp_capacity bytes, and motus_nal_bound of that
    MotusPictureStats *stats; // added to
    size_t size;              // bytes in nal
    int n_slices;             // NAL units
    MotusSliceSettings slice; // but for first_mb
} MotusSliceCut;

// Codes and writes a picture; the MBs of a P or B picture are decided (MotusDecideOps.decide). One
// thread. MOTUS_ERR_INTERNAL: its NAL units are larger than rbsp_capacity.
MotusStatus motus_slice_cut_picture(MotusSliceCut *cut);

#endif
