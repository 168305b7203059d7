// Residual of an MB on the CPU: choice of levels and coded_block_pattern, bits, reconstruction.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_RESIDUAL_CPU_H
#define ENCODER_ANALYSE_RESIDUAL_CPU_H

#include "dct/dct_mb_core.h"
#include "dct/transform8_core.h"
#include "encoder/analyse/trial_core.h"
#include "encoder/levels/levels.h"
#ifdef __AVX2__
#include "dct/transform8_avx2.h"
#endif

// ---- 4x4 transform ------------------------------------------------------------------------------

// Chooses the levels of blocks [from, to) of one component. first: 1 for AC blocks.
static inline void residual_levels(MotusResidual *r, MotusTrial *trial, int from, int to, int first,
                                   const MotusNeighbours *neighbours, const MotusQuant *q,
                                   const MotusLevelChoice *choice) {
    const int category = from >= 16 ? 4 : first ? 1 : 2, intra = motus_mb_is_intra(&trial->mb);
    for (int blk = from; blk < to; blk++) {
        const int context = motus_levels_context(r->count, neighbours, intra, blk, choice);
        r->levels[blk] = MOTUS_ISA(motus_levels)
                             .block(motus_coef_block(&trial->coef, blk), r->coef[blk], r->live[blk],
                                    category, context, q, choice);
        trial->mb.total_coeff[blk] = (uint8_t)r->levels[blk].n;
    }
}

// True if the levels of n <= 16 blocks together are worth their bits.
static inline int levels_pay(const MotusLevels *levels, int n, const MotusQuant *q,
                             const MotusLevelChoice *choice, uint32_t *bits) {
    int32_t ssd_drop = 0;
    *bits = 0;
    for (int i = 0; i < n; i++) {
        ssd_drop += levels[i].ssd_drop;
        *bits += levels[i].bits;
    }
    return motus_ssd_drop_pays(ssd_drop, *bits, q->rate, choice);
}

// Codes luma of an inter MB. Drops each 8x8 block whose levels are not worth their bits. Returns
// the bits.
static inline uint32_t code_inter_luma(MotusResidual *r, MotusTrial *trial,
                                       const MotusMbSource *src, const MotusNeighbours *neighbours,
                                       const MotusQuant *q, const MotusLevelChoice *choice) {
    uint32_t bits = 0;
    motus_residual_luma_forward(r, src, trial, q);
    for (int q8 = 0; q8 < 4; q8++) {
        MotusLevels four[4];
        uint32_t sum;
        const int at = q8 / 2 * 8 + q8 % 2 * 2,
                  is_live = r->live[at] | r->live[at + 1] | r->live[at + 4] | r->live[at + 5];
        for (int i = 0; i < 4 && is_live; i++) {
            const int blk = at + i / 2 * 4 + i % 2;
            residual_levels(r, trial, blk, blk + 1, 0, neighbours, q, choice);
            four[i] = r->levels[blk];
        }
        if (is_live && levels_pay(four, 4, q, choice, &sum)) {
            trial->mb.cbp |= (uint8_t)(1u << q8);
            bits += sum;
        } else {
            for (int i = 0; i < 4; i++) trial->mb.total_coeff[at + i / 2 * 4 + i % 2] = 0;
        }
    }
    if (bits) motus_residual_add(r, trial, 0, 16, 0, q->qp);
    return motus_whole_bits(bits, choice);
}

// Codes both chroma planes and sets chroma's bits of cbp. Returns the bits.
static inline uint32_t motus_code_chroma(MotusResidual *r, MotusTrial *trial,
                                         const MotusMbSource *src,
                                         const MotusNeighbours *neighbours, const MotusQuant *q,
                                         const MotusLevelChoice *choice, int deadzone) {
    uint32_t bits, dc_found = 0;
    motus_residual_chroma_forward(r, src, trial, q);
    for (int c = 0; c < 2; c++) motus_code_chroma_dc(r, trial, c, deadzone, q->qp);
    residual_levels(r, trial, 16, 24, 1, neighbours, q, choice);
    const int ac = levels_pay(r->levels + 16, 8, q, choice, &bits);
    for (int i = 0; i < 8; i++) dc_found |= (uint16_t)trial->coef.chroma_dc[i / 4][i % 4];
    if (!ac) {
        bits = 0;
        memset(trial->mb.total_coeff + 16, 0, 8);
    }
    trial->mb.cbp |= (uint8_t)(ac ? 32 : dc_found ? 16 : 0);
    if (!ac && !dc_found) return 0;
    bits = motus_whole_bits(bits, choice);
    for (int c = 0; c < 2; c++)
        bits += (uint32_t)motus_cavlc_chroma_dc_bits(trial->coef.chroma_dc[c]);
    motus_residual_add(r, trial, 16, 24, 1, q->qp);
    return bits;
}

