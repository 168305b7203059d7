// The 8x8 transform on the CPU: coding of luma 8x8 blocks, and the choice of an inter MB's
// transform by rate and distortion.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_TRANSFORM8_CPU_H
#define ENCODER_ANALYSE_TRANSFORM8_CPU_H

#include "dct/transform8_core.h"
#include "encoder/analyse/inter_core.h"
#include "encoder/analyse/predict_cpu.h"
#include "encoder/levels/levels.h"
#ifdef __AVX2__
#include "dct/transform8_avx2.h"
#endif

// ---- Blocks -------------------------------------------------------------------------------------

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

// ---- Inter MBs ----------------------------------------------------------------------------------

// Codes luma of a decided MB with the 8x8 transform, and takes it if it costs less. rec: luma of
// the MB's reconstruction. Updates mb, coef, rec and *cost and returns 1 if it is taken.
static inline int motus_choose_transform(const MotusInterMb *in, const MotusLevelChoice *choice,
                                         const MotusQuant8 *quant, MotusMb *mb, MotusMbCoef *coef,
                                         uint8_t *rec, ptrdiff_t rec_stride, uint32_t luma_bits,
                                         uint32_t *cost) {
    const uint8_t *src = in->src.plane[0];
    const ptrdiff_t stride = in->src.stride[0];
    uint8_t luma[256];
    MotusBlockLevels levels[4];
    uint32_t bits = 0;
    int cbp = 0;
    if (!motus_transform_is_open(mb, in, *cost)) return 0;
    motus_predict_inter(luma, NULL, in, mb);
    for (int q = 0; q < 4; q++) {
        const int x = 8 * (q & 1), y = 8 * (q >> 1);
        if (!motus_code_block8(&levels[q], src + y * stride + x, stride, luma + 16 * y + x, 16,
                               quant, choice))
            continue;
        cbp |= 1 << q;
        bits += levels[q].bits;
    }
    if (!cbp ||
        !motus_transform_pays(mb, in->qp, motus_ssd_square(src, stride, rec, rec_stride, 16),
                              luma_bits, motus_ssd_luma(&in->src, luma), bits, cost))
        return 0;
    motus_set_transform8(mb, cbp);
    for (int q = 0; q < 4; q++)
        motus_store_block8(mb, coef, q, cbp >> q & 1 ? &levels[q] : NULL, choice);
    for (int y = 0; y < 16; y++) memcpy(rec + y * rec_stride, luma + 16 * y, 16);
    return 1;
}

#endif
