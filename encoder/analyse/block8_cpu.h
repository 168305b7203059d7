// Coding of luma 8x8 blocks on the CPU: levels, reconstruction, what the MB keeps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_BLOCK8_CPU_H
#define ENCODER_ANALYSE_BLOCK8_CPU_H

#include "encoder/analyse/levels_cabac_cpu.h"
#include "encoder/analyse/trial_core.h"
#ifdef __AVX2__
#include "dct/transform8_avx2.h"
#endif

// Tables that decisions with CABAC read.
typedef struct MotusTransformChoice {
    const MotusQuant8 *quant8; // by QP; NULL: no 8x8 transform
    const MotusCabacCosts *costs;
} MotusTransformChoice;

static inline void motus_forward_block8(int coef[64], const uint8_t *src, ptrdiff_t src_stride,
                                        const uint8_t *pred, ptrdiff_t pred_stride) {
#ifdef __AVX2__
    motus_forward_block8_avx2(coef, src, src_stride, pred, pred_stride);
#else
    motus_forward8x8(coef, src, src_stride, pred, pred_stride);
#endif
}

static inline void motus_add_block8(uint8_t *rec, ptrdiff_t stride, int coef[64]) {
#ifdef __AVX2__
    motus_add_block8_avx2(rec, stride, coef);
#else
    motus_inverse8x8_add(rec, stride, coef);
#endif
}

// Codes an 8x8 block. rec: its prediction, then its reconstruction. Returns 1 if its levels are
// worth their bits.
static inline int motus_code_block8(MotusBlockLevels *b, const uint8_t *src, ptrdiff_t src_stride,
                                    uint8_t *rec, ptrdiff_t rec_stride, const MotusQuant8 *quant,
                                    const MotusCabacCosts *costs, int method) {
    int coef[64];
    motus_forward_block8(coef, src, src_stride, rec, rec_stride);
    motus_choose_levels8(b, coef, quant, costs, method);
    if (!motus_block_pays(b)) return 0;
    memset(coef, 0, sizeof coef);
    const int rem = quant->qp % 6;
    for (uint64_t left = b->live; left; left &= left - 1) {
        const int i = __builtin_ctzll(left), at = motus_zigzag8_at(i);
        coef[at] = motus_dequant8(b->level[i], motus_dequant8_scale(rem, motus_coef8_class(at)),
                                  quant->qp);
    }
    motus_add_block8(rec, rec_stride, coef);
    return 1;
}

// Puts the levels of 8x8 block q into the trial; NULL: it has none.
static inline void motus_store_block8(MotusTrial *trial, int q, const MotusBlockLevels *b) {
    for (int k = 0; k < 4; k++) {
        const int blk = motus_blk_at(4 * q + k);
        trial->mb.total_coeff[blk] = (uint8_t)(b ? motus_min(16, b->n) : 0);
        for (int i = 0; i < 16 && b; i++) trial->coef.luma[blk][i] = b->level[4 * i + k];
    }
}

#endif
