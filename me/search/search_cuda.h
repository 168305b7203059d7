// Exhaustive integer search of whole pictures on a CUDA device. Same results as motus_search_mb_c.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_SEARCH_CUDA_H
#define ME_SEARCH_SEARCH_CUDA_H

#include <cuda_runtime_api.h>

#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTUS_SEARCH_BATCH 32 // most pictures of one launch

// One picture to search. All pointers are device memory; planes begin at a multiple of 16 bytes and
// so do their rows.
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
    int early;      // of the first picture: the launch, and that of refinement, may begin early
                    // (common/cuda_call.h)
} MotusSearchPicture;

// Once per device, before the first search: loads the kernels and lets them have their shared
// memory.
cudaError_t motus_search_cuda_prepare(void);

// Searches n pictures (1..MOTUS_SEARCH_BATCH) of the same size in one launch; only blocks of
// `modes` are written. Either all pictures have centres or none.
cudaError_t motus_search_cuda(const MotusSearchPicture *pictures, int n, int width, int height,
                              int range, uint32_t modes, cudaStream_t stream);

// The same for one picture of which only some MBs, or only some of their blocks, are wanted: mask
// has a mask of modes per MB (device memory), of which those in `modes` are searched and written.
cudaError_t motus_search_masked_cuda(const MotusSearchPicture *picture, const uint8_t *mask,
                                     int width, int height, int range, uint32_t modes,
                                     cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
