// Residual of an MB: transform, choice of levels, reconstruction. All 24 blocks are dealt with side
// by side (a lane each on a GPU): nC, which chooses the code tables that levels are weighed by,
// comes from the counts of live coefficients in place of the final counts of the MB's other blocks,
// so that no block waits for another. What is written later uses the true nC; the bits counted here
// may miss it slightly.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_RESIDUAL_CORE_H
#define ENCODER_ANALYSE_RESIDUAL_CORE_H

#include "dct/dct_cpu.h"
#include "encoder/analyse/levels_lanes_core.h"
#include "encoder/mb/predict_core.h"

// An MB whose estimated size passes this many bits is coded as I_PCM: macroblock_layer() may not
// pass 3,200 (A.3.1), I_PCM itself takes about 3,085. The estimate may miss by what later passes
// change around the MB: coeff_token of 24 blocks by 10 bits each, and vectors.
#define MOTUS_MB_BITS_LIMIT 2600
#define MOTUS_PCM_BITS 3090

// One way to code an MB, evaluated.
typedef struct __attribute__((aligned(64))) MotusTrial {
    uint8_t luma[256]; // prediction, then reconstruction before deblocking
    uint8_t chroma[2][64];
    MotusMbCoef coef;
    MotusMb mb;
    uint32_t bits; // of macroblock_layer() and its mb_skip_run
    uint32_t ssd;  // all three planes
    uint32_t cost; // motus_rd_cost
} MotusTrial;

// Working memory of a residual.
typedef struct MotusResidual {
    int16_t coef[24][16]; // forward transforms: luma raster, Cb, Cr
    uint16_t live[24];    // motus_live_coefs
    uint8_t count[24];    // how many
    MotusLevels levels[24];
    int16_t dc[24];   // dequantized, where DCs are coded apart: luma 16, Cb 4, Cr 4
    uint32_t dc_bits; // of Intra16x16's DC levels
    int luma_cbp;     // of Intra16x16: 15 or 0
} MotusResidual;

MOTUS_HD uint8_t *motus_trial_block(MotusTrial *trial, int blk, ptrdiff_t *stride) {
    *stride = blk < 16 ? MOTUS_LUMA_STRIDE : MOTUS_CHROMA_STRIDE;
    if (blk < 16) return trial->luma + (blk >> 2) * 4 * MOTUS_LUMA_STRIDE + (blk & 3) * 4;
    return trial->chroma[(blk - 16) >> 2] + ((blk >> 1) & 1) * 4 * MOTUS_CHROMA_STRIDE +
           (blk & 1) * 4;
}

MOTUS_HD int16_t *motus_coef_block(MotusMbCoef *coef, int blk) {
    return blk < 16 ? coef->luma[blk] : coef->chroma_ac[(blk - 16) >> 2][blk & 3];
}

// Adds the residual of zigzag levels to a prediction in place. n: nonzero levels. dc replaces the
// block's own where has_dc is set.
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

// Forward transform and live coefficients of luma (blocks 0..15) or chroma (16..23).
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
    for (int blk = 16 + motus_lane(); blk < 24; blk += MOTUS_LANES) { // AC only
        r->count[blk] = (uint8_t)(r->count[blk] - (r->live[blk] & 1));
        r->live[blk] &= 0xFFFE;
    }
    motus_lanes_sync();
}

// Chooses levels of blocks [from, to) of one component.
MOTUS_HD void motus_residual_levels(MotusResidual *r, MotusTrial *trial, int from, int to,
                                    int first, const MotusNeighbours *neighbours,
                                    const MotusQuant *q, const MotusLevelChoice *choice) {
    for (int blk = from + motus_lane(); blk < to; blk += MOTUS_LANES) {
        int nc = motus_cavlc_nc_at(r->count, neighbours, blk);
        r->levels[blk] =
            motus_choose_levels(motus_coef_block(&trial->coef, blk), r->coef[blk], r->live[blk],
                                first, nc, q, choice->method, choice->zero_runs);
        trial->mb.total_coeff[blk] = (uint8_t)r->levels[blk].n;
    }
    motus_lanes_sync();
}

