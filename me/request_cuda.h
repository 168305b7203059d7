// Requests on a CUDA device, which is the current one in all calls; equal me_cpu.c. For .cu files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REQUEST_CUDA_H
#define ME_REQUEST_CUDA_H

#include <cuda_runtime_api.h>

#include "me/pixel/ref_luma.h"
#include "motus/me_request.h"

// The planes of a reference in device memory.
typedef struct MotusReferenceCuda {
    int device, has_half; // has_half: MVs may have fractions
    uint8_t *memory;      // holds both:
    MotusRefLuma luma;
    MotusPlane upload;   // only with half-sample planes
    cudaStream_t stream; // used if the caller has none
    cudaEvent_t ready;   // the planes are complete
} MotusReferenceCuda;

// Fills the planes on a stream after the fill before, and records `ready`. Returns immediately.
MotusStatus motus_reference_cuda_fill(MotusReferenceCuda *reference, const MotusPlane *luma,
                                      MotusMemory memory, cudaStream_t stream, MotusError *error);

// Opens the queue, with memory for a request of one target.
typedef struct MotusRequestCuda MotusRequestCuda;
MotusStatus motus_request_cuda_open(MotusRequestCuda **requests, const MotusMeConfig *config,
                                    MotusError *error);
// Blocks until pending requests are done. Accepts NULL inside.
void motus_request_cuda_close(MotusRequestCuda **requests);

// Starts a request; reference: of each target; keep: filled from the picture, NULL: none. At most
// MOTUS_ME_IN_FLIGHT are pending.
MotusStatus motus_request_cuda_submit(MotusRequestCuda *requests, const MotusMeRequest *request,
                                      const MotusReferenceCuda *const *reference,
                                      MotusReferenceCuda *keep, MotusError *error);
// Completes the oldest, which was submitted as *request. MOTUS_AGAIN: not done in time.
MotusStatus motus_request_cuda_finish(MotusRequestCuda *requests, const MotusMeRequest *request,
                                      int timeout_ms, MotusError *error);

#endif
