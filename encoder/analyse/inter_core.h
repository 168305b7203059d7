// An inter MB, its candidate MVs, the choice among them and that of its transform: what CPU and
// warps share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_CORE_H
#define ENCODER_ANALYSE_INTER_CORE_H

#include "encoder/analyse/trial_core.h"
#include "encoder/bitstream/syntax_core.h"
#include "encoder/mb/refresh_core.h"
#include "encoder/preset/preset.h"

#define MOTUS_CANDIDATES 24 // MVs of an MB from the search
#define MOTUS_CHOICES 32    // with those of its neighbours; one per lane of a warp

// Distinct MVs that the search found for an MB, with their references, measured. Written once per
// picture, before the first decision.
typedef struct __attribute__((aligned(16))) MotusCandidates { // as MotusBCandidates
    MotusMv mv[MOTUS_CANDIDATES];
    uint16_t satd[MOTUS_CANDIDATES][16]; // 4x4 blocks in raster order
    uint64_t blocks;                     // motus_candidate_blocks
    uint8_t ref[MOTUS_CANDIDATES];       // ref_idx
    uint8_t n;
} MotusCandidates;

// An inter MB and its surroundings.
typedef struct MotusInterMb {
    const MotusReference *ref; // of list 0 by ref_idx; of B MBs list 1's only one behind them
    const MotusInterLimits *limits;
    const MotusQp *qp;
    MotusMbSource src;
    MotusNeighbours neighbours;
    int x, y;                     // MBs
    int lists;                    // 1: a P MB, 2: a B MB
    int refs;                     // of list 0
    const MotusCabacCosts *costs; // NULL: CAVLC
    int max_mv_y;                 // motus_refresh_max_mv_y
    const MotusQuant8 *quant8;    // trials take the 8x8 transform where it costs less; or NULL
} MotusInterMb;

// The MB with the best MVs (and sub types) of each of the four types P_16x16, P_16x8, P_8x16 and
// P_8x8. cost is UINT32_MAX for types that were not considered.
typedef struct MotusChoice {
    MotusMb mb[4];
    uint32_t cost[4];    // SATD + lambda * bits of type and MVs
    uint32_t mv_bits[4]; // motus_mvd_bits_in of the MVs
    MotusMv skip;        // P_Skip's MV
} MotusChoice;

// True if an MV is within the level's vertical range, and any two differ by less than 16 bits.
MOTUS_HD int motus_mv_allowed(const MotusInterLimits *limits, MotusMv mv) {
    return mv.y >= -limits->max_mv_y && mv.y < limits->max_mv_y && mv.x >= -8192 && mv.x < 8192;
}

// True if the MB may have a coded MV.
MOTUS_HD int motus_inter_mv_allowed(const MotusInterMb *in, MotusMv mv) {
    return motus_mv_allowed(in->limits, mv) && motus_refresh_mv_y(in->max_mv_y, 3, mv.y) == mv.y;
}

// Returns the bits of one component of an MV difference, se(v), |v| < 2^15: from the exponent of
// |v| as a float, for which SIMD code has an instruction.
MOTUS_HD int motus_mvd_bits(int v) {
#ifdef __CUDA_ARCH__
    return 2 * (32 - __clz(motus_abs(v))) + 1;
#else
    union {
        float f;
        int32_t i;
    } magnitude;
    magnitude.f = (float)motus_abs(v) + 0.5f; // 0.5 for 0: exponent -1, where 1 has 0
    return 2 * ((magnitude.i >> 23) - 126) + 1;
#endif
}

// Returns the bits of an MV and its ref_idx of `ref_bits`, each 1 / motus_unit_of. With CABAC those
// of ref_idx are counted by motus_trial_bits, which knows all of them.
MOTUS_HD uint32_t motus_mvd_bits_in(const MotusCabacCosts *costs, MotusMv mv, MotusMv predictor,
                                    int ref_bits) {
    return costs ? motus_mvd_cost(costs, 0, mv.x - predictor.x) +
                       motus_mvd_cost(costs, 1, mv.y - predictor.y)
                 : (uint32_t)(motus_mv_bits(mv, predictor) + ref_bits);
}

// Completes the choice of type k, whose MVs are set.
MOTUS_HD void motus_choice_put(MotusChoice *choice, int k, uint32_t cost, uint32_t mv_bits) {
    choice->mb[k].type = (uint8_t)(MOTUS_MB_P_16x16 + k);
    choice->cost[k] = cost;
    choice->mv_bits[k] = mv_bits;
}

// True if P_Skip or B_Skip of this RD cost is taken at once. The cost is nearly all distortion: if
// it is below that of skip_gate bits, other MVs could not save more.
MOTUS_HD int motus_skip_is_enough(uint32_t cost, const MotusQp *qp, const MotusEffort *effort) {
    return cost <= motus_rd_cost(0, (uint32_t)effort->skip_gate, qp->lambda_ssd_q8);
}

// True if an MB with this RD cost was skipped at once: no 8x8 transform is tried for it.
MOTUS_HD int motus_was_skipped_at_once(const MotusMb *mb, uint32_t cost, const MotusQp *qp,
                                       const MotusEffort *effort) {
    return mb->type == MOTUS_MB_P_SKIP && motus_skip_is_enough(cost, qp, effort);
}

