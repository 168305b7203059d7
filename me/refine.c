// Blocks that stand at the same vector share the prediction and the 4x4 SATDs around it: a block's SATD is the sum of its 4x4 blocks'.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/refine.h"

#include "common/cpu.h"
#include "me/cost_core.h"
#include "me/pixel_core.h"
#include "me/search_core.h"

static void prepare_c(MotusRefineCur *cur, const uint8_t *samples, ptrdiff_t stride) {
    cur->samples = samples;
    cur->stride = stride;
}

static void satd_c(const MotusRefineCur *cur, const uint8_t *const tap[2], ptrdiff_t stride, unsigned rows,
                   uint32_t sum[MOTUS_BLOCKS]) {
    for (int i = 0; i < 16; i++) {
        uint8_t pred[16];
        ptrdiff_t at = 4 * (i >> 2) * stride + 4 * (i & 3);
        sum[MOTUS_BLOCK_4x4 + i] = 0;
        if (!(rows >> (i >> 2) & 1)) continue;
        for (int k = 0; k < 16; k++, at += k & 3 ? 1 : stride - 3) pred[k] = (uint8_t)((tap[0][at] + tap[1][at] + 1) >> 1);
        sum[MOTUS_BLOCK_4x4 + i] = motus_satd4x4(cur->samples + 4 * (i >> 2) * cur->stride + 4 * (i & 3), cur->stride, pred, 4);
    }
    motus_merge_sums(sum);
}

static const MotusRefineOps refine_ops_c = {prepare_c, satd_c};

const MotusRefineOps *motus_refine_ops(void) {
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) return &motus_refine_ops_avx2;
#endif
    return &refine_ops_c;
}

// What one refinement needs beside the vectors.
typedef struct Refinement {
    const MotusMbJob *job;
    const MotusRefineOps *ops;
    MotusRefineCur cur;
} Refinement;

// Mask of the rows of 4x4 blocks that block b covers.
static unsigned rows_of(int b) {
    const MotusBlock *block = &motus_blocks[b];
    return ((1u << block->height / 4) - 1) << block->y / 4;
}

// Moves those blocks of `group` to mv that are better off there.
static void try_vector(const Refinement *r, uint64_t group, unsigned rows, MotusMv mv, MotusMbMotion *motion) {
    const MotusMbJob *job = r->job;
    const uint8_t *tap[2];
    uint32_t satd[MOTUS_BLOCKS], vector_cost = motus_mv_cost(job->lambda_q8, mv, job->predictor);
    motus_ref_luma_taps(job->ref, job->x, job->y, mv, tap);
    r->ops->satd(&r->cur, tap, job->ref->stride, rows, satd);
    for (; group; group &= group - 1) {
        int b = __builtin_ctzll(group);
        uint32_t cost = satd[b] + vector_cost;
        if (cost >= motion->cost[b]) continue;
        motion->cost[b] = cost;
        motion->mv[b] = mv;
    }
}

// Moves every block of `group` (a mask of blocks at the same vector) to the best of its neighbours `step` quarter samples away.
static void refine_group(const Refinement *r, uint64_t group, int step, MotusMbMotion *motion) {
    MotusMv centre = motion->mv[__builtin_ctzll(group)];
    unsigned rows = 0;
    for (uint64_t left = group; left; left &= left - 1) rows |= rows_of(__builtin_ctzll(left));
    if (step == 2) try_vector(r, group, rows, centre, motion); // later it is the best so far, and its cost is known
    for (int k = 0; k < 8; k++) {
        MotusMv mv = {(int16_t)(centre.x + step * motus_neighbour_dx(k)), (int16_t)(centre.y + step * motus_neighbour_dy(k))};
        try_vector(r, group, rows, mv, motion);
    }
}

static void refine_step(const Refinement *r, uint64_t blocks, int step, MotusMbMotion *motion) {
    while (blocks) {
        MotusMv mv = motion->mv[__builtin_ctzll(blocks)];
        uint64_t group = 0;
        for (uint64_t left = blocks; left; left &= left - 1) {
            int b = __builtin_ctzll(left);
            if (motion->mv[b].x == mv.x && motion->mv[b].y == mv.y) group |= 1ull << b;
        }
        blocks &= ~group;
        refine_group(r, group, step, motion);
    }
}

static void measure_sad(const MotusMbJob *job, const MotusPixelOps *pixel, int b, MotusMbMotion *motion) {
    const MotusBlock *block = &motus_blocks[b];
    int x = block->x, y = block->y, w = block->width, h = block->height;
    uint8_t buffer[256];
    ptrdiff_t stride = 16;
    const uint8_t *pred = motus_ref_luma_block(job->ref, job->x + x, job->y + y, motion->mv[b], w, h, buffer, &stride);
    motion->sad[b] = (uint16_t)pixel->sad(job->cur + y * job->cur_stride + x, job->cur_stride, pred, stride, w, h);
}

void motus_refine_mb(const MotusMbJob *job, MotusSubpel subpel, const MotusRefineOps *ops, const MotusPixelOps *pixel,
                     MotusMbMotion *motion) {
    Refinement r = {.job = job, .ops = ops};
    uint64_t blocks = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        if (!(job->modes >> motus_blocks[b].mode & 1)) continue;
        blocks |= 1ull << b;
        motion->cost[b] = UINT32_MAX; // costs over SATD begin here
    }
    ops->prepare(&r.cur, job->cur, job->cur_stride);
    refine_step(&r, blocks, 2, motion);
    if (subpel == MOTUS_SUBPEL_QUARTER) refine_step(&r, blocks, 1, motion);
    for (; blocks; blocks &= blocks - 1) measure_sad(job, pixel, __builtin_ctzll(blocks), motion);
}
