// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/residual.h"

#include <string.h>

#include "encoder/cavlc.h"
#include "encoder/quantize.h"

// Chroma and Intra16x16 DC levels are few and matter much: plain dead zones.
#define DEADZONE_DC(intra) ((intra) ? MOTUS_DEADZONE_INTRA : MOTUS_DEADZONE_INTER)

static uint8_t *luma_block(MotusTrial *trial, int blk) {
    return trial->luma + (blk >> 2) * 4 * MOTUS_LUMA_STRIDE + (blk & 3) * 4;
}

// Adds the residual of zigzag levels to a prediction in place. dc, where given, is the dequantized DC that replaces the block's own.
static void reconstruct(const MotusCoding *coding, uint8_t *at, ptrdiff_t stride, const int16_t zigzag[16], int qp,
                        const int16_t *dc) {
    int16_t level[16], coef[16];
    for (int i = 0; i < 16; i++) level[motus_zigzag4x4[i]] = zigzag[i];
    coding->dct->dequant4x4(coef, level, qp);
    if (dc) coef[0] = *dc;
    coding->dct->inverse4x4_add(at, stride, at, stride, coef);
}

// Quantizes `n` luma blocks from position `from` of the coding order on, without their DCs when first is 1; none of them where that costs
// less. Returns the bits, 0 for none.
static uint32_t code_luma_blocks(const MotusCoding *coding, const MotusMbAround *around, MotusTrial *trial, int16_t coef[16][16],
                                 int from, int n, int first) {
    MotusLevels sum = {0};
    for (int i = from; i < from + n; i++) {
        int blk = motus_blk_order[i];
        MotusLevels levels = motus_quantize_block(coding, trial->coef.luma[blk], coef[blk], coding->qp, first,
                                                  motus_cavlc_nc_at(&trial->mb, around, blk));
        trial->mb.total_coeff[blk] = (uint8_t)levels.n;
        sum.error += levels.error;
        sum.zero_error += levels.zero_error;
        sum.bits += levels.bits;
        sum.n += levels.n;
    }
    if (sum.n && sum.error + motus_bits_error(coding, sum.bits) < sum.zero_error) return sum.bits;
    for (int i = from; i < from + n; i++) {
        int blk = motus_blk_order[i];
        memset(trial->coef.luma[blk], 0, sizeof trial->coef.luma[blk]);
        trial->mb.total_coeff[blk] = 0;
    }
    return 0;
}

uint32_t motus_code_inter_luma(const MotusCoding *coding, const MotusMbAround *around, const MotusMbSource *src,
                               MotusTrial *trial) {
    int16_t coef[16][16];
    uint32_t bits = 0;
    coding->dct->forward16x16(coef, src->plane[0], src->stride[0], trial->luma, MOTUS_LUMA_STRIDE);
    memset(trial->mb.total_coeff, 0, 16);
    for (int q = 0; q < 4; q++) {
        uint32_t quarter = code_luma_blocks(coding, around, trial, coef, 4 * q, 4, 0);
        if (quarter) trial->mb.cbp |= (uint8_t)(1 << q);
        bits += quarter;
    }
    for (int blk = 0; blk < 16; blk++)
        if (trial->mb.total_coeff[blk])
            reconstruct(coding, luma_block(trial, blk), MOTUS_LUMA_STRIDE, trial->coef.luma[blk], coding->qp, NULL);
    return bits;
}

uint32_t motus_code_intra16x16_luma(const MotusCoding *coding, const MotusMbAround *around, const MotusMbSource *src,
                                    MotusTrial *trial) {
    int16_t coef[16][16], dc[16], dc_coef[16], level[16];
    coding->dct->forward16x16(coef, src->plane[0], src->stride[0], trial->luma, MOTUS_LUMA_STRIDE);
    for (int blk = 0; blk < 16; blk++) dc[blk] = coef[blk][0];
    motus_luma_dc_forward(dc_coef, dc);
    motus_luma_dc_quant(level, dc_coef, coding->qp, MOTUS_DEADZONE_INTRA);
    for (int i = 0; i < 16; i++) trial->coef.luma_dc[i] = level[motus_zigzag4x4[i]];
    motus_luma_dc_inverse(dc, level, coding->qp);

    memset(trial->mb.total_coeff, 0, 16);
    uint32_t bits = (uint32_t)motus_cavlc_residual_bits(trial->coef.luma_dc, 16, motus_cavlc_nc_at(&trial->mb, around, 0));
    uint32_t ac_bits = code_luma_blocks(coding, around, trial, coef, 0, 16, 1);
    if (ac_bits) trial->mb.cbp |= 15;
    for (int blk = 0; blk < 16; blk++)
        if (dc[blk] || trial->mb.total_coeff[blk])
            reconstruct(coding, luma_block(trial, blk), MOTUS_LUMA_STRIDE, trial->coef.luma[blk], coding->qp, &dc[blk]);
    return bits + ac_bits;
}

