// Exhaustive integer search of one MB: all 41 blocks at all (2R+1)^2 displacements.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_SEARCH_H
#define ME_SEARCH_SEARCH_H

#include "me/pixel/ref_luma.h"

// MVs, costs and SADs of the 41 blocks of an MB.
typedef struct MotusMbMotion {
    MotusMv mv[MOTUS_BLOCKS];
    uint32_t cost[MOTUS_BLOCKS];
    uint16_t sad[MOTUS_BLOCKS];
} MotusMbMotion;

// One MB to search or refine. Only blocks of `modes` are searched and written.
typedef struct MotusMbJob {
    const uint8_t *cur; // the MB's 16x16 samples
    ptrdiff_t cur_stride;
    const MotusRefLuma *ref;
    int x, y;          // the MB's corner in samples
    MotusMv centre;    // of the window, quarter samples, multiples of 4
    MotusMv predictor; // quarter samples
    uint32_t lambda_q8;
    uint32_t modes;
    int range; // R
} MotusMbJob;

typedef struct MotusSearchOps {
    // Finds for each block the first minimum of J = SAD + MV cost in raster order of (dy, dx).
    void (*search)(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch);
    // Returns the bytes of scratch memory, aligned to 64, that a thread needs for range R.
    size_t (*scratch_bytes)(int range);
} MotusSearchOps;

// Returns the fastest table that this CPU runs (motus_cpu_flags).
const MotusSearchOps *motus_search_ops(void);
extern const MotusSearchOps motus_search_ops_c, motus_search_ops_avx2, motus_search_ops_avx512;

// Returns a reference row at any distance: row y, clipped to the picture.
static inline const uint8_t *motus_ref_row(const MotusRefLuma *ref, int y) {
    return ref->plane[0] + motus_clip(0, ref->height - 1, y) * ref->stride;
}

#endif
