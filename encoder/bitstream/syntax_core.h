// Syntax elements of a macroblock besides the residual (7.3.5): their values, what they are
// predicted from, and their bits in CAVLC. Finalization of MBs in bitstream order.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SYNTAX_CORE_H
#define ENCODER_BITSTREAM_SYNTAX_CORE_H

#include "common/int_core.h"
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

// Returns mb_type of tables 7-11 and 7-13. P_8x8ref0 is not used: with one reference, ref_idx is
// never written.
MOTUS_HD uint32_t motus_mb_type_code(const MotusMb *mb, int p_slice) {
    uint32_t first_intra = p_slice ? 5 : 0;
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

// Returns mb_qp_delta, -26..25: QPs are modulo 52 (7.4.5).
MOTUS_HD int motus_qp_delta(int qp, int qp_before) {
    int delta = qp - qp_before;
    return delta > 25 ? delta - 52 : delta < -26 ? delta + 52 : delta;
}

// ---- Finalization -------------------------------------------------------------------------------

// Decides between P_Skip and P_16x16, once all MVs are final: an inter 16x16 MB without residual is
// skipped if it has the skip MV. Neighbours do not depend on the difference, so all MBs of a
// picture may be finalized at once.
MOTUS_HD void motus_mb_finalize_skip(MotusMb *mb, const MotusNeighbours *neighbours) {
    if (mb->type > MOTUS_MB_P_16x16 || mb->cbp) return;
    mb->type =
        (uint8_t)(motus_mv_equal(mb->mv[0], motus_mb_skip_mv(neighbours)) ? MOTUS_MB_P_SKIP
                                                                          : MOTUS_MB_P_16x16);
}

// Sets the QP of an MB without mb_qp_delta, for deblocking: qp_before, the QP of the last MB with
// mb_qp_delta or else the slice's (7.4.5); 0 for I_PCM.
MOTUS_HD void motus_mb_finalize_qp(MotusMb *mb, int qp_before) {
    if (!motus_mb_has_qp_delta(mb)) mb->qp = (uint8_t)(mb->type == MOTUS_MB_I_PCM ? 0 : qp_before);
}

// ---- Bits in CAVLC ------------------------------------------------------------------------------

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
MOTUS_HD uint32_t motus_intra_bits(const MotusMb *mb, uint32_t i4_mode_bits, int p_slice) {
    uint32_t bits = (uint32_t)motus_ue_bits(mb->intra_chroma_pred_mode) +
                    (uint32_t)motus_ue_bits(motus_mb_type_code(mb, p_slice));
    if (p_slice) bits += MOTUS_SKIP_RUN_BITS;
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

#endif
