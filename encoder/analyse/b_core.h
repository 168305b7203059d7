// A B MB: its candidate MVs, the types to choose from and their bits, what CPU and warps share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_CORE_H
#define ENCODER_ANALYSE_B_CORE_H

#include "encoder/analyse/inter_core.h"
#include "encoder/mb/direct_core.h"

enum {
    MOTUS_B_BLOCKS = 9, // 16x16, 16x8, 8x16 and 8x8: the first ones of the 41
    MOTUS_PREDS = 3,    // MOTUS_PRED_*
    MOTUS_B_SETS = 2,   // of candidates: with the first reference of list 0, and with further ones
};

// MVs that the search found for an MB with a reference of list 0 for each block, measured. Written
// once per picture, before the first decision. The set of the first reference has all blocks that
// are candidates; that of further ones has those blocks that may save by one, none in pictures with
// one reference.
typedef struct __attribute__((aligned(16))) MotusBCandidates {
    MotusMv mv[2][MOTUS_B_BLOCKS];   // of each list alone
    MotusMv both[2][MOTUS_B_BLOCKS]; // of the two lists together
    uint32_t satd[MOTUS_PREDS][MOTUS_B_BLOCKS];
    uint64_t blocks; // mask (motus_b_blocks)
    uint64_t refs;   // ref_idx_l0 of each block, four bits each
} MotusBCandidates;

// Types of B MBs. Direct: all 8x8 blocks, with levels; without it is B_Skip.
enum { MOTUS_B_DIRECT, MOTUS_B_16x16, MOTUS_B_16x8, MOTUS_B_8x16, MOTUS_B_8x8, MOTUS_B_TYPES };

// The MB with the best MVs and lists of each type. cost is UINT32_MAX for types that were not
// considered.
typedef struct MotusBChoice {
    MotusDirect direct;
    MotusMb mb[MOTUS_B_TYPES];
    uint32_t cost[MOTUS_B_TYPES];    // SATD + lambda * bits of type and MVs
    uint32_t mv_bits[MOTUS_B_TYPES]; // motus_mvd_bits_in of the MVs
} MotusBChoice;

// A pair of MVs from around the MB, measured: the predicted ones of the whole MB, then those of A,
// B and C, zero where a list is not used.
typedef struct MotusBNear {
    MotusMv mv[2];                 // into the first reference of each list
    uint32_t satd[MOTUS_PREDS][4]; // of 8x8 blocks
} MotusBNear;

enum { MOTUS_B_NEAR = 4 }; // such pairs

// Returns ref_idx_l0 of a block.
MOTUS_HD int motus_b_ref(const MotusBCandidates *found, int block) {
    return (int)(found->refs >> 4 * block & 15);
}

// Returns the MV of a block in a list with these lists.
MOTUS_HD MotusMv motus_b_found_mv(const MotusBCandidates *found, int block, int pred, int list) {
    return pred == MOTUS_PRED_BI ? found->both[list][block] : found->mv[list][block];
}

// Lists and MVs that a block may have: those of the search with the first reference by
// MOTUS_PRED_*, those of each MotusBNear, then MOTUS_B_FURTHER ones with a further reference: list
// 0 and both.
enum { MOTUS_B_OPTIONS = MOTUS_PREDS * (1 + MOTUS_B_NEAR), MOTUS_B_FURTHER = 2 };

typedef struct MotusBOption {
    int pred;
    uint8_t ref[2]; // ref_idx
    MotusMv mv[2];  // of the lists that it uses
    uint32_t satd;
    uint32_t bits;    // of the MVDs and ref_idx
    uint32_t mv_bits; // motus_mvd_bits_in of them
} MotusBOption;

// Returns option i of a set of candidates. near: all pairs; predictor: of its references.
MOTUS_HD MotusBOption motus_b_option(const MotusBCandidates *found, const MotusBNear *near,
                                     int block, int i, const MotusMv predictor[2],
                                     const MotusInterMb *in) {
    // The 8x8 blocks of each block, a mask of four bits.
    const uint64_t masks = MOTUS_PACK16(4, 15, 3, 12, 5, 10, 1, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0);
    const int refs = in->refs;
    MotusBOption option;
    option.pred = i % MOTUS_PREDS;
    near += motus_max(0, i / MOTUS_PREDS - 1);
    if (i < MOTUS_PREDS) {
        option.satd = found->satd[i][block];
    } else {
        option.satd = 0;
        for (int q = 0; q < 4; q++)
            if (masks >> (4 * block + q) & 1) option.satd += near->satd[option.pred][q];
    }
    option.bits = 0;
    option.ref[0] = (uint8_t)(refs > 1 && i < MOTUS_PREDS ? motus_b_ref(found, block) : 0);
    option.ref[1] = 0;
    if (option.pred != MOTUS_PRED_L1) option.bits = (uint32_t)motus_ref_bits(refs, option.ref[0]);
    option.mv_bits = in->costs ? 0 : option.bits;
    for (int list = 0; list < 2; list++) {
        option.mv[list] =
            i < MOTUS_PREDS ? motus_b_found_mv(found, block, option.pred, list) : near->mv[list];
        if (!motus_pred_uses(option.pred, list)) continue;
        option.bits += (uint32_t)motus_mv_bits(option.mv[list], predictor[list]);
        option.mv_bits += motus_mvd_bits_in(in->costs, option.mv[list], predictor[list], 0);
    }
    return option;
}

