// Macroblock syntax (7.3.4, 7.3.5) with CAVLC residuals (9.2): one writer that also counts. An MB
// consists of units that do not depend on one another's bits: a CPU writes them in order, a warp
// one per lane.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_CAVLC_MB_CORE_H
#define ENCODER_BITSTREAM_CAVLC_MB_CORE_H

#include "dct/dct_core.h"
#include "encoder/bitstream/bits_core.h"
#include "encoder/bitstream/cavlc_core.h"
#include "encoder/bitstream/syntax_core.h"

// ---- residual_block_cavlc (7.3.5.3.2) -----------------------------------------------------------

MOTUS_HD void motus_put_vlc(MotusBits *bits, MotusVlc vlc) {
    motus_bits_put(bits, vlc.length, vlc.bits);
}

// Writes residual_block_cavlc for n levels (4, 15 or 16) in coding order; nc -1: chroma DC.
MOTUS_HD void motus_cavlc_residual(MotusBits *bits, const int16_t *level, int n, int nc) {
    int token_class = motus_cavlc_token_class(nc);
    MotusCavlcShape shape = motus_cavlc_shape(level, n);
    uint32_t trailing = shape.nonzero ? motus_cavlc_trailing_ones(shape) : 0;
    int total_coeff = motus_cavlc_total_coeff(shape.nonzero),
        trailing_ones = motus_cavlc_total_coeff(trailing);
    motus_put_vlc(bits, motus_cavlc_token(token_class, total_coeff, trailing_ones));
    if (!total_coeff) return;
    int total_zeros = motus_bit_length(shape.nonzero) - total_coeff;
    for (uint32_t left = trailing; left; left ^= 1u << (motus_bit_length(left) - 1))
        motus_bits_put(bits, 1, level[motus_bit_length(left) - 1] < 0);
    // The other levels, last one first.
    int suffix_length = total_coeff > 10 && trailing_ones < 3;
    int offset = trailing_ones < 3 ? 2 : 0; // the first one is not +-1, or it would be trailing
    for (uint32_t left = shape.nonzero ^ trailing; left;) {
        int last = motus_bit_length(left) - 1, value = level[last], magnitude = motus_abs(value);
        assert(magnitude <= MOTUS_MAX_LEVEL);
        motus_put_vlc(bits,
                      motus_cavlc_level(2 * magnitude - 2 + (value < 0) - offset, suffix_length));
        suffix_length = motus_cavlc_next_suffix_length(suffix_length, magnitude);
        offset = 0;
        left ^= 1u << last;
    }
    if (total_coeff < n)
        motus_put_vlc(bits, motus_cavlc_total_zeros(token_class, total_coeff, total_zeros));
    uint32_t left = shape.nonzero;
    int zeros_left = total_zeros, last = motus_bit_length(left) - 1;
    while (zeros_left > 0 && (left ^= 1u << last)) {
        int next = motus_bit_length(left) - 1, run_before = last - next - 1;
        motus_put_vlc(bits, motus_cavlc_run(zeros_left, run_before));
        zeros_left -= run_before;
        last = next;
    }
}

// ---- An MB of a slice ---------------------------------------------------------------------------

// Writes mb_type, and the intra modes or sub_mb_type.
MOTUS_HD void motus_put_mode(MotusBits *bits, const MotusMbSyntax *s) {
    const MotusMb *mb = s->mb;
    motus_bits_ue(bits, motus_mb_type_code(mb, s->slice_type));
    if (mb->type == MOTUS_MB_P_8x8)
        for (int i = 0; i < 4; i++) motus_bits_ue(bits, mb->sub_type[i]);
    if (mb->type == MOTUS_MB_I_4x4 && s->transform_8x8) motus_bits_put(bits, 1, mb->transform_8x8);
    if (mb->type == MOTUS_MB_I_4x4)
        for (int i = 0; i < 16; i += mb->transform_8x8 ? 4 : 1) {
            int blk = motus_blk_at(i), mode = mb->intra4x4_pred_mode[blk];
            int predicted = motus_intra4x4_predicted_mode(mb, &s->neighbours, blk);
            motus_bits_put(bits, 1, mode == predicted); // prev_intra4x4_pred_mode_flag
            if (mode != predicted) motus_bits_put(bits, 3, (uint32_t)(mode - (mode > predicted)));
        }
    if (mb->type == MOTUS_MB_I_4x4 || mb->type == MOTUS_MB_I_16x16)
        motus_bits_ue(bits, mb->intra_chroma_pred_mode);
}

