// Macroblock syntax of B slices where it differs from that of P slices: values, CAVLC, CABAC,
// finalization. The rest of an MB, and intra MBs, are written by the functions for P slices.
// ref_idx_l1 is not written: list 1 has one reference.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_B_SYNTAX_CORE_H
#define ENCODER_BITSTREAM_B_SYNTAX_CORE_H

#include "encoder/bitstream/cabac_mb_core.h"
#include "encoder/bitstream/cavlc_mb_core.h"
#include "encoder/mb/direct_core.h"

// ---- Values -------------------------------------------------------------------------------------

enum { MOTUS_B_8x8_CODE = 22, MOTUS_B_INTRA_CODE = 23 }; // of mb_type

// Returns mb_type of table 7-14 for an inter MB other than B_Skip.
MOTUS_HD uint32_t motus_b_type_code(const MotusMb *mb) {
    // By 3 * the first partition's MOTUS_PRED_* + the second one's.
    const uint64_t pairs = MOTUS_PACK8(4, 0, 2, 4, 3, 1, 5, 6, 7) | (uint64_t)8 << 32; // Bi, Bi
    const int pair = 3 * mb->pred[0] + mb->pred[3];
    if (mb->type == MOTUS_MB_P_8x8) return MOTUS_B_8x8_CODE;
    if (mb->type == MOTUS_MB_P_16x16) return mb->direct ? 0 : 1u + mb->pred[0];
    return 4 + 2 * ((uint32_t)(pairs >> (4 * pair)) & 15) + (mb->type == MOTUS_MB_P_8x16);
}

// Returns sub_mb_type of table 7-18 for 8x8 block q of B_8x8.
MOTUS_HD uint32_t motus_b_sub_type_code(const MotusMb *mb, int q) {
    return mb->direct >> q & 1 ? 0 : 1u + mb->pred[q];
}

// True if 8x8 block q of an inter MB begins a partition that has an mvd of a list.
MOTUS_HD int motus_has_b_mvd(const MotusMb *mb, int q, int list) {
    const int first = mb->type == MOTUS_MB_P_8x8    ? 15 // mask of the 8x8 blocks that begin one
                      : mb->type == MOTUS_MB_P_16x8 ? 5
                      : mb->type == MOTUS_MB_P_8x16 ? 3
                                                    : 1;
    return first >> q & ~mb->direct >> q & 1 && motus_pred_uses(mb->pred[q], list);
}

// Returns the partition of an inter MB that has 8x8 block q.
MOTUS_HD MotusPartition motus_b_partition(const MotusMb *mb, int q) {
    const int x = 2 * (q & 1), y = q & 2;
    if (mb->type <= MOTUS_MB_P_16x16) return motus_partition_at(MOTUS_MODE_16x16, 0, 0, 0);
    if (mb->type == MOTUS_MB_P_16x8) return motus_partition_at(MOTUS_MODE_16x8, q >> 1, 0, y);
    if (mb->type == MOTUS_MB_P_8x16) return motus_partition_at(MOTUS_MODE_8x16, q & 1, x, 0);
    return motus_partition_at(MOTUS_MODE_8x8, 0, x, y);
}

// Returns the mvd of the partition that 8x8 block q begins.
MOTUS_HD MotusMv motus_b_mvd(const MotusMb *mb, const MotusNeighbours *neighbours, int q,
                             int list) {
    const MotusPartition part = motus_b_partition(mb, q);
    const MotusMv mv = list ? mb->mv1[q] : mb->mv[4 * part.y + part.x],
                  predictor = motus_mb_mvp(mb, neighbours, &part, list);
    MotusMv mvd;
    mvd.x = (int16_t)(mv.x - predictor.x);
    mvd.y = (int16_t)(mv.y - predictor.y);
    return mvd;
}

// ---- Finalization -------------------------------------------------------------------------------

// Returns the 8x8 block that begins the partition of 8x8 block q.
MOTUS_HD int motus_b_first(const MotusMb *mb, int q) {
    const MotusPartition part = motus_b_partition(mb, q);
    return motus_8x8_of(4 * part.y + part.x);
}

// Returns mvd_b of 8x8 block q, which begins a partition.
MOTUS_HD MotusMv motus_b_context_mvd(const MotusMb *mb, const MotusNeighbours *neighbours, int q,
                                     int list) {
    const MotusMv none = {0, 0};
    if (motus_mb_is_intra(mb) || !motus_has_b_mvd(mb, q, list)) return none;
    return motus_b_mvd(mb, neighbours, q, list);
}

// Sets what CABAC needs of a finalized MB of a B slice. qp_delta: mb_qp_delta if it has one.
MOTUS_HD void motus_b_context_set(MotusMbContext *context, const MotusMb *mb,
                                  const MotusMbCoef *coef, const MotusNeighbours *neighbours,
                                  int qp_delta) {
    for (int i = 0; i < 8; i++) {
        const int list = i >> 2, q = i & 3, first = motus_b_first(mb, q);
        context->mvd_b[list][q] =
            first < q ? context->mvd_b[list][first] : motus_b_context_mvd(mb, neighbours, q, list);
    }
    motus_mb_context_residual(context, mb, coef, qp_delta);
}

