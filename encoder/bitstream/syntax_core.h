// Syntax elements of a macroblock besides the residual (7.3.5): their values, what they are
// predicted from, and their bits in CAVLC. Finalization of MBs in bitstream order.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SYNTAX_CORE_H
#define ENCODER_BITSTREAM_SYNTAX_CORE_H

#include "common/int_core.h"
#include "encoder/mb/direct_core.h"
#include "encoder/mb/intra_core.h"
#include "encoder/mb/mv_core.h"

// ---- Values -------------------------------------------------------------------------------------

MOTUS_HD int motus_intra4x4_mode_of(const MotusMb *mb, int blk) {
    return mb->type == MOTUS_MB_I_4x4 ? mb->intra4x4_pred_mode[blk] : (int)MOTUS_I4_DC;
}

// Returns predIntra4x4PredMode of block blk (8.3.1.1).
MOTUS_HD int motus_intra4x4_predicted_mode(const MotusMb *mb, const MotusNeighbours *neighbours,
                                           int blk) {
    const MotusMb *left = blk & 3 ? mb : neighbours->a, *above = blk >> 2 ? mb : neighbours->b;
    if (!left || !above) return MOTUS_I4_DC;
    return motus_min(motus_intra4x4_mode_of(left, (blk & 12) | ((blk - 1) & 3)),
                     motus_intra4x4_mode_of(above, (blk - 4) & 15));
}

// Returns mb_type of tables 7-11 and 7-13; of B slices, of intra MBs only (motus_b_type_code has
// the others). P_8x8ref0 is not used: it saves little.
MOTUS_HD uint32_t motus_mb_type_code(const MotusMb *mb, int slice_type) {
    uint32_t first_intra = slice_type == MOTUS_SLICE_B ? 23 : slice_type ? 5 : 0;
    if (mb->type == MOTUS_MB_I_4x4) return first_intra;
    if (mb->type == MOTUS_MB_I_16x16)
        return first_intra + 1 + mb->intra16x16_pred_mode + 4u * (mb->cbp >> 4) +
               (mb->cbp & 15 ? 12 : 0);
    if (mb->type == MOTUS_MB_I_PCM) return first_intra + 25;
    return mb->type - (uint32_t)MOTUS_MB_P_16x16;
}

// True if the MB has mb_qp_delta.
MOTUS_HD int motus_mb_has_qp_delta(const MotusMb *mb) {
    return mb->type != MOTUS_MB_I_PCM && (mb->cbp || mb->type == MOTUS_MB_I_16x16);
}

// True if an inter MB has a partition below 8x8.
MOTUS_HD int motus_has_small_partition(const MotusMb *mb) {
    int small = 0;
    for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8; q++) small |= mb->sub_type[q];
    return small;
}

// True if an MB has the flag (7.3.5): Intra4x4, and inter MBs with luma levels
// and no partition below 8x8.
MOTUS_HD int motus_has_transform_size(const MotusMb *mb) {
    return mb->type == MOTUS_MB_I_4x4 ||
           (!motus_mb_is_intra(mb) && mb->cbp & 15 && !motus_has_small_partition(mb));
}

// Returns the MB's entry of MotusPictureStats.transform_8x8, -1 if it has the 4x4 transform.
MOTUS_HD int motus_transform_8x8_kind(const MotusMb *mb) {
    return mb->transform_8x8 && motus_has_transform_size(mb) ? motus_mb_is_intra(mb) : -1;
}

// Returns mb_qp_delta, -26..25: QPs are modulo 52 (7.4.5).
MOTUS_HD int motus_qp_delta(int qp, int qp_before) {
    int delta = qp - qp_before;
    return delta > 25 ? delta - 52 : delta < -26 ? delta + 52 : delta;
}

// ---- Bits besides the residual in CAVLC, which decisions ask for --------------------------------

// An MB's share of mb_skip_run: a skipped MB lengthens a run, a coded one ends it.
#define MOTUS_SKIP_RUN_BITS 1

