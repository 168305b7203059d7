// SAD and SATD of a 4x4 block, and sums of 4x4 blocks merged into those of the 41 blocks of an MB.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_PIXEL_CORE_H
#define ME_PIXEL_PIXEL_CORE_H

#include <stddef.h>

#include "common/int_core.h"
#include "motus/me.h"

MOTUS_HD uint32_t motus_sad4x4(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                               ptrdiff_t b_stride) {
    int sum = 0;
    for (int y = 0; y < 4; y++, a += a_stride, b += b_stride)
        for (int x = 0; x < 4; x++) sum += motus_abs(a[x] - b[x]);
    return (uint32_t)sum;
}

// Does one 4-point Hadamard butterfly in place, over v[0], v[step], v[2 step], v[3 step].
MOTUS_HD void motus_hadamard4(int *v, int step) {
    int s0 = v[0] + v[step], d0 = v[0] - v[step], s1 = v[2 * step] + v[3 * step],
        d1 = v[2 * step] - v[3 * step];
    v[0] = s0 + s1, v[step] = d0 + d1, v[2 * step] = s0 - s1, v[3 * step] = d0 - d1;
}

// Returns half the sum of |coefficient|, at most 16,320. The sum is even: all 16 coefficients have
// the parity of the sum of a - b.
MOTUS_HD uint32_t motus_satd4x4(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                                ptrdiff_t b_stride) {
    int v[16], sum = 0;
    for (int y = 0; y < 4; y++, a += a_stride, b += b_stride)
        for (int x = 0; x < 4; x++) v[4 * y + x] = a[x] - b[x];
    for (int i = 0; i < 4; i++) motus_hadamard4(v + 4 * i, 1);
    for (int i = 0; i < 4; i++) motus_hadamard4(v + i, 4);
    for (int i = 0; i < 16; i++) sum += motus_abs(v[i]);
    return (uint32_t)sum >> 1;
}

// Fills in the sums of the 25 larger blocks from the sixteen at MOTUS_BLOCK_4x4. A SAD is at most
// 4080 for 4x4 and 65,280 for 16x16.
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
