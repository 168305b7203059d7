// Exhaustive integer search in windows of 9 to 17 points a side; equals motus_search_ops_c. A
// column of so few points would leave half of the lanes idle. So a lane takes any column and a run
// of four to eight of its rows, the last ones of a column as if they were the next ones: points
// that are measured twice have equal keys.
// A block is one warp with one MB: `Shared` bytes of shared memory, 1/2 of them for 13 points.
// Grid: x = MBs of a row, y = MB rows, z = pictures. LARGE: no blocks below 8x8, which takes half
// of the registers.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/lanes.h"
#include "me/search/window.cuh"

namespace {

constexpr int MOST_POINTS = 2 * MOTUS_SMALL_RANGE + 1;    // a side
constexpr int CHUNKS = (15 + 16 + MOST_POINTS + 14) / 16; // of a row at any alignment
constexpr int PITCH = CHUNKS * 128 + 16;                  // as in search.cu
constexpr int ROWS = MOST_POINTS + 15;                    // at most a row a lane

// Shared memory of a block. The window comes last, as small ones need less of it.
struct Shared {
    uint32_t source[64], costs[2 * MOST_POINTS + 2];
    alignas(16) uint8_t window[ROWS * PITCH];
};

// RUN: rows that a lane takes at a time.
template <bool LARGE, int RUN>
__device__ void search_window(uint32_t (&best)[MOTUS_BLOCKS], const Merge &m, const Window &window,
                              int points) {
    const int runs = (points + RUN - 1) / RUN, all = points * runs;
#pragma unroll 1
    for (int first = 0; first < all; first += 32) {
        const int i = min(first + motus_lane(), all - 1), run = i / points, x = i - run * points,
                  y = min(RUN * run, points - RUN);
        const Column column[1] = {Column(window.samples + y * PITCH, window.at + x)};
        const uint32_t cost = window.column_cost[x];
        Point point[RUN];
#pragma unroll
        for (int n = 0; n < RUN; n++)
            point[n].word = window.word(cost + window.row_cost[y + n], window.index(x, y + n));
        take_points<PITCH, LARGE>(best, m, window.source, column, point);
    }
}

// Writes the least keys of all lanes, a block a lane.
template <int BLOCKS>
__device__ void write_results(const MotusSearchPicture &p, const Geometry &g,
                              const uint32_t (&best)[MOTUS_BLOCKS], const Window &window, int mb) {
    uint32_t own[2] = {0, 0};
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        const uint32_t key = __reduce_min_sync(MOTUS_ALL_LANES, best[b]);
        if (b % 32 == motus_lane()) own[b / 32] = key;
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int b = motus_lane() + 32 * k;
        if (b < BLOCKS)
            write_result(p, g, b, mb,
                         (uint64_t)(own[k] >> INDEX_BITS) << 32 | (own[k] & INDEX_MASK),
                         window.column_cost, window.row_cost);
    }
}

template <bool LARGE, int RUN>
__global__ void __launch_bounds__(32, LARGE ? 16 : 8)
    small_kernel(const __grid_constant__ Batch batch, Geometry g) {
    extern __shared__ uint4 memory[];
    Shared *shared = reinterpret_cast<Shared *>(memory);
    const MotusSearchPicture &p = batch.picture[blockIdx.z];
    const int mb_x = blockIdx.x, mb_y = blockIdx.y, mb = mb_y * g.mb_width + mb_x,
              points = 2 * g.range + 1;
    motus_begin_early();
    if (p.wanted.mask && !p.wanted.mask[mb * p.wanted.pitch]) return; // the whole block
    const MotusMv centre = per_mb(p.centre, mb);
    const int x0 = 16 * mb_x + centre.x / 4 - g.range, y0 = 16 * mb_y + centre.y / 4 - g.range;
    // Each lane loads a row of the window. While it comes, the rest is loaded.
    const int y = motus_lane(), rows = points + 15,
              chunks = y < rows ? ((x0 & 15) + rows + 15) / 16 : 0;
    uint32_t row[CHUNKS][6];
#pragma unroll
    for (int k = 0; k < CHUNKS; k++)
        if (k < chunks)
            motus_load_clamped<6>(row[k], p.ref, p.ref_stride, g.width, g.height,
                                  (x0 & ~15) + 16 * k, y0 + y);
    load_source(shared->source, p, g, mb_x, mb_y, motus_lane());
    fill_costs(shared->costs, p, g, mb, motus_lane());
#pragma unroll
    for (int k = 0; k < CHUNKS; k++)
        if (k < chunks)
            store_copies(reinterpret_cast<uint4 *>(shared->window + y * PITCH + k * 128), row[k]);
    __syncwarp(); // shared memory is complete
    const Window window = {
        shared->window, shared->source, shared->costs, shared->costs + points, x0 & 15, points, 0};
    uint32_t best[MOTUS_BLOCKS]; // the least keys of the lane
    reset(best);
    search_window<LARGE, RUN>(best, g.merge, window, points);
    write_results<LARGE ? MOTUS_BLOCK_8x8 + 4 : MOTUS_BLOCKS>(p, g, best, window, mb);
}

// Returns the kernel whose lanes measure the fewest rows: points of 9, 11 and 17 are covered by
// runs of 4, 6 and 6 in one, one and two turns of the warp, others by runs of 8.
template <bool LARGE> auto kernel_of(int range) {
    return range == 4                 ? small_kernel<LARGE, 4>
           : range == 5 || range == 8 ? small_kernel<LARGE, 6>
                                      : small_kernel<LARGE, 8>;
}

} // namespace

cudaError_t motus_search_small_cuda_prepare(void) {
    return motus_load_kernels(kernel_of<true>(4), kernel_of<true>(5), kernel_of<true>(6),
                              kernel_of<false>(4), kernel_of<false>(5), kernel_of<false>(6));
}

cudaError_t motus_search_small_cuda(const MotusSearchPicture *pictures, int n, int width,
                                    int height, int range, uint32_t modes, cudaStream_t stream) {
    static_assert(sizeof(Shared) < 48 << 10, "more must be asked for");
    const Geometry g = geometry_of(width, height, range, modes);
    return motus_launch(pictures[0].early, dim3(g.mb_width, g.n_mb / g.mb_width, n), 32,
                        offsetof(Shared, window) + (size_t)(2 * range + 16) * PITCH, stream,
                        modes >> (MOTUS_MODE_8x8 + 1) ? kernel_of<false>(range)
                                                      : kernel_of<true>(range),
                        batch_of(pictures, n), g);
}
