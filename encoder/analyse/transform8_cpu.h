// The 8x8 transform on the CPU: coding of luma 8x8 blocks, and the choice of an inter MB's
// transform by rate and distortion.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_TRANSFORM8_CPU_H
#define ENCODER_ANALYSE_TRANSFORM8_CPU_H

#include "encoder/analyse/inter_core.h"
#include "encoder/analyse/predict_cpu.h"
#include "encoder/levels/levels_cabac_cpu.h"
#include "encoder/levels/levels_cpu.h"
#ifdef __AVX2__
#include "dct/transform8_avx2.h"
#endif

// ---- Blocks -------------------------------------------------------------------------------------

// Chooses levels for CAVLC, which codes every fourth one as a 4x4 block of its own. nC is taken to
// be the mean count of live coefficients.
static inline void motus_choose_levels8_cavlc(MotusBlockLevels *b, const int coef[64],
                                              const MotusQuant8 *q,
                                              const MotusLevelChoice *choice) {
    const MotusQuant quant = {.rate = q->rate};
    int16_t level[4][16] = {{0}};
    int t[4][16] = {{0}};
    MotusLevelBlock block[4];
    b->n = 0, b->bits = 0, b->gain = 0, b->rate = q->rate;
    if (!motus_find_live8(b, coef, q)) return;
    const int class = motus_cavlc_token_class((__builtin_popcountll(b->live) + 2) / 4);
    for (int k = 0; k < 4; k++) block[k] = (MotusLevelBlock){level[k], t[k], {0, 0}, 0};
    for (uint64_t left = b->live; left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        t[i & 3][i >> 2] = b->t[i];
        motus_level_set(&block[i & 3], i >> 2, motus_nearest_level(b->t[i]),
                        coef[motus_zigzag8_at(i)] < 0);
    }
    for (int k = 0; k < 4; k++) {
        MotusLevels levels = {motus_cavlc_total_coeff(block[k].shape.nonzero),
                              motus_level_block_bits(&block[k], class, choice->zero_runs), 0};
        if (choice->method == MOTUS_LEVELS_LOWERED)
            motus_lower_levels(&block[k], &levels, &quant, class, choice->zero_runs);
        b->n += levels.n;
        b->bits += levels.bits * MOTUS_BIT;
    }
    for (uint64_t left = b->live; left; left &= left - 1) {
        const int i = __builtin_ctzll(left), magnitude = motus_abs(level[i & 3][i >> 2]);
        b->level[i] = level[i & 3][i >> 2];
        b->gain = motus_min(b->gain + motus_level_gain(b->t[i], magnitude), MOTUS_GAIN_MAX);
    }
}

// Chooses levels by MOTUS_LEVELS_GUESSED, for either entropy coder.
static inline void motus_guess_block8(MotusBlockLevels *b, const int coef[64],
                                      const MotusQuant8 *q) {
    int sum = 0;
    b->n = 0, b->bits = 0, b->gain = 0, b->rate = q->rate;
    if (!motus_find_live8(b, coef, q)) return;
    for (uint64_t left = b->live; left; left &= left - 1) {
        const int i = __builtin_ctzll(left), magnitude = motus_guess_magnitude(b->t[i]);
        b->level[i] = motus_signed_level(magnitude, coef[motus_zigzag8_at(i)]);
        b->n++;
        sum += motus_guess_level(magnitude);
        b->gain = motus_min(b->gain + motus_level_gain(b->t[i], magnitude), MOTUS_GAIN_MAX);
    }
    b->bits = motus_guessed_bits8(sum, 64 - __builtin_clzll(b->live) - b->n);
}

// Codes an 8x8 block. rec: its prediction, then its reconstruction. Returns 1 if its levels are
// worth their bits.
static inline int motus_code_block8(MotusBlockLevels *b, const uint8_t *src, ptrdiff_t src_stride,
                                    uint8_t *rec, ptrdiff_t rec_stride, const MotusQuant8 *quant,
                                    const MotusLevelChoice *choice) {
    int coef[64];
#ifdef __AVX2__
    motus_forward_block8_avx2(coef, src, src_stride, rec, rec_stride);
#else
    motus_forward8x8(coef, src, src_stride, rec, rec_stride);
#endif
    if (choice->method == MOTUS_LEVELS_GUESSED)
        motus_guess_block8(b, coef, quant);
    else if (choice->costs)
        motus_choose_levels8(b, coef, quant, choice->costs, choice->method);
    else
        motus_choose_levels8_cavlc(b, coef, quant, choice);
    if (!motus_block_pays(b)) return 0;
    memset(coef, 0, sizeof coef);
    const int rem = quant->qp % 6;
    for (uint64_t left = b->live; left; left &= left - 1) {
        const int i = __builtin_ctzll(left), at = motus_zigzag8_at(i);
        coef[at] = motus_dequant8(b->level[i], motus_dequant8_scale(rem, motus_coef8_class(at)),
                                  quant->qp);
    }
#ifdef __AVX2__
    motus_add_block8_avx2(rec, rec_stride, coef);
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
