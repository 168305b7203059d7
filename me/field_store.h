// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_FIELD_STORE_H
#define ME_FIELD_STORE_H

#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// Copies the blocks of the modes asked for into the field, from arrays of MOTUS_BLOCKS x n_mb entries, by up to `threads` threads (1 or more).
void motus_field_store(MotusField *field, uint32_t modes, const MotusMv *mv, const uint16_t *sad, const uint32_t *cost,
                       int threads);

#ifdef __cplusplus
}
#endif
#endif
