// What is behind a MotusReferenceCuda. For .cu files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REFERENCE_CUDA_H
#define ME_REFERENCE_CUDA_H

#include <cuda_runtime_api.h>

#include "me/request_cuda.h"
#include "me/samples/ref_luma.h"

struct MotusReferenceCuda {
    int device, has_half; // has_half: vectors may have fractions
    uint8_t *memory;
    MotusRefLuma luma;   // in the memory
    MotusPlane plane;    // so is this: what was uploaded
    cudaStream_t stream; // of its own, where the caller has none
    cudaEvent_t ready;   // the planes are made
};

#endif
