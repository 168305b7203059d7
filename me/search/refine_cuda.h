// Half- and quarter-sample refinement of whole pictures on a CUDA device. Same results as
// motus_refine_mb.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_REFINE_CUDA_H
#define ME_SEARCH_REFINE_CUDA_H

#include "me/pixel/ref_luma.h"
#include "me/search/search_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

// Which of the 41 blocks somebody will look at: MB i's mask is mask[i * pitch], device memory.
// NULL: all.
typedef struct MotusWantedBlocks {
    const uint64_t *mask;
    size_t pitch;
} MotusWantedBlocks;

// Refines the vectors of the blocks of `modes` in place, and their SADs and costs; those of vectors
// that have a fraction already stay as they are, and so do those of blocks that nobody wants. Where
// picture->sad is NULL, neither SADs nor costs are written. ref: the picture's reference, as
// motus_ref_luma_cuda_build left it.
cudaError_t motus_refine_cuda(const MotusSearchPicture *picture, const MotusRefLuma *ref, int width,
                              int height, MotusSubpel subpel, uint32_t modes,
                              MotusWantedBlocks wanted, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
