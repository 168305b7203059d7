// Requests and predicted centres on a CUDA device, which is the current one in all calls. Same
// results as me_cpu.c. For .cu files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REQUEST_CUDA_H
#define ME_REQUEST_CUDA_H

#include "me/reference_cuda.h"
#include "motus/me_request.h"

typedef struct MotusRequestCuda MotusRequestCuda;
MotusStatus motus_request_cuda_open(MotusRequestCuda **requests, const MotusMeConfig *config,
                                    MotusError *error);
void motus_request_cuda_close(
    MotusRequestCuda **requests); // blocks until pending requests are done

// Starts a request; reference: of each target. At most MOTUS_ME_IN_FLIGHT are pending.
MotusStatus motus_request_cuda_submit(MotusRequestCuda *requests, const MotusMeRequest *request,
                                      const MotusReferenceCuda *const *reference,
                                      MotusError *error);
// Completes the oldest, which was submitted as *request. MOTUS_AGAIN: not done in time.
MotusStatus motus_request_cuda_finish(MotusRequestCuda *requests, const MotusMeRequest *request,
                                      int timeout_ms, MotusError *error);

// Predicted centres, one picture at a time.
typedef struct MotusPredictCuda MotusPredictCuda;
MotusStatus motus_predict_cuda_open(MotusPredictCuda **predict, const MotusMeConfig *config,
                                    MotusError *error);
void motus_predict_cuda_close(MotusPredictCuda **predict); // accepts NULL inside, as above
MotusStatus motus_predict_cuda(MotusPredictCuda *predict, const MotusMeCentres *wanted,
                               const MotusReferenceCuda *reference, MotusError *error);

#endif
