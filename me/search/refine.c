// Refinement of an MB. Blocks with the same MV share the predictions around it and their 4x4 SATDs:
// a block's SATD is the sum of its 4x4 blocks'.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/search/refine.h"

#include <string.h>

#include "common/cpu.h"
#include "me/pixel/cost_core.h"
#include "me/pixel/pixel_core.h"

static void prepare_c(MotusRefineCur *cur, const uint8_t *samples, ptrdiff_t stride) {
    cur->samples = samples;
    cur->stride = stride;
}

// Returns the SATD of the 4x4 block at (x, y) of the MB.
static uint32_t satd4x4_at(const MotusRefineCur *cur, const MotusTaps *taps, ptrdiff_t stride,
                           int x, int y) {
    uint8_t pred[16];
    for (int i = 0; i < 16; i++) {
        ptrdiff_t at = (y + (i >> 2)) * stride + x + (i & 3);
        pred[i] = (uint8_t)((taps->tap[0][at] + taps->tap[1][at] + 1) >> 1);
    }
    return motus_satd4x4(cur->samples + y * cur->stride + x, cur->stride, pred, 4);
}

static void satd_mb_c(const MotusRefineCur *cur, const MotusTaps *taps, ptrdiff_t stride,
                      unsigned rows, uint32_t sum[MOTUS_BLOCKS]) {
    for (int i = 0; i < 16; i++)
        sum[MOTUS_BLOCK_4x4 + i] =
            rows >> (i >> 2) & 1 ? satd4x4_at(cur, taps, stride, 4 * (i & 3), 4 * (i >> 2)) : 0;
    motus_merge_sums(sum);
}

static void least_of_mb_c(const MotusRefineCur *cur, const MotusTaps *taps, const uint32_t *mv_cost,
                          int n, ptrdiff_t stride, unsigned rows, uint32_t least[MOTUS_BLOCKS]) {
    uint32_t sum[MOTUS_BLOCKS];
    memset(least, 0xFF, sizeof sum);
    for (int k = 0; k < n; k++) {
        satd_mb_c(cur, &taps[k], stride, rows, sum);
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            const uint32_t cost = (sum[b] + mv_cost[k]) << MOTUS_TRIAL_BITS | (uint32_t)k;
            least[b] = cost < least[b] ? cost : least[b];
        }
    }
}

static void satd_block_c(const MotusRefineCur *cur, const MotusBlock *block, const MotusTaps *taps,
                         int n, ptrdiff_t stride, uint32_t sum[MOTUS_REFINE_TRIALS]) {
    for (int k = 0; k < n; k++) {
        sum[k] = 0;
        for (int y = block->y; y < block->y + block->height; y += 4)
            for (int x = block->x; x < block->x + block->width; x += 4)
                sum[k] += satd4x4_at(cur, &taps[k], stride, x, y);
    }
}

static uint64_t same_c(const MotusMv mv[MOTUS_BLOCKS], int first) {
    uint64_t mask = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        mask |= (uint64_t)(mv[b].x == mv[first].x && mv[b].y == mv[first].y) << b;
    return mask;
}

static void offer_c(MotusRefineBest *best, const uint32_t sum[MOTUS_BLOCKS], uint32_t mv_cost,
                    uint32_t at) {
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        const uint32_t cost = sum[b] + mv_cost;
        if (cost >= best->cost[b]) continue;
        best->cost[b] = cost;
        best->at[b] = at;
    }
}

static const MotusRefineOps refine_ops_c = {prepare_c,    satd_mb_c, least_of_mb_c,
                                            satd_block_c, same_c,    offer_c};

const MotusRefineOps *motus_refine_ops(void) {
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) return &motus_refine_ops_avx2;
#endif
    return &refine_ops_c;
}

// An MV, then its eight neighbours in raster order of (dy, dx).
typedef struct Trials {
    MotusMv mv[MOTUS_REFINE_TRIALS];
    uint32_t mv_cost[MOTUS_REFINE_TRIALS];
    MotusTaps taps[MOTUS_REFINE_TRIALS];
} Trials;

