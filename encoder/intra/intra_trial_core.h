// Trials of an intra MB, as Intra16x16 with chroma and as Intra4x4: what intra.c and
// intra_trial_warp.cuh share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_TRIAL_CORE_H
#define ENCODER_INTRA_INTRA_TRIAL_CORE_H

#include "encoder/analyse/trial_core.h"
#include "encoder/bitstream/syntax_core.h"
#include "encoder/levels/levels_core.h"

#define MOTUS_I4_TRIALS 3 // Intra4x4 modes per block that get a trial, at most

// Intra4x4 reconstructs on a canvas with one row above and one column to the left of the MB.
#define MOTUS_CANVAS_STRIDE 32
#define MOTUS_CANVAS_ORIGIN (MOTUS_CANVAS_STRIDE + 8)

// Samples of the picture being reconstructed: the first one of the MB in each plane.
typedef struct MotusMbRecon {
    uint8_t *plane[3];
    ptrdiff_t stride[3];
} MotusMbRecon;

// An MB to be coded as intra. `rec` holds the reconstruction around it.
typedef struct MotusIntraMb {
    const MotusQp *qp;
    const MotusQuant8 *quant8; // at its QP; NULL: no Intra8x8. Of the CPU; warps are given theirs
    const MotusLevelChoice *levels;
    int i4_trials;  // Intra4x4 modes with a trial per block, best SATD first; 0 leaves out Intra4x4
    int keeps_left; // 1: no Intra4x4 mode that reads samples above right: blocks with the same x +
                    // y are independent of one another
    int slice_type;
    MotusMbSource src;
    MotusMbRecon rec;
    MotusNeighbours neighbours;
    int has; // MOTUS_HAS_* of the MB
} MotusIntraMb;

// True if the MB is tried as Intra8x8, if it may have the 8x8 transform.
MOTUS_HD int motus_tries_intra8x8(const MotusIntraMb *in) { return in->i4_trials > 0; }

// Type of an intra MB: Intra16x16, Intra4x4 or, with the 8x8 transform, Intra8x8.
typedef struct MotusIntraType {
    uint8_t type, transform_8x8, mode; // mode: of Intra16x16
} MotusIntraType;

// Result of one part of an intra MB: Intra4x4 luma, Intra16x16 luma or chroma. The three are
// independent of one another.
typedef struct MotusIntraPart {
    uint32_t cost;      // of Intra4x4's blocks; if it exceeds the MB's cost as Intra16x16,
                        // Intra4x4 is not taken
    uint32_t bits, ssd; // bits of the residual
    uint32_t mode_bits; // of Intra4x4's modes
    int cbp;            // its bits of coded_block_pattern
} MotusIntraPart;

// Luma and chroma of an MB, coded apart.
typedef struct MotusIntraParts {
    MotusIntraPart luma, chroma;
} MotusIntraParts;

// 4x4 blocks at the edges of an MB, for its neighbours (intra_wave_warp.cuh): the bottom row and
// the right column, top first; of chroma Cb's two, then Cr's. 0: not coded yet. I pictures hand the
// right column of luma on in shared memory.
typedef struct MotusHandedMb {
    uint64_t below[4], right[4], chroma_right[4], chroma_below[4];
} MotusHandedMb;

// Returns the mask MOTUS_HAS_* of the neighbours that exist.
MOTUS_HD int motus_intra_has(const MotusNeighbours *n) {
    return (n->a ? MOTUS_HAS_LEFT : 0) | (n->b ? MOTUS_HAS_TOP : 0) |
           (n->d ? MOTUS_HAS_CORNER : 0) | (n->c ? MOTUS_HAS_TOP_RIGHT : 0);
}

// Costs of prev_intra4x4_pred_mode_flag and rem_intra4x4_pred_mode in parts of a bit of
// motus_unit_of: of the predicted mode, of another one, and what a 1 in the latter adds.
typedef struct MotusModeCosts {
    uint32_t same, other;
    int one;
} MotusModeCosts;

MOTUS_HD MotusModeCosts motus_mode_costs(const MotusLevelChoice *choice) {
    MotusModeCosts costs = {1, 4, 0};
    if (!choice->costs) return costs;
    const uint16_t *flag = choice->costs->bin[MOTUS_CTX_INTRA4x4_PREDICTED],
                   *bin = choice->costs->bin[MOTUS_CTX_INTRA4x4_MODE];
    costs.same = flag[1];
    costs.other = (uint32_t)flag[0] + 3 * bin[0];
    costs.one = bin[1] - bin[0];
    return costs;
}

// Returns the costs of modes of 8x8 blocks, each 1 / MOTUS_BIT.
MOTUS_HD MotusModeCosts motus_i8_mode_costs(const MotusLevelChoice *choice) {
    const uint32_t scale = MOTUS_BIT / motus_unit_of(choice);
    MotusModeCosts costs = motus_mode_costs(choice);
    costs.same *= scale, costs.other *= scale;
    return costs; // `one` is 0 with another unit
}

// Returns the cost of a mode.
MOTUS_HD uint32_t motus_i4_mode_bits(int mode, int predicted, const MotusModeCosts *costs) {
    const int rest = mode - (mode > predicted), ones = (rest & 1) + (rest >> 1 & 1) + (rest >> 2);
    return mode == predicted ? costs->same : costs->other + (uint32_t)(ones * costs->one);
}

// Bits that an MB costs more as Intra4x4 than as Intra16x16, where types are chosen by SATD: those
// of modes, mostly.
#define MOTUS_I4_TYPE_BITS 64

// True if Intra4x4 is chosen by SATDs: of 4x4 blocks, each by its best mode, and of the best
// Intra16x16 mode with its bits.
MOTUS_HD int motus_is_intra4x4_by_satd(uint32_t small, uint32_t whole, const MotusQp *qp) {
    return small + motus_mode_cost(qp, MOTUS_I4_TYPE_BITS) < whole;
}

