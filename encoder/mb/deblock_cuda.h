// motus_deblock_picture (encoder/mb/deblock.h) on a CUDA device: the same samples.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_DEBLOCK_CUDA_H
#define ENCODER_MB_DEBLOCK_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/mb/mb.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of the memory that a picture's filtering works in.
size_t motus_deblock_cuda_bytes(int mb_width, int mb_height);

// Filters the three planes `from` of whole MBs into the planes `to`, other ones with the same
// strides, on `stream`; may be captured into a graph. All pointers but the arrays themselves are
// device memory: planes at multiples of 16 bytes with strides (in bytes) that are multiples of 16,
// mb as for motus_deblock_picture, work: motus_deblock_cuda_bytes at a multiple of 64 bytes, in any
// state, not used by another call until this one's work is done. early: the launches but the first
// may begin early (common/cuda_call.h).
cudaError_t motus_deblock_cuda(uint8_t *const to[3], const uint8_t *const from[3],
                               const ptrdiff_t stride[3], const MotusMb *mb, int mb_width,
                               int mb_height, void *work, int early, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
