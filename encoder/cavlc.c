// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cavlc.h"

#include <assert.h>

#include "encoder/syntax_core.h"

// ---- residual_block_cavlc (7.3.5.3.2) -----------------------------------------------------------------------------------------------------

static void put_vlc(MotusBits *bits, MotusVlc vlc) { motus_bits_put(bits, vlc.length, vlc.bits); }

static void put_trailing_signs(MotusBits *bits, const int16_t *level, uint32_t trailing) {
    for (; trailing; trailing ^= 1u << (motus_bit_length(trailing) - 1))
        motus_bits_put(bits, 1, level[motus_bit_length(trailing) - 1] < 0);
}

// The levels left in `nonzero`, last one first.
static void put_levels(MotusBits *bits, const int16_t *level, uint32_t nonzero, int total_coeff, int trailing_ones) {
    int suffix_length = total_coeff > 10 && trailing_ones < 3;
    int offset = trailing_ones < 3 ? 2 : 0; // the first one can't be +-1, or it would be a trailing one
    while (nonzero) {
        int last = motus_bit_length(nonzero) - 1, value = level[last], magnitude = motus_abs(value);
        assert(magnitude <= MOTUS_MAX_LEVEL);
        put_vlc(bits, motus_cavlc_level(2 * magnitude - 2 + (value < 0) - offset, suffix_length));
        suffix_length = motus_cavlc_next_suffix_length(suffix_length, magnitude);
        offset = 0;
        nonzero ^= 1u << last;
    }
}

static void put_runs(MotusBits *bits, uint32_t nonzero, int zeros_left) {
    int last = motus_bit_length(nonzero) - 1;
    while (zeros_left > 0 && (nonzero ^= 1u << last)) {
        int next = motus_bit_length(nonzero) - 1, run_before = last - next - 1;
        put_vlc(bits, motus_cavlc_run(zeros_left, run_before));
        zeros_left -= run_before;
        last = next;
    }
}

void motus_cavlc_residual(MotusBits *bits, const int16_t *level, int n, int nc) {
    int token_class = motus_cavlc_token_class(nc);
    MotusCavlcShape shape = motus_cavlc_shape(level, n);
    uint32_t trailing = shape.nonzero ? motus_cavlc_trailing_ones(shape) : 0;
    int total_coeff = motus_cavlc_total_coeff(shape.nonzero), trailing_ones = motus_cavlc_total_coeff(trailing);
    put_vlc(bits, motus_cavlc_token(token_class, total_coeff, trailing_ones));
    if (!total_coeff) return;
    int total_zeros = motus_bit_length(shape.nonzero) - total_coeff;
    put_trailing_signs(bits, level, trailing);
    put_levels(bits, level, shape.nonzero ^ trailing, total_coeff, trailing_ones);
    if (total_coeff < n) put_vlc(bits, motus_cavlc_total_zeros(token_class, total_coeff, total_zeros));
    put_runs(bits, shape.nonzero, total_zeros);
}

// A 4x4 block of an MB: one without levels has nothing to read.
static void put_block(MotusBits *bits, const MotusMb *mb, const MotusNeighbours *neighbours, int blk, const int16_t *level,
                      int n) {
    int nc = motus_cavlc_nc_at(mb->total_coeff, neighbours, blk);
    if (mb->total_coeff[blk])
        motus_cavlc_residual(bits, level, n, nc);
    else
        put_vlc(bits, motus_cavlc_token(motus_cavlc_token_class(nc), 0, 0));
}

// ---- macroblock_layer (7.3.5) -------------------------------------------------------------------------------------------------------------

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

static void write_intra_pred(MotusBits *bits, const MotusMb *mb, const MotusNeighbours *neighbours) {
    if (mb->type == MOTUS_MB_I_4x4)
        for (int i = 0; i < 16; i++) {
            int blk = motus_blk_at(i), mode = mb->intra4x4_pred_mode[blk];
            int predicted = motus_intra4x4_predicted_mode(mb, neighbours, blk);
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

static void write_luma(MotusBits *bits, const MotusMb *mb, const MotusMbCoef *coef, const MotusNeighbours *neighbours) {
    int first = mb->type == MOTUS_MB_I_16x16; // its blocks carry AC only
    if (first) motus_cavlc_residual(bits, coef->luma_dc, 16, motus_cavlc_nc_at(mb->total_coeff, neighbours, 0));
    for (int i = 0; i < 16; i++) {
        int blk = motus_blk_at(i);
        if (mb->cbp >> (i / 4) & 1) put_block(bits, mb, neighbours, blk, coef->luma[blk] + first, 16 - first);
    }
}

static void write_chroma(MotusBits *bits, const MotusMb *mb, const MotusMbCoef *coef, const MotusNeighbours *neighbours) {
    if (mb->cbp >> 4)
        for (int c = 0; c < 2; c++) motus_cavlc_residual(bits, coef->chroma_dc[c], 4, -1);
    if (mb->cbp >> 4 == 2)
        for (int i = 0; i < 8; i++) put_block(bits, mb, neighbours, 16 + i, coef->chroma_ac[i / 4][i & 3] + 1, 15);
}

void motus_cavlc_mb(MotusBits *bits, const MotusMb *mb, const MotusMbCoef *coef, const MotusNeighbours *neighbours,
                    const MotusMv *mvd, const uint8_t *pcm, int p_slice, int qp_delta, MotusMbBits *count) {
    MotusMbBits unused = {0};
    if (!count) count = &unused;
    size_t mark = motus_bits_count(bits);
    motus_bits_ue(bits, motus_mb_type_code(mb, p_slice));
    if (mb->type == MOTUS_MB_I_PCM) {
        write_pcm(bits, pcm, count, &mark);
        return;
    }
    if (motus_mb_is_intra(mb))
        write_intra_pred(bits, mb, neighbours);
    else
        write_inter_pred(bits, mb, mvd, count, &mark);
    if (mb->type != MOTUS_MB_I_16x16) motus_bits_ue(bits, (uint32_t)motus_cavlc_cbp_code(mb->cbp, motus_mb_is_intra(mb)));
    int coded = mb->cbp || mb->type == MOTUS_MB_I_16x16;
    if (coded) motus_bits_se(bits, qp_delta);
    count->mode += bits_since(bits, &mark);
    if (!coded) return;
    write_luma(bits, mb, coef, neighbours);
    count->luma += bits_since(bits, &mark);
    write_chroma(bits, mb, coef, neighbours);
    count->chroma += bits_since(bits, &mark);
}
