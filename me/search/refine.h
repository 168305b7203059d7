// Half- and quarter-sample refinement of the blocks of one MB.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_REFINE_H
#define ME_SEARCH_REFINE_H

#include "me/pixel/pixel.h"
#include "me/search/search.h"

// The current MB, prepared for SATDs.
typedef struct MotusRefineCur {
    int16_t pairs[16][16]; // motus_pairs_avx2 of each row; AVX2 only
    const uint8_t *samples;
    ptrdiff_t stride;
} MotusRefineCur;

#define MOTUS_REFINE_TRIALS 9 // an MV and its eight neighbours
#define MOTUS_TRIAL_BITS 4    // of a trial's number; costs are below 2^18

// A prediction of the MB: (tap[0][i] + tap[1][i] + 1) >> 1.
typedef struct MotusTaps {
    const uint8_t *tap[2];
} MotusTaps;

// The cheapest position of each block so far.
typedef struct MotusRefineBest {
    uint32_t cost[MOTUS_BLOCKS]; // SATD + MV cost; 0 keeps a block as it is
    uint32_t at[MOTUS_BLOCKS];   // where it is
} MotusRefineBest;

typedef struct MotusRefineOps {
    void (*prepare)(MotusRefineCur *cur, const uint8_t *samples, ptrdiff_t stride);
    // Computes the SATDs of all 41 blocks against one prediction, rows `stride` apart. rows: mask
    // of the rows of 4x4 blocks to measure; sums of blocks that reach into others are undefined.
    void (*satd_mb)(const MotusRefineCur *cur, const MotusTaps *taps, ptrdiff_t stride,
                    unsigned rows, uint32_t sum[MOTUS_BLOCKS]);
    // Returns the least SATD + MV cost of each of the 41 blocks against n predictions of the MB, n
    // = 1..MOTUS_REFINE_TRIALS, above the number of the first prediction that has it.
    void (*least_of_mb)(const MotusRefineCur *cur, const MotusTaps *taps, const uint32_t *mv_cost,
                        int n, ptrdiff_t stride, unsigned rows, uint32_t least[MOTUS_BLOCKS]);
    // Computes the SATDs of one block against n predictions of the MB, n = 1..MOTUS_REFINE_TRIALS.
    void (*satd_block)(const MotusRefineCur *cur, const MotusBlock *block, const MotusTaps *taps,
                       int n, ptrdiff_t stride, uint32_t sum[MOTUS_REFINE_TRIALS]);
    // Returns the mask of the blocks whose MV is mv[first].
    uint64_t (*same)(const MotusMv mv[MOTUS_BLOCKS], int first);
    // Offers position `at`, of SATDs `sum` and this MV cost, to all blocks. The first of equals
    // wins.
    void (*offer)(MotusRefineBest *best, const uint32_t sum[MOTUS_BLOCKS], uint32_t mv_cost,
                  uint32_t at);
} MotusRefineOps;

// Returns the fastest table that this CPU runs.
const MotusRefineOps *motus_refine_ops(void);
extern const MotusRefineOps motus_refine_ops_avx2;

// Refines each block of job->modes by SATD + MV cost: from its integer motion->mv to the best of
// the eight half-sample neighbours, then (with MOTUS_SUBPEL_QUARTER) of the eight quarter-sample
// ones. The centre wins ties, then the first in raster order of (dy, dx). MOTUS_SUBPEL_BEST:
// motus_refine_best. Writes mv, cost (over SATD) and sad.
void motus_refine_mb(const MotusMbJob *job, MotusSubpel subpel, const MotusRefineOps *ops,
                     const MotusPixelOps *pixel, MotusMbMotion *motion);

// Returns the mask of the blocks of a mask of modes.
static inline uint64_t motus_blocks_of(uint32_t modes) {
    uint64_t blocks = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        blocks |= (uint64_t)(modes >> motus_blocks[b].mode & 1) << b;
    return blocks;
}

// The same for a mask of blocks of any mode, without SADs.
void motus_refine_blocks(const MotusMbJob *job, MotusSubpel subpel, const MotusRefineOps *ops,
                         uint64_t blocks, MotusMbMotion *motion);

#define MOTUS_MOST_RINGS 16 // of a round of motus_refine_best

// Refines a mask of blocks together. The blocks' integer MVs are measured for all of them, then in
// two rounds the eight positions 1/2 and 1/4 samples around every block's best, then the predictor.
// A round has the first MOTUS_MOST_RINGS different ones of its rings, in the order of the blocks,
// and each ring is in raster order. A position counts if it is at most range + 3/4 samples from the
// centre. The least cost wins; of equal costs the one that was measured first. Writes mv and cost.
void motus_refine_best(const MotusMbJob *job, const MotusRefineOps *ops, uint64_t blocks,
                       MotusMbMotion *motion);

#endif
