// Binarization of macroblocks (7.3.4, 7.3.5, 9.3.2, 9.3.3.1): an MB's units become symbols. No
// unit depends on another one's symbols: a CPU makes them in order, a warp one per lane.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_CABAC_MB_CORE_H
#define ENCODER_CABAC_CABAC_MB_CORE_H

#include "encoder/bitstream/syntax_core.h"
#include "encoder/cabac/cabac_core.h"

// ---- mb_skip_flag, mb_type, sub_mb_type ---------------------------------------------------------

// Puts mb_skip_flag. context: its first one, MOTUS_CTX_SKIP or MOTUS_CTX_SKIP_IN_B.
MOTUS_HD void motus_put_skip_flag(MotusSymbols *s, const MotusMbSyntax *m, int context) {
    const MotusMb *a = m->neighbours.a, *b = m->neighbours.b;
    const int coded = (a && a->type != MOTUS_MB_P_SKIP) + (b && b->type != MOTUS_MB_P_SKIP);
    motus_put_bin(s, context + coded, m->mb->type == MOTUS_MB_P_SKIP);
}

// Puts an intra mb_type behind its first bin. context: of cbp's luma bin; spread: 1 in I slices,
// where the bins behind it have contexts of their own.
MOTUS_HD void motus_put_intra_type(MotusSymbols *s, const MotusMb *mb, int context, int spread) {
    const int mode = mb->intra16x16_pred_mode, chroma = mb->cbp >> 4;
    motus_put_bin(s, MOTUS_CTX_TERMINATE, mb->type == MOTUS_MB_I_PCM);
    if (mb->type == MOTUS_MB_I_PCM) return;
    motus_put_bin(s, context, mb->cbp & 15);
    motus_put_bin(s, context + 1, chroma);
    if (chroma) motus_put_bin(s, context + 1 + spread, chroma == 2);
    motus_put_bin(s, context + 2 + spread, mode >> 1);
    motus_put_bin(s, context + 2 + 2 * spread, mode & 1);
}

// Puts mb_type of an intra MB in an I or P slice.
MOTUS_HD void motus_put_intra_mb_type(MotusSymbols *s, const MotusMbSyntax *m) {
    const MotusMb *mb = m->mb, *a = m->neighbours.a, *b = m->neighbours.b;
    if (!m->slice_type) {
        const int larger = (a && a->type != MOTUS_MB_I_4x4) + (b && b->type != MOTUS_MB_I_4x4);
        motus_put_bin(s, MOTUS_CTX_I_TYPE + larger, mb->type != MOTUS_MB_I_4x4);
        if (mb->type != MOTUS_MB_I_4x4) motus_put_intra_type(s, mb, MOTUS_CTX_I_TYPE + 3, 1);
        return;
    }
    motus_put_bin(s, MOTUS_CTX_P_TYPE, 1);
    motus_put_bin(s, MOTUS_CTX_I_TYPE_IN_P, mb->type != MOTUS_MB_I_4x4);
    if (mb->type != MOTUS_MB_I_4x4) motus_put_intra_type(s, mb, MOTUS_CTX_I_TYPE_IN_P + 1, 0);
}

// Puts mb_type and sub_mb_type of an inter MB in a P slice.
MOTUS_HD void motus_put_p_types(MotusSymbols *s, const MotusMb *mb) {
    motus_put_bin(s, MOTUS_CTX_P_TYPE, 0);
    const int divided = mb->type == MOTUS_MB_P_16x8 || mb->type == MOTUS_MB_P_8x16;
    motus_put_bin(s, MOTUS_CTX_P_TYPE + 1, divided);
    motus_put_bin(s, MOTUS_CTX_P_TYPE + 2 + divided,
                  mb->type == MOTUS_MB_P_8x8 || mb->type == MOTUS_MB_P_16x8);
    for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8; q++) {
        const int sub = mb->sub_type[q];
        motus_put_bin(s, MOTUS_CTX_SUB_TYPE, sub == MOTUS_SUB_8x8);
        if (sub == MOTUS_SUB_8x8) continue;
        motus_put_bin(s, MOTUS_CTX_SUB_TYPE + 1, sub != MOTUS_SUB_8x4);
        if (sub != MOTUS_SUB_8x4) motus_put_bin(s, MOTUS_CTX_SUB_TYPE + 2, sub == MOTUS_SUB_4x8);
    }
}