#if MOTUS_LANES > 1

// The same for intra MBs, which others wait for: by eight lanes a block. As many blocks as four
// divides.
MOTUS_HD void motus_residual_intra_levels(MotusResidual *r, MotusTrial *trial, int from, int to,
                                          int first, const MotusNeighbours *neighbours,
                                          const MotusQuant *q, const MotusLevelChoice *choice) {
    const MotusQuant quant =
        *q; // copies, which stay in registers: nothing that is written can be meant
    const MotusLevelChoice own_choice = *choice;
    const MotusLevelPair pair = motus_level_pair(q);
    for (int four = from; four < to; four += 4) {
        const int blk = four + (motus_lane() >> 3),
                  nc = motus_cavlc_nc_at(r->count, neighbours, blk);
        MotusPairLevels own;
        const int coef[2] = {r->coef[blk][pair.at[0]], r->coef[blk][pair.at[1]]};
        const MotusLevels levels =
            motus_eight_levels(motus_coef_block(&trial->coef, blk), coef, &pair, r->live[blk] != 0,
                               first, nc, &quant, &own_choice, &own);
        if (motus_lane() & 7) continue;
        r->levels[blk] = levels;
        trial->mb.total_coeff[blk] = (uint8_t)levels.n;
    }
    motus_lanes_sync();
}

#endif

// Whether the levels of n blocks pay for their bits together.
MOTUS_HD int motus_levels_pay(const MotusLevels *levels, int n, const MotusQuant *q,
                              uint32_t *bits) {
    int32_t gain = 0; // n is at most 16: below 2^30
    *bits = 0;
    for (int i = 0; i < n; i++) {
        gain += levels[i].gain;
        *bits += levels[i].bits;
    }
    return gain > (int32_t)(*bits * q->rate);
}

// Luma of an inter MB: an 8x8 block whose levels do not pay for their bits is left out of cbp.
// Returns the bits.
MOTUS_HD uint32_t motus_inter_luma_cbp(MotusResidual *r, MotusTrial *trial, const MotusQuant *q) {
    uint32_t bits = 0, cbp = 0;
    for (int q8 = 0; q8 < 4; q8++) {
        MotusLevels four[4];
        uint32_t sum;
        int at = q8 / 2 * 8 + q8 % 2 * 2;
        for (int i = 0; i < 4; i++) four[i] = r->levels[at + i / 2 * 4 + i % 2];
        if (!motus_levels_pay(four, 4, q, &sum)) continue;
        cbp |= 1u << q8;
        bits += sum;
    }
    motus_lanes_sync();
    for (int blk = motus_lane(); blk < 16; blk += MOTUS_LANES)
        if (!(cbp >> (blk / 8 * 2 + blk % 4 / 2) & 1)) trial->mb.total_coeff[blk] = 0;
    if (motus_lane() == 0) trial->mb.cbp |= (uint8_t)cbp;
    motus_lanes_sync();
    return bits;
}

// Adds the residual of blocks [from, to) to the prediction, where there is any.
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

MOTUS_HD uint32_t motus_code_inter_luma(MotusResidual *r, MotusTrial *trial,
                                        const MotusMbSource *src, const MotusNeighbours *neighbours,
                                        const MotusQp *qp, const MotusLevelChoice *choice) {
    motus_residual_luma_forward(r, src, trial, &qp->luma);
    motus_residual_levels(r, trial, 0, 16, 0, neighbours, &qp->luma, choice);
    uint32_t bits = motus_inter_luma_cbp(r, trial, &qp->luma);
    if (bits) motus_residual_add(r, trial, 0, 16, 0, qp->luma.qp);
    return bits;
}

// Chroma DC levels of one plane, by a plain dead zone: they are few and matter much.
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

