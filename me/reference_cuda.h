// The planes of a reference in device memory. For .cu files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REFERENCE_CUDA_H
#define ME_REFERENCE_CUDA_H

#include <cuda_runtime_api.h>

#include "me/pixel/ref_luma.h"

typedef struct MotusReferenceCuda {
    int device, has_half; // has_half: MVs may have fractions
    uint8_t *memory;      // holds both:
    MotusRefLuma luma;
    MotusPlane upload;
    cudaStream_t stream; // used if the caller has none
    cudaEvent_t ready;   // the planes are complete
} MotusReferenceCuda;

// *planes is closed again after a failure.
MotusStatus motus_reference_cuda_open(MotusReferenceCuda **planes, const MotusMeConfig *config,
                                      int device, MotusError *error);
void motus_reference_cuda_close(MotusReferenceCuda *planes); // accepts NULL

// Prepares the planes of `luma`. Returns immediately if that is device memory made on `stream`,
// else blocks until they are complete.
MotusStatus motus_reference_cuda_fill(MotusReferenceCuda *planes, const MotusPlane *luma,
                                      MotusMemory memory, void *stream, MotusError *error);

#endif
