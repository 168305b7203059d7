// Absolute differences of words of samples, and loads that repeat a plane's edge.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_SAD_CUH
#define ME_PIXEL_SAD_CUH

#include <stdint.h>

// Returns c + the sum of |a - b| over four bytes, in one instruction if the chip has VABSDIFF4.
static __device__ __forceinline__ uint32_t motus_sad4(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t d;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

// Where four samples of a row lie if its edge samples repeat: the aligned word from `at` on, and
// __byte_perm's selector of its bytes.
struct MotusEdgeWord {
    int at;
    uint32_t take;
};

// Finds the four samples at column x, a multiple of 4.
static __device__ __forceinline__ MotusEdgeWord motus_edge_find(int width, int x) {
    int at = min(max(x, 0), (width - 1) & ~3), last = width - 1 - at;
    uint32_t take = 0x3210; // nibble i names the source of byte i
    if (x < at) take = 0;
    if (x >= at && last < 3) take = last == 2 ? 0x2210 : last == 1 ? 0x1110 : 0;
    if (x > at) take = 0x1111 * min(last, 3);
    return {at, take};
}

static __device__ __forceinline__ uint32_t motus_edge_load(const uint8_t *row, MotusEdgeWord e) {
    return __byte_perm(*reinterpret_cast<const uint32_t *>(row + e.at), 0, e.take);
}

// Loads the four samples of a row at column x (a multiple of 4), edge samples repeated.
static __device__ __forceinline__ uint32_t motus_edge_word(const uint8_t *row, int width, int x) {
    return motus_edge_load(row, motus_edge_find(width, x));
}

// Loads N words (6 or 2) of row y from column x, a multiple of 16 (8 for 2 words). Outside the
// plane its edge samples repeat. Rows begin at multiples of 16 bytes.
template <int N>
__device__ __forceinline__ void motus_load_clamped(uint32_t w[N], const uint8_t *plane, int stride,
                                                   int width, int height, int x, int y) {
    const uint8_t *row = plane + (ptrdiff_t)min(max(y, 0), height - 1) * stride;
    if (x >= 0 && x + 4 * N <= width) {
        if (N == 6) {
            uint4 v = *reinterpret_cast<const uint4 *>(row + x);
            w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
        }
        uint2 v = *reinterpret_cast<const uint2 *>(row + x + 4 * (N - 2));
        w[N - 2] = v.x, w[N - 1] = v.y;
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) w[i] = motus_edge_word(row, width, x + 4 * i);
    }
}

#endif