// ---- transform_size_8x8_flag --------------------------------------------------------------------

MOTUS_HD void motus_put_transform_size(MotusSymbols *s, const MotusMbSyntax *m) {
    const MotusMb *a = m->neighbours.a, *b = m->neighbours.b;
    if (m->transform_8x8 && motus_has_transform_size(m->mb))
        motus_put_bin(s,
                      MOTUS_CTX_TRANSFORM_8x8 + (a && a->transform_8x8) + (b && b->transform_8x8),
                      m->mb->transform_8x8);
}

// ---- Intra modes --------------------------------------------------------------------------------

MOTUS_HD int motus_has_chroma_mode(const MotusMb *mb) {
    return mb && (mb->type == MOTUS_MB_I_4x4 || mb->type == MOTUS_MB_I_16x16) &&
           mb->intra_chroma_pred_mode;
}

// Puts the intra modes of an MB, if it has any: of 4x4 blocks, or of 8x8 blocks; of chroma.
MOTUS_HD void motus_put_intra_modes(MotusSymbols *s, const MotusMbSyntax *m) {
    const MotusMb *mb = m->mb;
    if (mb->type == MOTUS_MB_I_4x4) {
        motus_put_transform_size(s, m);
        MOTUS_ONE_BODY
        for (int i = 0; i < 16; i += mb->transform_8x8 ? 4 : 1) {
            const int blk = motus_blk_at(i), mode = mb->intra4x4_pred_mode[blk],
                      predicted = motus_intra4x4_predicted_mode(mb, &m->neighbours, blk),
                      rest = mode - (mode > predicted);
            motus_put_bin(s, MOTUS_CTX_INTRA4x4_PREDICTED, mode == predicted);
            MOTUS_ONE_BODY
            for (int k = 0; k < 3 && mode != predicted; k++)
                motus_put_bin(s, MOTUS_CTX_INTRA4x4_MODE, rest >> k & 1);
        }
    }
    if (mb->type != MOTUS_MB_I_4x4 && mb->type != MOTUS_MB_I_16x16) return;
    const int mode = mb->intra_chroma_pred_mode, coded = motus_has_chroma_mode(m->neighbours.a) +
                                                         motus_has_chroma_mode(m->neighbours.b);
    motus_put_bin(s, MOTUS_CTX_CHROMA_MODE + coded, mode);
    MOTUS_ONE_BODY
    for (int i = 1; i < 3 && i <= mode; i++) motus_put_bin(s, MOTUS_CTX_CHROMA_MODE + 3, mode > i);
}

// ---- ref_idx_l0 ---------------------------------------------------------------------------------

// True if 8x8 block q of an MB has ref_idx_l0 above 0, and is not direct.
MOTUS_HD int motus_ref_is_far(const MotusMb *mb, int q) {
    return mb && !motus_mb_is_intra(mb) && mb->ref[0][q] && !(mb->direct >> q & 1);
}

// Puts ref_idx_l0 of the partition that begins with 8x8 block q.
MOTUS_HD void motus_put_ref_symbol(MotusSymbols *s, const MotusMbSyntax *m, int q) {
    const int ref = m->mb->ref[0][q], a = motus_ref_is_far(q & 1 ? m->mb : m->neighbours.a, q ^ 1),
              b = motus_ref_is_far(q & 2 ? m->mb : m->neighbours.b, q ^ 2);
    motus_put_bin(s, MOTUS_CTX_REF_IDX + a + 2 * b, ref);
    for (int i = 1; i <= ref; i++) motus_put_bin(s, MOTUS_CTX_REF_IDX + 4 + (i > 1), ref > i);
}

