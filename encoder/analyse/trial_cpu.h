// Trials of an inter MB on the CPU, and the choice of its transform by rate and distortion.
// residual_warp.cuh and inter_warp.cuh have the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_TRIAL_CPU_H
#define ENCODER_ANALYSE_TRIAL_CPU_H

#include "encoder/analyse/inter_bits_core.h"
#include "encoder/analyse/predict_cpu.h"
#include "encoder/analyse/residual_cpu.h"

// Sets bits, SSD and cost of a trial from its reconstruction. bits: each 1 / motus_unit_of.
static inline void motus_trial_measure(MotusTrial *trial, const MotusInterMb *in,
                                       const MotusLevelChoice *levels, uint32_t bits) {
    trial->bits = motus_whole_bits(bits, levels);
    trial->ssd = motus_ssd_luma(&in->src, trial->luma) + motus_ssd_chroma(&in->src, trial->chroma);
    trial->cost = motus_rd_cost_in(motus_unit_of(levels), trial->ssd, bits, in->qp->lambda_ssd_q8);
}

// Codes luma of a decided MB with the 8x8 transform, and takes it if it costs less. rec: luma of
// the MB's reconstruction. Updates mb, coef, rec and *cost and returns 1 if it is taken.
static inline int motus_choose_transform(const MotusInterMb *in, const MotusLevelChoice *choice,
                                         const MotusQuant8 *quant, MotusMb *mb, MotusMbCoef *coef,
                                         uint8_t *rec, ptrdiff_t rec_stride, uint32_t luma_bits,
                                         uint32_t *cost) {
    const uint8_t *src = in->src.plane[0];
    const ptrdiff_t stride = in->src.stride[0];
    uint8_t luma[256];
    MotusBlockLevels levels[4];
    uint32_t bits = 0;
    int cbp = 0;
    if (!motus_transform_is_open(mb, in, *cost)) return 0;
    motus_predict_inter(luma, NULL, in, mb);
    for (int q = 0; q < 4; q++) {
        const int x = 8 * (q & 1), y = 8 * (q >> 1);
        if (!motus_code_block8(&levels[q], src + y * stride + x, stride, luma + 16 * y + x, 16,
                               quant, choice))
            continue;
        cbp |= 1 << q;
        bits += levels[q].bits;
    }
    if (!cbp ||
        !motus_transform_pays(mb, in->qp, motus_ssd_square(src, stride, rec, rec_stride, 16),
                              luma_bits, motus_ssd_luma(&in->src, luma), bits, cost))
        return 0;
    motus_set_transform8(mb, cbp);
    for (int q = 0; q < 4; q++)
        motus_store_block8(mb, coef, q, cbp >> q & 1 ? &levels[q] : NULL, choice);
    for (int y = 0; y < 16; y++) memcpy(rec + y * rec_stride, luma + 16 * y, 16);
    return 1;
}

// Evaluates trial->mb, whose type, lists, MVs and references are set. A 16x16 MB with P_Skip's MV
// `skip` and no residual becomes P_Skip.
static inline void motus_inter_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                     MotusMv skip, uint32_t mv_bits, MotusResidual *residual,
                                     MotusTrial *trial) {
    MotusMb *mb = &trial->mb;
    mb->qp = in->qp->luma.qp;
    motus_predict_inter(trial->luma, trial->chroma, in, mb);
    trial->luma_bits =
        code_inter_luma(residual, trial, &in->src, &in->neighbours, &in->qp->luma, levels);
    const uint32_t bits =
        trial->luma_bits + (levels->costs
                                ? code_inter_chroma(residual, trial, &in->src, &in->neighbours,
                                                    &in->qp->chroma, levels)
                                : motus_code_chroma(residual, trial, &in->src, &in->neighbours,
                                                    &in->qp->chroma, levels, MOTUS_DEADZONE_INTER));
    if (motus_trial_is_skip(in, mb, skip)) mb->type = MOTUS_MB_P_SKIP;
    motus_trial_measure(trial, in, levels,
                        bits * motus_unit_of(levels) + motus_trial_bits(in, mb, mv_bits));
    if (in->quant8 && trial->bits <= MOTUS_MB_BITS_LIMIT) // both transforms
        motus_choose_transform(in, levels, in->quant8, mb, &trial->coef, trial->luma,
                               MOTUS_LUMA_STRIDE, trial->luma_bits, &trial->cost);
}

// Evaluates those of the n chosen MBs that come close to the best one by SATD, against the skipped
// MB in trial[0]. Returns the cheapest, one of the two trials. *satd becomes the cost of the best
// one by SATD.
static inline MotusTrial *motus_try_types(const MotusInterMb *in, const MotusEffort *effort,
                                          const MotusLevelChoice *levels, int n, const MotusMb mb[],
                                          const uint32_t cost[], const uint32_t mv_bits[],
                                          MotusMv skip, MotusResidual *residual,
                                          MotusTrial trial[2], uint32_t *satd) {
    MotusTrial *best = &trial[0], *other = &trial[1];
    int first = 0;
    for (int k = 1; k < n; k++)
        if (cost[k] < cost[first]) first = k;
    *satd = cost[first];
    for (int i = 0; i < n; i++) { // the best one by SATD first: it wins ties
        const int k = (first + i) % n;
        if (cost[k] == UINT32_MAX ||
            (uint64_t)cost[k] * 16 > (uint64_t)cost[first] * (uint32_t)effort->trial_gate)
            continue;
        other->mb = mb[k];
        motus_inter_trial(in, levels, skip, mv_bits[k], residual, other);
        if (other->cost >= best->cost) continue;
        MotusTrial *swap = best;
        best = other;
        other = swap;
    }
    if (best->bits > MOTUS_MB_BITS_LIMIT) motus_trial_pcm(best, &in->src, in->qp);
    return best;
}

#endif
