// Intra search on the CPU: the cheapest coding of an MB as Intra16x16, Intra4x4 or Intra8x8.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTRA_SEARCH_CPU_H
#define ENCODER_ANALYSE_INTRA_SEARCH_CPU_H

#include "encoder/analyse/intra8_trial_cpu.h"
#include "encoder/analyse/intra_trial_cpu.h"

// Completes a trial of Intra4x4 or Intra8x8 with the chroma that was coded for Intra16x16.
static inline void motus_intra_complete(const MotusIntraMb *in, MotusTrial *trial,
                                        const MotusTrial *first, const MotusIntraPart *luma,
                                        const MotusIntraPart *chroma) {
    motus_intra_copy_chroma(trial, first);
    motus_intra_add_up(in, trial, luma, chroma);
}

// Returns the cheapest intra coding of the MB, one of the three trials. transform: NULL = 4x4 only.
static inline MotusTrial *motus_intra_search(const MotusIntraMb *in,
                                             const MotusTransformChoice *transform,
                                             MotusIntraScratch *s, MotusTrial trial[3]) {
    MotusTrial *first = &trial[0], *second = &trial[1];
    motus_intra_begin(in, first, second);
    const MotusIntraPart chroma = motus_code_intra_chroma(in, s, first),
                         i16 = motus_code_intra16x16(in, s, first);
    motus_intra_add_up(in, first, &i16, &chroma);
    int small = 0; // 1: `second` is complete
    if (in->i4_trials) {
        const MotusIntraPart luma = motus_code_intra4x4(in, s, second, first->cost);
        if ((small = luma.cost <= first->cost))
            motus_intra_complete(in, second, first, &luma, &chroma);
    }
    if (in->i4_trials && transform && transform->quant8) {
        MotusTrial *third = &trial[2];
        const uint32_t limit = small && second->cost < first->cost ? second->cost : first->cost;
        motus_intra_begin_as(in, third, MOTUS_MB_I_4x4);
        const MotusIntraPart luma = motus_code_intra8x8(in, transform, s->canvas, third, limit);
        if (luma.cost <= limit) {
            motus_intra_complete(in, third, first, &luma, &chroma);
            if (!small || third->cost < second->cost) second = third;
            small = 1;
        }
    }
    return motus_intra_cheaper(in, first, second, small);
}

#endif
