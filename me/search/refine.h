// Half- and quarter-sample refinement of the blocks of one MB.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_REFINE_H
#define ME_SEARCH_REFINE_H

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

// Returns the fastest table that this CPU runs (motus_cpu_flags).
const MotusRefineOps *motus_refine_ops(void);
extern const MotusRefineOps motus_refine_ops_avx2;

// Returns the mask of the blocks of a mask of modes.
static inline uint64_t motus_blocks_of(uint32_t modes) {
    uint64_t blocks = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        blocks |= (uint64_t)(modes >> motus_blocks[b].mode & 1) << b;
    return blocks;
}

// Returns the mask of the rows of 4x4 blocks that a mask of blocks covers.
static inline unsigned motus_rows_of(uint64_t blocks) {
    unsigned rows = 0;
    for (; blocks; blocks &= blocks - 1) {
        const MotusBlock *block = &motus_blocks[__builtin_ctzll(blocks)];
        rows |= ((1u << block->height / 4) - 1) << block->y / 4;
    }
    return rows;
}

// Refines a mask of blocks by SATD + MV cost: each from its integer motion->mv to the best of the
// eight half-sample neighbours, then (with MOTUS_SUBPEL_QUARTER) of the eight quarter-sample ones.
// The centre wins ties, then the first in raster order of (dy, dx). MOTUS_SUBPEL_BEST:
// motus_refine_best. Writes mv and cost (over SATD), not sad; nothing with MOTUS_SUBPEL_FULL.
void motus_refine_blocks(const MotusMbJob *job, MotusSubpel subpel, const MotusRefineOps *ops,
                         uint64_t blocks, MotusMbMotion *motion);

#define MOTUS_MOST_RINGS 16  // of a round of motus_refine_best
#define MOTUS_ENOUGH_RINGS 8 // of its first two rounds: the second adds none beyond them

// Refines a mask of blocks together. Every position is measured for all of them: their integer MVs,
// the predictor rounded to whole samples, rounds of rings, the predictor. A ring is the eight
// positions around a block's best MV before the round, in raster order. The first round has those
// 1/2 sample around all blocks (without 4x4 blocks if blocks of 8x4 or 4x8 are among them), the
// second 1/2 around blocks up to 8x8 that the first moved, the third 1/4 as the first: the first
// MOTUS_MOST_RINGS different ones in the order of the blocks; the second round MOTUS_ENOUGH_RINGS
// less those of the first. A position counts if it is at most range + 3/4 samples from the centre.
// The least cost wins; of equal costs the one that was measured first. Writes mv and cost.
void motus_refine_best(const MotusMbJob *job, const MotusRefineOps *ops, uint64_t blocks,
                       MotusMbMotion *motion);

#endif