static void fill_trials(const MotusMbJob *job, MotusMv centre, int step, Trials *t) {
    static const uint8_t trial_at[MOTUS_REFINE_TRIALS] = {1, 2, 3, 4, 0, 5, 6, 7, 8};
    const MotusRefLuma *ref = job->ref;
    const int middle[2] = {centre.x, centre.y}, predictor[2] = {job->predictor.x, job->predictor.y},
              corner[2] = {job->x, job->y}, size[2] = {ref->width, ref->height};
    int mv[2][3], bits[2][3], full[2][3]; // of x and y; full: the full sample it points at
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 3; i++) {
            mv[d][i] = middle[d] + (i - 1) * step;
            bits[d][i] = motus_se_bits(mv[d][i] - predictor[d]);
            full[d][i] = motus_ref_luma_clip(size[d], corner[d] + (mv[d][i] >> 2));
        }
    for (int i = 0; i < MOTUS_REFINE_TRIALS; i++) {
        const int k = trial_at[i], dx = i % 3, dy = i / 3;
        const uint8_t *at = ref->plane[0] + full[1][dy] * ref->stride + full[0][dx];
        const ptrdiff_t *offset = ref->tap[4 * (mv[1][dy] & 3) + (mv[0][dx] & 3)];
        t->mv[k] = (MotusMv){(int16_t)mv[0][dx], (int16_t)mv[1][dy]};
        t->mv_cost[k] = motus_bits_cost(job->lambda_q8, bits[0][dx] + bits[1][dy]);
        t->taps[k].tap[0] = at + offset[0];
        t->taps[k].tap[1] = at + offset[1];
    }
}

// Moves each block to the best of the neighbours `step` quarter samples away. Blocks with the same
// MV are a group, formed before any block moves.
static void refine_step(const MotusMbJob *job, const MotusRefineOps *ops, const MotusRefineCur *cur,
                        uint64_t blocks, int step, MotusMbMotion *motion) {
    const ptrdiff_t stride = job->ref->stride;
    const int first = step == 2 ? 0 : 1, // the first step has measured the MV
        n = MOTUS_REFINE_TRIALS - first;
    MotusMv start[MOTUS_BLOCKS];
    memcpy(start, motion->mv, sizeof start);
    while (blocks) {
        const int one = __builtin_ctzll(blocks);
        uint64_t group = ops->same(start, one) & blocks;
        uint32_t least[MOTUS_BLOCKS]; // cost above the trial's number, counted from `first`
        Trials t;
        blocks &= ~group;
        fill_trials(job, start[one], step, &t);
        if (group & (group - 1)) {
            ops->least_of_mb(cur, t.taps + first, t.mv_cost + first, n, stride,
                             motus_rows_of(group), least);
        } else {
            uint32_t satd[MOTUS_REFINE_TRIALS];
            least[one] = UINT32_MAX;
            ops->satd_block(cur, &motus_blocks[one], t.taps + first, n, stride, satd);
            for (int k = 0; k < n; k++) {
                const uint32_t cost = (satd[k] + t.mv_cost[first + k]) << MOTUS_TRIAL_BITS;
                if ((cost | (uint32_t)k) < least[one]) least[one] = cost | (uint32_t)k;
            }
        }
        for (; group; group &= group - 1) {
            const int b = __builtin_ctzll(group);
            const uint32_t cost = least[b] >> MOTUS_TRIAL_BITS;
            if (cost >= motion->cost[b]) continue;
            motion->cost[b] = cost;
            motion->mv[b] = t.mv[first + (int)(least[b] & ((1u << MOTUS_TRIAL_BITS) - 1))];
        }
    }
}

void motus_refine_blocks(const MotusMbJob *job, MotusSubpel subpel, const MotusRefineOps *ops,
                         uint64_t blocks, MotusMbMotion *motion) {
    MotusRefineCur cur;
    if (subpel == MOTUS_SUBPEL_FULL) return;
    if (subpel == MOTUS_SUBPEL_BEST) {
        motus_refine_best(job, ops, blocks, motion);
        return;
    }
    for (uint64_t left = blocks; left; left &= left - 1)
        motion->cost[__builtin_ctzll(left)] = UINT32_MAX; // SAD costs do not count any more
    ops->prepare(&cur, job->cur, job->cur_stride);
    refine_step(job, ops, &cur, blocks, 2, motion);
    if (subpel == MOTUS_SUBPEL_QUARTER) refine_step(job, ops, &cur, blocks, 1, motion);
}
