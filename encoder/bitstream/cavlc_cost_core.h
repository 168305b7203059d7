// Bits of a macroblock besides the residual in CAVLC, which decisions ask for.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_CAVLC_COST_CORE_H
#define ENCODER_BITSTREAM_CAVLC_COST_CORE_H

#include "encoder/bitstream/syntax_core.h"

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

#endif
