// SADs and costs of vectors that the caller gives, on a CUDA device. Same results as
// motus_external_mvs_measure.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_EXTERNAL_MVS_CUDA_H
#define ENCODER_PICTURE_EXTERNAL_MVS_CUDA_H

#include <cuda_runtime_api.h>

#include "me/samples/ref_luma.h"

#ifdef __cplusplus
extern "C" {
#endif

// mv, sad, cost: [MOTUS_BLOCKS][n_mb]; src: luma of whole MBs; predictor: per MB. All device
// memory.
cudaError_t motus_external_mvs_measure_cuda(const MotusMv *mv, uint32_t modes,
                                            const MotusPlane *src, const MotusRefLuma *ref,
                                            const MotusMv *predictor, uint32_t lambda_q8,
                                            uint16_t *sad, uint32_t *cost, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
