// Refinement of MOTUS_SUBPEL_BEST: rounds of eight positions around the best ones so far. A
// position is measured for the whole MB and offered to every block, so that blocks share what any
// of them finds.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "me/pixel/cost_core.h"
#include "me/search/refine.h"

enum {
    ROUNDS = 6,
    AXIS_BITS = 11, // of a place's component, 0 .. 2 * (4 * MOTUS_MAX_RANGE + 3)
    PLACE_BITS = 2 * AXIS_BITS,
    SEEN = 512, // entries; a power of two
};

// Distance of a round's positions in quarter samples; those of round 0 are the starts.
static const int ring_step[ROUNDS] = {0, 8, 2, 2, 1, 1};

_Static_assert(2 * (4 * MOTUS_MAX_RANGE + 3) < 1 << AXIS_BITS, "a place fits");
_Static_assert(ROUNDS << PLACE_BITS <= INT32_MAX, "a round and a place fit");

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

// True if the place was not measured, as far as is remembered; remembers it.
static int is_new(Rings *r, int x, int y, uint32_t place) {
    uint32_t *entry = &r->seen[(y & 15) << 5 | (x & 31)];
    if (*entry == place + 1) return 0;
    *entry = place + 1;
    return 1;
}

// Measures the position (x, y) quarter samples from the window's centre and offers it to all
// blocks.
static void try_at(Rings *r, int x, int y, int round) {
    const MotusMbJob *job = r->job;
    const MotusRefLuma *ref = job->ref;
    x += r->reach, y += r->reach;
    if (x < 0 || y < 0 || x > 2 * r->reach || y > 2 * r->reach) return;
    const uint32_t place = (uint32_t)y << AXIS_BITS | (uint32_t)x;
    if (!is_new(r, x, y, place)) return;
    const MotusMv mv = {(int16_t)(job->centre.x + x - r->reach),
                        (int16_t)(job->centre.y + y - r->reach)};
    const uint8_t *full = ref->plane[0] +
                          motus_ref_luma_clip(ref->height, job->y + (mv.y >> 2)) * ref->stride +
                          motus_ref_luma_clip(ref->width, job->x + (mv.x >> 2));
    const ptrdiff_t *offset = ref->tap[4 * (mv.y & 3) + (mv.x & 3)];
    const MotusTaps taps = {{full + offset[0], full + offset[1]}};
    uint32_t satd[MOTUS_BLOCKS];
    r->ops->satd_mb(&r->cur, &taps, ref->stride, r->rows, satd);
    r->ops->offer(&r->best, satd, motus_mv_cost(job->lambda_q8, mv, job->predictor),
                  (uint32_t)round << PLACE_BITS | place);
}

static void try_mv(Rings *r, int x, int y) {
    try_at(r, x - r->job->centre.x, y - r->job->centre.y, 0);
}

// Returns the position of block b, counted from the window's first one.
static MotusMv place_of(const Rings *r, int b) {
    const uint32_t mask = (1u << AXIS_BITS) - 1, at = r->best.at[b];
    return (MotusMv){(int16_t)(at & mask), (int16_t)(at >> AXIS_BITS & mask)};
}

// Returns the blocks of a mask whose rings are new: positions that were the best ones before the
// last round, of the same step, have had theirs.
static uint64_t without_rings(const Rings *r, uint64_t blocks, int round) {
    if (ring_step[round] != ring_step[round - 1]) return blocks;
    for (uint64_t left = blocks; left; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        if ((int)(r->best.at[b] >> PLACE_BITS) < round - 1) blocks ^= left & (0 - left);
    }
    return blocks;
}

// Tries the ring around the best position of each block before the round.
static void try_rings(Rings *r, uint64_t blocks, int round) {
    const int step = ring_step[round];
    MotusMv from[MOTUS_BLOCKS] = {{0, 0}};
    blocks = without_rings(r, blocks, round);
    for (uint64_t left = blocks; left; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        from[b] = place_of(r, b);
    }
    while (blocks) {
        const int b = __builtin_ctzll(blocks), x = from[b].x - r->reach, y = from[b].y - r->reach;
        blocks &= ~r->ops->same(from, b);
        for (int dy = -step; dy <= step; dy += step)
            for (int dx = -step; dx <= step; dx += step)
                if (dx || dy) try_at(r, x + dx, y + dy, round);
    }
}

void motus_refine_best(const MotusMbJob *job, const MotusRefineOps *ops, uint64_t blocks,
                       MotusMbMotion *motion) {
    Rings r = {.job = job, .ops = ops, .reach = 4 * job->range + 3};
    ops->prepare(&r.cur, job->cur, job->cur_stride);
    for (uint64_t left = blocks; left; left &= left - 1) {
        const MotusBlock *block = &motus_blocks[__builtin_ctzll(left)];
        r.rows |= ((1u << block->height / 4) - 1) << block->y / 4;
        r.best.cost[__builtin_ctzll(left)] = INT32_MAX;
    }
    for (uint64_t left = blocks; left; left &= left - 1) {
        const MotusMv mv = motion->mv[__builtin_ctzll(left)];
        try_mv(&r, mv.x, mv.y);
    }
    try_mv(&r, job->predictor.x, job->predictor.y);
    try_mv(&r, 0, 0);
    for (int round = 1; round < ROUNDS; round++) try_rings(&r, blocks, round);
    for (uint64_t left = blocks; left; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        const MotusMv place = place_of(&r, b);
        motion->mv[b] = (MotusMv){(int16_t)(job->centre.x + place.x - r.reach),
                                  (int16_t)(job->centre.y + place.y - r.reach)};
        motion->cost[b] = r.best.cost[b];
    }
}
