// Backends of the motion estimator. The public API (me.c) checks the arguments, keeps the queue and
// calls one of the two tables.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_BACKEND_H
#define ME_BACKEND_H

#include "motus/me_request.h"

#ifdef __cplusplus
extern "C" {
#endif

// `state` is an open backend, `planes` the prepared planes of a reference. Functions that take
// `error` leave CUDA's own text in it if a CUDA call fails.
typedef struct MotusMeOps {
    // device: CUDA's number of it; -1 with the CPU backend.
    MotusStatus (*open)(void **state, const MotusMeConfig *config, int device, MotusError *error);
    void (*close)(void *state); // blocks until pending work is done; accepts NULL

    // Starts a request. planes[i] are those of the i-th target's reference; keep: those to fill
    // from the picture, NULL: none; keep_half: with half-sample planes.
    MotusStatus (*request)(void *state, const MotusMeRequest *request, void *const planes[],
                           void *keep, int keep_half, MotusError *error);
    // Completes the oldest request. MOTUS_AGAIN: not done within timeout_ms (negative: blocks).
    // NULL: request() has completed it.
    MotusStatus (*finish)(void *state, const MotusMeRequest *request, int timeout_ms,
                          MotusError *error);

    // Chooses search centres. All members of *centres are set; none is 0 for a default.
    MotusStatus (*centres)(void *state, const MotusMeCentres *centres, const void *planes,
                           MotusError *error);

    MotusStatus (*planes_alloc)(void **planes, const MotusMeConfig *config, int device,
                                MotusError *error);
    // wait: blocks until the planes are complete, unless `stream` makes a plane in device memory.
    MotusStatus (*planes_fill)(void *planes, void *state, const MotusPlane *luma,
                               MotusMemory memory, int with_half, void *stream, int wait,
                               MotusError *error);
    void (*planes_free)(void *planes); // accepts NULL
    // Predicts a block as motus_ref_luma_block does; NULL: planes are in device memory.
    const uint8_t *(*block)(const void *planes, int x, int y, MotusMv mv, int width, int height,
                            uint8_t *dst, ptrdiff_t *stride);
} MotusMeOps;

extern const MotusMeOps motus_me_ops_cpu;
extern const MotusMeOps motus_me_ops_cuda; // only in a build with CUDA

#ifdef __cplusplus
}
#endif
#endif