// ---- CAVLC --------------------------------------------------------------------------------------

MOTUS_HD void motus_put_b_mode(MotusBits *bits, const MotusMbSyntax *s) {
    const MotusMb *mb = s->mb;
    if (motus_mb_is_intra(mb)) {
        motus_put_mode(bits, s);
        return;
    }
    motus_bits_ue(bits, motus_b_type_code(mb));
    for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8; q++)
        motus_bits_ue(bits, motus_b_sub_type_code(mb, q));
}

MOTUS_HD void motus_put_b_mvd(MotusBits *bits, const MotusMbSyntax *s) {
    for (int q = 0; q < 4 && s->refs > 1; q++)
        if (motus_has_b_mvd(s->mb, q, 0)) motus_put_ref(bits, s->refs, s->mb->ref[0][q]);
    for (int i = 0; i < 8; i++) {
        if (!motus_has_b_mvd(s->mb, i & 3, i >> 2)) continue;
        const MotusMv mvd = motus_b_mvd(s->mb, &s->neighbours, i & 3, i >> 2);
        motus_bits_se(bits, mvd.x);
        motus_bits_se(bits, mvd.y);
    }
}

// Writes a unit of an MB of a B slice, as motus_put_unit does.
MOTUS_HD void motus_put_b_unit(MotusBits *bits, const MotusMbSyntax *s, int unit) {
    if (unit == MOTUS_UNIT_MODE)
        motus_put_b_mode(bits, s);
    else if (unit == MOTUS_UNIT_MV)
        motus_put_b_mvd(bits, s);
    else
        motus_put_unit(bits, s, unit);
}

// ---- CABAC --------------------------------------------------------------------------------------

MOTUS_HD void motus_put_b_skip_flag(MotusSymbols *s, const MotusCabacMb *m) {
    const MotusMb *a = m->neighbours.a, *b = m->neighbours.b;
    const int coded = (a && a->type != MOTUS_MB_P_SKIP) + (b && b->type != MOTUS_MB_P_SKIP);
    motus_put_bin(s, MOTUS_CTX_SKIP_IN_B + coded, m->mb->type == MOTUS_MB_P_SKIP);
}

// Puts the n low bits of `bins`, first bin highest, in one context.
MOTUS_HD void motus_put_bins(MotusSymbols *s, int context, int n, uint32_t bins) {
    while (n-- > 0) motus_put_bin(s, context, bins >> n & 1);
}

// Puts mb_type (table 9-37), without what follows an intra MB's prefix.
MOTUS_HD void motus_put_b_type(MotusSymbols *s, const MotusCabacMb *m) {
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
}

MOTUS_HD void motus_put_b_sub_type(MotusSymbols *s, uint32_t code) {
    motus_put_bin(s, MOTUS_CTX_B_SUB_TYPE, code != 0);
    if (!code) return;
    motus_put_bin(s, MOTUS_CTX_B_SUB_TYPE + 1, code > 2);
    if (code > 2) motus_put_bin(s, MOTUS_CTX_B_SUB_TYPE + 2, 0); // larger codes are below 8x8
    motus_put_bins(s, MOTUS_CTX_B_SUB_TYPE + 3, code > 2 ? 2 : 1, code > 2 ? code - 3 : code - 1);
}

// Puts mb_type and sub_mb_type of an inter MB.
MOTUS_HD void motus_put_b_types(MotusSymbols *s, const MotusCabacMb *m) {
    motus_put_b_type(s, m);
    for (int q = 0; q < 4 && m->mb->type == MOTUS_MB_P_8x8; q++)
        motus_put_b_sub_type(s, motus_b_sub_type_code(m->mb, q));
}

MOTUS_HD void motus_put_b_mode_symbols(MotusSymbols *s, const MotusCabacMb *m) {
    const MotusMb *mb = m->mb;
    motus_put_b_types(s, m);
    if (!motus_mb_is_intra(mb)) return;
    motus_put_bin(s, MOTUS_CTX_I_TYPE_IN_B, mb->type != MOTUS_MB_I_4x4);
    if (mb->type != MOTUS_MB_I_4x4) motus_put_intra_type(s, mb, MOTUS_CTX_I_TYPE_IN_B + 1, 0);
    motus_put_intra_modes(s, m);
}

MOTUS_HD void motus_put_b_mvd_symbols(MotusSymbols *s, const MotusCabacMb *m) {
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
MOTUS_HD void motus_put_b_unit_symbols(MotusSymbols *s, const MotusCabacMb *m, int unit) {
    if (unit == MOTUS_UNIT_RUN)
        motus_put_b_skip_flag(s, m);
    else if (unit == MOTUS_UNIT_MODE)
        motus_put_b_mode_symbols(s, m);
    else if (unit == MOTUS_UNIT_MV)
        motus_put_b_mvd_symbols(s, m);
    else
        motus_put_unit_symbols(s, m, unit);
}

#endif
