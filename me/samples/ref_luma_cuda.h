// Preparing a reference luma plane on a CUDA device. Same planes as motus_ref_luma_build.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SAMPLES_REF_LUMA_CUDA_H
#define ME_SAMPLES_REF_LUMA_CUDA_H

#include <cuda_runtime_api.h>

#include "me/samples/ref_luma.h"

#ifdef __cplusplus
extern "C" {
#endif

// Fills all four planes of a MotusRefLuma in device memory (motus_ref_luma_layout; the struct
// itself is host memory, read before this returns) and their border, not the margin beyond it.
// luma: device memory, data and stride multiples of 16, of the size given to the layout; filled up
// to whole MBs by edge repetition.
cudaError_t motus_ref_luma_cuda_build(const MotusRefLuma *ref, const MotusPlane *luma,
                                      cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
