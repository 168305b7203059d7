// Decision of an inter MB on the CPU: choice of MVs by SATD, then trials of the types that come
// close to the best one. inter_team_warp.cuh has the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_TRIAL_CPU_H
#define ENCODER_ANALYSE_INTER_TRIAL_CPU_H

#include "encoder/analyse/inter_bits_core.h"
#include "encoder/analyse/inter_choice_cpu.h"
#include "encoder/analyse/residual_cpu.h"

typedef struct MotusDecideScratch {
    MotusTrial trial[2];
    MotusChooseScratch choose;
    MotusChoice choice;
    MotusResidual residual;
} MotusDecideScratch;

// Predicts an MB with its MVs. luma, chroma: NULL: not wanted.
static inline void motus_predict_mb(const MotusInterMb *in, const MotusMb *mb, uint8_t luma[256],
                                    uint8_t chroma[2][64]) {
    if (in->lists == 2)
        motus_predict_b(luma, chroma, mb, in->ref, in->refs, in->x, in->y);
    else
        motus_predict_inter(luma, chroma, mb, in->ref, in->x, in->y);
}

// Sets bits, SSD and cost of a trial from its reconstruction. luma_ssd: luma's part; bits: each
// 1 / motus_unit_of.
static inline void motus_trial_measure(MotusTrial *trial, const MotusInterMb *in,
                                       const MotusLevelChoice *levels, uint32_t luma_ssd,
                                       uint32_t bits) {
    trial->bits = motus_whole_bits(bits, levels);
    trial->ssd = luma_ssd + motus_ssd_chroma(&in->src, trial->chroma);
    trial->cost = motus_rd_cost_in(motus_unit_of(levels), trial->ssd, bits, in->qp->lambda_ssd_q8);
}

// Evaluates P_Skip or B_Skip, as which trial->mb is set, with the MVs that it has.
static inline void motus_no_residual_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                           MotusTrial *trial) {
    trial->mb.type = MOTUS_MB_P_SKIP;
    trial->mb.qp = in->qp->luma.qp;
    trial->luma_bits = 0;
    motus_predict_mb(in, &trial->mb, trial->luma, trial->chroma);
    motus_trial_measure(trial, in, levels, motus_ssd_luma(&in->src, trial->luma),
                        motus_skip_bits(in, &trial->mb));
}

// Evaluates P_Skip. Its MV may exceed the limits of coded MVs.
static inline void motus_skip_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                    MotusMv skip, MotusTrial *trial) {
    memset(&trial->mb, 0, sizeof trial->mb);
    for (int i = 0; i < 16; i++) trial->mb.mv[i] = skip;
    motus_no_residual_trial(in, levels, trial);
    if (skip.x > in->max_mv_x) trial->cost = UINT32_MAX;
}

// Evaluates trial->mb, whose type, MVs and references are set. An MB without residual, 16x16 with
// P_Skip's MV `skip` or all direct, becomes P_Skip or B_Skip. Returns the bits of the residual, or
// UINT32_MAX if luma alone costs `limit` or more: then the trial is not completed, and its cost is
// UINT32_MAX.
static inline uint32_t motus_inter_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                         MotusMv skip, uint32_t mv_bits, uint32_t limit,
                                         MotusResidual *residual, MotusTrial *trial) {
    const uint32_t unit = motus_unit_of(levels), lambda = in->qp->lambda_ssd_q8;
    const MotusQuant *quant = &in->qp->chroma;
    MotusMb *mb = &trial->mb;
    mb->qp = in->qp->luma.qp;
    motus_predict_mb(in, mb, trial->luma, NULL);
    uint32_t bits =
        motus_code_inter_luma(residual, trial, &in->src, &in->neighbours, &in->qp->luma, levels);
    const uint32_t luma_ssd = motus_ssd_luma(&in->src, trial->luma);
    trial->luma_bits = bits;
    trial->bits = 0;
    trial->cost = UINT32_MAX;
    if (motus_rd_cost_in(unit, luma_ssd, bits * unit + (mb->cbp ? mv_bits : 0), lambda) >= limit)
        return UINT32_MAX;
    motus_predict_mb(in, mb, NULL, trial->chroma);
    bits += levels->costs
                ? motus_code_inter_chroma(residual, trial, &in->src, &in->neighbours, quant, levels)
                : motus_code_chroma(residual, trial, &in->src, &in->neighbours, quant, levels,
                                    MOTUS_DEADZONE_INTER);
    if (motus_trial_is_skip(in, mb, skip)) mb->type = MOTUS_MB_P_SKIP;
    motus_trial_measure(trial, in, levels, luma_ssd,
                        bits * unit + motus_trial_bits(in, mb, mv_bits));
    return bits;
}

// ---- Types --------------------------------------------------------------------------------------

// A type that had a trial.
typedef struct MotusTriedType {
    const MotusMb *mb; // before the trial
    uint32_t ssd, bits;
    uint8_t cbp;
} MotusTriedType;

typedef struct MotusTriedTypes {
    MotusTriedType type[MOTUS_B_TYPES];
    int n;
} MotusTriedTypes;

