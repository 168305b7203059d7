// Candidates of P and B pictures on the CPU.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_CANDIDATES_CPU_H
#define ENCODER_DECIDE_CANDIDATES_CPU_H

#include "encoder/analyse/b.h"
#include "encoder/analyse/predict_cpu.h"
#include "encoder/decide/intra_pass_cpu.h"

// Gets the whole-sample MVs and costs of MB i in reference k.
static inline void get_motion(const Pass *pass, int k, int i, MotusMbMotion *motion) {
    const MotusPictureJob *job = pass->job;
    if (job->search) {
        job->search(job->search_context, k, i, motion);
        return;
    }
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        const size_t at = (size_t)b * (size_t)pass->pic->mbs.n_mb + (size_t)i;
        motion->mv[b] = job->motion[k].mv[at];
        motion->cost[b] = job->motion[k].cost[at];
    }
}

// Measures and adds the MVs of a P MB's blocks in a reference that are not listed yet, while
// there are free entries.
static inline void add_p_candidates(const Pass *pass, int i, int ref, uint64_t blocks,
                                    const MotusMbMotion *motion, MotusCandidates *found) {
    const int x = i % pass->pic->mbs.mb_width, y = i / pass->pic->mbs.mb_width;
    const MotusMbSource src = motus_mb_source(pass->pic->mbs.src, x, y);
    const int max_y = motus_refresh_max_mv_y(&pass->pic->refresh, y);
    for (uint64_t left = blocks; left && found->n < MOTUS_CANDIDATES; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        MotusMv mv = motion->mv[b];
        mv.y = (int16_t)motus_refresh_block_mv_y(max_y, b, mv.y);
        int known = 0;
        for (int v = 0; v < found->n; v++)
            known |= found->ref[v] == ref && motus_mv_equal(found->mv[v], mv);
        if (known) continue;
        motus_satd_mb(found->satd[found->n], src.plane[0], src.stride[0], &pass->job->ref[ref],
                      16 * x, 16 * y, mv);
        for (int blk = 0; max_y < MOTUS_MAX_MV_Y && blk < 16; blk++)
            if (motus_refresh_mv_y(max_y, blk >> 2, mv.y) != mv.y)
                found->satd[found->n][blk] = MOTUS_REFRESH_SATD;
        found->ref[found->n] = (uint8_t)ref;
        found->mv[found->n++] = mv;
    }
}

// Finds a P MB's candidates in all references. In further ones blocks are refined whose
// whole-sample costs with ref_idx are within the gate of the least ones.
static inline void find_p_candidates(const Pass *pass, int i, MotusCandidates *found) {
    const MotusPictureJob *p = pass->job;
    const int x = i % pass->pic->mbs.mb_width, y = i / pass->pic->mbs.mb_width;
    const MotusMbSource src = motus_mb_source(pass->pic->mbs.src, x, y);
    MotusMbMotion motion[MOTUS_MAX_REFERENCES];
    uint32_t ref_cost[MOTUS_MAX_REFERENCES], least[MOTUS_BLOCKS];
    found->n = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++) least[b] = UINT32_MAX;
    for (int ref = 0; ref < p->refs; ref++) {
        motion[ref] = (MotusMbMotion){.cost = {0}}; // blocks that are not searched, too
        get_motion(pass, ref, i, &motion[ref]);
        ref_cost[ref] = motus_ref_cost(pass->lambda_q8, p->refs, ref);
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            const uint32_t cost = motion[ref].cost[b] + ref_cost[ref];
            if (motion[ref].cost[b] != UINT32_MAX && cost < least[b]) least[b] = cost;
        }
    }
    uint64_t wanted[MOTUS_MAX_REFERENCES];
    found->blocks = motus_candidate_blocks(least, &pass->job->effort, pass->lambda_q8);
    for (int ref = 0; ref < p->refs; ref++) {
        wanted[ref] = ref ? 0 : found->blocks;
        for (uint64_t left = ref ? found->blocks : 0; left; left &= left - 1) {
            const int b = __builtin_ctzll(left);
            if (motus_ref_is_close(motion[ref].cost[b] + ref_cost[ref], least[b],
                                   pass->job->effort.type_gate))
                wanted[ref] |= 1ull << b;
        }
        const MotusMbJob job = {.cur = src.plane[0],
                                .cur_stride = src.stride[0],
                                .ref = p->luma[ref],
                                .x = 16 * x,
                                .y = 16 * y,
                                .predictor = p->motion[ref].centre[i],
                                .lambda_q8 = pass->lambda_q8};
        motus_refine_blocks(&job, p->subpel, pass->refine,
                            motus_whole_mvs(motion[ref].mv, wanted[ref]), &motion[ref]);
    }
    for (int ref = 0; ref < p->refs; ref++)
        add_p_candidates(pass, i, ref, wanted[ref] & MOTUS_LARGE_BLOCKS, &motion[ref], found);
    for (int ref = 0; ref < p->refs; ref++)
        add_p_candidates(pass, i, ref, wanted[ref] & ~MOTUS_LARGE_BLOCKS, &motion[ref], found);
}

// Finds a B MB's candidates.
static inline void find_b_candidates(const Pass *pass, int i, MotusBCandidates *found) {
    const MotusPictureState *pic = pass->pic;
    const MotusPictureJob *b = pass->job;
    const int x = i % pic->mbs.mb_width, y = i / pic->mbs.mb_width;
    MotusMbMotion motion[MOTUS_MAX_REFERENCES];
    MotusBJob in = {.refs = b->refs,
                    .ref = b->ref,
                    .ref_luma = b->luma,
                    .ops = pass->refine,
                    .subpel = b->subpel,
                    .effort = &pass->job->effort,
                    .limits = &b->limits,
                    .lambda_q8 = pass->lambda_q8,
                    .src = motus_mb_source(pic->mbs.src, x, y),
                    .x = x,
                    .y = y};
    for (int ref = 0; ref <= b->refs; ref++) {
        motion[ref] = (MotusMbMotion){.cost = {0}};
        get_motion(pass, ref, i, &motion[ref]);
        in.centre[ref] = b->motion[ref].centre[i];
    }
    MOTUS_ISA(motus_b).candidates(&in, motion, found);
}

// True if MB (x, y) is searched before the round, whose first phases see it as a neighbour that is
// not decided yet. The others are searched as they are decided: all that see them come later.
static inline int has_first_guess(const Pass *pass, int x, int y) {
    const int phases = pass->job->effort.phases;
    return !pass->job->search || (x + 2 * y) % phases >= phases - MOTUS_NEIGHBOUR_DIAGONALS;
}

// Finds the candidates of MB i, and sets what its neighbours see before its first decision.
static inline void find_candidates(const Pass *pass, int i) {
    MotusMbCandidates *found = &pass->pic->candidates[i];
    MotusMb *mb = &pass->pic->mbs.mb[i];
    if (is_refreshed(pass->pic, i)) {
        *mb = (MotusMb){.type = MOTUS_MB_I_16x16};
    } else if (pass->job->type == MOTUS_SLICE_B) {
        find_b_candidates(pass, i, found->b);
        motus_b_first_guess(mb, found->b);
    } else {
        find_p_candidates(pass, i, &found->p);
        motus_first_guess(mb, found->p.mv[0]);
    }
}

#endif
