// What a motion estimator holds, and what the encoder uses of it beside the public API.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_ME_INTERNAL_H
#define ME_ME_INTERNAL_H

#include "me/centres/centres.h"
#include "me/me_cuda.h"
#include "me/request_cuda.h"
#include "me/samples/pixel.h"
#include "me/samples/ref_luma.h"
#include "me/search/refine.h"
#include "me/search/search.h"
#include "motus/me_request.h"
#ifdef _OPENMP
#include <omp.h>
#endif

// A job or a request that waits to be received.
typedef struct MotusWaiting {
    int is_request;
    MotusField *field; // of a job done on the CPU
    // Of a request: what was asked for, and the references that it owns until it is received.
    MotusMeRequest request;
    MotusMeTarget target[MOTUS_ME_MAX_TARGETS];
    MotusMeReference *held[MOTUS_ME_MAX_TARGETS];
} MotusWaiting;

struct MotusMe {
    MotusMeConfig config;
    MotusBackend backend; // never AUTO
    int threads;
    MotusSearchMb search;
    const MotusRefineOps *refine;
    const MotusPixelOps *pixel;
    MotusRefLuma ref;           // made ready by motus_me_search
    MotusPlane cur;             // whole MBs; used when the size is no multiple of 16
    uint8_t *scratch;           // scratch_size bytes per thread
    size_t scratch_size;        // multiple of 64
    MotusCoarse coarse;         // for motus_me_predict_centres
    MotusMeCuda *cuda;          // NULL: everything runs on the CPU
    int device;                 // CUDA's number of it
    MotusError error;           // of the CUDA backend
    MotusRequestCuda *requests; // opened with the first request
    MotusPredictCuda *predict;  // opened with the first prediction
    MotusWaiting
        waiting[MOTUS_ME_IN_FLIGHT]; // number i of those submitted is at i % MOTUS_ME_IN_FLIGHT
    uint64_t submitted, received;    // jobs and requests
    uint64_t jobs;                   // jobs alone
    MotusPlane last;                 // the last job's picture on the CPU; data NULL: no job yet
};

// What public calls ask of their arguments: a plane of the configured size; hints in host memory;
// an enumerator.
int motus_me_valid_plane(const MotusMe *me, const MotusPlane *plane);
int motus_me_valid_hints(const MotusMeHints *hints, int n_mb);
int motus_me_valid_memory(MotusMemory memory);

// What the device failed with; MOTUS_OK on the CPU.
MotusStatus motus_me_failed(const MotusMe *me);

// `plane`, or me->cur filled from it where the size is no multiple of 16.
const MotusPlane *motus_me_whole(const MotusMe *me, const MotusPlane *plane);

// The calling thread's scratch memory for me->search.
static inline uint8_t *motus_me_scratch(const MotusMe *me) {
#ifdef _OPENMP
    return me->scratch + (size_t)omp_get_thread_num() * me->scratch_size;
#else
    return me->scratch;
#endif
}

// Like motus_me_search with a reference that is already prepared (with half planes when subpel
// needs them). `cur` is a luma plane of whole MBs, and so is the size that `me` was opened for.
MotusStatus motus_me_search_prepared(MotusMe *me, const MotusPlane *cur, const MotusRefLuma *ref,
                                     const MotusMeHints *hints, MotusField *field);

// Predicts a search centre per MB (quarter samples, multiples of 4, both components within
// +-limit_x / +-limit_y quarter samples): the best by 16x16 SAD + vector cost of zero, the vectors
// of the previous picture's field (`previous`, one per MB, quarter samples, may be NULL) at this MB
// and its eight neighbours and their component-wise picture median, and an exhaustive search in the
// pictures scaled down 4:1 over +-reach samples (a multiple of 4 up to MOTUS_MAX_COARSE_REACH).
// Reads only cur, ref and `previous`: no MB depends on another of this picture.
MotusStatus motus_me_predict_centres(MotusMe *me, const MotusPlane *cur, const MotusRefLuma *ref,
                                     const MotusMv *previous, uint32_t lambda_q8, int reach,
                                     int limit_x, int limit_y, MotusMv *centre);

#endif
