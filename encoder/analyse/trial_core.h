// A trial: one way to code an MB, with its levels, reconstruction, bits and RD cost; and the parts
// of its residual that the CPU and warps code alike.
//
// All 24 blocks are coded side by side: nC, which selects the code tables that bits are counted
// with, comes from the counts of live coefficients (motus_live_coefs), not from chosen levels. The
// entropy coder uses the true nC; bits counted here may differ slightly.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_TRIAL_CORE_H
#define ENCODER_ANALYSE_TRIAL_CORE_H

#include <string.h>

#include "dct/dct_mb_core.h"
#include "encoder/analyse/predict_core.h"
#include "encoder/levels/levels_core.h"

// An MB is coded as I_PCM if its estimated size exceeds this limit: macroblock_layer() may not
// exceed 3,200 bits (A.3.1), and I_PCM takes about 3,085. The margin covers what later passes
// change around the MB: coeff_token of 24 blocks by up to 10 bits each, and MVs.
#define MOTUS_MB_BITS_LIMIT 2600
#define MOTUS_PCM_BITS 3090

typedef struct __attribute__((aligned(64))) MotusTrial {
    uint8_t luma[256]; // prediction, then reconstruction before deblocking
    uint8_t chroma[2][64];
    MotusMbCoef coef;
    MotusMb mb;
    uint32_t bits;      // of macroblock_layer() and its mb_skip_run
    uint32_t ssd;       // all three planes
    uint32_t cost;      // motus_rd_cost
    uint32_t luma_bits; // of the levels of an inter MB's luma
} MotusTrial;

// Residual of an MB. Blocks: luma 0..15 in raster order, Cb 16..19, Cr 20..23.
typedef struct MotusResidual {
    int16_t coef[24][16]; // forward transforms
    uint16_t live[24];    // motus_live_coefs
    uint8_t count[24];    // of live coefficients
    MotusLevels levels[24];
    int16_t dc[24]; // dequantized, where DCs are coded apart
    uint32_t reserved[2];
} MotusResidual;

MOTUS_HD uint32_t motus_mode_cost(const MotusQp *qp, uint32_t bits) {
    return qp->lambda_q8 * bits >> 8;
}

// Returns the first sample of block blk in the trial, and its stride.
MOTUS_HD uint8_t *motus_trial_block(MotusTrial *trial, int blk, ptrdiff_t *stride) {
    *stride = blk < 16 ? MOTUS_LUMA_STRIDE : MOTUS_CHROMA_STRIDE;
    if (blk < 16) return trial->luma + (blk >> 2) * 4 * MOTUS_LUMA_STRIDE + (blk & 3) * 4;
    return trial->chroma[(blk - 16) >> 2] + ((blk >> 1) & 1) * 4 * MOTUS_CHROMA_STRIDE +
           (blk & 1) * 4;
}

MOTUS_HD int16_t *motus_coef_block(MotusMbCoef *coef, int blk) {
    return blk < 16 ? coef->luma[blk] : coef->chroma_ac[(blk - 16) >> 2][blk & 3];
}

// Returns the context of the bits of block blk from the counts of its MB: nC, or with CABAC that of
// coded_block_flag in its category.
MOTUS_HD int motus_levels_context(const uint8_t count[24], const MotusNeighbours *neighbours,
                                  int intra, int blk, const MotusLevelChoice *choice) {
    if (!choice->costs) return motus_cavlc_nc_at(count, neighbours, blk);
    const MotusMb *a = neighbours->a, *b = neighbours->b;
    const int side = blk < 16 ? 4 : 2, x = blk & (side - 1), y = (blk & (side * side - 1)) / side;
    const int left = x   ? count[blk - 1] != 0
                     : a ? a->total_coeff[blk + side - 1] != 0
                         : intra,
              above = y   ? count[blk - side] != 0
                      : b ? b->total_coeff[blk + side * (side - 1)] != 0
                          : intra;
    return left + 2 * above;
}

// Adds the residual of n nonzero levels (zigzag order) to a prediction in place. dc replaces the
// block's own DC if has_dc is set.
MOTUS_HD void motus_reconstruct_block(uint8_t *at, ptrdiff_t stride, const int16_t zigzag[16],
                                      int n, int has_dc, int16_t dc, int qp) {
    int16_t coef[16];
    if (n)
        motus_dequant_zigzag(coef, zigzag, qp);
    else
        memset(coef, 0, sizeof coef);
    if (has_dc) coef[0] = dc;
    motus_inverse4x4_in_place(at, stride, coef);
}