// Quantizes DC and AC of chroma plane c. Returns the AC bits; *error is what dropping all AC levels would add, *dc_found whether a DC level is nonzero.
static uint32_t code_chroma_plane(const MotusCoding *coding, const MotusMbAround *around, MotusTrial *trial, int16_t coef[4][16],
                                  int c, int64_t *drop_error, int *dc_found) {
    int16_t dc[4], dc_coef[4];
    uint32_t bits = 0;
    for (int blk = 0; blk < 4; blk++) dc[blk] = coef[blk][0];
    motus_chroma_dc_forward(dc_coef, dc);
    *dc_found |=
        motus_chroma_dc_quant(trial->coef.chroma_dc[c], dc_coef, coding->chroma_qp, DEADZONE_DC(motus_mb_is_intra(&trial->mb)));
    for (int blk = 0; blk < 4; blk++) {
        int at = 16 + 4 * c + blk;
        MotusLevels levels = motus_quantize_block(coding, trial->coef.chroma_ac[c][blk], coef[blk], coding->chroma_qp, 1,
                                                  motus_cavlc_nc_at(&trial->mb, around, at));
        trial->mb.total_coeff[at] = (uint8_t)levels.n;
        *drop_error += levels.zero_error - levels.error;
        bits += levels.bits;
    }
    return bits;
}

static void reconstruct_chroma(const MotusCoding *coding, MotusTrial *trial, int c) {
    int16_t dc[4];
    motus_chroma_dc_inverse(dc, trial->coef.chroma_dc[c], coding->chroma_qp);
    for (int blk = 0; blk < 4; blk++)
        if (dc[blk] || trial->mb.total_coeff[16 + 4 * c + blk])
            reconstruct(coding, trial->chroma[c] + (blk >> 1) * 4 * MOTUS_CHROMA_STRIDE + (blk & 1) * 4, MOTUS_CHROMA_STRIDE,
                        trial->coef.chroma_ac[c][blk], coding->chroma_qp, &dc[blk]);
}

uint32_t motus_code_chroma(const MotusCoding *coding, const MotusMbAround *around, const MotusMbSource *src, MotusTrial *trial) {
    uint32_t ac_bits = 0;
    int64_t drop_error = 0;
    int dc_found = 0;
    memset(trial->mb.total_coeff + 16, 0, 8);
    for (int c = 0; c < 2; c++) {
        int16_t coef[4][16];
        coding->dct->forward8x8(coef, src->plane[c + 1], src->stride[c + 1], trial->chroma[c], MOTUS_CHROMA_STRIDE);
        ac_bits += code_chroma_plane(coding, around, trial, coef, c, &drop_error, &dc_found);
    }
    if (drop_error <= motus_bits_error(coding, ac_bits)) {
        memset(trial->coef.chroma_ac, 0, sizeof trial->coef.chroma_ac);
        memset(trial->mb.total_coeff + 16, 0, 8);
        ac_bits = 0;
    }
    trial->mb.cbp |= (uint8_t)(ac_bits ? 32 : dc_found ? 16 : 0);
    if (!(trial->mb.cbp >> 4)) return 0;
    uint32_t bits = ac_bits;
    for (int c = 0; c < 2; c++) {
        bits += (uint32_t)motus_cavlc_residual_bits(trial->coef.chroma_dc[c], 4, -1);
        reconstruct_chroma(coding, trial, c);
    }
    return bits;
}

uint32_t motus_code_intra4x4_block(const MotusCoding *coding, const uint8_t *src, ptrdiff_t src_stride, uint8_t *at,
                                   int16_t level[16], int nc, int *n) {
    int16_t coef[16];
    coding->dct->forward4x4(coef, src, src_stride, at, MOTUS_LUMA_STRIDE);
    MotusLevels levels = motus_quantize_block(coding, level, coef, coding->qp, 0, nc);
    *n = levels.n;
    if (levels.n) reconstruct(coding, at, MOTUS_LUMA_STRIDE, level, coding->qp, NULL);
    return levels.bits;
}
