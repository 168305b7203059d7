// Compares trials, and the steps behind the decision of an inter MB by warps, with the CPU's.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_LANES_SAME_TRIALS_H
#define TESTS_LANES_SAME_TRIALS_H

#include "encoder/analyse/inter.h"
#include "encoder/analyse/inter_bits_core.h"
#include "encoder/analyse/trial_cpu.h"
#include "tests/encoder/levels/same_levels.h"
#include "tests/lanes/lanes_warp.h"
#include "tests/support/harness.h"

// Returns what differs, or NULL.
static inline const char *compare_trials(const MotusTrial *one, const MotusTrial *many) {
    if (memcmp(&one->mb, &many->mb, sizeof one->mb)) return "another MB";
    if (!same_levels(&one->mb, &one->coef, &many->coef)) return "other levels";
    if (memcmp(one->luma, many->luma, sizeof one->luma) ||
        memcmp(one->chroma, many->chroma, sizeof one->chroma))
        return "another reconstruction";
    return one->bits == many->bits && one->ssd == many->ssd && one->cost == many->cost
               ? NULL
               : "another cost";
}

// Compares RD refinement. Returns what differs, or NULL. *moved is counted up if an MV moves.
static inline const char *compare_refinement(const MotusInterMb *in, const MotusLevelChoice *levels,
                                             const MotusTrial *decided, int *moved) {
    static MotusTrial one;
    static MotusResidual residual;
    static LanesCall lanes;
    MotusMv skip = motus_mb_skip_mv(&in->neighbours);
    if (motus_rd_is_open(&decided->mb)) {
        motus_inter_c.evaluate(in, levels, skip, &decided->mb, &residual, &one);
        if (one.cost != decided->cost || one.bits != decided->bits)
            return "an MB that does not move costs something else than it did";
    }
    const int most = motus_test_range(1, 20),
              expected = motus_inter_c.refine(in, levels, most, &decided->mb, decided->cost,
                                              &residual, &one);
    lanes = (LanesCall){
        .in = in, .levels = levels, .most = most, .mb = decided->mb, .cost = decided->cost};
    const char *failure = lanes_call(LANES_REFINE, &lanes);
    if (failure) return failure;
    if (lanes.taken != expected) return "MVs move by warps or on the CPU only";
    if (!expected) return NULL;
    ++*moved;
    if (one.cost >= decided->cost || one.luma_bits != lanes.trial.luma_bits)
        return "other parts of the cost";
    return compare_trials(&one, &lanes.trial);
}

// Compares the choice of the transform. Returns what differs, or NULL. *taken is counted up if it
// is the 8x8 one.
static inline const char *compare_transforms(const MotusInterMb *in, const MotusLevelChoice *levels,
                                             const MotusQuant8 *quant8, const MotusTrial *decided,
                                             int *taken) {
    static MotusTrial one;
    static LanesCall lanes;
    one = *decided;
    lanes = (LanesCall){.in = in,
                        .levels = levels,
                        .quant8 = quant8,
                        .luma_bits = decided->luma_bits,
                        .mb = decided->mb,
                        .coef = decided->coef,
                        .cost = decided->cost};
    memcpy(lanes.rec, decided->luma, sizeof lanes.rec);
    const int expected = motus_choose_transform(in, levels, quant8, &one.mb, &one.coef, one.luma,
                                                16, decided->luma_bits, &one.cost);
    *taken += expected;
    const char *failure = lanes_call(LANES_TRANSFORM, &lanes);
    if (failure) return failure;
    if (expected != lanes.taken || one.cost != lanes.cost) return "8x8 transform or its cost";
    return !memcmp(&one.mb, &lanes.mb, sizeof one.mb) &&
                   !memcmp(one.luma, lanes.rec, sizeof lanes.rec) &&
                   same_levels(&one.mb, &one.coef, &lanes.coef)
               ? NULL
               : "another MB";
}

#endif