// Begins a trial with an MB of this type and nothing else.
MOTUS_HD void motus_intra_begin_as(const MotusIntraMb *in, MotusTrial *trial, int type) {
    for (int i = motus_lane(); i < (int)(sizeof trial->mb / 16); i += MOTUS_LANES)
        memset(__builtin_assume_aligned((char *)&trial->mb + 16 * i, 16), 0, 16);
    motus_lanes_sync(); // before fields are set
    if (motus_lane() == 0) {
        trial->mb.type = (uint8_t)type;
        trial->mb.qp = in->qp->luma.qp;
    }
    motus_lanes_sync();
}

// Sets cbp, bits, SSD and cost of a trial from its luma and chroma. One lane calls it.
MOTUS_HD void motus_intra_add_up(const MotusIntraMb *in, MotusTrial *trial,
                                 const MotusIntraPart *luma, const MotusIntraPart *chroma) {
    trial->mb.cbp = (uint8_t)(luma->cbp | chroma->cbp);
    trial->bits =
        luma->bits + chroma->bits + motus_intra_bits(&trial->mb, luma->mode_bits, in->slice_type);
    trial->ssd = luma->ssd + chroma->ssd;
    trial->cost = motus_rd_cost(trial->ssd, trial->bits, in->qp->lambda_ssd_q8);
}

// Gives the Intra4x4 trial the chroma that was coded for Intra16x16.
MOTUS_HD void motus_intra_copy_chroma(MotusTrial *to, const MotusTrial *from) {
    for (int i = motus_lane(); i < 8; i += MOTUS_LANES) {
        memcpy(to->chroma[0] + 16 * i, from->chroma[0] + 16 * i, 16);
        memcpy(to->coef.chroma_ac[i >> 2][i & 3], from->coef.chroma_ac[i >> 2][i & 3],
               sizeof to->coef.chroma_ac[0][0]);
        to->coef.chroma_dc[i >> 2][i & 3] = from->coef.chroma_dc[i >> 2][i & 3];
        to->mb.total_coeff[16 + i] = from->mb.total_coeff[16 + i];
    }
    if (motus_lane() == 0) to->mb.intra_chroma_pred_mode = from->mb.intra_chroma_pred_mode;
    motus_lanes_sync();
}

// True if an MB of these costs is better coded as I_PCM, or must be.
MOTUS_HD int intra_wants_pcm(uint32_t bits, uint32_t cost, const MotusQp *qp) {
    return bits > MOTUS_MB_BITS_LIMIT || cost > motus_rd_cost(0, MOTUS_PCM_BITS, qp->lambda_ssd_q8);
}

// Returns the bits of an MB's levels as CAVLC codes them, but for what neighbours change in
// coeff_token, which the margin of MOTUS_MB_BITS_LIMIT covers.
MOTUS_HD uint32_t intra_count_levels(const MotusMb *mb, const MotusMbCoef *coef,
                                     const uint8_t *zero_runs) {
    const int is_16x16 = mb->type == MOTUS_MB_I_16x16;
    int bits = 0;
    for (int blk = motus_lane(); blk < 24; blk += MOTUS_LANES) {
        if (!mb->total_coeff[blk]) continue; // its levels are undefined
        const int first = is_16x16 || blk >= 16;
        const int16_t *level =
            (blk < 16 ? coef->luma[blk] : coef->chroma_ac[(blk - 16) >> 2][blk & 3]) + first;
        bits +=
            motus_cavlc_block_bits(motus_cavlc_shape(level, 16 - first), level, -1, 0, 16 - first,
                                   motus_cavlc_token_class(mb->total_coeff[blk]), zero_runs);
    }
    for (int c = motus_lane(); c < 2; c += MOTUS_LANES)
        bits += motus_cavlc_chroma_dc_bits(coef->chroma_dc[c]);
    if (motus_lane() == 0 && is_16x16)
        bits += motus_cavlc_block_bits(motus_cavlc_shape(coef->luma_dc, 16), coef->luma_dc, -1, 0,
                                       16, 0, zero_runs);
    return motus_lanes_sum((uint32_t)bits);
}

// Sets cbp of an MB that was coded as its type. True if it would rather be I_PCM.
MOTUS_HD int motus_intra_typed_wants_pcm(MotusMb *mb, const MotusMbCoef *coef,
                                         const MotusIntraPart *luma, const MotusIntraPart *chroma,
                                         int slice_type, const MotusQp *qp,
                                         const uint8_t *zero_runs) {
    uint32_t bits = luma->bits + chroma->bits; // guessed
    if (motus_lane() == 0) mb->cbp = (uint8_t)(luma->cbp | chroma->cbp);
    motus_lanes_sync(); // cbp is written
    if (bits > MOTUS_GUESS_TRUSTED) bits = intra_count_levels(mb, coef, zero_runs);
    bits += motus_intra_bits(mb, luma->mode_bits, slice_type);
    return intra_wants_pcm(bits, motus_rd_cost(luma->ssd + chroma->ssd, bits, qp->lambda_ssd_q8),
                           qp);
}

// Returns the cheaper of the two trials, or I_PCM in its place as a last resort. i4: the second one
// is complete.
MOTUS_HD MotusTrial *motus_intra_cheaper(const MotusIntraMb *in, MotusTrial *first,
                                         MotusTrial *second, int i4) {
    MotusTrial *best = i4 && second->cost < first->cost ? second : first;
    if (intra_wants_pcm(best->bits, best->cost, in->qp)) motus_trial_pcm(best, &in->src, in->qp);
    return best;
}

#endif
