// Prediction of search centres for a whole picture on a CUDA device. Same centres as
// motus_centres.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CENTRES_CENTRES_CUDA_H
#define ME_CENTRES_CENTRES_CUDA_H

#include <cuda_runtime_api.h>

#include "me/centres/centres_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// Device memory that one picture under way needs.
size_t motus_centres_cuda_bytes(int width, int height);

// Three launches. work: motus_centres_cuda_bytes at a multiple of 256, for this picture alone until
// the stream has passed them.
cudaError_t motus_centres_cuda(const MotusCentresPicture *picture, void *work, cudaStream_t stream);

// The first two of them: the scaled search's vectors, one per MB, and the median of `previous`,
// both in `work`.
size_t motus_coarse_cuda_bytes(int mb_width, int mb_height);
cudaError_t motus_coarse_cuda(const MotusCentresPicture *picture, void *work,
                              const MotusMv **coarse, const MotusMv **median, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
