// Predicted search centres of a whole picture on a CUDA device; equals motus_centres.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CENTRES_CENTRES_CUDA_H
#define ME_CENTRES_CENTRES_CUDA_H

#include <cuda_runtime_api.h>

#include "me/centres/centres_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the bytes of device memory that a picture needs.
size_t motus_centres_cuda_bytes(int width, int height);

// Predicts centres in three launches. memory: motus_centres_cuda_bytes at a multiple of 256, used
// by this picture until the stream has passed the launches.
cudaError_t motus_centres_cuda(const MotusCentresPicture *picture, void *memory,
                               cudaStream_t stream);

// Sets scaled[i] to motus_mv_over(mv[i], to, from), from > 0.
cudaError_t motus_mvs_over_cuda(const MotusMv *mv, MotusMv *scaled, int n, int to, int from,
                                cudaStream_t stream);

// Makes the first two launches: *coarse gets the coarse MVs, one per MB, and *median the median of
// `previous`, both in `memory`.
size_t motus_coarse_cuda_bytes(int mb_width, int mb_height);
cudaError_t motus_coarse_cuda(const MotusCentresPicture *picture, void *memory,
                              const MotusMv **coarse, const MotusMv **median, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
