// Device functions that search and refinement share: absolute differences, and loads that repeat a plane's edge.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SAD_CUDA_H
#define ME_SAD_CUDA_H

#include <stdint.h>

// c + the sum of |a - b| over four bytes: one instruction (VABSDIFF4) where the chip has it.
static __device__ __forceinline__ uint32_t motus_sad4(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t d;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

// N words (6, 4 or 2) of row y from column x on; outside the plane its edge samples repeat. x is a multiple of 4 * (N & 2 ? 2 : 4), rows begin
// at multiples of 16 bytes.
template <int N>
__device__ __forceinline__ void motus_load_clamped(uint32_t w[N], const uint8_t *plane, int stride, int width, int height, int x,
                                                   int y) {
    const uint8_t *row = plane + (ptrdiff_t)min(max(y, 0), height - 1) * stride;
    if (x >= 0 && x + 4 * N <= width) {
        if (N >= 4) {
            uint4 v = *reinterpret_cast<const uint4 *>(row + x);
            w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
        }
        if (N & 2) {
            uint2 v = *reinterpret_cast<const uint2 *>(row + x + 4 * (N - 2));
            w[N - 2] = v.x, w[N - 1] = v.y;
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        w[i] = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) w[i] |= (uint32_t)row[min(max(x + 4 * i + k, 0), width - 1)] << 8 * k;
    }
}

#endif
