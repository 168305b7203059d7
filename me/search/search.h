// Exhaustive integer search of one MB: all 41 blocks at all (2R+1)^2 displacements.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_SEARCH_H
#define ME_SEARCH_SEARCH_H

#include <stddef.h>

#include "me/pixel/ref_luma.h"
#include "motus/me.h"

// What is known of the 41 blocks of one MB.
typedef struct MotusMbMotion {
    MotusMv mv[MOTUS_BLOCKS];
    uint32_t cost[MOTUS_BLOCKS];
    uint16_t sad[MOTUS_BLOCKS];
} MotusMbMotion;

// One MB to search or refine. Only blocks of `modes` are looked at and written.
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

// Bytes of scratch memory (aligned to 64) that one thread needs for range R.
size_t motus_search_scratch(int range);
size_t motus_search_scratch_avx2(int range);
size_t motus_search_scratch_avx512(int range);

// Gives the first minimum of J = SAD + vector cost in raster order of (dy, dx) for each block.
typedef void (*MotusSearchMb)(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch);

// The fastest one for a CPU with these features (see motus_cpu_flags; 0: the plain C truth).
MotusSearchMb motus_search_mb(unsigned cpu_flags);
void motus_search_mb_c(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch);
void motus_search_mb_avx2(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch);
void motus_search_mb_avx512(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch);

// Sample (x, y) of the reference at any distance: row pointer for y, column for x.
static inline const uint8_t *motus_ref_row(const MotusRefLuma *ref, int y) {
    int last = ref->height - 1;
    return ref->plane[0] + (y < 0 ? 0 : y > last ? last : y) * ref->stride;
}

#endif
