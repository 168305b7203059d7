// motus_deblock_picture (encoder/deblock.h) on a CUDA device: the same samples.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DEBLOCK_CUDA_H
#define ENCODER_DEBLOCK_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/mb.h"

#ifdef __cplusplus
extern "C" {
#endif

// Length in ints of the memory that a picture's filtering works in.
size_t motus_deblock_cuda_flags(int mb_width, int mb_height);

// Filters the three planes of whole MBs in place, on `stream`; may be captured into a graph. All pointers but the arrays themselves are device memory: planes
// at multiples of 16 bytes with strides (in bytes) that are multiples of 16, mb as for motus_deblock_picture, flags: motus_deblock_cuda_flags ints at a
// multiple of 64 bytes, in any state, not used by another call until this one's work is done.
cudaError_t motus_deblock_cuda(uint8_t *const plane[3], const ptrdiff_t stride[3], const MotusMb *mb, int mb_width, int mb_height,
                               int *flags, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
