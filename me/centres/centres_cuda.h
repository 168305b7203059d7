// Prediction of search centres for a whole picture on a CUDA device. Same centres as
// motus_me_predict_centres.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CENTRES_CENTRES_CUDA_H
#define ME_CENTRES_CENTRES_CUDA_H

#include <cuda_runtime_api.h>

#include "me/samples/ref_luma.h"

#ifdef __cplusplus
extern "C" {
#endif

// What motus_me_predict_centres is given. The struct is host memory, as is *ref, and read before
// the launcher returns; everything else is device memory.
typedef struct MotusCentresPicture {
    const uint8_t *cur; // luma plane of ref's size (whole MBs), data and stride multiples of 16
    ptrdiff_t cur_stride;
    const MotusRefLuma *ref; // plane 0 is read
    const MotusMv *previous; // per MB, or NULL; at a multiple of 4 bytes
    uint32_t lambda_q8;      // 0..MOTUS_MAX_LAMBDA_Q8
    int reach;               // samples, a multiple of 4, 4..MOTUS_MAX_COARSE_REACH
    int limit_x, limit_y;    // quarter samples, 0 or more
    MotusMv *centre;         // per MB: the result; not `previous`
    int early;               // launches may begin early (common/cuda_call.h)
} MotusCentresPicture;

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
