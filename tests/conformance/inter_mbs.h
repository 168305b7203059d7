// Random MBs of P and B pictures that a decoder may decode: MVs and levels within the standard's
// limits, direct and skipped MBs with the MVs they have by their neighbours.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_INTER_MBS_H
#define TESTS_INTER_MBS_H

#include "encoder/mb/coded_mbs.h"

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
