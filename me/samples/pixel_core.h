// SAD and SATD of one 4x4 block.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SAMPLES_PIXEL_CORE_H
#define ME_SAMPLES_PIXEL_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "common/int_core.h"

MOTUS_HD uint32_t motus_sad4x4(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                               ptrdiff_t b_stride) {
    int sum = 0;
    for (int y = 0; y < 4; y++, a += a_stride, b += b_stride)
        for (int x = 0; x < 4; x++) sum += motus_abs(a[x] - b[x]);
    return (uint32_t)sum;
}

// One 4-point Hadamard butterfly in place over v[0], v[step], v[2 step], v[3 step].
MOTUS_HD void motus_hadamard4(int *v, int step) {
    int s0 = v[0] + v[step], d0 = v[0] - v[step], s1 = v[2 * step] + v[3 * step],
        d1 = v[2 * step] - v[3 * step];
    v[0] = s0 + s1, v[step] = d0 + d1, v[2 * step] = s0 - s1, v[3 * step] = d0 - d1;
}

// Half the sum of |coefficient|; all 16 coefficients have the parity of the sum of a - b, so the
// sum is even (at most 16,320).
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

#endif
