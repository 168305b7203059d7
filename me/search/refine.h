// Half- and quarter-sample refinement of the blocks of one MB.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_REFINE_H
#define ME_SEARCH_REFINE_H

#include "me/pixel/pixel.h"
#include "me/search/search.h"

// The current MB as SATDs want it.
typedef struct MotusRefineCur {
    int16_t pairs[16][16]; // per row: what motus_pairs_avx2 makes of its samples; filled and used
                           // by AVX2 only
    const uint8_t *samples;
    ptrdiff_t stride;
} MotusRefineCur;

#define MOTUS_REFINE_TRIALS 9 // a vector and its eight neighbours

// Where a prediction of the MB is: (tap[0][i] + tap[1][i] + 1) >> 1.
typedef struct MotusTaps {
    const uint8_t *tap[2];
} MotusTaps;

typedef struct MotusRefineOps {
    void (*prepare)(MotusRefineCur *cur, const uint8_t *samples, ptrdiff_t stride);
    // SATDs of all 41 blocks against one prediction (rows `stride` apart). Only the rows of 4x4
    // blocks in the mask `rows` are looked at; sums of blocks that reach into other rows are
    // meaningless.
    void (*satd_mb)(const MotusRefineCur *cur, const MotusTaps *taps, ptrdiff_t stride,
                    unsigned rows, uint32_t sum[MOTUS_BLOCKS]);
    // SATDs of one block against n predictions of the MB, 1 <= n <= MOTUS_REFINE_TRIALS.
    void (*satd_block)(const MotusRefineCur *cur, const MotusBlock *block, const MotusTaps *taps,
                       int n, ptrdiff_t stride, uint32_t sum[MOTUS_REFINE_TRIALS]);
    // Mask of the blocks whose vector is mv[first].
    uint64_t (*same)(const MotusMv mv[MOTUS_BLOCKS], int first);
} MotusRefineOps;

// The fastest table this CPU runs (see motus_cpu_flags).
const MotusRefineOps *motus_refine_ops(void);
extern const MotusRefineOps motus_refine_ops_avx2;

// Starting from motion->mv (integer), each block of job->modes looks at its eight half-sample
// neighbours, then at the eight quarter-sample neighbours of the best so far (unless subpel is
// MOTUS_SUBPEL_HALF), by SATD + vector cost. The centre wins ties, then the first in raster order
// of (dy, dx). Writes mv, cost (over SATD) and sad.
void motus_refine_mb(const MotusMbJob *job, MotusSubpel subpel, const MotusRefineOps *ops,
                     const MotusPixelOps *pixel, MotusMbMotion *motion);

// Mask of the blocks of a mask of modes.
static inline uint64_t motus_blocks_of(uint32_t modes) {
    uint64_t blocks = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        blocks |= (uint64_t)(modes >> motus_blocks[b].mode & 1) << b;
    return blocks;
}

// The same for a mask of blocks, whatever their modes; their SADs are not measured.
void motus_refine_blocks(const MotusMbJob *job, MotusSubpel subpel, const MotusRefineOps *ops,
                         uint64_t blocks, MotusMbMotion *motion);

#endif
