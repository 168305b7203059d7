// What a motion estimator holds, and what the encoder uses of it beside the public API.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_INTERNAL_H
#define ME_INTERNAL_H

#include "me/centres.h"
#include "me/me_cuda.h"
#include "me/pixel.h"
#include "me/ref_luma.h"
#include "me/refine.h"
#include "me/search.h"

struct MotusMe {
    MotusMeConfig config;
    MotusBackend backend; // never AUTO
    int threads;
    MotusSearchMb search;
    const MotusRefineOps *refine;
    const MotusPixelOps *pixel;
    MotusRefLuma ref;    // made ready by motus_me_search
    MotusPlane cur;      // whole MBs; used when the size is no multiple of 16
    uint8_t *scratch;    // scratch_size bytes per thread
    size_t scratch_size; // multiple of 64
    MotusCoarse coarse;  // for motus_me_predict_centres
    MotusMeCuda *cuda;   // NULL: everything runs on the CPU
    MotusError error;    // of the CUDA backend
    // Jobs of motus_me_submit that were done on the CPU and wait to be received, and the picture of the last one.
    MotusField *waiting[MOTUS_ME_IN_FLIGHT];
    unsigned submitted, received;
    MotusPlane last; // data NULL: no job yet
};

// Like motus_me_search with a reference that is already prepared (with half planes when subpel needs them).
// `cur` is a luma plane of whole MBs, and so is the size that `me` was opened for.
MotusStatus motus_me_search_prepared(MotusMe *me, const MotusPlane *cur, const MotusRefLuma *ref, const MotusMeHints *hints,
                                     MotusField *field);

// Predicts a search centre per MB (quarter samples, multiples of 4, both components within +-limit_x / +-limit_y quarter samples): the best by 16x16 SAD + vector cost of
// zero, the vectors of the previous picture's field (`previous`, one per MB, quarter samples, may be NULL) at this MB and its eight
// neighbours and their component-wise picture median, and an exhaustive search in the pictures scaled down 4:1 over +-reach samples
// (a multiple of 4 up to MOTUS_MAX_COARSE_REACH).
// Reads only cur, ref and `previous`: no MB depends on another of this picture.
MotusStatus motus_me_predict_centres(MotusMe *me, const MotusPlane *cur, const MotusRefLuma *ref, const MotusMv *previous,
                                     uint32_t lambda_q8, int reach, int limit_x, int limit_y, MotusMv *centre);

#endif