// Writes a ref_idx, te(v).
MOTUS_HD void motus_put_ref(MotusBits *bits, int refs, int ref) {
    if (refs == 2)
        motus_bits_put(bits, 1, !ref);
    else
        motus_bits_ue(bits, (uint32_t)ref);
}

// Writes the levels of a block. All kinds of blocks share one path, so that the lanes of a warp do
// not diverge.
MOTUS_HD void motus_put_block(MotusBits *bits, const MotusMbSyntax *s, int unit) {
    const MotusCodedBlock block = motus_unit_block(s->mb, s->coef, unit);
    const int dc = block.n == 4 || unit == MOTUS_UNIT_LUMA_DC;
    const int nc =
        block.n == 4 ? -1 : motus_cavlc_nc_at(s->mb->total_coeff, &s->neighbours, block.blk);
    if (dc || s->mb->total_coeff[block.blk])
        motus_cavlc_residual(bits, block.level, block.n, nc);
    else // its levels are undefined
        motus_put_vlc(bits, motus_cavlc_token(motus_cavlc_token_class(nc), 0, 0));
}

// Writes a unit of the MB (B slices: motus_put_b_unit). The caller writes pcm_alignment_zero_bit.
MOTUS_HD void motus_put_unit(MotusBits *bits, const MotusMbSyntax *s, int unit) {
    const MotusMb *mb = s->mb;
    if (unit >= MOTUS_UNIT_LUMA_DC && mb->type == MOTUS_MB_I_PCM) {
        // 16 samples: row i of luma, from i = 16 on two rows of chroma, Cb first.
        const MotusMbSource *src = &s->src;
        const int i =
            unit < MOTUS_UNIT_CHROMA ? unit - MOTUS_UNIT_LUMA : 16 + unit - MOTUS_UNIT_CHROMA;
        const int p = i < 16 ? 0 : 1 + ((i - 16) >> 2), size = p ? 8 : 16,
                  first = p ? 2 * (i & 3) : i;
        for (int k = 0; k < 16; k++)
            motus_bits_put(bits, 8, src->plane[p][(first + k / size) * src->stride[p] + k % size]);
    } else if (unit >= MOTUS_UNIT_LUMA_DC) {
        motus_put_block(bits, s, unit);
    } else if (unit == MOTUS_UNIT_CBP) {
        if (mb->type != MOTUS_MB_I_16x16)
            motus_bits_ue(bits, (uint32_t)motus_cavlc_cbp_code(mb->cbp, motus_mb_is_intra(mb)));
        if (s->transform_8x8 && !motus_mb_is_intra(mb) && motus_has_transform_size(mb))
            motus_bits_put(bits, 1, mb->transform_8x8);
        if (motus_mb_has_qp_delta(mb)) motus_bits_se(bits, s->qp_delta);
    } else if (unit == MOTUS_UNIT_MV) {
        MotusMv mvd[16];
        for (int q = 0; q < 4 && s->refs > 1; q++)
            if (motus_has_ref(mb, q)) motus_put_ref(bits, s->refs, mb->ref[0][q]);
        int n = motus_mb_mvd(mb, &s->neighbours, mvd);
        for (int i = 0; i < n; i++) {
            motus_bits_se(bits, mvd[i].x);
            motus_bits_se(bits, mvd[i].y);
        }
    } else if (unit == MOTUS_UNIT_MODE) {
        motus_put_mode(bits, s);
    } else {
        motus_bits_ue(bits, s->skip_run);
    }
}

// ---- B slices -----------------------------------------------------------------------------------

// Writes a unit of an MB of a B slice, as motus_put_unit does.
MOTUS_HD void motus_put_b_unit(MotusBits *bits, const MotusMbSyntax *s, int unit) {
    const MotusMb *mb = s->mb;
    if (unit == MOTUS_UNIT_MODE && !motus_mb_is_intra(mb)) {
        motus_bits_ue(bits, motus_b_type_code(mb));
        for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8; q++)
            motus_bits_ue(bits, motus_b_sub_type_code(mb, q));
    } else if (unit == MOTUS_UNIT_MV) {
        for (int q = 0; q < 4 && s->refs > 1; q++)
            if (motus_has_b_mvd(mb, q, 0)) motus_put_ref(bits, s->refs, mb->ref[0][q]);
        for (int i = 0; i < 8; i++) {
            if (!motus_has_b_mvd(mb, i & 3, i >> 2)) continue;
            const MotusMv mvd = motus_b_mvd(mb, &s->neighbours, i & 3, i >> 2);
            motus_bits_se(bits, mvd.x);
            motus_bits_se(bits, mvd.y);
        }
    } else {
        motus_put_unit(bits, s, unit);
    }
}

#endif