// ---- mvd_l0 -------------------------------------------------------------------------------------

// Puts a component. around: sum of the magnitudes in the blocks to the left and above.
MOTUS_HD void motus_put_mvd_component(MotusSymbols *s, int context, int value, int around) {
    const int magnitude = motus_abs(value);
    motus_put_bin(s, context + (around > 2) + (around > 32), magnitude);
    MOTUS_ONE_BODY
    for (int i = 1; i < 9 && i <= magnitude; i++)
        motus_put_bin(s, context + 2 + motus_min(i, 4), magnitude > i);
    if (magnitude > 8) motus_put_exp_golomb(s, (uint32_t)magnitude - 9, 3);
    if (magnitude) motus_put_bypass(s, 1, value < 0);
}

// Puts ref_idx_l0 and mvd_l0 of all partitions.
MOTUS_HD void motus_put_mvd_symbols(MotusSymbols *s, const MotusMbSyntax *m) {
    const MotusMv none = {0, 0};
    MotusPartition parts[16];
    const int n = motus_mb_partitions(m->mb, parts);
    for (int q = 0; q < 4 && m->refs > 1; q++)
        if (motus_has_ref(m->mb, q)) motus_put_ref_symbol(s, m, q);
    MOTUS_ONE_BODY
    for (int i = 0; i < n; i++) {
        const int x = parts[i].x, y = parts[i].y;
        const MotusMv mvd = m->own->mvd[4 * y + x];
        const MotusMv a = x                 ? m->own->mvd[4 * y + x - 1]
                          : m->neighbours.a ? m->a->mvd[4 * y + 3]
                                            : none;
        const MotusMv b = y                 ? m->own->mvd[4 * (y - 1) + x]
                          : m->neighbours.b ? m->b->mvd[12 + x]
                                            : none;
        MOTUS_ONE_BODY
        for (int c = 0; c < 2; c++)
            motus_put_mvd_component(s, MOTUS_CTX_MVD + 7 * c, c ? mvd.y : mvd.x,
                                    c ? motus_abs(a.y) + motus_abs(b.y)
                                      : motus_abs(a.x) + motus_abs(b.x));
    }
}

// ---- coded_block_pattern, mb_qp_delta -----------------------------------------------------------

// True if the luma 8x8 block q of an MB counts as coded: it is, or the MB is I_PCM or missing.
MOTUS_HD int motus_counts_as_coded(const MotusMb *mb, int q) {
    return !mb || mb->type == MOTUS_MB_I_PCM || mb->cbp >> q & 1;
}

// Returns the chroma part of coded_block_pattern, 2 for I_PCM, 0 for a missing MB.
MOTUS_HD int motus_cbp_chroma_of(const MotusMb *mb) {
    return !mb ? 0 : mb->type == MOTUS_MB_I_PCM ? 2 : mb->cbp >> 4;
}

// Puts chroma's part of coded_block_pattern. a, b: the neighbours.
MOTUS_HD void motus_put_cbp_chroma(MotusSymbols *s, const MotusMb *a, const MotusMb *b,
                                   int chroma) {
    const int left = motus_cbp_chroma_of(a), above = motus_cbp_chroma_of(b);
    motus_put_bin(s, MOTUS_CTX_CBP_CHROMA + (left > 0) + 2 * (above > 0), chroma);
    if (chroma)
        motus_put_bin(s, MOTUS_CTX_CBP_CHROMA + 4 + (left == 2) + 2 * (above == 2), chroma == 2);
}

MOTUS_HD void motus_put_cbp_symbols(MotusSymbols *s, const MotusMbSyntax *m) {
    const MotusMb *mb = m->mb, *a = m->neighbours.a, *b = m->neighbours.b;
    for (int q = 0; q < 4; q++) {
        const int left = motus_counts_as_coded(q & 1 ? mb : a, q ^ 1),
                  above = motus_counts_as_coded(q & 2 ? mb : b, q ^ 2);
        motus_put_bin(s, MOTUS_CTX_CBP_LUMA + !left + 2 * !above, mb->cbp >> q & 1);
    }
    motus_put_cbp_chroma(s, a, b, mb->cbp >> 4);
}

