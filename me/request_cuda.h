// Requests, references and predicted centres on a CUDA device. Same results as on the CPU. On any
// failure *error gets CUDA's own words; the context is then to be left alone but for closing.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REQUEST_CUDA_H
#define ME_REQUEST_CUDA_H

#include "motus/me_request.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusReferenceCuda MotusReferenceCuda;
MotusStatus motus_reference_cuda_open(MotusReferenceCuda **reference, int device, int width,
                                      int height, int has_half, MotusError *error);
void motus_reference_cuda_close(
    MotusReferenceCuda **reference); // accepts NULL and *reference == NULL
int motus_reference_cuda_device(const MotusReferenceCuda *reference);
MotusStatus motus_reference_cuda_fill(MotusReferenceCuda *reference, const MotusPlane *luma,
                                      MotusMemory memory, void *stream, MotusError *error);

typedef struct MotusRequestCuda MotusRequestCuda;
MotusStatus motus_request_cuda_open(MotusRequestCuda **requests, const MotusMeConfig *config,
                                    int device, MotusError *error);
void motus_request_cuda_close(
    MotusRequestCuda **requests); // waits for what is under way; accepts NULL and *requests == NULL

// reference: of each target. At most MOTUS_ME_IN_FLIGHT are under way.
MotusStatus motus_request_cuda_submit(MotusRequestCuda *requests, const MotusMeRequest *request,
                                      const MotusReferenceCuda *const *reference,
                                      MotusError *error);
// Finishes the oldest, which was submitted as *request. MOTUS_AGAIN: not there in time
// (motus_me_wait).
MotusStatus motus_request_cuda_take(MotusRequestCuda *requests, const MotusMeRequest *request,
                                    int timeout_ms, MotusError *error);

// Predicted centres, one picture at a time: reach and limits as they are to be taken, not 0.
typedef struct MotusPredictCuda MotusPredictCuda;
MotusStatus motus_predict_cuda_open(MotusPredictCuda **predict, const MotusMeConfig *config,
                                    int device, MotusError *error);
void motus_predict_cuda_close(MotusPredictCuda **predict); // accepts NULL and *predict == NULL
MotusStatus motus_predict_cuda(MotusPredictCuda *predict, const MotusMeCentres *asked,
                               const MotusReferenceCuda *reference, MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
