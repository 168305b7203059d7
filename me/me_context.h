// What a motion estimator holds.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CONTEXT_H
#define ME_CONTEXT_H

#include "me/coarse.h"
#include "me/me_cuda.h"
#include "me/me_internal.h"
#include "me/pixel.h"
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

#endif