static inline int motus_moves_alike(const MotusMb *a, const MotusMb *b) {
    return !memcmp(a->mv, b->mv, sizeof a->mv) && !memcmp(a->mv1, b->mv1, sizeof a->mv1) &&
           !memcmp(a->pred, b->pred, sizeof a->pred) && !memcmp(a->ref, b->ref, sizeof a->ref);
}

// Returns the RD cost of a type with the motion of one that had a trial: the same residual. 0 if
// there is none, or if the MB might be skipped.
static inline uint32_t motus_known_cost(const MotusInterMb *in, const MotusLevelChoice *levels,
                                        const MotusTriedTypes *tried, const MotusMb *mb,
                                        uint32_t mv_bits) {
    const uint32_t unit = motus_unit_of(levels);
    for (int i = 0; i < tried->n && mb->type != MOTUS_MB_P_16x16; i++) {
        const MotusTriedType *t = &tried->type[i];
        MotusMb coded = *mb;
        if (!motus_moves_alike(mb, t->mb)) continue;
        coded.cbp = t->cbp;
        return motus_rd_cost_in(unit, t->ssd,
                                t->bits * unit + motus_trial_bits(in, &coded, mv_bits),
                                in->qp->lambda_ssd_q8);
    }
    return 0;
}

// Evaluates a type, as far as it may be cheaper than `best`. True if it is: *other is its trial.
static inline int motus_try_type(const MotusInterMb *in, const MotusLevelChoice *levels,
                                 MotusMv skip, const MotusMb *mb, uint32_t mv_bits,
                                 MotusTriedTypes *tried, MotusResidual *residual,
                                 const MotusTrial *best, MotusTrial *other) {
    if (motus_known_cost(in, levels, tried, mb, mv_bits) >= best->cost) return 0;
    other->mb = *mb;
    const uint32_t bits = motus_inter_trial(in, levels, skip, mv_bits, best->cost, residual, other);
    if (bits != UINT32_MAX)
        tried->type[tried->n++] = (MotusTriedType){mb, other->ssd, bits, other->mb.cbp};
    return other->cost < best->cost;
}

// True if type k comes close enough to the best one by SATD to be evaluated.
static inline int motus_type_is_close(const MotusChoice *choice, int k, int best,
                                      const MotusEffort *effort) {
    return choice->cost[k] != UINT32_MAX &&
           (uint64_t)choice->cost[k] * 16 <=
               (uint64_t)choice->cost[best] * (uint32_t)effort->trial_gate;
}

// Begins the decision of an MB: evaluates P_Skip, which becomes the first trial. True if it is
// taken at once: then there is no need of candidates.
static inline int motus_decide_skip(const MotusInterMb *in, const MotusEffort *effort,
                                    const MotusLevelChoice *levels, MotusDecideScratch *s) {
    (in->refs > 1 ? motus_grid_load_refs : motus_grid_load)(&s->choose.grid, &in->neighbours);
    s->choice.skip = motus_mvp_skip(&s->choose.grid);
    motus_skip_trial(in, levels, s->choice.skip, &s->trial[0]);
    return motus_skip_is_enough(&s->trial[0], in->qp, effort);
}

// Completes it: returns the cheapest inter coding of the MB, one of the scratch's two trials. *satd
// becomes the cost of the best type by SATD.
static inline MotusTrial *motus_decide_types(const MotusInterMb *in, const MotusCandidates *found,
                                             const MotusEffort *effort,
                                             const MotusLevelChoice *levels, MotusDecideScratch *s,
                                             uint32_t *satd) {
    MotusTrial *best = &s->trial[0], *other = &s->trial[1];
    MotusChoice *choice = &s->choice;
    MotusTriedTypes tried;
    tried.n = 0;
    motus_choose_types(in, found, &s->choose, choice);
    const int first = motus_choice_best(choice);
    *satd = choice->cost[first];
    for (int i = 0; i < 4; i++) { // the best one by SATD first: it wins ties
        const int k = (first + i) & 3;
        if (!motus_type_is_close(choice, k, first, effort) ||
            !motus_try_type(in, levels, choice->skip, &choice->mb[k], choice->mv_bits[k], &tried,
                            &s->residual, best, other))
            continue;
        MotusTrial *swap = best;
        best = other;
        other = swap;
    }
    if (best->bits > MOTUS_MB_BITS_LIMIT) motus_trial_pcm(best, &in->src, in->qp);
    return best;
}

// Returns the cheapest inter coding of the MB, one of the scratch's two trials. *satd becomes the
// cost of the best type by SATD, 0 if P_Skip was taken at once.
static inline MotusTrial *motus_decide_inter(const MotusInterMb *in, const MotusCandidates *found,
                                             const MotusEffort *effort,
                                             const MotusLevelChoice *levels, MotusDecideScratch *s,
                                             uint32_t *satd) {
    *satd = 0;
    if (motus_decide_skip(in, effort, levels, s)) return &s->trial[0];
    return motus_decide_types(in, found, effort, levels, s, satd);
}

#endif