// ---- Residual blocks (7.3.5.3.3) ----------------------------------------------------------------

// Contexts of a block category (ctxBlockCat, table 9-40) behind the first ones of its elements.
typedef struct MotusBlockContexts {
    int coded, map, level; // coded_block_flag; both significance flags; coeff_abs_level_minus1
    int most_larger;       // contexts of levels above 1
} MotusBlockContexts;

MOTUS_HD MotusBlockContexts motus_block_contexts(int category) {
    // By category: Intra16x16 DC, Intra16x16 AC, 4x4, chroma DC, chroma AC.
    MotusBlockContexts c;
    c.coded = 4 * category;
    c.map = (int)(MOTUS_PACK8(8, 0, 15, 29, 44, 47, 0, 0, 0) >> (8 * category) & 255);
    c.level = (int)(MOTUS_PACK8(8, 0, 10, 20, 30, 39, 0, 0, 0) >> (8 * category) & 255);
    c.most_larger = category == 3 ? 3 : 4;
    return c;
}

// Puts the map of the nonzero levels. Chroma DC has its own contexts for positions 0, 1 and 2.
MOTUS_HD void motus_put_map_symbols(MotusSymbols *s, int context, uint32_t nonzero, int n) {
    const int last = motus_bit_length(nonzero) - 1;
    MOTUS_ONE_BODY
    for (int i = 0; i <= last && i < n - 1; i++) {
        const int bin = (int)(nonzero >> i & 1);
        motus_put_bin(s, MOTUS_CTX_SIGNIFICANT + context + i, bin);
        motus_put_bin_if(s, MOTUS_CTX_LAST + context + i, i == last, bin);
    }
}

// Levels coded so far in a block, which choose the contexts of the next one.
typedef struct MotusLevelCounts {
    int ones, larger;
} MotusLevelCounts;

// Puts a level other than 0 and counts it. base: first context; most_larger: MotusBlockContexts.
MOTUS_HD void motus_put_level_symbol(MotusSymbols *s, int value, int base, int most_larger,
                                     MotusLevelCounts *counts) {
    const int rest = motus_abs(value) - 1;
    const int first = base + (counts->larger ? 0 : motus_min(4, 1 + counts->ones)),
              more = base + 5 + motus_min(counts->larger, most_larger);
    motus_put_bin(s, first, rest);
    MOTUS_ONE_BODY
    for (int i = 1; i < 14 && i <= rest; i++) motus_put_bin(s, more, rest > i);
    if (rest > 13) motus_put_exp_golomb(s, (uint32_t)rest - 14, 0);
    motus_put_bypass(s, 1, value < 0);
    if (rest)
        counts->larger++;
    else
        counts->ones++;
}

MOTUS_HD void motus_put_level_symbols(MotusSymbols *s, const int16_t *level, uint32_t nonzero,
                                      MotusBlockContexts contexts) {
    MotusLevelCounts counts = {0, 0};
    MOTUS_ONE_BODY
    for (; nonzero; nonzero ^= 1u << (motus_bit_length(nonzero) - 1))
        motus_put_level_symbol(s, level[motus_bit_length(nonzero) - 1],
                               MOTUS_CTX_LEVEL + contexts.level, contexts.most_larger, &counts);
}

// ---- 8x8 blocks ---------------------------------------------------------------------------------

// Returns the contexts of significant_coeff_flag and last_significant_coeff_flag at position i of
// an 8x8 block of a frame (table 9-43).
MOTUS_HD int motus_map8_significant(int i) {
    static const uint8_t context[63] = {
        0,  1,  2, 3, 4, 5,  5,  4,  4,  3, 3, 4,  4,  4,  5,  5,  4,  4,  4,  4,  3,
        3,  6,  7, 7, 7, 8,  9,  10, 9,  8, 7, 7,  6,  11, 12, 13, 11, 6,  7,  8,  9,
        14, 10, 9, 8, 6, 11, 12, 13, 11, 6, 9, 14, 10, 9,  11, 12, 13, 11, 14, 10, 12};
    return MOTUS_CTX_SIGNIFICANT_8x8 + context[i];
}
MOTUS_HD int motus_map8_last(int i) {
    return MOTUS_CTX_LAST_8x8 + (i == 0   ? 0
                                 : i < 32 ? 1 + i / 16
                                 : i < 48 ? 3 + (i - 32) / 8
                                          : 5 + (i - 48) / 4);
}

