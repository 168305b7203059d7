// A build without the CUDA backend.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "encoder/intake_cuda.h"

MotusStatus motus_intake_cuda_open(MotusIntakeCuda **intake, int width, int height, MotusError *error) {
    (void)width, (void)height;
    *intake = NULL;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_intake_cuda_take(MotusIntakeCuda *intake, const MotusFrame *frame, void *stream, MotusFrame *whole,
                                   MotusPlane *luma, MotusError *error) {
    (void)intake, (void)frame, (void)stream, (void)whole, (void)luma;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

void motus_intake_cuda_close(MotusIntakeCuda **intake) { (void)intake; }
