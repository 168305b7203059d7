// External MVs, which the caller gives in place of the search: a motion field of a P picture's
// first reference, or blocks with the distances of their references. Checked and copied by
// motus_encoder_send, measured where the picture is coded.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_EXTERNAL_MVS_H
#define ENCODER_PICTURE_EXTERNAL_MVS_H

#include "encoder/settings/stream.h"
#include "me/pixel/ref_luma.h"
#ifdef __cplusplus // CUDA code
#include <cuda_runtime_api.h>

extern "C" {
#endif

// Checks params->external_mvs and reference_mvs for a picture of the stream. MOTUS_ERR_ARGUMENT.
MotusStatus motus_external_mvs_check(const MotusStream *stream, const MotusFrameParams *params,
                                     MotusError *error);

// Returns the bytes of a copy of the caller's MVs; 0: none are given.
size_t motus_external_mvs_bytes(const MotusStream *stream, const MotusFrameParams *params);

// Copies the MVs to `memory`, which has these bytes and is aligned to 16.
MotusExternalMvs motus_external_mvs_copy(const MotusStream *stream, const MotusFrameParams *params,
                                         void *memory);

// Fills external->mv for the reference at `distance` pictures in display order, below 0 an earlier
// one. A field stays as it is.
void motus_external_mvs_choose(const MotusExternalMvs *external, const MotusStream *stream,
                               int distance);

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