// Returns level i (zigzag order) of luma 8x8 block q.
MOTUS_HD int motus_level8_at(const MotusMbCoef *coef, int q, int i) {
    return coef->luma[motus_blk_at(4 * q + (i & 3))][i >> 2];
}

// Puts luma 8x8 block q, which has levels.
MOTUS_HD void motus_put_block8_symbols(MotusSymbols *s, const MotusMbCoef *coef, int q) {
    MotusLevelCounts counts = {0, 0};
    int last = 63;
    while (!motus_level8_at(coef, q, last)) last--;
    MOTUS_ONE_BODY
    for (int i = 0; i <= last && i < 63; i++) {
        const int level = motus_level8_at(coef, q, i);
        motus_put_bin(s, motus_map8_significant(i), level);
        if (level) motus_put_bin(s, motus_map8_last(i), i == last);
    }
    MOTUS_ONE_BODY
    for (int i = last; i >= 0; i--) {
        const int level = motus_level8_at(coef, q, i);
        if (level) motus_put_level_symbol(s, level, MOTUS_CTX_LEVEL_8x8, 4, &counts);
    }
}

// ---- Flags of blocks ----------------------------------------------------------------------------

// Returns coded_block_flag of a neighbouring block as contexts count it. coded: its own flag.
MOTUS_HD int motus_block_flag(const MotusMbSyntax *m, const MotusMb *neighbour, int coded) {
    return neighbour ? coded : motus_mb_is_intra(m->mb);
}

// Returns the context of coded_block_flag of a DC block (0 luma, 1 Cb, 2 Cr), in its category.
MOTUS_HD int motus_dc_flag_context(const MotusMbSyntax *m, int component) {
    const MotusMb *a = m->neighbours.a, *b = m->neighbours.b;
    return motus_block_flag(m, a, a && m->a->dc >> component & 1) +
           2 * motus_block_flag(m, b, b && m->b->dc >> component & 1);
}

// Returns the context of coded_block_flag of block blk of total_coeff, in its category.
MOTUS_HD int motus_ac_flag_context(const MotusMbSyntax *m, int blk) {
    const MotusMb *a = m->neighbours.a, *b = m->neighbours.b;
    const uint8_t *own = m->mb->total_coeff;
    const int side = blk < 16 ? 4 : 2, x = blk & (side - 1), y = (blk & (side * side - 1)) / side;
    const int left =
        x ? own[blk - 1] != 0 : motus_block_flag(m, a, a && a->total_coeff[blk + side - 1] != 0);
    const int above = y ? own[blk - side] != 0
                        : motus_block_flag(m, b, b && b->total_coeff[blk + side * (side - 1)] != 0);
    return left + 2 * above;
}

MOTUS_HD void motus_put_block_symbols(MotusSymbols *s, const MotusMbSyntax *m, int unit) {
    const MotusCodedBlock block = motus_unit_block(m->mb, m->coef, unit);
    const int is_dc = block.category == 0 || block.category == 3;
    const MotusBlockContexts contexts = motus_block_contexts(block.category);
    const int flag_context = is_dc ? motus_dc_flag_context(m, unit == MOTUS_UNIT_LUMA_DC
                                                                  ? 0
                                                                  : 1 + unit - MOTUS_UNIT_CHROMA_DC)
                                   : motus_ac_flag_context(m, block.blk);
    uint32_t nonzero = 0;
    if (is_dc || m->mb->total_coeff[block.blk]) // else its levels are undefined
        for (int i = 0; i < block.n; i++)
            if (block.level[i]) nonzero |= 1u << i;
    motus_put_bin(s, MOTUS_CTX_CODED_BLOCK + contexts.coded + flag_context, nonzero != 0);
    if (!nonzero) return;
    motus_put_map_symbols(s, contexts.map, nonzero, block.n);
    motus_put_level_symbols(s, block.level, nonzero, contexts);
}

