// What the syntax elements of an MB that are not residual cost, and what they are predicted from.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SYNTAX_CORE_H
#define ENCODER_BITSTREAM_SYNTAX_CORE_H

#include "common/int_core.h"
#include "encoder/mb/intra_core.h"
#include "encoder/mb/mb.h"

#define MOTUS_SKIP_RUN_BITS                                                                        \
    1 // an MB's share of mb_skip_run: a skipped MB lengthens a run, a coded one ends it

MOTUS_HD int motus_intra4x4_mode_of(const MotusMb *mb, int blk) {
    return mb->type == MOTUS_MB_I_4x4 ? mb->intra4x4_pred_mode[blk] : (int)MOTUS_I4_DC;
}

// Predicted intra4x4 mode of block blk (8.3.1.1).
MOTUS_HD int motus_intra4x4_predicted_mode(const MotusMb *mb, const MotusNeighbours *neighbours,
                                           int blk) {
    const MotusMb *left = blk & 3 ? mb : neighbours->a, *above = blk >> 2 ? mb : neighbours->b;
    if (!left || !above) return MOTUS_I4_DC;
    return motus_min(motus_intra4x4_mode_of(left, (blk & 12) | ((blk - 1) & 3)),
                     motus_intra4x4_mode_of(above, (blk - 4) & 15));
}

// mb_type of tables 7-11 and 7-13. P_8x8ref0 is not used: ref_idx has one possible value and is
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

// coded_block_pattern, and mb_qp_delta where there is a residual. A ue(v) code of 2n + 1 bits: n
// for each pattern of luma, three bits each, by chroma's two bits (motus_cavlc_cbp_code has the
// codes; a look at that table is what an MB would wait for).
MOTUS_HD uint32_t motus_cbp_bits(int cbp, int intra4x4) {
    const uint64_t none = intra4x4 ? 0x2DC72D765922 : 0x7236E271A688,
                   dc = intra4x4 ? 0x2D452D56596C : 0x96DB6DB6DB69,
                   ac = intra4x4 ? 0x11C72D76596D : 0x76492C964922;
    const uint64_t lengths = cbp < 16 ? none : cbp < 32 ? dc : ac;
    return 2 * ((uint32_t)(lengths >> (3 * (cbp & 15))) & 7) + 1 + (cbp != 0);
}

// What an intra MB costs beside its residual; i4_mode_bits are those of Intra4x4's modes: 1 for the
// predicted mode of a block, 4 for others.
MOTUS_HD uint32_t motus_intra_bits(const MotusMb *mb, uint32_t i4_mode_bits, int p_slice) {
    uint32_t bits = (uint32_t)motus_ue_bits(mb->intra_chroma_pred_mode) +
                    (uint32_t)motus_ue_bits(motus_mb_type_code(mb, p_slice));
    if (p_slice) bits += MOTUS_SKIP_RUN_BITS;
    return mb->type == MOTUS_MB_I_4x4 ? bits + i4_mode_bits + motus_cbp_bits(mb->cbp, 1)
                                      : bits + 1; // mb_qp_delta
}

// An inter MB in a P slice; mv_bits are those of its vector differences.
MOTUS_HD uint32_t motus_inter_bits(const MotusMb *mb, uint32_t mv_bits) {
    if (mb->type == MOTUS_MB_P_SKIP) return MOTUS_SKIP_RUN_BITS;
    uint32_t bits = MOTUS_SKIP_RUN_BITS +
                    (uint32_t)motus_ue_bits((uint32_t)(mb->type - MOTUS_MB_P_16x16)) + mv_bits;
    if (mb->type == MOTUS_MB_P_8x8)
        for (int q = 0; q < 4; q++) bits += (uint32_t)motus_ue_bits(mb->sub_type[q]);
    return bits + motus_cbp_bits(mb->cbp, 0);
}

#endif
