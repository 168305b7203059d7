// Exhaustive integer search of all 41 blocks: for each block the first minimum of J = SAD + MV cost
// in raster order of (dy, dx); equals motus_search_ops_c.
//
// A warp searches an MB. A lane takes a column dx of the window, eight rows dy at a time
// (blocks.cuh); only the least key of each block leaves its registers. Grid: x = groups of MBS
// macroblocks of a row, y = MB rows, z = pictures. Block: MBS warps, which share a window if MBS is
// 4. The window is cut into panels of 64x32 points (32x32 if MBS is 1); the last of a row or column
// may be one larger. Shared memory: a panel's reference samples as eight copies, each shifted by
// one byte more, so any byte position is an aligned 8-byte load; rows of 16-byte chunks
// [chunk][copy], padded by 16 bytes. The same memory then holds the lanes' minima. Read: the window
// (48 rows of 128 bytes and a few, per panel and group) through the L2, the source once; written:
// 10 bytes per block and MB.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/search/search_cuda.h"

#include "me/search/window.cuh"

namespace {

constexpr int LANES = 32;       // columns that a warp takes at a time
constexpr int ROWS = 32;        // of a panel
constexpr int RUN = 8;          // rows that a lane takes at a time
constexpr int TABLE_PITCH = 36; // words per row of minima: 32 lanes, padded for 16-byte loads

// Points [x, x + columns) x [y, y + rows) of the window.
struct Panel {
    int x, y, columns, rows;
};

constexpr __host__ __device__ int panels(int points, int size) {
    return (points - 1 + size - 1) / size;
}

// Shared memory of a block of MBS warps.
template <int MBS> struct Layout {
    static constexpr int columns = MBS == 4 ? 64 : 32;                 // of a panel
    static constexpr int chunks = (15 + 16 * MBS + columns + 15) / 16; // at any alignment
    static constexpr int pitch = chunks * 128 + 16;
    static constexpr int rows = ROWS + 16;
    static constexpr int window = rows * pitch;
    static constexpr int table = MOTUS_BLOCKS * MBS * TABLE_PITCH * 4;
    // Offsets of the source words; of the MV costs, then one key per block and MB.
    static constexpr int source = window > table ? window : table;
    static constexpr int costs = source + MBS * 256;

    static constexpr int size(int points) { return costs + MBS * (2 * points + MOTUS_BLOCKS) * 4; }
};

// Fills shared memory with the panel whose first sample is (x0, y0) of the reference. Neighbouring
// lanes take neighbouring rows, so their stores have no bank conflicts.
template <int MBS>
__device__ void fill_window(uint8_t *window, const MotusSearchPicture &p, const Geometry &g, int x0,
                            int y0, const Panel &panel) {
    using L = Layout<MBS>;
    int chunks = ((x0 & 15) + 16 * MBS + panel.columns + 14) / 16; // that the points reach into
#pragma unroll 1
    for (int t = threadIdx.x; t < L::rows * chunks; t += 32 * MBS) {
        int row = t % L::rows, chunk = t / L::rows;
        if (row >= panel.rows + 15) continue;
        uint32_t raw[6];
        motus_load_clamped<6>(raw, p.ref, p.ref_stride, g.width, g.height, (x0 & ~15) + 16 * chunk,
                              y0 + row);
        store_copies(reinterpret_cast<uint4 *>(window + row * L::pitch + chunk * 128), raw);
    }
}

// Remainder points of a panel: a last column that would occupy one lane, then the rows below the
// runs. The last of them is the panel's corner.
struct Remainder {
    int whole_rows, wide, in_column, count;

