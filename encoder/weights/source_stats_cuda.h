// MotusSourceStats of a picture on a CUDA device; equal motus_source_stats_measure.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_WEIGHTS_SOURCE_STATS_CUDA_H
#define ENCODER_WEIGHTS_SOURCE_STATS_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/weights/source_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

// Fills *stats, which is device memory, from planes of whole MBs there, rows at multiples of 8
// bytes.
cudaError_t motus_source_stats_measure_cuda(MotusSourceStats *stats, const MotusPlane plane[3],
                                            cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
