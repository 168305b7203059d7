// Merging 4x4 sums into the sums of all 41 blocks.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_SEARCH_CORE_H
#define ME_SEARCH_SEARCH_CORE_H

#include "common/hd.h"
#include "motus/me.h"

// sum[MOTUS_BLOCK_4x4 ..] is given; fills in the other 25. A 4x4 SAD is at most 4080 and a 16x16
// one 65,280.
MOTUS_HD void motus_merge_sums(uint32_t sum[MOTUS_BLOCKS]) {
    const uint32_t *s44 = sum + MOTUS_BLOCK_4x4;
    uint32_t *s48 = sum + MOTUS_BLOCK_4x8, *s84 = sum + MOTUS_BLOCK_8x4,
             *s88 = sum + MOTUS_BLOCK_8x8;
    for (int i = 0; i < 8; i++) s84[i] = s44[2 * i] + s44[2 * i + 1];
    for (int i = 0; i < 8; i++) s48[i] = s44[i + (i & 4)] + s44[i + (i & 4) + 4];
    for (int i = 0; i < 4; i++) s88[i] = s84[i + (i & 2)] + s84[i + (i & 2) + 2];
    for (int i = 0; i < 2; i++) sum[MOTUS_BLOCK_16x8 + i] = s88[2 * i] + s88[2 * i + 1];
    for (int i = 0; i < 2; i++) sum[MOTUS_BLOCK_8x16 + i] = s88[i] + s88[i + 2];
    sum[MOTUS_BLOCK_16x16] = sum[MOTUS_BLOCK_16x8] + sum[MOTUS_BLOCK_16x8 + 1];
}

#endif