// Returns the cost by which options are compared. Two lists take two bits more in types.
MOTUS_HD uint32_t motus_b_option_cost(const MotusBOption *option, const MotusQp *qp) {
    return option->satd +
           motus_mode_cost(qp, option->bits + (option->pred == MOTUS_PRED_BI ? 2 : 0));
}

// Returns the mask of the blocks that are refined and become candidates: those of each type whose
// sum of whole-sample costs, by the better list of each block, is within the gate of the best.
MOTUS_HD uint64_t motus_b_blocks(const uint32_t cost0[], const uint32_t cost1[],
                                 const MotusEffort *effort) {
    uint32_t sum[4] = {0, 0, 0, 0}, best;
    uint64_t blocks = 1;
    for (int b = 0; b < MOTUS_B_BLOCKS; b++)
        sum[(b > 0) + (b > 2) + (b > 4)] += cost0[b] < cost1[b] ? cost0[b] : cost1[b];
    best = sum[0];
    for (int k = 1; k < 4; k++)
        if (effort->partitions >> k & 1 && sum[k] < best) best = sum[k];
    for (int k = 1; k < 4; k++)
        if (effort->partitions >> k & 1 &&
            (uint64_t)sum[k] * 16 <= (uint64_t)best * (uint32_t)effort->type_gate)
            blocks |= k == 1 ? 6 : k == 2 ? 24 : 480;
    return blocks;
}

// True if a type's blocks have candidates.
MOTUS_HD int motus_b_has_type(const MotusBCandidates *found, int type) {
    return type <= MOTUS_B_16x16 || found->blocks >> (type == MOTUS_B_16x8   ? 1
                                                      : type == MOTUS_B_8x16 ? 3
                                                                             : 5) &
                                        1;
}

// ---- Bits ---------------------------------------------------------------------------------------

// Returns the bits of mb_type and sub_mb_type, as in CAVLC.
MOTUS_HD uint32_t motus_b_mode_bits(const MotusMb *mb) {
    const int p = mb->pred[0], q = mb->pred[3];
    uint32_t bits = 9;
    if (mb->type == MOTUS_MB_P_8x8)
        for (int k = 0; k < 4; k++)
            bits += mb->direct >> k & 1 ? 1 : mb->pred[k] == MOTUS_PRED_BI ? 5 : 3;
    else if (mb->direct == MOTUS_ALL_DIRECT)
        bits = 1;
    else if (mb->type == MOTUS_MB_P_16x16)
        bits = p == MOTUS_PRED_BI ? 5 : 3;
    else if (p != MOTUS_PRED_BI && q != MOTUS_PRED_BI)
        bits = p == q ? 5 : 7;
    return bits;
}

// Returns the bits of a B MB besides the residual. mv_bits: of its MVDs.
MOTUS_HD uint32_t motus_b_bits(const MotusMb *mb, uint32_t mv_bits) {
    if (mb->type == MOTUS_MB_P_SKIP) return MOTUS_SKIP_RUN_BITS;
    return MOTUS_SKIP_RUN_BITS + motus_b_mode_bits(mb) + mv_bits + motus_cbp_bits(mb->cbp, 0);
}

// Returns the SATD of direct 8x8 block q, or more than any other if it must not be direct.
MOTUS_HD uint32_t motus_b_direct_satd(const MotusDirect *direct, int q, uint32_t satd) {
    return direct->blocks >> q & 1 ? satd : 1u << 28;
}

// True if an 8x8 block of B_8x8 is direct rather than predicted by its best option.
MOTUS_HD int motus_b_direct_wins(uint32_t direct_satd, const MotusBOption *own, const MotusQp *qp) {
    return direct_satd + motus_mode_cost(qp, 1) <=
           motus_b_option_cost(own, qp) + motus_mode_cost(qp, 3);
}

#endif
