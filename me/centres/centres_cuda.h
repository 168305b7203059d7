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

enum {
    MOTUS_CENTRES_LISTS = 2,  // references of motus_centres_cuda, at most
    MOTUS_CENTRES_SPANS = 16, // lists of motus_mvs_over_cuda, at most
};

// Predicts centres in n references in three launches; their pictures differ in `ref`, `previous`
// and `centre` alone. memory: motus_centres_cuda_bytes at a multiple of 256, used by this picture
// until the stream has passed the launches.
cudaError_t motus_centres_cuda(const MotusCentresPicture *picture, int n, void *memory,
                               cudaStream_t stream);

// Sets scaled[k * n + i] to motus_mv_over(mv[i], to[k], from), from > 0, k < lists.
cudaError_t motus_mvs_over_cuda(const MotusMv *mv, MotusMv *scaled, int n, const int *to, int lists,
                                int from, cudaStream_t stream);

// Makes the first two launches: downscaled[k] gets the MVs of the downscaled search, one per MB,
// and median[k] the median of `previous`, all in `memory`.
cudaError_t motus_downscaled_cuda(const MotusCentresPicture *picture, int n, void *memory,
                                  const MotusMv *downscaled[MOTUS_CENTRES_LISTS],
                                  const MotusMv *median[MOTUS_CENTRES_LISTS], cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
