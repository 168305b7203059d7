// The inner loops of reference preparation and block prediction.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_LUMA_OPS_H
#define ME_LUMA_OPS_H

#include <stddef.h>
#include <stdint.h>

#define MOTUS_LUMA_SLICE 512 // samples of a row filtered at once: the sums stay in the L1 cache

typedef struct MotusLumaOps {
    // Half samples of n neighbours of one row (n a multiple of 16, at most MOTUS_LUMA_SLICE): row[0..5] are the rows y - 2 .. y + 3 of full
    // samples; columns -2 .. n + 2 count, and up to n + 18 must be readable. Writes b, h, j for [0, n).
    void (*half_row)(const uint8_t *const row[6], uint8_t *b, uint8_t *h, uint8_t *j, int n);
    // dst = (p + q + 1) >> 1 over w x h samples, w and h multiples of 4 up to 16; p and q have the same stride and
    // are readable for 16 samples in every row.
    void (*average)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *p, const uint8_t *q, ptrdiff_t stride, int w, int h);
} MotusLumaOps;

// The fastest table this CPU runs (see motus_cpu_flags).
const MotusLumaOps *motus_luma_ops(void);
extern const MotusLumaOps motus_luma_ops_avx2;

#endif
