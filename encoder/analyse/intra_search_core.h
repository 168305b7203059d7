// The best way to code an MB as intra, by rate and distortion.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTRA_SEARCH_CORE_H
#define ENCODER_ANALYSE_INTRA_SEARCH_CORE_H

#include "encoder/analyse/intra_parts_core.h"

// A trial of an intra MB before anything is known of it.
MOTUS_HD void motus_intra_begin_as(const MotusIntraMb *in, MotusTrial *trial, int type) {
    for (int i = motus_lane(); i < (int)(sizeof trial->mb / 16); i += MOTUS_LANES)
        memset(__builtin_assume_aligned((char *)&trial->mb + 16 * i, 16), 0, 16);
    motus_lanes_sync(); // zeros come first
    if (motus_lane() == 0) {
        trial->mb.type = (uint8_t)type;
        trial->mb.qp = in->qp->luma.qp;
    }
    motus_lanes_sync();
}

// The two of an MB: Intra16x16 with chroma, and Intra4x4.
MOTUS_HD void motus_intra_begin(const MotusIntraMb *in, MotusTrial *first, MotusTrial *second) {
    motus_intra_begin_as(in, first, MOTUS_MB_I_16x16);
    motus_intra_begin_as(in, second, MOTUS_MB_I_4x4);
}

// Puts bits, SSD and cost of an MB together from luma and chroma: by one lane.
MOTUS_HD void motus_intra_add_up(const MotusIntraMb *in, MotusTrial *trial,
                                 const MotusIntraPart *luma, const MotusIntraPart *chroma) {
    trial->mb.cbp = (uint8_t)(luma->cbp | chroma->cbp);
    trial->bits =
        luma->bits + chroma->bits + motus_intra_bits(&trial->mb, luma->mode_bits, in->p_slice);
    trial->ssd = luma->ssd + chroma->ssd;
    trial->cost = motus_rd_cost(trial->ssd, trial->bits, in->qp->lambda_ssd_q8);
}

MOTUS_HD void motus_intra_judge(const MotusIntraMb *in, MotusTrial *trial,
                                const MotusIntraPart *luma, const MotusIntraPart *chroma) {
    if (motus_lane() == 0) motus_intra_add_up(in, trial, luma, chroma);
    motus_lanes_sync();
}

// Gives the MB as Intra4x4 the chroma that was coded for Intra16x16.
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

// Which of the two trials, both with chroma, is cheaper (I_PCM as a last resort); i4: whether the
// second has been judged and may be taken.
MOTUS_HD MotusTrial *motus_intra_cheaper(const MotusIntraMb *in, MotusTrial *first,
                                         MotusTrial *second, int i4) {
    MotusTrial *best = i4 && second->cost < first->cost ? second : first;
    if (best->bits > MOTUS_MB_BITS_LIMIT ||
        best->cost > motus_rd_cost(0, MOTUS_PCM_BITS, in->qp->lambda_ssd_q8))
        motus_trial_pcm(best, &in->src, in->qp);
    return best;
}

// Evaluates Intra16x16 with chroma, which is handed back.
MOTUS_HD MotusIntraPart motus_intra_search16x16(const MotusIntraMb *in, MotusIntraScratch *s,
                                                MotusTrial *first) {
    MotusIntraPart chroma = {0, 0, 0, 0, 0}, i16 = chroma;
    MOTUS_ONE_BODY
    for (int luma = 0; luma < 2; luma++) {
        chroma = i16;
        i16 = motus_code_intra_whole(in, s, first, !luma);
    }
    motus_intra_judge(in, first, &i16, &chroma);
    return chroma;
}

// Evaluates Intra4x4 after that; returns which of the two trials holds the cheapest way to code the
// MB.
MOTUS_HD MotusTrial *motus_intra_search4x4(const MotusIntraMb *in, MotusIntraScratch *s,
                                           MotusTrial *first, MotusTrial *second,
                                           const MotusIntraPart *chroma) {
    MotusIntraPart i4 = {0, 0, 0, 0, 0};
    if (in->i4_trials) i4 = motus_code_intra4x4(in, s, second, first->cost);
    const int judged = in->i4_trials && i4.cost <= first->cost;
    if (judged) {
        motus_intra_copy_chroma(second, first);
        motus_intra_judge(in, second, &i4, chroma);
    }
    return motus_intra_cheaper(in, first, second, judged);
}

// Both.
MOTUS_HD MotusTrial *motus_intra_search(const MotusIntraMb *in, MotusIntraScratch *s,
                                        MotusTrial *first, MotusTrial *second) {
    motus_intra_begin(in, first, second);
    const MotusIntraPart chroma = motus_intra_search16x16(in, s, first);
    return motus_intra_search4x4(in, s, first, second, &chroma);
}

// The same by three warps side by side, whose shared memory this is: `role` is which of them this
// is. All of them meet between these calls: motus_intra_begin and motus_i4_prepare (scratch[0]) by
// the first, before the neighbours are there or after; motus_intra_role by the three;
// motus_intra_join by one.
typedef struct MotusIntraTeam {
    MotusTrial trial[2];
    MotusIntraScratch scratch[3];
    MotusIntraPart part[3];
} MotusIntraTeam;

enum { MOTUS_ROLE_INTRA4X4, MOTUS_ROLE_INTRA16X16, MOTUS_ROLE_CHROMA, MOTUS_INTRA_ROLES };

#if MOTUS_LANES > 1

// i4: what was prepared, for the first.
MOTUS_HD void motus_intra_role(const MotusIntraMb *in, MotusIntraTeam *team, int role,
                               const MotusI4Mb *i4) {
    MotusIntraScratch *s = &team->scratch[role];
    MotusIntraPart part = {0, 0, 0, 0, 0};
    if (role != MOTUS_ROLE_INTRA4X4)
        part = motus_code_intra_whole(in, s, &team->trial[0], role == MOTUS_ROLE_CHROMA);
    else if (in->i4_trials) // costs only grow: giving up early or late is the same
        part = motus_code_intra4x4_of(i4, in, s, &team->trial[1], UINT32_MAX);
    if (role == MOTUS_ROLE_CHROMA) motus_intra_copy_chroma(&team->trial[1], &team->trial[0]);
    if (motus_lane() == 0) team->part[role] = part;
}

MOTUS_HD MotusTrial *motus_intra_join(const MotusIntraMb *in, MotusIntraTeam *team) {
    const int lane = motus_lane();
    MotusTrial *first = &team->trial[0], *second = &team->trial[1];
    const MotusIntraPart *i4 = &team->part[MOTUS_ROLE_INTRA4X4],
                         *chroma = &team->part[MOTUS_ROLE_CHROMA];
    if (lane < 2) // side by side
        motus_intra_add_up(in, lane ? second : first,
                           lane ? i4 : &team->part[MOTUS_ROLE_INTRA16X16], chroma);
    motus_lanes_sync();
    return motus_intra_cheaper(in, first, second, in->i4_trials && i4->cost <= first->cost);
}

#endif
#endif
