// Passes over the MBs of a picture on a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_MB_CUDA_H
#define ENCODER_MB_MB_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/mb/direct_core.h"
#include "encoder/mb/weights_core.h"
#include "me/pixel/ref_luma.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Deblocking: the same samples as motus_deblock_picture (encoder/mb/deblock.h) ---------------

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

// ---- Temporal direct prediction (encoder/mb/direct_core.h) ------------------------------------

// Arrays have n_mb elements in device memory; map is host memory, read before the call returns.

// Sets col to motus_col_mb of each MB of a picture.
cudaError_t motus_col_mbs_cuda(const MotusMb *mb, int n_mb, int refs, MotusColMb *col,
                               cudaStream_t stream);
// Sets direct to motus_direct_temporal of each MB.
cudaError_t motus_direct_temporal_cuda(const MotusColMb *col, int n_mb, const MotusTemporalMap *map,
                                       MotusDirect *direct, cudaStream_t stream);

// ---- Explicit weights of a reference's luma -----------------------------------------------------

// Fills all planes of `to` with weighted samples of `from`, of the same size. Both structs are host
// memory, read before the call returns; their planes are device memory.
cudaError_t motus_weigh_luma_cuda(const MotusRefLuma *to, const MotusRefLuma *from,
                                  MotusWeight weight, int log2_denom, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
