// Choice of a 4x4 block's levels by eight lanes of a warp with guessed bits. Equals
// motus_guess_block (levels_cpu.h): suite `lanes`, and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_GUESS_WARP_CUH
#define ENCODER_LEVELS_LEVELS_GUESS_WARP_CUH

#include "encoder/levels/levels_guess_core.h"
#include "encoder/levels/levels_warp.cuh"

// motus_eight_levels_cavlc for MOTUS_LEVELS_GUESSED, with either entropy coder.
MOTUS_WARP MotusLevels motus_eight_levels_guessed(int16_t *to, const int coef[2],
                                                  const MotusLevelPair *pair, int active, int first,
                                                  const MotusQuant *q,
                                                  const MotusLevelChoice *choice,
                                                  MotusPairLevels *own) {
    const int k = motus_lane() & 7;
    int live[2], sum = 0;
    int32_t ssd_drop = 0;
    motus_pair_load(own, live, coef, pair, active, first, q);
    const uint32_t near = motus_eight_mask(live[0], live[1]); // in coding order
    for (int h = 0; h < 2; h++) {
        const uint32_t bit = 1u << (8 * h + k), behind = near & ~(bit | (bit - 1));
        const int gap = motus_pair_position(h) - (behind ? motus_planes_first(behind) + 1 : first);
        const int magnitude = motus_guess_magnitude(own->t[h]);
        const int drops =
            magnitude == 1 && motus_guess_drops(own->t[h], !(near & (bit - 1)), gap, q->rate);
        own->magnitude[h] = live[h] && !drops ? magnitude : 0;
        to[motus_pair_position(h)] = motus_pair_level(own, h);
        if (!own->magnitude[h]) continue;
        sum += motus_guess_level(magnitude);
        ssd_drop += motus_level_ssd_drop(own->t[h], magnitude);
    }
    const uint32_t nonzero = motus_eight_mask(own->magnitude[0] > 0, own->magnitude[1] > 0);
    const int n = motus_cavlc_total_coeff(nonzero),
              zeros = nonzero ? motus_planes_first(nonzero) + 1 - first - n : 0;
    sum = (int)motus_lanes_group_sum((uint32_t)sum, 8);
    ssd_drop = motus_min((int32_t)motus_lanes_group_sum((uint32_t)ssd_drop, 8), MOTUS_SSD_DROP_MAX);
    return motus_guessed_levels(n, sum, zeros, ssd_drop, q->rate, choice);
}

#endif
