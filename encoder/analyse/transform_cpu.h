// Choice of the transform of an inter MB's luma on the CPU: 4x4 or 8x8, by rate and distortion with
// costs of CABAC.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_TRANSFORM_CPU_H
#define ENCODER_ANALYSE_TRANSFORM_CPU_H

#include "encoder/analyse/inter_core.h"
#include "encoder/analyse/levels_cabac_cpu.h"
#include "encoder/analyse/residual_cpu.h"

// What the choice goes by.
typedef struct MotusTransformChoice {
    const MotusQuant8 *quant8; // by QP
    const MotusCabacCosts *costs;
} MotusTransformChoice;

typedef struct MotusTransformScratch {
    uint8_t pred[256];
    uint8_t rec[256]; // of the 8x8 transform
    MotusBlockLevels levels[4];
} MotusTransformScratch;

static inline void motus_store_levels8(MotusMbCoef *coef, int q, const int16_t level[64]) {
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 16; i++) coef->luma[motus_blk_at(4 * q + k)][i] = level[4 * i + k];
}

// Codes 8x8 block q into the scratch. Returns 1 if its levels are worth their bits.
static inline int motus_code_block8(const MotusInterMb *in, const MotusLevelChoice *choice,
                                    const MotusTransformChoice *transform, MotusTransformScratch *s,
                                    int q) {
    const MotusQuant8 *quant = &transform->quant8[in->qp->luma.qp];
    const int x = 8 * (q & 1), y = 8 * (q >> 1);
    const uint8_t *src = in->src.plane[0] + y * in->src.stride[0] + x;
    MotusBlockLevels *b = &s->levels[q];
    int coef[64];
    motus_forward8x8(coef, src, in->src.stride[0], s->pred + 16 * y + x, 16);
    motus_choose_levels8(b, coef, quant, transform->costs, choice->method);
    if (!motus_block_pays(b, 0)) return 0;
    for (int i = 0; i < 64; i++) {
        const int at = motus_zigzag8_at(i);
        coef[at] = motus_dequant8(
            b->level[i], motus_dequant8_scale(quant->qp % 6, motus_coef8_class(at)), quant->qp);
    }
    motus_inverse8x8_add(s->rec + 16 * y + x, 16, coef);
    return 1;
}

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
    for (int q = 0; q < 4; q++)
        if (motus_code_block8(in, choice, transform, s, q)) {
            cbp |= 1 << q;
            bits += s->levels[q].bits;
        }
    bits = (bits + MOTUS_BIT / 2) / MOTUS_BIT;
    if (!cbp || motus_rd_cost(motus_ssd_luma(&in->src, s->rec), bits, lambda) >=
                    motus_rd_cost(motus_ssd_luma(&in->src, trial->luma), bits4, lambda))
        return bits4;
    memcpy(trial->luma, s->rec, sizeof trial->luma);
    mb->transform_8x8 = 1;
    mb->cbp = (uint8_t)((mb->cbp & ~15) | cbp);
    for (int q = 0; q < 4; q++) {
        const int n = cbp >> q & 1 ? motus_min(16, s->levels[q].n) : 0;
        for (int k = 0; k < 4; k++) mb->total_coeff[motus_blk_at(4 * q + k)] = (uint8_t)n;
        if (n) motus_store_levels8(&trial->coef, q, s->levels[q].level);
    }
    return bits;
}

#endif