// Returns the mask of the 41 blocks that are refined and become candidates, by whole-sample costs
// (SAD + lambda * bits): the blocks of each type, or sub type of an 8x8 block, whose sum is within
// the gate of the best.
MOTUS_HD uint64_t motus_candidate_blocks(const uint32_t cost[MOTUS_BLOCKS],
                                         const MotusEffort *effort, uint32_t lambda_q8) {
    uint64_t blocks = 1, subs = 0;
    uint32_t whole[4] = {cost[0], cost[1] + cost[2], cost[3] + cost[4], 0}, best = UINT32_MAX;
    for (int q = 0; q < 4; q++) {
        uint32_t sub[4], least = UINT32_MAX;
        for (int k = 0; k < 4; k++) {
            sub[k] = lambda_q8 * (uint32_t)motus_ue_bits((uint32_t)k) >> 8;
            for (int i = 0; i < motus_sub_partitions(k); i++)
                sub[k] += cost[motus_sub_block(k, q, i)];
            if (!(effort->partitions >> (MOTUS_MODE_8x8 + k) & 1)) sub[k] = UINT32_MAX;
            least = sub[k] < least ? sub[k] : least;
        }
        for (int k = 0; k < 4; k++) {
            if (sub[k] == UINT32_MAX ||
                (k && (uint64_t)sub[k] * 16 > (uint64_t)least * (uint32_t)effort->sub_gate))
                continue;
            for (int i = 0; i < motus_sub_partitions(k); i++)
                subs |= 1ull << motus_sub_block(k, q, i);
        }
        whole[3] = least == UINT32_MAX || whole[3] == UINT32_MAX ? UINT32_MAX : whole[3] + least;
    }
    for (int k = 0; k < 4; k++) {
        int mode = k == 3 ? MOTUS_MODE_8x8 : k;
        if (!(effort->partitions >> mode & 1)) whole[k] = UINT32_MAX;
        if (whole[k] == UINT32_MAX) continue;
        whole[k] += lambda_q8 * (uint32_t)motus_ue_bits((uint32_t)k) >> 8;
        best = whole[k] < best ? whole[k] : best;
    }
    for (int k = 1; k < 4; k++) {
        if (whole[k] == UINT32_MAX ||
            (uint64_t)whole[k] * 16 > (uint64_t)best * (uint32_t)effort->type_gate)
            continue;
        blocks |= k == 1 ? 3ull << MOTUS_BLOCK_16x8 : k == 2 ? 3ull << MOTUS_BLOCK_8x16 : subs;
    }
    return blocks;
}

// Returns lambda * bits of a ref_idx in a slice with `refs` references.
MOTUS_HD uint32_t motus_ref_cost(uint32_t lambda_q8, int refs, int ref) {
    return lambda_q8 * (uint32_t)motus_ref_bits(refs, ref) >> 8;
}

// True if a further reference is refined for a block: its whole-sample cost with that of ref_idx is
// within the gate (1/16) of the least one.
MOTUS_HD int motus_ref_is_close(uint32_t cost, uint32_t least, int gate) {
    return (uint64_t)cost * 16 <= (uint64_t)least * (uint32_t)gate;
}

// Blocks whose MVs are listed first, those of all references: down to 8x8.
#define MOTUS_LARGE_BLOCKS ((UINT64_C(1) << MOTUS_BLOCK_8x4) - 1)

// ---- Transform ----------------------------------------------------------------------------------
//
// An MB is decided with the 4x4 transform, and tried with the 8x8 one after the round: once, where
// every type would have a trial of its own, and without waiting for other MBs. An effort with
// `transforms` tries both in every trial.

// In bits: a cost up to which no 8x8 transform is tried; what a P_Skip MB pays for having levels
// (mb_type, MVD, coded_block_pattern, flags); by how much luma may grow, far less than
// MOTUS_MB_BITS_LIMIT leaves.
enum { MOTUS_TRANSFORM_FROM = 16, MOTUS_UNSKIP_BITS = 6, MOTUS_TRANSFORM_MORE = 128 };

// True if the 8x8 transform is tried for an MB with this RD cost. P_Skip becomes 16x16 then, and
// its MV has to be allowed there.
MOTUS_HD int motus_transform_is_open(const MotusMb *mb, const MotusInterMb *in, uint32_t cost) {
    if (mb->transform_8x8 || motus_mb_is_intra(mb) || motus_has_small_partition(mb) ||
        (mb->type == MOTUS_MB_P_SKIP && !motus_mv_allowed(in->limits, mb->mv[0])))
        return 0;
    return cost > motus_rd_cost(0, MOTUS_TRANSFORM_FROM, in->qp->lambda_ssd_q8);
}

// True if luma with the 8x8 transform (ssd8; bits8, each 1 / MOTUS_BIT) costs less than without.
// Updates *cost, the MB's, then.
MOTUS_HD int motus_transform_pays(const MotusMb *mb, const MotusQp *qp, uint32_t ssd4,
                                  uint32_t bits4, uint32_t ssd8, uint32_t bits8, uint32_t *cost) {
    const int is_skip = mb->type == MOTUS_MB_P_SKIP;
    if (is_skip) bits4 = MOTUS_SKIP_RUN_BITS;
    bits8 = (bits8 + MOTUS_BIT / 2) / MOTUS_BIT + (is_skip ? (uint32_t)MOTUS_UNSKIP_BITS : 0);
    const uint32_t without = motus_rd_cost(ssd4, bits4, qp->lambda_ssd_q8),
                   with = motus_rd_cost(ssd8, bits8, qp->lambda_ssd_q8);
    if (bits8 > bits4 + MOTUS_TRANSFORM_MORE || with >= without) return 0;
    *cost -= without - with;
    return 1;
}

// Makes the MB one with the 8x8 transform and these bits of cbp.
MOTUS_HD void motus_set_transform8(MotusMb *mb, int cbp) {
    if (mb->type == MOTUS_MB_P_SKIP) mb->type = MOTUS_MB_P_16x16;
    mb->transform_8x8 = 1;
    mb->cbp = (uint8_t)((mb->cbp & ~15) | cbp);
}

#endif
