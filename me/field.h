// Results of a search, copied from contiguous arrays to where the caller wants them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_FIELD_H
#define ME_FIELD_H

#include "motus/me_request.h"

#ifdef __cplusplus
extern "C" {
#endif

// Copies a result of n_mb MBs with `entry` bytes for each: [MOTUS_BLOCKS][n_mb], of which the
// blocks of `modes`, on up to `threads` threads; with modes 0 [n_mb]. mask: of the modes wanted per
// MB, 0 leaves the MB out; NULL: all.
void motus_result_store(void *to, const void *from, size_t entry, uint32_t modes,
                        const uint8_t *mask, int n_mb, int threads);

#ifdef __cplusplus
}
#endif
#endif
