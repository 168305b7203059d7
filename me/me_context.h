// What a motion estimator holds.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CONTEXT_H
#define ME_CONTEXT_H

#include "me/coarse.h"
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
};

#endif
