// Weights of half-size references: a picture that fades is searched in a reference as a P picture
// is predicted from it. The source block is divided by the weight and errors are multiplied, so
// that predictions stay samples of the reference. As in weights.c, means and variances suggest a
// weight, and a search of pictures downscaled by 4 once more says whether it helps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_HALF_WEIGHTS_CORE_H
#define ENCODER_LOOKAHEAD_HALF_WEIGHTS_CORE_H

#include "encoder/lookahead/lookahead_passes.h"
#include "encoder/weights/moments_core.h"

enum {
    MOTUS_LOG2_INVERSE_ONE = 12,             // inverses are in 1/4096
    MOTUS_LEAST_SCALE = MOTUS_SCALE_ONE / 8, // smaller ones are none
    MOTUS_HALF_SUGGESTIONS = 2,
    MOTUS_HALF_REACH = 1,      // of the search, in downscaled samples
    MOTUS_HALF_MOST_MBS = 2048 // or little more are searched
};

// Returns the row of MBs that is searched next after one.
MOTUS_HD int motus_half_row_step(int n_mb) { return motus_max(1, n_mb / MOTUS_HALF_MOST_MBS); }

MOTUS_HD MotusHalfWeight motus_half_weight(MotusWeight w, int log2_denom) {
    MotusHalfWeight h;
    h.inverse = ((1 << (log2_denom + MOTUS_LOG2_INVERSE_ONE)) + w.weight / 2) / w.weight;
    h.weight = w.weight, h.offset = w.offset, h.log2_denom = (int16_t)log2_denom;
    h.is_used = !motus_is_no_weight(w, log2_denom);
    return h;
}
MOTUS_HD MotusHalfWeight motus_half_no_weight(void) {
    const MotusWeight w = {1, 0};
    return motus_half_weight(w, 0);
}

// Returns the sample that becomes `sample` by the weight. one: a sample's unit.
MOTUS_HD int motus_half_unweigh(int sample, const MotusHalfWeight *w, int one) {
    const int v = (sample - one * w->offset) * w->inverse + (1 << (MOTUS_LOG2_INVERSE_ONE - 1));
    return motus_clip(0, 255 * one, v >> MOTUS_LOG2_INVERSE_ONE);
}

// Returns the error of a weighted prediction; error: that of samples before they were weighted.
MOTUS_HD uint32_t motus_half_weigh_error(uint32_t error, const MotusHalfWeight *w) {
    return error * (uint32_t)w->weight >> w->log2_denom;
}

// Sets the weights of `ref` that may suit `cur`, sums of n samples (MotusHalfStats). A single one
// is set twice. Returns 0 if there is none.
MOTUS_HD int motus_half_suggest(MotusHalfWeight suggestion[MOTUS_HALF_SUGGESTIONS],
                                const uint64_t cur[2], const uint64_t ref[2], uint64_t n) {
    const MotusMoments a = motus_moments(cur[0], cur[1], n), b = motus_moments(ref[0], ref[1], n);
    const int scale[MOTUS_HALF_SUGGESTIONS] = {motus_scale_of(&a, &b), MOTUS_SCALE_ONE};
    int found = 0;
    for (int i = 0; i < MOTUS_HALF_SUGGESTIONS; i++) {
        const int log2_denom = motus_log2_denom_of(scale[i]);
        const MotusWeight w = motus_weight_at(scale[i], &a, &b, log2_denom);
        if (scale[i] < MOTUS_LEAST_SCALE || (i && scale[0] == scale[i])) continue;
        if (motus_is_no_weight(w, log2_denom)) continue;
        suggestion[found++] = motus_half_weight(w, log2_denom);
    }
    if (found == 1) suggestion[1] = suggestion[0];
    return found > 0;
}