    __device__ Remainder(const Panel &panel) {
        whole_rows = panel.rows / RUN * RUN;
        wide = panel.columns - (panel.columns % LANES == 1);
        in_column = (panel.columns - wide) * whole_rows;
        count = in_column + (panel.rows - whole_rows) * panel.columns;
    }
    __device__ int2 point(const Panel &panel, int i) const {
        i = min(i, count - 1);
        int in_rows = i - in_column;
        // Below 8: half a step keeps the division exact.
        int row = (int)((in_rows + 0.5f) * (1.0f / panel.columns));
        return in_rows < 0 ? make_int2(wide, i)
                           : make_int2(in_rows - row * panel.columns, whole_rows + row);
    }
};

// Searches the panel's corner, a 4x4 block per lane (both halves of the warp alike). Writes the
// keys of all blocks to single[block * STEP].
template <int PITCH, int STEP>
__device__ void take_single(uint32_t *single, const Window &window, const Panel &panel, int lane) {
    int x = lane & 3, y = lane >> 2 & 3, right = panel.columns - 1, low = panel.rows - 1;
    Column column(window.samples + (low + 4 * y) * PITCH, window.at + right + 4 * x);
    uint32_t word = window.word(panel.x + right, panel.y + low), sum = 0;
    for (int r = 0; r < 4; r++)
        sum = motus_sad4(*reinterpret_cast<const uint32_t *>(column.left + r * PITCH),
                         window.source[16 * y + 4 * r + x], sum);
    auto write = [&](bool mine, int block, uint32_t s) {
        if (mine && lane < 16) single[block * STEP] = (s << INDEX_BITS) + word;
    };
    auto with = [](uint32_t s, int other) { return s + __shfl_xor_sync(~0u, s, other); };
    uint32_t s84 = with(sum, 1), s48 = with(sum, 4), s88 = with(s84, 4), s168 = with(s88, 2),
             s816 = with(s88, 8);
    uint32_t s1616 = with(s168, 8);
    write(true, MOTUS_BLOCK_4x4 + 4 * y + x, sum);
    write(!(x & 1), MOTUS_BLOCK_8x4 + 2 * y + x / 2, s84);
    write(!(y & 1), MOTUS_BLOCK_4x8 + 2 * y + x, s48);
    write(!(x & 1) && !(y & 1), MOTUS_BLOCK_8x8 + y + x / 2, s88);
    write(!x && !(y & 1), MOTUS_BLOCK_16x8 + y / 2, s168);
    write(!y && !(x & 1), MOTUS_BLOCK_8x16 + x / 2, s816);
    write(!x && !y, MOTUS_BLOCK_16x16, s1616);
}

// Searches a panel's columns, one per lane, whose lanes beyond the last repeat it; then the
// remainder points, 64 at a time, and a last one on its own.
template <int PITCH, int STEP>
__device__ void search_panel(uint32_t (&best)[MOTUS_BLOCKS], uint32_t *single, const Merge &m,
                             const Window &window, const Panel &panel, int lane) {
    Remainder rest(panel);
#pragma unroll 1
    for (int first = 0; first < rest.wide; first += LANES) {
        const int x = min(first + lane, rest.wide - 1);
        Column column[1] = {Column(window.samples, window.at + x)};
        uint32_t column_cost = window.column_cost[panel.x + x],
                 index = window.index(panel.x + x, panel.y);
#pragma unroll 1
        for (int y = 0; y < rest.whole_rows; y += RUN) {
            Point point[RUN];
#pragma unroll
            for (int n = 0; n < RUN; n++, index = m.add(window.points, index))
                point[n].word = window.word(column_cost + window.row_cost[panel.y + y + n], index);
            take_points<PITCH>(best, m, window.source, column, point);
            column[0].left += RUN * PITCH, column[0].right += RUN * PITCH;
        }
    }
    if (!rest.count) return;
    int i = 0;
#pragma unroll 1
    for (; rest.count - i > 1; i += 2 * LANES) {
        int2 p = rest.point(panel, i + lane), q = rest.point(panel, i + LANES + lane);
        Column column[2] = {Column(window.samples + p.y * PITCH, window.at + p.x),
                            Column(window.samples + q.y * PITCH, window.at + q.x)};
        Point point[2] = {{window.word(panel.x + p.x, panel.y + p.y), {}},
                          {window.word(panel.x + q.x, panel.y + q.y), {}}};
        take_points<PITCH>(best, m, window.source, column, point);
    }
    if (i < rest.count) take_single<PITCH, STEP>(single, window, panel, lane);
}

// Reduces the lanes' minima through a table with a row per block and MB, which overwrites the
// window. A thread owns up to two rows; winner: as in write_result.
template <int MBS>
__device__ void reduce(uint64_t winner[2], const uint32_t (&best)[MOTUS_BLOCKS], uint32_t *singles,
                       uint32_t *table, const Window &window) {
    int lane = threadIdx.x & 31, warp = MBS == 1 ? 0 : threadIdx.x >> 5;
#pragma unroll
    for (int b = 0; b < MOTUS_BLOCKS; b++) table[(b * MBS + warp) * TABLE_PITCH + lane] = best[b];
    __syncthreads(); // the table is complete
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int row = threadIdx.x + 32 * MBS * k;
        if (row >= MOTUS_BLOCKS * MBS) break;
        uint32_t key = singles[row];
#pragma unroll
        for (int i = 0; i < 32; i += 4) {
            uint4 v = *reinterpret_cast<const uint4 *>(table + row * TABLE_PITCH + i);
            key = min3(min3(key, v.x, v.y), v.z, v.w);
        }
        uint64_t found = (uint64_t)(key >> INDEX_BITS) << 32 |
                         ((key & INDEX_MASK) + window.section * window.points);
        winner[k] = min(winner[k], found);
        singles[row] = ~0u;
    }
}

template <int MBS>
__device__ void write_results(const MotusSearchPicture &p, const Geometry &g,
                              const uint64_t winner[2], const uint32_t *costs, int group_x,
                              int mb_y) {
    int points = 2 * g.range + 1;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        int row = threadIdx.x + 32 * MBS * k, block = row / MBS, x = group_x + row % MBS;
        const uint32_t *column_cost = costs + 2 * points * (row % MBS);
        if (row < MOTUS_BLOCKS * MBS && x < g.mb_width)
            write_result(p, g, block, mb_y * g.mb_width + x, winner[k], column_cost,
                         column_cost + points);
    }
}

