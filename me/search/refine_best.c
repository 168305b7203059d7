// Refinement of MOTUS_SUBPEL_BEST: rounds of eight positions around the best ones so far. A
// position is measured for the whole MB and offered to every block, so that blocks share what any
// of them finds.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "me/pixel/cost_core.h"
#include "me/search/refine.h"

enum {
    AXIS_BITS = 11, // of a place's component, 0 .. 2 * (4 * MOTUS_MAX_RANGE + 3)
    SEEN = 512,     // entries; a power of two
};

_Static_assert(2 * (4 * MOTUS_MAX_RANGE + 3) < 1 << AXIS_BITS, "a place fits");

typedef struct Rings {
    const MotusMbJob *job;
    const MotusRefineOps *ops;
    MotusRefineCur cur;
    MotusRefineBest best;
    unsigned rows; // of 4x4 blocks that are wanted
    int reach;     // largest distance from the centre in quarter samples
    // Places + 1 that were measured, by their lower bits: most of those that two rings share are
    // measured once. Measuring again changes nothing.
    uint32_t seen[SEEN];
} Rings;

// Measures an MV and offers it to all blocks, unless it is known to have been measured.
static void try_mv(Rings *r, int mv_x, int mv_y) {
    const MotusMbJob *job = r->job;
    const MotusRefLuma *ref = job->ref;
    const int x = mv_x - job->centre.x + r->reach, y = mv_y - job->centre.y + r->reach;
    if (x < 0 || y < 0 || x > 2 * r->reach || y > 2 * r->reach) return;
    const uint32_t place = (uint32_t)y << AXIS_BITS | (uint32_t)x;
    uint32_t *seen = &r->seen[(y & 15) << 5 | (x & 31)];
    if (*seen == place + 1) return;
    *seen = place + 1;
    const MotusMv mv = {(int16_t)mv_x, (int16_t)mv_y};
    MotusTaps taps;
    uint32_t satd[MOTUS_BLOCKS];
    motus_ref_luma_taps(ref, job->x, job->y, mv, taps.tap);
    r->ops->satd_mb(&r->cur, &taps, ref->stride, r->rows, satd);
    r->ops->offer(&r->best, satd, motus_mv_cost(job->lambda_q8, mv, job->predictor), place);
}

// Returns the best MV of block b so far.
static MotusMv best_of(const Rings *r, int b) {
    const int x = (int)(r->best.at[b] & ((1u << AXIS_BITS) - 1)),
              y = (int)(r->best.at[b] >> AXIS_BITS);
    return (MotusMv){(int16_t)(r->job->centre.x + x - r->reach),
                     (int16_t)(r->job->centre.y + y - r->reach)};
}

// Tries the rings around the best MVs of the blocks, `most` at most. Returns their number.
static int try_rings(Rings *r, uint64_t blocks, int step, int most) {
    MotusMv from[MOTUS_BLOCKS] = {{0, 0}};
    int n = 0;
    for (uint64_t left = blocks; left; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        from[b] = best_of(r, b);
    }
    for (; n < most && blocks; n++) {
        const int b = __builtin_ctzll(blocks);
        blocks &= ~r->ops->same(from, b);
        for (int dy = -step; dy <= step; dy += step)
            for (int dx = -step; dx <= step; dx += step)
                if (dx || dy) try_mv(r, from[b].x + dx, from[b].y + dy);
    }
    return n;
}

void motus_refine_best(const MotusMbJob *job, const MotusRefineOps *ops, uint64_t blocks,
                       MotusMbMotion *motion) {
    Rings r = {.job = job, .ops = ops, .reach = 4 * job->range + 3, .rows = motus_rows_of(blocks)};
    const MotusMv whole = motus_mv_round(job->predictor);
    // All but 4x4 blocks, which take what others find, if blocks of 8x4 or 4x8 are among them.
    const uint64_t larger = blocks & ((1ull << MOTUS_BLOCK_4x4) - 1),
                   with_rings = larger >> MOTUS_BLOCK_8x4 ? larger : blocks;
    uint32_t before[MOTUS_BLOCK_8x4];
    uint64_t moved = 0;
    ops->prepare(&r.cur, job->cur, job->cur_stride);
    for (uint64_t left = blocks; left; left &= left - 1)
        r.best.cost[__builtin_ctzll(left)] = INT32_MAX;
    for (uint64_t left = blocks; left; left &= left - 1) {
        const MotusMv mv = motion->mv[__builtin_ctzll(left)];
        try_mv(&r, mv.x, mv.y);
    }
    try_mv(&r, whole.x, whole.y);
    memcpy(before, r.best.at, sizeof before);
    const int rings = try_rings(&r, with_rings, 2, MOTUS_MOST_RINGS);
    for (int b = 0; b < MOTUS_BLOCK_8x4; b++) moved |= (uint64_t)(r.best.at[b] != before[b]) << b;
    try_rings(&r, moved, 2, MOTUS_ENOUGH_RINGS - rings);
    try_rings(&r, with_rings, 1, MOTUS_MOST_RINGS);
    try_mv(&r, job->predictor.x, job->predictor.y);
    for (uint64_t left = blocks; left; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        motion->mv[b] = best_of(&r, b);
        motion->cost[b] = r.best.cost[b];
    }
}