// ---- An MB --------------------------------------------------------------------------------------

// Returns the mask of an MB's units, bit i standing for unit i.
MOTUS_HD uint32_t motus_mb_symbol_units(const MotusMb *mb, int slice_type) {
    const uint32_t first = slice_type ? 1u << MOTUS_UNIT_RUN : 0;
    if (mb->type == MOTUS_MB_I_PCM) return first | 1u << MOTUS_UNIT_MODE;
    const uint32_t units = first | motus_mb_units(mb, slice_type);
    const uint32_t not_first = 0xEEEEu << MOTUS_UNIT_LUMA; // of the four blocks of an 8x8 block
    return mb->transform_8x8 ? units & ~not_first : units;
}

// Puts a unit of the MB (B slices: motus_put_b_unit_symbols). I_PCM: the caller writes the samples
// behind MOTUS_UNIT_MODE.
MOTUS_HD void motus_put_unit_symbols(MotusSymbols *s, const MotusMbSyntax *m, int unit) {
    if (unit >= MOTUS_UNIT_LUMA && unit < MOTUS_UNIT_CHROMA_DC && m->mb->transform_8x8) {
        motus_put_block8_symbols(s, m->coef, (unit - MOTUS_UNIT_LUMA) / 4);
    } else if (unit >= MOTUS_UNIT_LUMA_DC) {
        motus_put_block_symbols(s, m, unit);
    } else if (unit == MOTUS_UNIT_CBP) {
        if (m->mb->type != MOTUS_MB_I_16x16) motus_put_cbp_symbols(s, m);
        if (!motus_mb_is_intra(m->mb)) motus_put_transform_size(s, m);
        if (motus_mb_has_qp_delta(m->mb)) {
            const int delta = m->own->qp_delta, value = delta > 0 ? 2 * delta - 1 : -2 * delta;
            motus_put_bin(s, MOTUS_CTX_QP_DELTA + (m->qp_delta_before != 0), value);
            MOTUS_ONE_BODY
            for (int i = 1; i <= value; i++)
                motus_put_bin(s, MOTUS_CTX_QP_DELTA + motus_min(1 + i, 3), value > i);
        }
    } else if (unit == MOTUS_UNIT_MV) {
        motus_put_mvd_symbols(s, m);
    } else if (unit == MOTUS_UNIT_MODE && motus_mb_is_intra(m->mb)) {
        motus_put_intra_mb_type(s, m);
        motus_put_intra_modes(s, m);
    } else if (unit == MOTUS_UNIT_MODE) {
        motus_put_p_types(s, m->mb);
    } else {
        motus_put_skip_flag(s, m, MOTUS_CTX_SKIP);
    }
}

// ---- B slices -----------------------------------------------------------------------------------

// Puts the n low bits of `bins`, first bin highest, in one context.
MOTUS_HD void motus_put_bins(MotusSymbols *s, int context, int n, uint32_t bins) {
    while (n-- > 0) motus_put_bin(s, context, bins >> n & 1);
}