// Returns the bits of coded_block_pattern, and of mb_qp_delta (counted as 1) if there is a
// residual. The codes of table 9-4 have 2n + 1 bits. A word per chroma pattern holds n for each
// luma pattern, because a look-up in memory would delay the decision. The suite cavlc derives the
// words from motus_cavlc_cbp_code.
MOTUS_HD uint32_t motus_cbp_bits(int cbp, int intra4x4) {
    // clang-format off
    const uint64_t
        none = intra4x4 ? MOTUS_PACK16(3, 2, 4, 4, 4, 5, 4, 5, 3, 5, 5, 4, 3, 4, 3, 3, 1)
                        : MOTUS_PACK16(3, 0, 1, 2, 3, 2, 3, 4, 3, 2, 4, 3, 3, 3, 4, 4, 3),
        dc   = intra4x4 ? MOTUS_PACK16(3, 4, 5, 5, 4, 5, 4, 5, 2, 5, 5, 4, 2, 4, 2, 3, 1)
                        : MOTUS_PACK16(3, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4),
        ac   = intra4x4 ? MOTUS_PACK16(3, 5, 5, 5, 4, 5, 4, 5, 3, 5, 5, 4, 3, 4, 3, 4, 0)
                        : MOTUS_PACK16(3, 2, 4, 4, 4, 4, 4, 5, 4, 4, 5, 4, 4, 4, 4, 5, 3);
    // clang-format on
    const uint64_t lengths = cbp < 16 ? none : cbp < 32 ? dc : ac;
    return 2 * ((uint32_t)(lengths >> (3 * (cbp & 15))) & 7) + 1 + (cbp != 0);
}

// Returns the bits of an intra MB besides the residual. i4_mode_bits: of the modes of Intra4x4, 1
// for a predicted mode, 4 for another.
MOTUS_HD uint32_t motus_intra_bits(const MotusMb *mb, uint32_t i4_mode_bits, int slice_type) {
    uint32_t bits = (uint32_t)motus_ue_bits(mb->intra_chroma_pred_mode) +
                    (uint32_t)motus_ue_bits(motus_mb_type_code(mb, slice_type));
    if (slice_type) bits += MOTUS_SKIP_RUN_BITS;
    return mb->type == MOTUS_MB_I_4x4 ? bits + i4_mode_bits + motus_cbp_bits(mb->cbp, 1)
                                      : bits + 1; // mb_qp_delta
}

// Returns the bits of an inter MB besides the residual. mv_bits: of its mvd_l0.
MOTUS_HD uint32_t motus_inter_bits(const MotusMb *mb, uint32_t mv_bits) {
    if (mb->type == MOTUS_MB_P_SKIP) return MOTUS_SKIP_RUN_BITS;
    uint32_t bits = MOTUS_SKIP_RUN_BITS +
                    (uint32_t)motus_ue_bits((uint32_t)(mb->type - MOTUS_MB_P_16x16)) + mv_bits;
    if (mb->type == MOTUS_MB_P_8x8)
        for (int q = 0; q < 4; q++) bits += (uint32_t)motus_ue_bits(mb->sub_type[q]);
    return bits + motus_cbp_bits(mb->cbp, 0);
}

// True if 8x8 block q of an inter MB begins a partition with a ref_idx.
MOTUS_HD int motus_has_ref(const MotusMb *mb, int q) {
    const int first = mb->type == MOTUS_MB_P_8x8    ? 15 // mask of the 8x8 blocks that begin one
                      : mb->type == MOTUS_MB_P_16x8 ? 5
                      : mb->type == MOTUS_MB_P_8x16 ? 3
                                                    : 1;
    return first >> q & 1;
}

// Returns the bits of ref_idx, te(v). refs: of the slice.
MOTUS_HD int motus_ref_bits(int refs, int ref) {
    return refs < 2 ? 0 : refs == 2 ? 1 : motus_ue_bits((uint32_t)ref);
}

// ---- Finalization -------------------------------------------------------------------------------

