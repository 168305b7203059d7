// Compares decisions of an MB by warps, and the steps behind them, with the CPU's.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_LANES_SAME_REFINEMENT_H
#define TESTS_LANES_SAME_REFINEMENT_H

#include "encoder/analyse/inter.h"
#include "encoder/analyse/inter_bits_core.h"
#include "encoder/analyse/trial_cpu.h"
#include "tests/encoder/levels/same_levels.h"
#include "tests/lanes/lanes_refine_warp.h"
#include "tests/support/harness.h"

// Returns what differs between two trials, or NULL.
static inline const char *compare_trials(const MotusTrial *one, const MotusTrial *many) {
    if (memcmp(&one->mb, &many->mb, sizeof one->mb)) return "another MB";
    if (memcmp(one->luma, many->luma, sizeof one->luma) ||
        memcmp(one->chroma, many->chroma, sizeof one->chroma))
        return "another reconstruction";
    if (one->cost != many->cost || one->bits != many->bits || one->ssd != many->ssd)
        return "another cost, or other parts of it";
    return same_levels(&one->mb, &one->coef, &many->coef) ? NULL : "other levels";
}

// Returns the first of n types whose choices differ (MotusChoice, MotusBChoice), or -1.
static inline int other_choice(int n, const MotusMb one[], const MotusMb many[],
                               const uint32_t cost[], const uint32_t many_cost[],
                               const uint32_t mv_bits[], const uint32_t many_mv_bits[]) {
    for (int k = 0; k < n; k++)
        if (cost[k] != many_cost[k] ||
            (cost[k] != UINT32_MAX &&
             (mv_bits[k] != many_mv_bits[k] || memcmp(&one[k], &many[k], sizeof one[k]) != 0)))
            return k;
    return -1;
}

// Returns what differs, or NULL. *moved is counted up if an MV moves.
static inline const char *compare_refinement(const MotusInterMb *in, const MotusLevelChoice *levels,
                                             const MotusTrial *decided, int *moved) {
    static MotusTrial one, many;
    static MotusResidual residual;
    int any = 0;
    MotusMv skip = motus_mb_skip_mv(&in->neighbours);
    if (motus_rd_is_open(&decided->mb)) {
        motus_inter_c.evaluate(in, levels, skip, &decided->mb, &residual, &one);
        if (one.cost != decided->cost || one.bits != decided->bits)
            return "an MB that does not move costs something else than it did";
    }
    const int most = motus_test_range(1, 20),
              expected = motus_inter_c.refine(in, levels, most, &decided->mb, decided->cost,
                                              &residual, &one);
    const char *failure =
        lanes_rd_refine(in, levels, most, &decided->mb, decided->cost, &many, &any);
    if (failure) return failure;
    if (any != expected) return "MVs move by warps or on the CPU only";
    if (!any) return NULL;
    ++*moved;
    if (one.cost >= decided->cost || one.luma_bits != many.luma_bits)
        return "no less cost, or other bits of luma";
    return compare_trials(&one, &many);
}

// Compares the choice of the transform. Returns what differs, or NULL. *taken is counted up if it
// is the 8x8 one.
static inline const char *compare_transforms(const MotusInterMb *in, const MotusLevelChoice *levels,
                                             const MotusQuant8 *quant8, const MotusTrial *decided,
                                             int *taken) {
    LanesTransformed one = {.mb = decided->mb, .coef = decided->coef, .cost = decided->cost}, many;
    memcpy(one.rec, decided->luma, sizeof one.rec);
    many = one;
    one.taken = motus_choose_transform(in, levels, quant8, &one.mb, &one.coef, one.rec, 16,
                                       decided->luma_bits, &one.cost);
    *taken += one.taken;
    const char *failure = lanes_choose_transform(in, levels, quant8, decided->luma_bits, &many);
    if (failure) return failure;
    if (one.taken != many.taken || one.cost != many.cost) return "8x8 transform or its cost";
    return !memcmp(&one.mb, &many.mb, sizeof one.mb) &&
                   !memcmp(one.rec, many.rec, sizeof one.rec) &&
                   same_levels(&one.mb, &one.coef, &many.coef)
               ? NULL
               : "another MB";
}

#endif