// Puts mb_type (table 9-37), without what follows an intra MB's prefix, and sub_mb_type.
MOTUS_HD void motus_put_b_types(MotusSymbols *s, const MotusMbSyntax *m) {
    const MotusMb *mb = m->mb, *a = m->neighbours.a, *b = m->neighbours.b;
    const int coded = (a && !motus_is_direct(a)) + (b && !motus_is_direct(b)),
              rest = MOTUS_CTX_B_TYPE + 5;
    const uint32_t code =
        motus_mb_is_intra(mb) ? (uint32_t)MOTUS_B_INTRA_CODE : motus_b_type_code(mb);
    motus_put_bin(s, MOTUS_CTX_B_TYPE + coded, code != 0);
    if (!code) return;
    motus_put_bin(s, MOTUS_CTX_B_TYPE + 3, code > 2);
    if (code <= 2) {
        motus_put_bin(s, rest, code == 2);
        return;
    }
    // The next four bins; codes 12 to 21 have a fifth one.
    const uint32_t four = code <= 10                   ? code - 3
                          : code == 11                 ? 14
                          : code == MOTUS_B_8x8_CODE   ? 15
                          : code == MOTUS_B_INTRA_CODE ? 13
                                                       : (code + 4) >> 1;
    motus_put_bin(s, MOTUS_CTX_B_TYPE + 4, four >> 3);
    motus_put_bins(s, rest, 3, four & 7);
    if (code >= 12 && code < MOTUS_B_8x8_CODE) motus_put_bin(s, rest, code & 1);
    for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8; q++) {
        const uint32_t sub = motus_b_sub_type_code(mb, q); // larger ones are below 8x8
        motus_put_bin(s, MOTUS_CTX_B_SUB_TYPE, sub != 0);
        if (!sub) continue;
        motus_put_bin(s, MOTUS_CTX_B_SUB_TYPE + 1, sub > 2);
        if (sub > 2) motus_put_bin(s, MOTUS_CTX_B_SUB_TYPE + 2, 0);
        motus_put_bins(s, MOTUS_CTX_B_SUB_TYPE + 3, sub > 2 ? 2 : 1, sub > 2 ? sub - 3 : sub - 1);
    }
}

MOTUS_HD void motus_put_b_mvd_symbols(MotusSymbols *s, const MotusMbSyntax *m) {
    const MotusMv none = {0, 0};
    for (int q = 0; q < 4 && m->refs > 1; q++)
        if (motus_has_b_mvd(m->mb, q, 0)) motus_put_ref_symbol(s, m, q);
    MOTUS_ONE_BODY
    for (int i = 0; i < 8; i++) {
        const int list = i >> 2, q = i & 3;
        if (!motus_has_b_mvd(m->mb, q, list)) continue;
        const MotusMv mvd = m->own->mvd_b[list][q];
        const MotusMv a = q & 1             ? m->own->mvd_b[list][q - 1]
                          : m->neighbours.a ? m->a->mvd_b[list][q + 1]
                                            : none;
        const MotusMv b = q & 2             ? m->own->mvd_b[list][q - 2]
                          : m->neighbours.b ? m->b->mvd_b[list][q + 2]
                                            : none;
        motus_put_mvd_component(s, MOTUS_CTX_MVD, mvd.x, motus_abs(a.x) + motus_abs(b.x));
        motus_put_mvd_component(s, MOTUS_CTX_MVD + 7, mvd.y, motus_abs(a.y) + motus_abs(b.y));
    }
}

// Puts a unit of an MB of a B slice, as motus_put_unit_symbols does.
MOTUS_HD void motus_put_b_unit_symbols(MotusSymbols *s, const MotusMbSyntax *m, int unit) {
    const MotusMb *mb = m->mb;
    if (unit == MOTUS_UNIT_RUN) {
        motus_put_skip_flag(s, m, MOTUS_CTX_SKIP_IN_B);
    } else if (unit == MOTUS_UNIT_MODE) {
        motus_put_b_types(s, m);
        if (!motus_mb_is_intra(mb)) return;
        motus_put_bin(s, MOTUS_CTX_I_TYPE_IN_B, mb->type != MOTUS_MB_I_4x4);
        if (mb->type != MOTUS_MB_I_4x4) motus_put_intra_type(s, mb, MOTUS_CTX_I_TYPE_IN_B + 1, 0);
        motus_put_intra_modes(s, m);
    } else if (unit == MOTUS_UNIT_MV) {
        motus_put_b_mvd_symbols(s, m);
    } else {
        motus_put_unit_symbols(s, m, unit);
    }
}

#endif
