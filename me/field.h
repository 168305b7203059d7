// Results of a search, copied from contiguous arrays to where the caller wants them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_FIELD_H
#define ME_FIELD_H

#include "motus/me_request.h"

#ifdef __cplusplus
extern "C" {
#endif

// Copies the blocks of `modes` from arrays [MOTUS_BLOCKS][n_mb], on up to `threads` threads.
void motus_field_store(MotusField *field, uint32_t modes, const MotusMv *mv, const uint16_t *sad,
                       const uint32_t *cost, int threads);

// Copy the results of n_mb MBs that *to asks for. modes: those of the configuration; mask: of the
// modes wanted per MB, 0 leaves the MB out; NULL: all.
void motus_target_store(const MotusMeTarget *to, const MotusMeTarget *from, uint32_t modes,
                        const uint8_t *mask, int n_mb);
void motus_stats_store(MotusMbStats *to, const MotusMbStats *from, const uint8_t *mask, int n_mb);

#ifdef __cplusplus
}
#endif
#endif
