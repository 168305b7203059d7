// Explicit weights of a reference's luma on a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_WEIGHTS_CUDA_H
#define ENCODER_MB_WEIGHTS_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/mb/weights_core.h"
#include "me/pixel/ref_luma.h"

#ifdef __cplusplus
extern "C" {
#endif

// Fills all planes of `to` with weighted samples of `from`, of the same size. Both structs are host
// memory, read before the call returns; their planes are device memory.
cudaError_t motus_weigh_luma_cuda(const MotusRefLuma *to, const MotusRefLuma *from,
                                  MotusWeight weight, int log2_denom, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
