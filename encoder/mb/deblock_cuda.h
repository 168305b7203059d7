// motus_deblock_picture (encoder/mb/deblock.h) on a CUDA device: the same samples.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_DEBLOCK_CUDA_H
#define ENCODER_MB_DEBLOCK_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/mb/mb.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the bytes of `work`.
size_t motus_deblock_cuda_bytes(int mb_width, int mb_height);

// Filters planes `from` (whole MBs) into other planes `to` with the same strides. May be captured
// into a graph. Planes, mb and work are device memory. Planes and strides (bytes): multiples of 16.
// mb: finalized MBs in raster order; refs: of a P picture, copies:
// MotusCodedMbs.copies; 0: of a B picture. apart_row: MotusCodedMbs.apart_row. work:
// motus_deblock_cuda_bytes, aligned to 64, not shared with another call in flight. early: launches
// after the first may begin early (common/cuda_call.h).
cudaError_t motus_deblock_cuda(uint8_t *const to[3], const uint8_t *const from[3],
                               const ptrdiff_t stride[3], const MotusMb *mb, int mb_width,
                               int mb_height, int refs, int copies, int apart_row, void *work,
                               int early, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
