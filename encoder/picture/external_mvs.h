// A field of vectors that the caller gives for a P picture: checked and kept where the frame is
// sent, measured where it is coded.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_EXTERNAL_MVS_H
#define ENCODER_PICTURE_EXTERNAL_MVS_H

#include "encoder/settings/stream.h"
#include "me/samples/ref_luma.h"

#ifdef __cplusplus
extern "C" {
#endif

// Checks params->external_mvs for a picture of the stream. MOTUS_ERR_ARGUMENT, with words in
// *error.
MotusStatus motus_external_mvs_check(const MotusStream *stream, const MotusFrameParams *params,
                                     MotusError *error);

// Bytes of what is kept of a field, and keeping it there.
size_t motus_external_mvs_bytes(const MotusStream *stream);
MotusExternalMvs motus_external_mvs_keep(const MotusStream *stream, const MotusFrameParams *params,
                                         void *memory);

// The preset's effort with no other partitions than the field has.
MotusEffort motus_external_mvs_effort(const MotusStream *stream, const MotusExternalMvs *given);

// Puts the vectors into `field` with their SADs and costs, for those modes: cost = SAD +
// ((lambda_q8 * bits(mv - predictor)) >> 8). src: luma of whole MBs; predictor: per MB.
void motus_external_mvs_measure(const MotusExternalMvs *given, uint32_t modes,
                                const MotusPlane *src, const MotusRefLuma *ref,
                                const MotusMv *predictor, uint32_t lambda_q8, int threads,
                                MotusField *field);

#ifdef __cplusplus
}
#endif
#endif
