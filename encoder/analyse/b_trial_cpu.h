// Decision of a B MB on the CPU: B_Skip, then trials of the types that come close to the best one
// by SATD.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_B_TRIAL_CPU_H
#define ENCODER_ANALYSE_B_TRIAL_CPU_H

#include "encoder/analyse/b_choice_cpu.h"
#include "encoder/analyse/inter_trial_cpu.h"

typedef struct MotusBDecideScratch {
    MotusTrial trial[2];
    MotusBScratch choose;
    MotusBChoice choice;
    MotusResidual residual;
} MotusBDecideScratch;

// Makes the trial B_Skip, and predicts it.
static inline void motus_b_predict_skip(const MotusInterMb *in, const MotusDirect *direct,
                                        MotusTrial *trial) {
    MotusMb *mb = &trial->mb;
    memset(mb, 0, sizeof *mb);
    mb->type = MOTUS_MB_P_SKIP;
    mb->qp = in->qp->luma.qp;
    for (int q = 0; q < 4; q++) motus_set_direct(mb, q, direct);
    trial->luma_bits = 0;
    motus_predict_b(trial->luma, trial->chroma, mb, in->ref, in->refs, in->x, in->y);
}

// True if B_Skip is taken at once whatever the MB's neighbours are; it is left in the trial then.
// direct: does not depend on them.
static inline int motus_b_skip_is_sure(const MotusInterMb *in, const MotusDirect *direct,
                                       const MotusEffort *effort, const MotusLevelChoice *levels,
                                       MotusTrial *trial) {
    if (direct->blocks != MOTUS_ALL_DIRECT) return 0;
    motus_b_predict_skip(in, direct, trial);
    motus_trial_measure(trial, in, levels, motus_most_b_skip_bits(in->costs));
    return motus_skip_is_enough(trial, in->qp, effort);
}

// Evaluates B_Skip, and measures the prediction that it shares with direct blocks.
static inline void motus_b_skip_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                      const MotusRefineOps *ops, MotusBDecideScratch *s,
                                      MotusTrial *trial) {
    uint32_t sum[MOTUS_BLOCKS];
    motus_b_predict_skip(in, &s->choice.direct, trial);
    motus_trial_measure(trial, in, levels, motus_skip_bits(in, &trial->mb));
    if (s->choice.direct.blocks != MOTUS_ALL_DIRECT) trial->cost = UINT32_MAX;
    const MotusTaps taps = {{trial->luma, trial->luma}};
    ops->prepare(&s->choose.cur, in->src.plane[0], in->src.stride[0]);
    ops->satd_mb(&s->choose.cur, &taps, MOTUS_LUMA_STRIDE, 15, sum);
    for (int q = 0; q < 4; q++)
        s->choose.direct_satd[q] =
            motus_b_direct_satd(&s->choice.direct, q, sum[MOTUS_BLOCK_8x8 + q]);
}

// Evaluates trial->mb, whose type, lists, MVs and references are set.
static inline void motus_b_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                 uint32_t mv_bits, MotusResidual *residual, MotusTrial *trial) {
    const MotusMv none = {0, 0};
    trial->mb.qp = in->qp->luma.qp;
    motus_predict_b(trial->luma, trial->chroma, &trial->mb, in->ref, in->refs, in->x, in->y);
    motus_trial_complete(in, levels, none, mv_bits, residual, trial);
    motus_trial_transform(in, levels, trial);
}

// Begins the decision of an MB, as motus_decide_skip does.
static inline int motus_b_decide_skip(const MotusInterMb *in, MotusDirectFrom from,
                                      const MotusEffort *effort, const MotusLevelChoice *levels,
                                      const MotusRefineOps *ops, MotusBDecideScratch *s) {
    s->choice.direct = motus_direct_of(&in->neighbours, from);
    motus_b_skip_trial(in, levels, ops, s, &s->trial[0]);
    return motus_skip_is_enough(&s->trial[0], in->qp, effort);
}

// Completes it, as motus_decide_types does.
static inline MotusTrial *
motus_b_decide_types(const MotusInterMb *in, const MotusBCandidates *found,
                     const MotusEffort *effort, const MotusLevelChoice *levels,
                     const MotusRefineOps *ops, MotusBDecideScratch *s, uint32_t *satd) {
    MotusTrial *best = &s->trial[0], *other = &s->trial[1];
    const uint32_t *cost = s->choice.cost;
    int first = 0;
    motus_b_measure_near(in, ops, &s->choose);
    motus_b_choose_types(in, found, &s->choose, &s->choice);
    for (int k = 1; k < MOTUS_B_TYPES; k++)
        if (cost[k] < cost[first]) first = k;
    *satd = cost[first];
    for (int i = 0; i < MOTUS_B_TYPES; i++) { // the best one by SATD first: it wins ties
        const int k = (first + i) % MOTUS_B_TYPES;
        if (cost[k] == UINT32_MAX ||
            (uint64_t)cost[k] * 16 > (uint64_t)cost[first] * (uint32_t)effort->trial_gate)
            continue;
        other->mb = s->choice.mb[k];
        motus_b_trial(in, levels, s->choice.mv_bits[k], &s->residual, other);
        if (other->cost >= best->cost) continue;
        MotusTrial *swap = best;
        best = other;
        other = swap;
    }
    if (best->bits > MOTUS_MB_BITS_LIMIT) motus_trial_pcm(best, &in->src, in->qp);
    return best;
}

// Returns the cheapest inter coding of the MB, one of the scratch's two trials. *satd becomes the
// cost of the best type by SATD, 0 if B_Skip was taken at once.
static inline MotusTrial *motus_decide_b(const MotusInterMb *in, const MotusBCandidates *found,
                                         MotusDirectFrom from, const MotusEffort *effort,
                                         const MotusLevelChoice *levels, const MotusRefineOps *ops,
                                         MotusBDecideScratch *s, uint32_t *satd) {
    *satd = 0;
    if (motus_b_decide_skip(in, from, effort, levels, ops, s)) return &s->trial[0];
    return motus_b_decide_types(in, found, effort, levels, ops, s, satd);
}

#endif
