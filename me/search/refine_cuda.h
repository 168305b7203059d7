// Half- and quarter-sample refinement of whole pictures on a CUDA device; equals
// motus_refine_blocks.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_REFINE_CUDA_H
#define ME_SEARCH_REFINE_CUDA_H

#include "me/pixel/ref_luma.h"
#include "me/search/search_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

// Refines the MVs of the wanted blocks of `modes` in place, and their SADs and costs (unless
// picture->sad is NULL). Leaves MVs that have a fraction already.
cudaError_t motus_refine_cuda(const MotusSearchPicture *picture, const MotusRefLuma *ref, int width,
                              int height, MotusSubpel subpel, uint32_t modes,
                              MotusWantedBlocks wanted, cudaStream_t stream);

// Refines as MOTUS_SUBPEL_BEST says, from a search of this range: equals motus_refine_best. The
// picture has SADs and costs.
cudaError_t motus_refine_best_cuda(const MotusSearchPicture *picture, const MotusRefLuma *ref,
                                   int width, int height, int range, uint32_t modes,
                                   MotusWantedBlocks wanted, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
