// Blocks that stand at the same vector share the prediction and the 4x4 SATDs around it: a block's SATD is the sum of its 4x4 blocks'.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/refine.h"

#include "me/cost_core.h"

#define CANDIDATES 9 // the centre and its eight neighbours

typedef struct Candidate {
    MotusMv mv;
    uint32_t vector_cost;
    uint32_t satd[16]; // of the 4x4 blocks asked for
} Candidate;

static int same(MotusMv a, MotusMv b) { return a.x == b.x && a.y == b.y; }

// Mask of the 4x4 blocks (raster order) that block b covers.
static uint32_t coverage(int b) {
    const MotusBlock *block = &motus_blocks[b];
    uint32_t row = ((1u << block->width / 4) - 1) << block->x / 4, mask = 0;
    for (int y = block->y / 4; y < (block->y + block->height) / 4; y++) mask |= row << 4 * y;
    return mask;
}

static void measure(const MotusMbJob *job, const MotusPixelOps *pixel, uint32_t mask, Candidate *c) {
    c->vector_cost = motus_mv_cost(job->lambda_q8, c->mv, job->predictor);
    for (int i = 0; i < 16; i++) {
        if (!(mask >> i & 1)) continue;
        int x = 4 * (i & 3), y = 4 * (i >> 2);
        uint8_t buffer[16];
        ptrdiff_t stride = 4;
        const uint8_t *pred = motus_ref_luma_block(job->ref, job->x + x, job->y + y, c->mv, 4, 4, buffer, &stride);
        c->satd[i] = pixel->satd(job->cur + y * job->cur_stride + x, job->cur_stride, pred, stride, 4, 4);
    }
}

static uint32_t cost_of(const Candidate *c, uint32_t mask) {
    uint32_t satd = 0;
    for (; mask; mask &= mask - 1) satd += c->satd[__builtin_ctz(mask)];
    return satd + c->vector_cost;
}

// Refines every block of `group` (a mask of blocks at the same vector) by `step` quarter samples.
static void refine_group(const MotusMbJob *job, const MotusPixelOps *pixel, uint64_t group, int step, MotusMbMotion *motion) {
    MotusMv centre = motion->mv[__builtin_ctzll(group)];
    Candidate candidate[CANDIDATES];
    uint32_t mask = 0;
    for (uint64_t g = group; g; g &= g - 1) mask |= coverage(__builtin_ctzll(g));
    for (int k = 0; k < CANDIDATES; k++) {
        int dx = k ? step * motus_neighbour_dx(k - 1) : 0, dy = k ? step * motus_neighbour_dy(k - 1) : 0;
        candidate[k].mv = (MotusMv){(int16_t)(centre.x + dx), (int16_t)(centre.y + dy)};
        measure(job, pixel, mask, &candidate[k]);
    }
    for (uint64_t g = group; g; g &= g - 1) {
        int b = __builtin_ctzll(g);
        motion->cost[b] = UINT32_MAX;
        for (int k = 0; k < CANDIDATES; k++) {
            uint32_t cost = cost_of(&candidate[k], coverage(b));
            if (cost >= motion->cost[b]) continue;
            motion->cost[b] = cost;
            motion->mv[b] = candidate[k].mv;
        }
    }
}

static void refine_step(const MotusMbJob *job, const MotusPixelOps *pixel, uint64_t blocks, int step, MotusMbMotion *motion) {
    while (blocks) {
        MotusMv mv = motion->mv[__builtin_ctzll(blocks)];
        uint64_t group = 0;
        for (uint64_t left = blocks; left; left &= left - 1)
            if (same(motion->mv[__builtin_ctzll(left)], mv)) group |= left & -left;
        blocks &= ~group;
        refine_group(job, pixel, group, step, motion);
    }
}

void motus_refine_mb(const MotusMbJob *job, MotusSubpel subpel, const MotusPixelOps *pixel, MotusMbMotion *motion) {
    uint64_t blocks = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (job->modes >> motus_blocks[b].mode & 1) blocks |= 1ull << b;
    refine_step(job, pixel, blocks, 2, motion);
    if (subpel == MOTUS_SUBPEL_QUARTER) refine_step(job, pixel, blocks, 1, motion);
    for (uint64_t left = blocks; left; left &= left - 1) {
        int b = __builtin_ctzll(left);
        const MotusBlock *block = &motus_blocks[b];
        uint8_t buffer[256];
        ptrdiff_t stride = 16;
        const uint8_t *pred = motus_ref_luma_block(job->ref, job->x + block->x, job->y + block->y, motion->mv[b], block->width,
                                                   block->height, buffer, &stride);
        motion->sad[b] = (uint16_t)pixel->sad(job->cur + block->y * job->cur_stride + block->x, job->cur_stride, pred, stride,
                                              block->width, block->height);
    }
}