// Decides between P_Skip and P_16x16 in a P slice, once all MVs are final: an inter 16x16 MB
// without residual is skipped if it has the skip MV. Neighbours do not depend on the difference, so
// all MBs of a picture may be finalized at once. refs: of the slice.
MOTUS_HD void motus_mb_finalize_skip(MotusMb *mb, const MotusNeighbours *neighbours, int refs) {
    if (mb->type > MOTUS_MB_P_16x16 || mb->cbp) return;
    const int skip =
        motus_mv_equal(mb->mv[0], motus_mb_skip_mv(neighbours)) && !(refs > 1 && mb->ref[0][0]);
    mb->type = (uint8_t)(skip ? MOTUS_MB_P_SKIP : MOTUS_MB_P_16x16);
}

// Sets the QP of an MB without mb_qp_delta, for deblocking: qp_before, the QP of the last MB with
// mb_qp_delta or else the slice's (7.4.5); 0 for I_PCM.
MOTUS_HD void motus_mb_finalize_qp(MotusMb *mb, int qp_before) {
    if (!motus_mb_has_qp_delta(mb)) mb->qp = (uint8_t)(mb->type == MOTUS_MB_I_PCM ? 0 : qp_before);
}

// ---- B slices -----------------------------------------------------------------------------------

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

// Sets what CABAC needs of a finalized MB. qp_delta: mb_qp_delta if it has one.
MOTUS_HD void motus_mb_context_set(MotusMbContext *context, const MotusMb *mb,
                                   const MotusMbCoef *coef, const MotusNeighbours *neighbours,
                                   int slice_type, int qp_delta) {
    const int is_b = slice_type == MOTUS_SLICE_B;
    const MotusMv none = {0, 0};
    MotusPartition parts[16];
    MotusMv mvd[16];
    for (int i = 0; i < 8 && is_b; i++) {
        const int list = i >> 2, q = i & 3, first = motus_b_first(mb, q);
        context->mvd_b[list][q] =
            first < q ? context->mvd_b[list][first] : motus_b_context_mvd(mb, neighbours, q, list);
    }
    for (int blk = 0; blk < 16 && !is_b; blk++) context->mvd[blk] = none;
    const int n = is_b || mb->type == MOTUS_MB_P_SKIP ? 0 : motus_mb_partitions(mb, parts);
    if (n) motus_mb_mvd(mb, neighbours, mvd);
    for (int i = 0; i < n; i++)
        for (int y = parts[i].y; y < parts[i].y + parts[i].height; y++)
            for (int x = parts[i].x; x < parts[i].x + parts[i].width; x++)
                context->mvd[4 * y + x] = mvd[i];
    context->qp_delta = (int16_t)(motus_mb_has_qp_delta(mb) ? qp_delta : 0);
    int luma = 0, cb = 0, cr = 0;
    for (int i = 0; i < 16 && mb->type == MOTUS_MB_I_16x16; i++) luma |= coef->luma_dc[i];
    for (int i = 0; i < 4 && mb->cbp >> 4; i++)
        cb |= coef->chroma_dc[0][i], cr |= coef->chroma_dc[1][i];
    context->dc =
        (uint8_t)(mb->type == MOTUS_MB_I_PCM ? 7 : (luma != 0) | (cb != 0) << 1 | (cr != 0) << 2);
}

// ---- Units --------------------------------------------------------------------------------------

// Coded MB with the values that its syntax depends on.
typedef struct MotusMbSyntax {
    const MotusMb *mb;
    const MotusMbCoef *coef;
    MotusNeighbours neighbours;
    MotusMbSource src; // CAVLC: I_PCM
    int slice_type;    // MotusSliceType
    uint32_t skip_run; // CAVLC: mb_skip_run before it (P and B slices)
    int qp_delta;      // CAVLC: mb_qp_delta, if it has one
    int transform_8x8; // transform_8x8_mode_flag
    int refs;          // num_ref_idx_l0_active; 0 = 1
    // CABAC
    const MotusMbContext *own, *a, *b; // a, b: of the neighbours; undefined where there is none
    int qp_delta_before;               // mb_qp_delta of the MB before it in the slice, else 0
} MotusMbSyntax;

