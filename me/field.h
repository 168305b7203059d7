// Results of a search, copied from contiguous arrays to where the caller wants them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_FIELD_H
#define ME_FIELD_H

#include "motus/me_request.h"

#ifdef __cplusplus
extern "C" {
#endif

// A result to copy, with `entry` bytes for each block of each MB, [MOTUS_BLOCKS][n_mb], or for each
// MB, [n_mb].
typedef struct MotusResultCopy {
    void *to;
    const void *from;
    size_t entry;
    int by_block;
} MotusResultCopy;

// Copies n results of n_mb MBs, of those by block the blocks of `modes`, on up to `threads`
// threads. mask: of the modes wanted per MB, 0 leaves the MB out; NULL: all.
void motus_results_store(const MotusResultCopy *result, int n, uint32_t modes, const uint8_t *mask,
                         int n_mb, int threads);

#ifdef __cplusplus
}
#endif
#endif