// Transform the residual of luma, or of both chroma planes (where live coefficients are AC only).
MOTUS_HD void motus_residual_luma_forward(MotusResidual *r, const MotusMbSource *src,
                                          const MotusTrial *trial, const MotusQuant *q) {
    motus_forward_luma(r->coef, src->plane[0], src->stride[0], trial->luma);
    motus_live_blocks(r->live, r->count, r->coef, 16, q);
}
MOTUS_HD void motus_residual_chroma_forward(MotusResidual *r, const MotusMbSource *src,
                                            const MotusTrial *trial, const MotusQuant *q) {
    for (int c = 0; c < 2; c++)
        motus_forward_chroma(r->coef + 16 + 4 * c, src->plane[c + 1], src->stride[c + 1],
                             trial->chroma[c]);
    motus_live_blocks(r->live + 16, r->count + 16, r->coef + 16, 8, q);
    for (int blk = 16 + motus_lane(); blk < 24; blk += MOTUS_LANES) {
        r->count[blk] = (uint8_t)(r->count[blk] - (r->live[blk] & 1));
        r->live[blk] &= 0xFFFE;
    }
    motus_lanes_sync();
}

// Adds the residual of blocks [from, to) to the prediction.
MOTUS_HD void motus_residual_add(MotusResidual *r, MotusTrial *trial, int from, int to, int has_dc,
                                 int qp) {
    for (int blk = from + motus_lane(); blk < to; blk += MOTUS_LANES) {
        ptrdiff_t stride;
        uint8_t *at = motus_trial_block(trial, blk, &stride);
        int n = trial->mb.total_coeff[blk];
        if (n || (has_dc && r->dc[blk]))
            motus_reconstruct_block(at, stride, motus_coef_block(&trial->coef, blk), n, has_dc,
                                    has_dc ? r->dc[blk] : 0, qp);
    }
    motus_lanes_sync();
}

// Codes the DCs of chroma plane c by a plain dead zone: they are few and matter much.
MOTUS_HD void motus_code_chroma_dc(MotusResidual *r, MotusTrial *trial, int c, int deadzone,
                                   int qp) {
    int v[4];
    int16_t *level = trial->coef.chroma_dc[c];
    MotusQuantizer quantizer = motus_quantizer(qp, deadzone, 1);
    for (int i = 0; i < 4; i++) v[i] = r->coef[16 + 4 * c + i][0];
    motus_hadamard2x2(v);
    for (int i = 0; i < 4; i++) {
        level[i] = (int16_t)motus_quant((int16_t)v[i], quantizer.scale[0], quantizer.offset,
                                        quantizer.shift);
        v[i] = level[i];
    }
    motus_hadamard2x2(v);
    for (int i = 0; i < 4; i++) r->dc[16 + 4 * c + i] = motus_chroma_dc_dequant(v[i], qp);
}

// Makes the trial an I_PCM macroblock.
MOTUS_HD void motus_trial_pcm(MotusTrial *trial, const MotusMbSource *src, const MotusQp *qp) {
    for (int i = motus_lane(); i < 256; i += MOTUS_LANES)
        trial->luma[i] = src->plane[0][(i >> 4) * src->stride[0] + (i & 15)];
    for (int c = 0; c < 2; c++)
        for (int i = motus_lane(); i < 64; i += MOTUS_LANES)
            trial->chroma[c][i] = src->plane[1 + c][(i >> 3) * src->stride[1 + c] + (i & 7)];
    motus_lanes_sync();
    if (motus_lane() == 0) {
        memset(&trial->mb, 0, sizeof trial->mb);
        trial->mb.type = MOTUS_MB_I_PCM;
        memset(trial->mb.total_coeff, 16, sizeof trial->mb.total_coeff);
        trial->bits = MOTUS_PCM_BITS;
        trial->ssd = 0;
        trial->cost = motus_rd_cost(0, MOTUS_PCM_BITS, qp->lambda_ssd_q8);
    }
    motus_lanes_sync();
}

#endif
