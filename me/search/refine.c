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

typedef struct Refinement {
    const MotusMbJob *job;
    const MotusRefineOps *ops;
    MotusRefineCur cur;
} Refinement;

// Returns the mask of the rows of 4x4 blocks that block b covers.
static unsigned rows_of(int b) {
    const MotusBlock *block = &motus_blocks[b];
    return ((1u << block->height / 4) - 1) << block->y / 4;
}

// An MV, then its eight neighbours in raster order of (dy, dx).
typedef struct Trials {
    MotusMv mv[MOTUS_REFINE_TRIALS];
    uint32_t mv_cost[MOTUS_REFINE_TRIALS];
    MotusTaps taps[MOTUS_REFINE_TRIALS];
} Trials;

// One component of the three MVs around a centre: bits of its code, full and fractional part of the
// position it points at.
typedef struct Component {
    int16_t mv[3];
    int bits[3], full[3], fraction[3];
} Component;

static Component components(int centre, int step, int predictor, int corner, int size) {
    Component c;
    for (int i = 0; i < 3; i++) {
        int v = centre + (i - 1) * step;
        c.mv[i] = (int16_t)v;
        c.bits[i] = motus_se_bits(v - predictor);
        c.full[i] = motus_ref_luma_clip(size, corner + (v >> 2));
        c.fraction[i] = v & 3;
    }
    return c;
}

static void fill_trials(const MotusMbJob *job, MotusMv centre, int step, Trials *t) {
    const MotusRefLuma *ref = job->ref;
    Component x = components(centre.x, step, job->predictor.x, job->x, ref->width);
    Component y = components(centre.y, step, job->predictor.y, job->y, ref->height);
    for (int i = 0; i < MOTUS_REFINE_TRIALS; i++) {
        static const uint8_t trial_at[MOTUS_REFINE_TRIALS] = {1, 2, 3, 4, 0, 5, 6, 7, 8};
        int k = trial_at[i], dx = i % 3, dy = i / 3;
        const uint8_t *full = ref->plane[0] + y.full[dy] * ref->stride + x.full[dx];
        const ptrdiff_t *offset = ref->tap[4 * y.fraction[dy] + x.fraction[dx]];
        t->mv[k] = (MotusMv){x.mv[dx], y.mv[dy]};
        t->mv_cost[k] = motus_bits_cost(job->lambda_q8, x.bits[dx] + y.bits[dy]);
        t->taps[k].tap[0] = full + offset[0];
        t->taps[k].tap[1] = full + offset[1];
    }
}

// Moves block b to the trial of least cost, above its number counted from `first`, if that is
// better.
static void move(MotusMbMotion *motion, int b, const Trials *t, int first, uint32_t least) {
    const uint32_t cost = least >> MOTUS_TRIAL_BITS;
    if (cost >= motion->cost[b]) return;
    motion->cost[b] = cost;
    motion->mv[b] = t->mv[first + (int)(least & ((1u << MOTUS_TRIAL_BITS) - 1))];
}

// Returns the least cost of block b among the n trials from `first` on, as least_of_mb does.
static uint32_t least_of_block(const Refinement *r, int b, const Trials *t, int first, int n) {
    uint32_t satd[MOTUS_REFINE_TRIALS], least = UINT32_MAX;
    r->ops->satd_block(&r->cur, &motus_blocks[b], t->taps + first, n, r->job->ref->stride, satd);
    for (int k = 0; k < n; k++) {
        const uint32_t cost = (satd[k] + t->mv_cost[first + k]) << MOTUS_TRIAL_BITS | (uint32_t)k;
        least = cost < least ? cost : least;
    }
    return least;
}

// Moves every block of `group`, a mask of blocks with the same MV, to the best of the neighbours
// `step` quarter samples away.
static void refine_group(const Refinement *r, uint64_t group, int step, MotusMbMotion *motion) {
    Trials t;
    uint32_t least[MOTUS_BLOCKS];
    const int b = __builtin_ctzll(group),
              first = step == 2 ? 0 : 1, // the first step has measured the MV
        n = MOTUS_REFINE_TRIALS - first;
    fill_trials(r->job, motion->mv[b], step, &t);
    if (!(group & (group - 1))) {
        move(motion, b, &t, first, least_of_block(r, b, &t, first, n));
        return;
    }
    unsigned rows = 0;
    for (uint64_t left = group; left; left &= left - 1) rows |= rows_of(__builtin_ctzll(left));
    r->ops->least_of_mb(&r->cur, t.taps + first, t.mv_cost + first, n, r->job->ref->stride, rows,
                        least);
    for (uint64_t left = group; left; left &= left - 1)
        move(motion, __builtin_ctzll(left), &t, first, least[__builtin_ctzll(left)]);
}

static void refine_step(const Refinement *r, uint64_t blocks, int step, MotusMbMotion *motion) {
    MotusMv start[MOTUS_BLOCKS]; // groups are formed before any block moves
    memcpy(start, motion->mv, sizeof start);
    while (blocks) {
        uint64_t group = r->ops->same(start, __builtin_ctzll(blocks)) & blocks;
        blocks &= ~group;
        refine_group(r, group, step, motion);
    }
}

void motus_refine_blocks(const MotusMbJob *job, MotusSubpel subpel, const MotusRefineOps *ops,
                         uint64_t blocks, MotusMbMotion *motion) {
    Refinement r;
    if (subpel == MOTUS_SUBPEL_FULL) return;
    if (subpel == MOTUS_SUBPEL_BEST) {
        motus_refine_best(job, ops, blocks, motion);
        return;
    }
    r.job = job, r.ops = ops;
    for (uint64_t left = blocks; left; left &= left - 1)
        motion->cost[__builtin_ctzll(left)] = UINT32_MAX; // SAD costs do not count any more
    ops->prepare(&r.cur, job->cur, job->cur_stride);
    refine_step(&r, blocks, 2, motion);
    if (subpel == MOTUS_SUBPEL_QUARTER) refine_step(&r, blocks, 1, motion);
}
