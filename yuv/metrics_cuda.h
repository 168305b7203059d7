// SSD of pictures in CUDA device memory.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_METRICS_CUDA_H
#define YUV_METRICS_CUDA_H

#include <cuda_runtime_api.h>

#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// Adds the SSD of each plane of a and b, over the visible width x height of luma, to ssd[3]. All
// pointers are device memory. Rows begin at multiples of 16 bytes and have at most 2^14 samples.
cudaError_t motus_planes_ssd_cuda(const MotusPlane a[3], const MotusPlane b[3], int width,
                                  int height, uint64_t ssd[3], cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
