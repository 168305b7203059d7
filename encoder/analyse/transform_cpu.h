// Choice of the transform of an inter MB's luma on the CPU: 4x4 or 8x8, by rate and distortion with
// costs of CABAC.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_TRANSFORM_CPU_H
#define ENCODER_ANALYSE_TRANSFORM_CPU_H

#include "encoder/analyse/block8_cpu.h"
#include "encoder/analyse/inter_core.h"
#include "encoder/analyse/residual_cpu.h"

typedef struct MotusTransformScratch {
    uint8_t pred[256];
    uint8_t rec[256]; // of the 8x8 transform
    MotusBlockLevels levels[4];
} MotusTransformScratch;

// Codes luma with the 8x8 transform, and takes it if it costs less than what the trial has. Returns
// the bits of luma's levels.
static inline uint32_t motus_choose_transform(const MotusInterMb *in,
                                              const MotusLevelChoice *choice,
                                              const MotusTransformChoice *transform,
                                              MotusTransformScratch *s, MotusTrial *trial,
                                              uint32_t bits4) {
    MotusMb *mb = &trial->mb;
    const uint32_t lambda = in->qp->lambda_ssd_q8;
    uint32_t bits = 0;
    int cbp = 0;
    if (!transform->quant8 || motus_has_small_partition(mb)) return bits4;
    memcpy(s->rec, s->pred, sizeof s->rec);
    for (int q = 0; q < 4; q++) {
        const int at = 128 * (q >> 1) + 8 * (q & 1);
        const uint8_t *src = in->src.plane[0] + 8 * (q >> 1) * in->src.stride[0] + 8 * (q & 1);
        if (motus_code_block8(&s->levels[q], src, in->src.stride[0], s->rec + at, 16,
                              &transform->quant8[in->qp->luma.qp], transform->costs,
                              choice->method)) {
            cbp |= 1 << q;
            bits += s->levels[q].bits;
        }
    }
    bits = (bits + MOTUS_BIT / 2) / MOTUS_BIT;
    if (!cbp || motus_rd_cost(motus_ssd_luma(&in->src, s->rec), bits, lambda) >=
                    motus_rd_cost(motus_ssd_luma(&in->src, trial->luma), bits4, lambda))
        return bits4;
    memcpy(trial->luma, s->rec, sizeof trial->luma);
    mb->transform_8x8 = 1;
    mb->cbp = (uint8_t)((mb->cbp & ~15) | cbp);
    for (int q = 0; q < 4; q++) motus_store_block8(trial, q, cbp >> q & 1 ? &s->levels[q] : NULL);
    return bits;
}

#endif
