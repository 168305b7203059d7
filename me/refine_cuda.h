// Half- and quarter-sample refinement of whole pictures on a CUDA device. Same results as motus_refine_mb.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REFINE_CUDA_H
#define ME_REFINE_CUDA_H

#include "me/search_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

// Interpolates the picture's reference into `planes` (motus_ref_luma_bytes, at a multiple of 64), then refines the vectors of the blocks of `modes` in place, and their SADs and costs;
// those of vectors that have a fraction already stay as they are.
cudaError_t motus_refine_cuda(const MotusSearchPicture *picture, uint8_t *planes, int width, int height, MotusSubpel subpel,
                              uint32_t modes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
