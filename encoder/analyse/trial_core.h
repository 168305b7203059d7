// Decision of an inter MB: its vectors by SATD, then the ways to code it that come close to the
// best, evaluated to the last bit.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_TRIAL_CORE_H
#define ENCODER_ANALYSE_TRIAL_CORE_H

#include "encoder/analyse/choose_core.h"
#include "encoder/analyse/effort.h"
#include "encoder/analyse/residual_core.h"
#include "encoder/bitstream/syntax_core.h"

// Working memory of a decision.
typedef struct MotusDecideScratch {
    MotusTrial trial[2];
    MotusChooseScratch choose;
    MotusChoice choice;
    MotusResidual residual;
} MotusDecideScratch;

// Evaluates trial->mb (type, sub types and vectors set) as an inter MB: residual, bits, cost. A
// 16x16 MB with the skip vector and no residual becomes P_Skip.
MOTUS_HD void motus_inter_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                                uint32_t mv_bits, MotusMv skip, MotusResidual *residual,
                                MotusTrial *trial) {
    motus_predict_inter(trial->luma, trial->chroma, &trial->mb, in->ref, in->x, in->y);
    uint32_t bits =
        motus_code_inter_luma(residual, trial, &in->src, &in->neighbours, in->qp, levels);
    bits += motus_code_chroma(residual, trial, &in->src, &in->neighbours, in->qp, levels, 0);
    if (motus_lane() == 0) {
        if (trial->mb.type == MOTUS_MB_P_16x16 && !trial->mb.cbp &&
            motus_mv_equal(trial->mb.mv[0], skip))
            trial->mb.type = MOTUS_MB_P_SKIP;
        trial->bits = bits + motus_inter_bits(&trial->mb, mv_bits);
    }
    motus_lanes_sync();
    motus_trial_judge(trial, &in->src, in->qp);
}

// Evaluates P_Skip. Its vector may point anywhere that the neighbours' vectors do.
MOTUS_HD void motus_skip_trial(const MotusInterMb *in, MotusMv skip, MotusTrial *trial) {
    if (motus_lane() == 0) {
        memset(&trial->mb, 0, sizeof trial->mb);
        trial->mb.type = MOTUS_MB_P_SKIP;
        trial->mb.qp = in->qp->luma.qp;
        trial->bits = MOTUS_SKIP_RUN_BITS;
    }
    motus_lanes_sync();
    for (int i = motus_lane(); i < 16; i += MOTUS_LANES) trial->mb.mv[i] = skip;
    motus_lanes_sync();
    motus_predict_inter(trial->luma, trial->chroma, &trial->mb, in->ref, in->x, in->y);
    motus_trial_judge(trial, &in->src, in->qp);
}

// Whether type k comes close enough to the best one by SATD to be evaluated.
MOTUS_HD int motus_type_is_close(const MotusChoice *choice, int k, int best,
                                 const MotusEffort *effort) {
    return choice->cost[k] != UINT32_MAX &&
           (uint64_t)choice->cost[k] * 16 <=
               (uint64_t)choice->cost[best] * (uint32_t)effort->trial_gate;
}

// Evaluates type k.
MOTUS_HD void motus_type_trial(const MotusInterMb *in, const MotusLevelChoice *levels,
                               const MotusChoice *choice, int k, MotusResidual *residual,
                               MotusTrial *trial) {
    if (motus_lane() == 0) {
        trial->mb = choice->mb[k];
        trial->mb.qp = in->qp->luma.qp;
    }
    motus_lanes_sync();
    motus_inter_trial(in, levels, choice->mv_bits[k], choice->skip, residual, trial);
}

// Whether P_Skip, evaluated, is taken at once. Its cost is nearly all distortion: less than a gate
// of few bits is more than other vectors could save.
MOTUS_HD int motus_skip_is_enough(const MotusTrial *skip, const MotusQp *qp,
                                  const MotusEffort *effort) {
    return skip->cost <= motus_rd_cost(0, (uint32_t)effort->skip_gate, qp->lambda_ssd_q8);
}

// The cheapest way to code the MB with vectors, in one of the scratch's two trials. *satd is the
// cost of the best type by SATD; 0 where none was looked at.
MOTUS_HD MotusTrial *motus_decide_inter(const MotusInterMb *in, const MotusCandidates *found,
                                        const MotusEffort *effort, const MotusLevelChoice *levels,
                                        MotusDecideScratch *s, uint32_t *satd) {
    MotusTrial *best = &s->trial[0], *other = &s->trial[1];
    MotusChoice *choice = &s->choice;
    motus_grid_load(&s->choose.grid, &in->neighbours);
    choice->skip = motus_mvp_skip(&s->choose.grid);
    motus_skip_trial(in, choice->skip, best);
    *satd = 0;
    if (motus_skip_is_enough(best, in->qp, effort)) return best;
    motus_choose_begin(in, found, &s->choose, choice);
    for (int k = 0; k < 4; k++)
        motus_choose_type(&s->choose.choices, in, found->blocks, &s->choose.grid, &s->choose.trial,
                          k, choice);
    int first = motus_choice_best(choice);
    *satd = choice->cost[first];
    for (int i = 0; i < 4; i++) { // the best one by SATD first: it wins ties
        int k = (first + i) & 3;
        if (!motus_type_is_close(choice, k, first, effort)) continue;
        motus_type_trial(in, levels, choice, k, &s->residual, other);
        if (other->cost >= best->cost) continue;
        MotusTrial *swap = best;
        best = other;
        other = swap;
    }
    if (best->bits > MOTUS_MB_BITS_LIMIT) motus_trial_pcm(best, &in->src, in->qp);
    return best;
}

// Whether the blocks of an MB have a chance, by their whole-sample costs (SAD + lambda * bits): the
// blocks of a type, or sub type of an 8x8 block, whose sum is within the gate of the best.
MOTUS_HD uint64_t motus_blocks_with_a_chance(const uint32_t cost[MOTUS_BLOCKS],
                                             const MotusEffort *effort, uint32_t lambda_q8) {
    uint64_t blocks = 1, subs = 0;
    uint32_t whole[4] = {cost[0], cost[1] + cost[2], cost[3] + cost[4], 0}, best = UINT32_MAX;
    for (int q = 0; q < 4; q++) {
        uint32_t sub[4], least = UINT32_MAX;
        for (int k = 0; k < 4; k++) {
            sub[k] = lambda_q8 * (uint32_t)motus_ue_bits((uint32_t)k) >> 8;
            for (int i = 0; i < motus_sub_partitions(k); i++)
                sub[k] += cost[motus_sub_partition(k, q, i).block];
            if (!(effort->partitions >> motus_sub_mode(k) & 1)) sub[k] = UINT32_MAX;
            least = sub[k] < least ? sub[k] : least;
        }
        for (int k = 0; k < 4; k++) {
            if (sub[k] == UINT32_MAX ||
                (k && (uint64_t)sub[k] * 16 > (uint64_t)least * (uint32_t)effort->sub_gate))
                continue;
            for (int i = 0; i < motus_sub_partitions(k); i++)
                subs |= 1ull << motus_sub_partition(k, q, i).block;
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

#endif