// Units in the order of the syntax. Luma and chroma: a block each, in coding order; I_PCM: 16
// samples each.
enum {
    MOTUS_UNIT_RUN, // mb_skip_run; in CABAC mb_skip_flag
    MOTUS_UNIT_MODE,
    MOTUS_UNIT_MV,
    MOTUS_UNIT_CBP, // coded_block_pattern and mb_qp_delta
    MOTUS_UNIT_LUMA_DC,
    MOTUS_UNIT_LUMA,
    MOTUS_UNIT_CHROMA_DC = MOTUS_UNIT_LUMA + 16,
    MOTUS_UNIT_CHROMA = MOTUS_UNIT_CHROMA_DC + 2,
    MOTUS_UNITS = MOTUS_UNIT_CHROMA + 8,
};

// Kinds of bits in statistics; mb_skip_run and alignment count as mode.
enum { MOTUS_BITS_MODE, MOTUS_BITS_MV, MOTUS_BITS_LUMA, MOTUS_BITS_CHROMA, MOTUS_BIT_KINDS };

MOTUS_HD int motus_unit_kind(int unit) {
    if (unit >= MOTUS_UNIT_CHROMA_DC) return MOTUS_BITS_CHROMA;
    return unit >= MOTUS_UNIT_LUMA_DC ? MOTUS_BITS_LUMA
           : unit == MOTUS_UNIT_MV    ? MOTUS_BITS_MV
                                      : MOTUS_BITS_MODE;
}

// Returns the mask of an MB's units, bit i standing for unit i; 0 for P_Skip.
MOTUS_HD uint32_t motus_mb_units(const MotusMb *mb, int slice_type) {
    const uint32_t luma = 0xFFFFu << MOTUS_UNIT_LUMA, chroma = 0xFFu << MOTUS_UNIT_CHROMA;
    uint32_t units = 1u << MOTUS_UNIT_MODE | (slice_type ? 1u << MOTUS_UNIT_RUN : 0);
    if (mb->type == MOTUS_MB_P_SKIP) return 0;
    if (mb->type == MOTUS_MB_I_PCM) return units | luma | chroma;
    units |= 1u << MOTUS_UNIT_CBP;
    if (!motus_mb_is_intra(mb)) units |= 1u << MOTUS_UNIT_MV;
    if (mb->type == MOTUS_MB_I_16x16) units |= 1u << MOTUS_UNIT_LUMA_DC;
    for (int q = 0; q < 4; q++)
        if (mb->cbp >> q & 1) units |= 15u << (MOTUS_UNIT_LUMA + 4 * q);
    if (mb->cbp >> 4) units |= 3u << MOTUS_UNIT_CHROMA_DC;
    if (mb->cbp >> 4 == 2) units |= chroma;
    return units;
}

// Levels of a unit from MOTUS_UNIT_LUMA_DC on. category: ctxBlockCat (table 9-42).
typedef struct MotusCodedBlock {
    const int16_t *level;
    int n;   // 4, 15 or 16
    int blk; // of total_coeff; 0 for DC
    int category;
} MotusCodedBlock;

MOTUS_HD MotusCodedBlock motus_unit_block(const MotusMb *mb, const MotusMbCoef *coef, int unit) {
    const int ac = mb->type == MOTUS_MB_I_16x16; // luma blocks carry AC only
    MotusCodedBlock block;
    if (unit >= MOTUS_UNIT_CHROMA) {
        block.blk = 16 + unit - MOTUS_UNIT_CHROMA;
        block.level = coef->chroma_ac[0][0] + 16 * (block.blk - 16) + 1;
        block.n = 15, block.category = 4;
    } else if (unit >= MOTUS_UNIT_CHROMA_DC) {
        block.level = coef->chroma_dc[unit - MOTUS_UNIT_CHROMA_DC];
        block.n = 4, block.blk = 0, block.category = 3;
    } else if (unit >= MOTUS_UNIT_LUMA) {
        block.blk = motus_blk_at(unit - MOTUS_UNIT_LUMA);
        block.level = coef->luma[block.blk] + ac;
        block.n = 16 - ac, block.category = ac ? 1 : 2;
    } else {
        block.level = coef->luma_dc;
        block.n = 16, block.blk = 0, block.category = 0;
    }
    return block;
}

#endif
