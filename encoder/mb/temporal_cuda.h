// Temporal direct prediction (encoder/mb/temporal_core.h) of a picture on a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_TEMPORAL_CUDA_H
#define ENCODER_MB_TEMPORAL_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/mb/temporal_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// Arrays have n_mb elements in device memory; map is host memory, read before the call returns.

// Sets col to motus_col_mb of each MB of a picture.
cudaError_t motus_col_mbs_cuda(const MotusMb *mb, int n_mb, int refs, MotusColMb *col,
                               cudaStream_t stream);
// Sets direct to motus_direct_temporal of each MB.
cudaError_t motus_direct_temporal_cuda(const MotusColMb *col, int n_mb, const MotusTemporalMap *map,
                                       MotusDirect *direct, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