template <int MBS>
__global__ void __launch_bounds__(32 * MBS, MBS == 4 ? 3 : 8)
    search_kernel(const __grid_constant__ Batch batch, Geometry g) {
    using L = Layout<MBS>;
    extern __shared__ __align__(16) uint8_t shared[];
    const MotusSearchPicture &p = batch.picture[blockIdx.z];
    int lane = threadIdx.x & 31, warp = MBS == 1 ? 0 : threadIdx.x >> 5, points = 2 * g.range + 1;
    int across = panels(points, L::columns), down = panels(points, ROWS);
    int group_x = blockIdx.x * MBS, mb_y = blockIdx.y, mb_x = min(group_x + warp, g.mb_width - 1),
        mb = mb_y * g.mb_width + mb_x;
    motus_begin_early();
    uint32_t modes = g.mask ? 0 : g.modes; // that are wanted of the group
    for (int x = group_x; g.mask && x < min(group_x + MBS, g.mb_width); x++)
        modes |= g.mask[mb_y * g.mb_width + x] & g.modes;
    if (!modes) return; // all threads of the block
    MotusMv centre = per_mb(p.centre, mb);
    int x0 = 16 * group_x + centre.x / 4 - g.range, y0 = 16 * mb_y + centre.y / 4 - g.range;
    uint32_t *source = reinterpret_cast<uint32_t *>(shared + L::source) + 64 * warp;
    uint32_t *costs = reinterpret_cast<uint32_t *>(shared + L::costs),
             *column_cost = costs + 2 * points * warp;
    uint32_t *singles = costs + 2 * points * MBS;
    load_source(source, p, g, mb_x, mb_y, lane);
    fill_costs(column_cost, p, g, mb, lane);
    for (int i = threadIdx.x; i < MOTUS_BLOCKS * MBS; i += 32 * MBS) singles[i] = ~0u;
    Window window{shared, source, column_cost, column_cost + points, (x0 & 15) + 16 * warp,
                  points, 0};
    uint32_t best[MOTUS_BLOCKS]; // the least keys of the lane
    uint64_t winner[2] = {~0ull, ~0ull};
    reset(best);
    int until_reduction = g.section; // rows of panels
#pragma unroll 1
    for (int py = 0; py < down; py++) {
#pragma unroll 1
        for (int px = 0; px < across; px++) {
            Panel panel{px * L::columns, py * ROWS,
                        px + 1 < across ? L::columns : points - px * L::columns,
                        py + 1 < down ? ROWS : points - py * ROWS};
            fill_window<MBS>(shared, p, g, x0 + panel.x, y0 + panel.y, panel);
            __syncthreads(); // window, source, costs and singles are complete
            search_panel<L::pitch, MBS>(best, singles + warp, g.merge, window, panel, lane);
            __syncthreads(); // all warps have read the window
        }
        if (--until_reduction && py + 1 < down) continue;
        reduce<MBS>(winner, best, singles, reinterpret_cast<uint32_t *>(shared), window);
        if (py + 1 == down) break;
        __syncthreads(); // the table may be overwritten
        reset(best);
        window.section = (py + 1) * ROWS;
        until_reduction = g.section;
    }
    write_results<MBS>(p, g, winner, costs, group_x, mb_y);
}

template <int MBS> cudaError_t allow_shared_memory() {
    return cudaFuncSetAttribute(search_kernel<MBS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                Layout<MBS>::size(2 * MOTUS_MAX_RANGE + 1));
}

cudaError_t search(const MotusSearchPicture *pictures, int n, const uint8_t *mask, int width,
                   int height, int range, uint32_t modes, cudaStream_t stream) {
    Geometry g = geometry_of(width, height, range, modes);
    g.section = max(1, ((INDEX_MASK + 1) / (2 * range + 1) - 1) / ROWS);
    g.mask = mask;
    auto launch = [&](auto layout, int mbs, auto kernel) {
        const dim3 grid((g.mb_width + mbs - 1) / mbs, g.n_mb / g.mb_width, n);
        return motus_launch(pictures[0].early, grid, 32 * mbs, layout.size(2 * range + 1), stream,
                            kernel, batch_of(pictures, n), g);
    };
    return pictures[0].centre ? launch(Layout<1>(), 1, search_kernel<1>)
                              : launch(Layout<4>(), 4, search_kernel<4>);
}

} // namespace

cudaError_t motus_search_cuda_prepare(void) {
    cudaError_t error = motus_search_small_cuda_prepare();
    if (error == cudaSuccess) error = allow_shared_memory<1>();
    return error == cudaSuccess ? allow_shared_memory<4>() : error;
}

cudaError_t motus_search_cuda(const MotusSearchPicture *pictures, int n, int width, int height,
                              int range, uint32_t modes, cudaStream_t stream) {
    return pictures[0].centre && range >= MOTUS_SMALL_FROM && range <= MOTUS_SMALL_RANGE
               ? motus_search_small_cuda(pictures, n, width, height, range, modes, stream)
               : search(pictures, n, NULL, width, height, range, modes, stream);
}

cudaError_t motus_search_masked_cuda(const MotusSearchPicture *picture, const uint8_t *mask,
                                     int width, int height, int range, uint32_t modes,
                                     cudaStream_t stream) {
    return search(picture, 1, mask, width, height, range, modes, stream);
}