// Both chroma planes; cbp's chroma bits. Returns the bits.
MOTUS_HD uint32_t motus_code_chroma(MotusResidual *r, MotusTrial *trial, const MotusMbSource *src,
                                    const MotusNeighbours *neighbours, const MotusQp *qp,
                                    const MotusLevelChoice *choice, int intra) {
    const int deadzone = intra ? MOTUS_DEADZONE_INTRA : MOTUS_DEADZONE_INTER;
    uint32_t bits, found = 0;
    motus_residual_chroma_forward(r, src, trial, &qp->chroma);
    for (int c = motus_lane(); c < 2; c += MOTUS_LANES)
        motus_code_chroma_dc(r, trial, c, deadzone, qp->chroma.qp);
    motus_residual_levels(r, trial, 16, 24, 1, neighbours, &qp->chroma, choice);
    int ac = motus_levels_pay(r->levels + 16, 8, &qp->chroma, &bits);
    for (int i = 0; i < 8; i++) found |= (uint16_t)trial->coef.chroma_dc[i / 4][i % 4];
    motus_lanes_sync();
    if (!ac) {
        bits = 0;
        for (int blk = 16 + motus_lane(); blk < 24; blk += MOTUS_LANES)
            trial->mb.total_coeff[blk] = 0;
    }
    if (motus_lane() == 0) trial->mb.cbp |= (uint8_t)(ac ? 32 : found ? 16 : 0);
    motus_lanes_sync();
    if (!ac && !found) return 0;
    for (int c = 0; c < 2; c++)
        bits += (uint32_t)motus_cavlc_chroma_dc_bits(trial->coef.chroma_dc[c]);
    motus_residual_add(r, trial, 16, 24, 1, qp->chroma.qp);
    return bits;
}

#if MOTUS_LANES == 1

// Luma of an Intra16x16 MB: AC is coded for all blocks or none, the DCs always. Returns the bits;
// r->luma_cbp is to be put into cbp by the caller (chroma may be in the hands of other lanes).
MOTUS_HD uint32_t motus_code_intra16x16_luma(MotusResidual *r, MotusTrial *trial,
                                             const MotusMbSource *src,
                                             const MotusNeighbours *neighbours, const MotusQp *qp,
                                             const MotusLevelChoice *choice) {
    uint32_t ac_bits;
    motus_residual_luma_forward(r, src, trial, &qp->luma);
    motus_residual_levels(r, trial, 0, 16, 1, neighbours, &qp->luma, choice);
    int ac = motus_levels_pay(r->levels, 16, &qp->luma, &ac_bits);
    if (motus_lane() == 0) {
        int16_t dc[16], level[16];
        for (int blk = 0; blk < 16; blk++) dc[blk] = r->coef[blk][0];
        motus_luma_dc_code(level, dc, qp->luma.qp, MOTUS_DEADZONE_INTRA);
        for (int i = 0; i < 16; i++) trial->coef.luma_dc[i] = level[motus_zigzag_at(i)];
        for (int blk = 0; blk < 16; blk++) {
            r->dc[blk] = dc[blk];
            trial->coef.luma[blk][0] = 0;
            if (!ac) trial->mb.total_coeff[blk] = 0;
        }
        r->luma_cbp = ac ? 15 : 0;
        int left = neighbours->a ? neighbours->a->total_coeff[3] : -1,
            above = neighbours->b ? neighbours->b->total_coeff[12] : -1;
        r->dc_bits = (uint32_t)motus_cavlc_block_bits(
            motus_cavlc_shape(trial->coef.luma_dc, 16), trial->coef.luma_dc, 16,
            motus_cavlc_token_class(motus_cavlc_nc(left, above)), choice->zero_runs);
    }
    motus_lanes_sync();
    motus_residual_add(r, trial, 0, 16, 1, qp->luma.qp);
    return r->dc_bits + (ac ? ac_bits : 0);
}

#endif

// Fills ssd and cost from the reconstruction and `bits`.
MOTUS_HD void motus_trial_judge(MotusTrial *trial, const MotusMbSource *src, const MotusQp *qp) {
    uint32_t ssd = motus_ssd_luma(src, trial->luma) + motus_ssd_chroma(src, trial->chroma);
    if (motus_lane() == 0) {
        trial->ssd = ssd;
        trial->cost = motus_rd_cost(ssd, trial->bits, qp->lambda_ssd_q8);
    }
    motus_lanes_sync();
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
