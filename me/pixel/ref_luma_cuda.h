// Preparation of a reference luma plane on a CUDA device; equals motus_ref_luma_build.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_REF_LUMA_CUDA_H
#define ME_PIXEL_REF_LUMA_CUDA_H

#include <cuda_runtime_api.h>

#include "me/pixel/ref_luma.h"

#ifdef __cplusplus
extern "C" {
#endif

// Fills all four planes and their border, not the margin beyond it. *ref is host memory, read
// before the call returns; its planes are device memory. luma: device memory, data and stride
// multiples of 16, of the size given to the layout.
cudaError_t motus_ref_luma_cuda_build(const MotusRefLuma *ref, const MotusPlane *luma,
                                      cudaStream_t stream);

// Fills the border of plane 0, which holds a picture of width x height, and pads it to whole MBs.
cudaError_t motus_ref_luma_cuda_border(const MotusRefLuma *ref, int width, int height,
                                       cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
