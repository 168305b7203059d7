// External MVs: a motion field that the caller gives for a P picture in place of the search.
// Checked and copied by motus_encoder_send, measured where the picture is coded.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_EXTERNAL_MVS_H
#define ENCODER_PICTURE_EXTERNAL_MVS_H

#include "encoder/settings/stream.h"
#include "me/pixel/ref_luma.h"
#ifdef __cplusplus // CUDA code
#include <cuda_runtime_api.h>

extern "C" {
#endif

// Checks params->external_mvs for a picture of the stream. MOTUS_ERR_ARGUMENT.
MotusStatus motus_external_mvs_check(const MotusStream *stream, const MotusFrameParams *params,
                                     MotusError *error);

// Copies the field's MVs to `memory`, which has motus_external_mvs_bytes().
size_t motus_external_mvs_bytes(const MotusStream *stream);
MotusExternalMvs motus_external_mvs_copy(const MotusStream *stream, const MotusFrameParams *params,
                                         void *memory);

// Fills `field` with the MVs of `modes`, their SADs and costs SAD + ((lambda_q8 * bits(mv -
// predictor)) >> 8). src: luma of whole MBs. predictor: per MB.
void motus_external_mvs_measure(const MotusExternalMvs *external, uint32_t modes,
                                const MotusPlane *src, const MotusRefLuma *ref,
                                const MotusMv *predictor, uint32_t lambda_q8, int threads,
                                MotusField *field);

#ifdef __cplusplus
// The same on a device: mv, sad and cost are [MOTUS_BLOCKS][n_mb] of device memory.
cudaError_t motus_external_mvs_measure_cuda(const MotusMv *mv, uint32_t modes,
                                            const MotusPlane *src, const MotusRefLuma *ref,
                                            const MotusMv *predictor, uint32_t lambda_q8,
                                            uint16_t *sad, uint32_t *cost, cudaStream_t stream);
}
#endif
#endif