// Codes both chroma planes of an inter MB with costs of CABAC: nothing, DCs or DCs and AC, what
// costs least with its part of coded_block_pattern. Returns the bits without that part.
static inline uint32_t code_inter_chroma(MotusResidual *r, MotusTrial *trial,
                                         const MotusMbSource *src,
                                         const MotusNeighbours *neighbours, const MotusQuant *q,
                                         const MotusLevelChoice *choice) {
    MotusLevels ac = {0, 0, 0}, dc = {0, 0, 0};
    motus_residual_chroma_forward(r, src, trial, q);
    for (int c = 0; c < 2; c++) {
        int v[4];
        int16_t *level = trial->coef.chroma_dc[c];
        for (int i = 0; i < 4; i++) v[i] = r->coef[16 + 4 * c + i][0];
        motus_hadamard2x2(v);
        const MotusLevels levels = MOTUS_ISA(motus_levels).chroma_dc(level, v, q, choice->costs);
        dc.n += levels.n, dc.bits += levels.bits, dc.ssd_drop += levels.ssd_drop;
        for (int i = 0; i < 4; i++) v[i] = level[i];
        motus_hadamard2x2(v);
        for (int i = 0; i < 4; i++) r->dc[16 + 4 * c + i] = motus_chroma_dc_dequant(v[i], q->qp);
    }
    const MotusChromaChoice chroma = motus_chroma_choice(&dc, choice->costs, neighbours, q->rate);
    int is_live = 0;
    for (int blk = 16; blk < 24; blk++) is_live |= r->live[blk];
    if (is_live) residual_levels(r, trial, 16, 24, 1, neighbours, q, choice);
    for (int blk = 16; blk < 24 && is_live; blk++)
        ac.bits += r->levels[blk].bits, ac.ssd_drop += r->levels[blk].ssd_drop;
    const int ac_pays = motus_chroma_ac_pays(&chroma, ac.ssd_drop, ac.bits, q->rate);
    if (!ac_pays) ac.bits = 0, memset(trial->mb.total_coeff + 16, 0, 8);
    trial->mb.cbp |= (uint8_t)(ac_pays ? 32 : chroma.dc_pays ? 16 : 0);
    if (!ac_pays && !chroma.dc_pays) return 0;
    motus_residual_add(r, trial, 16, 24, 1, q->qp);
    return motus_whole_bits(ac.bits + dc.bits, choice);
}

// Codes luma of an Intra16x16 MB, the AC of all blocks or of none, and sets luma's bits of cbp.
// Returns the bits.
static inline uint32_t motus_code_intra16x16_luma(MotusResidual *r, MotusTrial *trial,
                                                  const MotusMbSource *src,
                                                  const MotusNeighbours *neighbours,
                                                  const MotusQuant *q,
                                                  const MotusLevelChoice *choice) {
    uint32_t ac_bits;
    int16_t level[16];
    motus_residual_luma_forward(r, src, trial, q);
    residual_levels(r, trial, 0, 16, 1, neighbours, q, choice);
    const int ac = levels_pay(r->levels, 16, q, choice, &ac_bits);
    for (int blk = 0; blk < 16; blk++) r->dc[blk] = r->coef[blk][0];
    motus_luma_dc_code(level, r->dc, q->qp, MOTUS_DEADZONE_INTRA);
    for (int i = 0; i < 16; i++) {
        trial->coef.luma_dc[i] = level[motus_zigzag_at(i)];
        trial->coef.luma[i][0] = 0;
        if (!ac) trial->mb.total_coeff[i] = 0;
    }
    trial->mb.cbp |= ac ? 15 : 0;
    const int left = neighbours->a ? neighbours->a->total_coeff[3] : -1,
              above = neighbours->b ? neighbours->b->total_coeff[12] : -1;
    const uint32_t dc_bits = (uint32_t)motus_cavlc_block_bits(
        motus_cavlc_shape(trial->coef.luma_dc, 16), trial->coef.luma_dc, -1, 0, 16,
        motus_cavlc_token_class(motus_cavlc_nc(left, above)), choice->zero_runs);
    motus_residual_add(r, trial, 0, 16, 1, q->qp);
    return dc_bits + (ac ? motus_whole_bits(ac_bits, choice) : 0);
}

// ---- 8x8 transform ------------------------------------------------------------------------------

// Codes an 8x8 block. rec: its prediction, then its reconstruction. Returns 1 if its levels are
// worth their bits.
static inline int motus_code_block8(MotusBlockLevels *b, const uint8_t *src, ptrdiff_t src_stride,
                                    uint8_t *rec, ptrdiff_t rec_stride, const MotusQuant8 *quant,
                                    const MotusLevelChoice *choice) {
    int coef[64];
#ifdef __AVX2__
    forward_block8_avx2(coef, src, src_stride, rec, rec_stride);
#else
    motus_forward8x8(coef, src, src_stride, rec, rec_stride);
#endif
    if (!MOTUS_ISA(motus_levels).block8(b, coef, quant, choice)) return 0;
    memset(coef, 0, sizeof coef);
    const int rem = quant->qp % 6;
    for (uint64_t left = b->live; left; left &= left - 1) {
        const int i = __builtin_ctzll(left), at = motus_zigzag8_at(i);
        coef[at] = motus_dequant8(b->level[i], motus_dequant8_scale(rem, motus_coef8_class(at)),
                                  quant->qp);
    }
#ifdef __AVX2__
    add_block8_avx2(rec, rec_stride, coef);
#else
    motus_inverse8x8_add(rec, rec_stride, coef);
#endif
    return 1;
}

// Puts the levels of 8x8 block q into the MB; NULL: it has none.
static inline void motus_store_block8(MotusMb *mb, MotusMbCoef *coef, int q,
                                      const MotusBlockLevels *b, const MotusLevelChoice *choice) {
    for (int k = 0; k < 4; k++) {
        const int blk = motus_blk_at(4 * q + k);
        int n = 0;
        for (int i = 0; i < 16 && b; i++) {
            coef->luma[blk][i] = b->level[4 * i + k];
            n += coef->luma[blk][i] != 0;
        }
        mb->total_coeff[blk] = (uint8_t)(b && choice->costs ? motus_min(16, b->n) : n);
    }
}

#endif
