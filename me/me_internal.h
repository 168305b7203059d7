// What the encoder uses of motion estimation beside the public API.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_INTERNAL_H
#define ME_INTERNAL_H

#include "me/ref_luma.h"
#include "motus/me.h"

int motus_me_valid_hints(const MotusMeHints *hints, int n_mb);
int motus_me_same_size(const MotusField *field, int width, int height); // the field is one for pictures of this size

// Like motus_me_search with a reference that is already prepared (with half planes when subpel needs them).
// `cur` is a luma plane of whole MBs. device_cur, where not NULL, is the same plane in CUDA device memory, ready: the device then searches it as it
// lies there (rows at multiples of 16 bytes) in place of an uploaded `cur`, and the CPU, should it take over, searches `cur`.
MotusStatus motus_me_search_prepared(MotusMe *me, const MotusPlane *cur, const MotusPlane *device_cur, const MotusRefLuma *ref,
                                     const MotusMeHints *hints, MotusField *field);

// Predicts a search centre per MB (quarter samples, multiples of 4, both components within +-limit_x / +-limit_y quarter samples): the best by 16x16 SAD + vector cost of
// zero, the vectors of the previous picture's field (`previous`, one per MB, quarter samples, may be NULL) at this MB and its eight
// neighbours and their component-wise picture median, and an exhaustive search in the pictures scaled down 4:1 over +-64 samples.
// Reads only cur, ref and `previous`: no MB depends on another of this picture.
MotusStatus motus_me_predict_centres(MotusMe *me, const MotusPlane *cur, const MotusRefLuma *ref, const MotusMv *previous,
                                     uint32_t lambda_q8, int limit_x, int limit_y, MotusMv *centre);

#endif
