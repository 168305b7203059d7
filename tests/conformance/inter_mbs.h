// Random MBs of P and B pictures that a decoder may decode: MVs and levels within the standard's
// limits, direct and skipped MBs with the MVs they have by their neighbours.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_INTER_MBS_H
#define TESTS_INTER_MBS_H

#include "encoder/mb/coded_mbs.h"

// Reconstruction of one MB, plainly: prediction by the definition, one sample at a time (8.3,
// 8.4.2.2), and its residual. For tests of the syntax; decoders judge both.

// Reconstructs MB i of a P or B picture into rec. refs: the mbs->refs
// ones of list 0, then that of list 1, deblocked. Intra16x16 and Intra4x4
// may have modes vertical, horizontal and DC, chroma all but plane; Intra4x4 no 8x8 transform.
void plain_mb_reconstruct(MotusFrame *rec, const MotusCodedMbs *mbs, int i,
                          const MotusFrame *const refs[]);

typedef struct InterMbs {
    int qp; // of the slice
    int cabac, transform_8x8;
    int reach;                // largest MV component, quarter samples
    int residual;             // per cent of MBs with levels
    MotusDirectSource direct; // B
} InterMbs;

// Fills MBs and levels of mbs->slice_type, before finalization.
void inter_mbs_fill(MotusCodedMbs *mbs, const InterMbs *how);

#endif
