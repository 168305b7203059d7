// A 4x4 block at MVs with fractions, by one lane: the half-sample positions around one, the
// quarter-sample positions between them, and distances.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_SUBPEL_CUH
#define ME_SEARCH_SUBPEL_CUH

#include "me/pixel/cost_core.h"
#include "me/pixel/ref_luma.h"
#include "me/pixel/sad.cuh"
#include "me/pixel/words_warp.cuh"

namespace {

constexpr int PAD = MOTUS_REF_PAD;

// The planes of a MotusRefLuma: sample (0, 0) of plane k is at base + k * size.
struct Planes {
    const uint8_t *base;
    int stride, size;  // bytes of a row, of a plane
    int width, height; // of the picture, not padded
};

// A 4x4 block, a row per word.
struct Block {
    uint32_t row[4];
};

// The blocks at the 3x3 half-sample positions around a position.
struct Grid {
    Block at[3][3]; // [dy + 1][dx + 1]
};

// Loads five bytes: the word at `from` and the word one byte further.
__device__ void load_five(uint32_t &first, uint32_t &second, const uint8_t *from) {
    const uint32_t *word = reinterpret_cast<const uint32_t *>((uintptr_t)from & ~(uintptr_t)3);
    uint32_t low = word[0], high = word[1], shift = 8 * ((uintptr_t)from & 3);
    first = __funnelshift_r(low, high, shift);
    second = __funnelshift_rc(low, high, shift + 8);
}

// Loads the grid around (x, y), in half samples. The middle row and column come from the planes of
// y's and x's parity, the others from those of the opposite parity.
__device__ void load_grid(Grid &grid, const Planes &p, int x, int y) {
    int px = x & 1, py = y & 1;
    // The middle row; the rows above and below.
    const uint8_t *same = p.base + (2 * py) * (size_t)p.size + (y >> 1) * p.stride;
    const uint8_t *other = p.base + (2 * (py ^ 1)) * (size_t)p.size + ((y - 1) >> 1) * p.stride;
    size_t at = (size_t)px * p.size + (x >> 1), beside = (size_t)(px ^ 1) * p.size + ((x - 1) >> 1);
    uint32_t unused;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        load_five(grid.at[1][1].row[r], unused, same + at + r * p.stride);
        load_five(grid.at[1][0].row[r], grid.at[1][2].row[r], same + beside + r * p.stride);
    }
#pragma unroll
    for (int r = 0; r < 5; r++) {
        uint32_t middle, left, right;
        load_five(middle, unused, other + at + r * p.stride);
        load_five(left, right, other + beside + r * p.stride);
        if (r < 4)
            grid.at[0][0].row[r] = left, grid.at[0][1].row[r] = middle,
            grid.at[0][2].row[r] = right;
        if (r > 0)
            grid.at[2][0].row[r - 1] = left, grid.at[2][1].row[r - 1] = middle,
                                  grid.at[2][2].row[r - 1] = right;
    }
}

__device__ uint32_t sad(const Block &a, const Block &b) {
    uint32_t sum = 0;
#pragma unroll
    for (int r = 0; r < 4; r++) sum = motus_sad4(a.row[r], b.row[r], sum);
    return sum;
}

__device__ Block average(const Block &a, const Block &b) {
    Block c;
#pragma unroll
    for (int r = 0; r < 4; r++) c.row[r] = __vavgu4(a.row[r], b.row[r]);
    return c;
}

__device__ Block choose(bool first, const Block &a, const Block &b) {
    Block c;
#pragma unroll
    for (int r = 0; r < 4; r++) c.row[r] = first ? a.row[r] : b.row[r];
    return c;
}

// Returns the k-th of nine half-sample positions: the middle, then its neighbours in raster order.
__device__ const Block &half_position(const Grid &grid, int k) {
    return k ? grid.at[motus_neighbour_dy(k - 1) + 1][motus_neighbour_dx(k - 1) + 1]
             : grid.at[1][1];
}

// Returns the k-th of nine quarter-sample positions around the middle. A straight one averages the
// middle and its neighbour. A diagonal one averages those two corners of its square that are
// half-sample in one direction only. even: the middle's components are both full-sample or both
// half-sample.
__device__ Block quarter_position(const Grid &grid, int k, bool even) {
    if (!k) return grid.at[1][1];
    const int dx = motus_neighbour_dx(k - 1), dy = motus_neighbour_dy(k - 1);
    const Block &middle = grid.at[1][1], &corner = grid.at[dy + 1][dx + 1];
    return average(dx && dy ? choose(even, grid.at[1][dx + 1], middle) : middle,
                   dx && dy ? choose(even, grid.at[dy + 1][1], corner) : corner);
}

// Returns the position of a block displaced by v quarter samples, in half samples, clipped to where
// samples only repeat.
__device__ int position(int corner, int v, int size) {
    return min(max(2 * corner + (v >> 1), 2 * (8 - PAD)), 2 * (size + PAD - 12)) | (v >> 1 & 1);
}

} // namespace

#endif