// Costs without a weight, [0], and with each suggestion: sums over MBs of their least SADs, and MBs
// that the suggestion helps and harms. One MB's, until they are added up.
typedef struct MotusHalfTrial {
    uint32_t cost[1 + MOTUS_HALF_SUGGESTIONS]; // at most 2^14 an MB
    uint32_t helped[MOTUS_HALF_SUGGESTIONS], harmed[MOTUS_HALF_SUGGESTIONS];
} MotusHalfTrial;

// Lowers least[] to the SADs of MB (x, y) at one displacement. sample[k]: its samples, without a
// weight and divided by each suggestion.
MOTUS_HD void motus_half_lower(uint32_t least[1 + MOTUS_HALF_SUGGESTIONS], const int16_t *ref_small,
                               int mb_width, int mb_height,
                               const int sample[1 + MOTUS_HALF_SUGGESTIONS][4], int x, int y) {
    const int width = 2 * mb_width, height = 2 * mb_height;
    uint32_t sad[1 + MOTUS_HALF_SUGGESTIONS] = {0};
    for (int k = 0; k < 4; k++) {
        const int u = motus_clip(0, width - 1, x + (k & 1)),
                  v = motus_clip(0, height - 1, y + (k >> 1)), there = ref_small[v * width + u];
        for (int i = 0; i <= MOTUS_HALF_SUGGESTIONS; i++)
            sad[i] += (uint32_t)motus_abs(sample[i][k] - there);
    }
    for (int i = 0; i <= MOTUS_HALF_SUGGESTIONS; i++)
        if (sad[i] < least[i]) least[i] = sad[i];
}

// Adds MB (x, y) to *trial. cur, ref: MotusHalfStats.small of pictures of mb_width x mb_height MBs.
MOTUS_HD void motus_half_try(MotusHalfTrial *trial, const int16_t *cur, const int16_t *ref,
                             int mb_width, int mb_height, int x, int y,
                             const MotusHalfWeight *suggestion) {
    uint32_t least[1 + MOTUS_HALF_SUGGESTIONS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    int sample[1 + MOTUS_HALF_SUGGESTIONS][4];
    for (int k = 0; k < 4; k++) {
        sample[0][k] = cur[(2 * y + (k >> 1)) * 2 * mb_width + 2 * x + (k & 1)];
        for (int i = 0; i < MOTUS_HALF_SUGGESTIONS; i++)
            sample[1 + i][k] = motus_half_unweigh(sample[0][k], &suggestion[i], MOTUS_SMALL_ONE);
    }
    for (int dy = -MOTUS_HALF_REACH; dy <= MOTUS_HALF_REACH; dy++)
        for (int dx = -MOTUS_HALF_REACH; dx <= MOTUS_HALF_REACH; dx++)
            motus_half_lower(least, ref, mb_width, mb_height, sample, 2 * x + dx, 2 * y + dy);
    trial->cost[0] += least[0];
    for (int i = 0; i < MOTUS_HALF_SUGGESTIONS; i++) {
        const uint32_t cost = motus_half_weigh_error(least[1 + i], &suggestion[i]);
        trial->cost[1 + i] += cost;
        trial->helped[i] += cost < least[0];
        trial->harmed[i] += cost > least[0];
    }
}

// Returns the suggestion to take, or none.
MOTUS_HD MotusHalfWeight motus_half_choose(const MotusHalfTrial *trial,
                                           const MotusHalfWeight *suggestion) {
    MotusHalfWeight best = motus_half_no_weight();
    uint64_t least = trial->cost[0] * (uint64_t)MOTUS_WEIGHT_COST / 256;
    for (int i = 0; i < MOTUS_HALF_SUGGESTIONS; i++) {
        if (trial->cost[1 + i] >= least ||
            4 * (uint64_t)trial->helped[i] < MOTUS_WEIGHT_MAJORITY * (uint64_t)trial->harmed[i])
            continue;
        least = trial->cost[1 + i];
        best = suggestion[i];
    }
    return best;
}

#endif
