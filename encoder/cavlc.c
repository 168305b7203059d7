// macroblock_layer (7.3.5) and what it derives from neighbours.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cavlc.h"

#include "common/int_core.h"
#include "encoder/cavlc_tables.h"
#include "encoder/intra.h"

int motus_cavlc_nc(int left, int above) {
    if (left < 0) return above < 0 ? 0 : above;
    return above < 0 ? left : (left + above + 1) >> 1;
}

int motus_cavlc_nc_at(const MotusMb *mb, const MotusMbAround *around, int blk) {
    int side = blk < 16 ? 4 : 2; // blocks per row and column of the component
    int x = blk & (side - 1), y = (blk & (side * side - 1)) / side;
    int left = x ? mb->total_coeff[blk - 1] : around->a ? around->a->total_coeff[blk + side - 1] : -1;
    int above = y ? mb->total_coeff[blk - side] : around->b ? around->b->total_coeff[blk + side * (side - 1)] : -1;
    return motus_cavlc_nc(left, above);
}

static int intra4x4_mode_of(const MotusMb *mb, int blk) {
    return mb->type == MOTUS_MB_I_4x4 ? mb->intra4x4_pred_mode[blk] : MOTUS_I4_DC;
}

int motus_intra4x4_predicted_mode(const MotusMb *mb, const MotusMbAround *around, int blk) {
    const MotusMb *left = blk & 3 ? mb : around->a, *above = blk >> 2 ? mb : around->b;
    if (!left || !above) return MOTUS_I4_DC;
    return motus_min(intra4x4_mode_of(left, (blk & 12) | ((blk - 1) & 3)), intra4x4_mode_of(above, (blk - 4) & 15));
}

// Bits written since *mark, which moves on.
static uint32_t bits_since(const MotusBits *bits, size_t *mark) {
    size_t now = motus_bits_count(bits), since = now - *mark;
    *mark = now;
    return (uint32_t)since;
}

static void write_pcm(MotusBits *bits, const uint8_t *pcm, MotusMbBits *count, size_t *mark) {
    motus_bits_align_zero(bits);
    count->mode += bits_since(bits, mark);
    for (int i = 0; i < 256; i++) motus_bits_put(bits, 8, pcm[i]);
    count->luma += bits_since(bits, mark);
    for (int i = 256; i < 384; i++) motus_bits_put(bits, 8, pcm[i]);
    count->chroma += bits_since(bits, mark);
}

// Tables 7-11 and 7-13. P_8x8ref0 is not used: ref_idx has one possible value and is never written.
static uint32_t mb_type_code(const MotusMb *mb, int p_slice) {
    uint32_t first_intra = p_slice ? 5 : 0;
    switch (mb->type) {
    case MOTUS_MB_I_4x4:
        return first_intra;
    case MOTUS_MB_I_16x16:
        return first_intra + 1 + mb->intra16x16_pred_mode + 4u * (mb->cbp >> 4) + ((mb->cbp & 15) ? 12 : 0);
    case MOTUS_MB_I_PCM:
        return first_intra + 25;
    default:
        return mb->type - (uint32_t)MOTUS_MB_P_16x16;
    }
}

static void write_intra_pred(MotusBits *bits, const MotusMb *mb, const MotusMbAround *around) {
    if (mb->type == MOTUS_MB_I_4x4)
        for (int i = 0; i < 16; i++) {
            int blk = motus_blk_order[i], mode = mb->intra4x4_pred_mode[blk];
            int predicted = motus_intra4x4_predicted_mode(mb, around, blk);
            motus_bits_put(bits, 1, mode == predicted); // prev_intra4x4_pred_mode_flag
            if (mode != predicted) motus_bits_put(bits, 3, (uint32_t)(mode - (mode > predicted)));
        }
    motus_bits_ue(bits, mb->intra_chroma_pred_mode);
}

static int vector_count(const MotusMb *mb) {
    static const uint8_t of_sub_type[4] = {1, 2, 2, 4};
    if (mb->type != MOTUS_MB_P_8x8) return mb->type == MOTUS_MB_P_16x16 ? 1 : 2;
    int n = 0;
    for (int i = 0; i < 4; i++) n += of_sub_type[mb->sub_type[i]];
    return n;
}

static void write_inter_pred(MotusBits *bits, const MotusMb *mb, const MotusMv *mvd, MotusMbBits *count, size_t *mark) {
    if (mb->type == MOTUS_MB_P_8x8)
        for (int i = 0; i < 4; i++) motus_bits_ue(bits, mb->sub_type[i]);
    count->mode += bits_since(bits, mark);
    for (int i = 0, n = vector_count(mb); i < n; i++) {
        motus_bits_se(bits, mvd[i].x);
        motus_bits_se(bits, mvd[i].y);
    }
    count->mv += bits_since(bits, mark);
}

static void write_luma(MotusBits *bits, const MotusMb *mb, const MotusMbCoef *coef, const MotusMbAround *around) {
    int first = mb->type == MOTUS_MB_I_16x16; // its blocks carry AC only
    if (first) motus_cavlc_residual(bits, coef->luma_dc, 16, motus_cavlc_nc_at(mb, around, 0));
    for (int i = 0; i < 16; i++) {
        int blk = motus_blk_order[i];
        if (mb->cbp >> (i / 4) & 1)
            motus_cavlc_residual(bits, coef->luma[blk] + first, 16 - first, motus_cavlc_nc_at(mb, around, blk));
    }
}

static void write_chroma(MotusBits *bits, const MotusMb *mb, const MotusMbCoef *coef, const MotusMbAround *around) {
    if (mb->cbp >> 4)
        for (int c = 0; c < 2; c++) motus_cavlc_residual(bits, coef->chroma_dc[c], 4, -1);
    if (mb->cbp >> 4 == 2)
        for (int i = 0; i < 8; i++)
            motus_cavlc_residual(bits, coef->chroma_ac[i / 4][i & 3] + 1, 15, motus_cavlc_nc_at(mb, around, 16 + i));
}

void motus_cavlc_mb(MotusBits *bits, const MotusMb *mb, const MotusMbCoef *coef, const MotusMbAround *around, const MotusMv *mvd,
                    const uint8_t *pcm, int p_slice, int qp_delta, MotusMbBits *count) {
    MotusMbBits unused = {0};
    if (!count) count = &unused;
    size_t mark = motus_bits_count(bits);
    motus_bits_ue(bits, mb_type_code(mb, p_slice));
    if (mb->type == MOTUS_MB_I_PCM) {
        write_pcm(bits, pcm, count, &mark);
        return;
    }
    if (motus_mb_is_intra(mb))
        write_intra_pred(bits, mb, around);
    else
        write_inter_pred(bits, mb, mvd, count, &mark);
    if (mb->type != MOTUS_MB_I_16x16) motus_bits_ue(bits, (uint32_t)motus_cavlc_cbp_code(mb->cbp, motus_mb_is_intra(mb)));
    int coded = mb->cbp || mb->type == MOTUS_MB_I_16x16;
    if (coded) motus_bits_se(bits, qp_delta);
    count->mode += bits_since(bits, &mark);
    if (!coded) return;
    write_luma(bits, mb, coef, around);
    count->luma += bits_since(bits, &mark);
    write_chroma(bits, mb, coef, around);
    count->chroma += bits_since(bits, &mark);
}
