// Exhaustive integer search of whole pictures on a CUDA device; equals motus_search_ops_c.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_SEARCH_CUDA_H
#define ME_SEARCH_SEARCH_CUDA_H

#include <cuda_runtime_api.h>

#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTUS_SEARCH_BATCH 32 // largest number of pictures in a launch

// Masks of the blocks to search or refine, in device memory: MB i's is mask[i * pitch]. NULL: all
// blocks.
typedef struct MotusWantedBlocks {
    const uint64_t *mask;
    size_t pitch;
} MotusWantedBlocks;

// One picture to search. All pointers are device memory; planes and their rows begin at multiples
// of 16 bytes.
typedef struct MotusSearchPicture {
    const uint8_t *cur, *ref;
    int cur_stride, ref_stride; // bytes, multiples of 16, at least the width
    const MotusMv *centre;      // per MB, or NULL: zero
    const MotusMv *predictor;   // per MB, or NULL: zero
    const uint16_t *lambda;     // per MB, or NULL: lambda_q8 for all
    uint32_t lambda_q8;
    MotusMv *mv;    // [41][n_mb]
    uint16_t *sad;  // [41][n_mb]
    uint32_t *cost; // [41][n_mb]
    // Small windows leave out MBs whose mask is 0; other windows search all MBs.
    MotusWantedBlocks wanted;
    int early; // of the first picture: search and refinement may begin early (cuda_call.cuh)
} MotusSearchPicture;

// Loads the kernels and grants their shared memory, once per device before the first search.
cudaError_t motus_search_cuda_prepare(void);

// Searches n pictures (1..MOTUS_SEARCH_BATCH) of the same size in one launch. Only blocks of
// `modes` are written. Either all pictures have centres or none.
cudaError_t motus_search_cuda(const MotusSearchPicture *pictures, int n, int width, int height,
                              int range, uint32_t modes, cudaStream_t stream);

// Searches small windows around centres, range MOTUS_SMALL_FROM..MOTUS_SMALL_RANGE.
// motus_search_cuda calls it.
enum { MOTUS_SMALL_FROM = 4, MOTUS_SMALL_RANGE = 8 };
cudaError_t motus_search_small_cuda(const MotusSearchPicture *pictures, int n, int width,
                                    int height, int range, uint32_t modes, cudaStream_t stream);
cudaError_t motus_search_small_cuda_prepare(void);

// Equals motus_search_cuda for one picture and a mask of wanted modes per MB, in device memory.
cudaError_t motus_search_masked_cuda(const MotusSearchPicture *picture, const uint8_t *mask,
                                     int width, int height, int range, uint32_t modes,
                                     cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
