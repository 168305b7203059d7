// Compares the levels that two executors chose for an MB.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_SAME_LEVELS_H
#define TESTS_SAME_LEVELS_H

#include <string.h>

#include "encoder/mb/mb.h"

static inline int same_levels(const MotusMb *mb, const MotusMbCoef *a, const MotusMbCoef *b) {
    int same = 1;
    if (mb->type == MOTUS_MB_P_SKIP || mb->type == MOTUS_MB_I_PCM) return 1;
    for (int blk = 0; blk < 16; blk++)
        same &= !mb->total_coeff[blk] || !memcmp(a->luma[blk], b->luma[blk], sizeof a->luma[blk]);
    for (int i = 0; i < 8; i++)
        same &= !mb->total_coeff[16 + i] ||
                !memcmp(a->chroma_ac[i / 4][i % 4], b->chroma_ac[i / 4][i % 4],
                        sizeof a->chroma_ac[0][0]);
    if (mb->type == MOTUS_MB_I_16x16) same &= !memcmp(a->luma_dc, b->luma_dc, sizeof a->luma_dc);
    return same & (!(mb->cbp >> 4) || !memcmp(a->chroma_dc, b->chroma_dc, sizeof a->chroma_dc));
}

#endif
