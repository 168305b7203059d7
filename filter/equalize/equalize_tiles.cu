// Equalization by tiles on a CUDA device; three kernels, launched early.
//
// Counting: a block counts a band of rows of a tile into 32 copies of the histogram, one per lane.
// Curves: a block computes a tile's. Mapping: a block takes a band of a cell, the rectangle between
// four tile centres. The cell's four curves are the bytes of one word per value, in 32 copies too.
// A thread keeps the weights of its 16 columns and walks down, 16 bytes in, 16 bytes out. A sample
// costs two instructions to find its word, two dot products of two weights and two bytes, and two
// multiply-adds. Tiles and cells need not begin at 16-byte chunks: samples of shared chunks are
// taken one by one, a warp per row. The picture is read twice (partly from the L2) and written
// once.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/equalize/equalize.cuh"

#include <cuda_pipeline_primitives.h>

namespace {

constexpr int COUNT_THREADS = 512, COUNT_BLOCKS = 2; // BLOCKS: resident on a multiprocessor
constexpr int COUNT_ROWS = 4; // chunks that a thread counts at a time, while as many load
constexpr int CURVE_THREADS = 256;
constexpr int MAP_THREADS = 256, MAP_BLOCKS = 4;
constexpr int MAP_STAGES = 3; // chunks that a thread has in flight

struct Picture {
    uint8_t *dst;
    const uint8_t *src;
    int dst_stride, src_stride;
};

// A rectangle, and a thread's part of it: every `columns`th whole chunk from `column` on, every
// `rows`th row from `row` on.
struct Area {
    int x0, x1, y0, y1;
    int first, end; // whole chunks of 16 samples in it
    int column, columns, row, rows;
};

// threads: of the block. Threads without a part get a row beyond the end.
__device__ __forceinline__ Area area_of(int x0, int x1, int y0, int y1, int threads) {
    Area a = {x0, x1, y0, y1, (x0 + 15) / 16, max((x0 + 15) / 16, x1 / 16), 0, 0, 0, 0};
    a.columns = min(max(a.end - a.first, 1), threads), a.rows = threads / a.columns;
    a.row = (int)threadIdx.x / a.columns, a.column = (int)threadIdx.x - a.row * a.columns;
    a.row = a.row < a.rows ? y0 + a.row : y1;
    return a;
}

// Returns this lane's column outside whole chunks, or -1: 16 lanes take those at the left, 16 those
// at the right.
__device__ __forceinline__ int border_column(const Area &a) {
    int lane = threadIdx.x % 32, x = lane < 16 ? a.x0 + lane : 16 * a.end + lane - 16;
    return x < (lane < 16 ? min(a.x1, 16 * a.first) : a.x1) ? x : -1;
}

// Loads chunk `column` of COUNT_ROWS of a thread's rows from y on, inside the area.
__device__ __forceinline__ void fetch(uint4 v[COUNT_ROWS], const Picture &p, const Area &a,
                                      int column, int y) {
#pragma unroll
    for (int u = 0; u < COUNT_ROWS; u++)
        if (y + u * a.rows < a.y1)
            v[u] = *reinterpret_cast<const uint4 *>(
                p.src + (size_t)(y + u * a.rows) * (size_t)p.src_stride + 16 * (size_t)column);
}

// Block x: tile, y: band of its rows.
__global__ void __launch_bounds__(COUNT_THREADS, COUNT_BLOCKS)
    count_tiles(Picture p, MotusTileGrid grid, uint32_t (*counts)[256]) {
    __shared__ __align__(16) uint32_t table[256 * COPIES];
    int tile = blockIdx.x, x0 = tile % grid.nx * grid.tile_w, y0 = tile / grid.nx * grid.tile_h;
    int band = (grid.tile_h + (int)gridDim.y - 1) / (int)gridDim.y;
    int from = y0 + (int)blockIdx.y * band,
        to = min(min(from + band, y0 + grid.tile_h), grid.height);
    for (int k = threadIdx.x; k < 64 * COPIES; k += COUNT_THREADS)
        reinterpret_cast<uint4 *>(table)[k] = make_uint4(0, 0, 0, 0);
    motus_wait_for_predecessor();
    motus_let_successor_start(); // not earlier: the mapping kernel loads without waiting
    if (from >= to) return;
    Area a = area_of(x0, min(x0 + grid.tile_w, grid.width), from, to, COUNT_THREADS);
    uint32_t offset = 4 * (threadIdx.x % 32);
    __syncthreads(); // the table is clear
    for (int column = a.first + a.column; column < a.end; column += COUNT_THREADS) {
        uint4 next[COUNT_ROWS];
        int y = a.row, step = COUNT_ROWS * a.rows;
        fetch(next, p, a, column, y);
        for (; y < to; y += step) {
            uint4 v[COUNT_ROWS];
#pragma unroll
            for (int u = 0; u < COUNT_ROWS; u++) v[u] = next[u];
            fetch(next, p, a, column, y + step);
#pragma unroll
            for (int u = 0; u < COUNT_ROWS; u++)
                if (y + u * a.rows < to) count_chunk(table, offset, v[u], 16);
        }
    }
    int x = border_column(a);
    for (int y = from + (int)threadIdx.x / 32; x >= 0 && y < to; y += COUNT_THREADS / 32)
        atomicAdd(
            &table[p.src[(size_t)y * (size_t)p.src_stride + (size_t)x] * COPIES + threadIdx.x % 32],
            1u);
    __syncthreads(); // the block has counted
    uint32_t n = threadIdx.x < 256 ? sum_copies(table, threadIdx.x) : 0;
    if (n) atomicAdd(&counts[tile][threadIdx.x], n);
}

// Block: tile; thread: bin.
__global__ void __launch_bounds__(CURVE_THREADS)
    make_curves(MotusTileGrid grid, State state, Turn turn, int clip_q8) {
    __shared__ uint32_t scratch[32];
    int tiles = grid.nx * grid.ny, tile = blockIdx.x, bin = threadIdx.x;
    uint32_t plane_now = 0, plane_before = 0;
    motus_begin_early();
    uint32_t n = state.counts[turn.now * tiles + tile][bin];
    if (turn.smooth_q8 && turn.started)
        for (int t = 0; t < tiles; t++)
            plane_now += state.counts[turn.now * tiles + t][bin],
                plane_before += state.counts[turn.before * tiles + t][bin];
    int restart = restarts(turn, plane_now, plane_before,
                           (uint32_t)grid.width * (uint32_t)grid.height, scratch);
    uint32_t total = block_sum(n, scratch), limit = clip_limit(total, clip_q8);
    uint32_t excess = block_sum(limit && n > limit ? n - limit : 0, scratch);
    MotusEqualizeClip clip = clip_share(limit, excess);
    uint32_t sum = running_sum(clip_bin(n, bin, &clip), scratch);
    next_value(state, turn, tiles, tile, bin, curve_value(sum, total), restart, 1);
    state.counts[turn.next * tiles + tile][bin] = 0;
}

// Finds the columns or rows [from, to) between the same two tile centres: stretch k of n + 1 along
// an axis. tile_position changes tiles where 2 * position reaches an odd multiple of size.
__device__ void cell_range(int *from, int *to, int k, int size, int length) {
    *from = k ? min(((2 * k - 1) * size + 1) / 2, length) : 0;
    *to = min(((2 * k + 1) * size + 1) / 2, length);
}

// Fills the table: entry v holds the values at v of the curves above left, above right, below left
// and below right of the cell's middle.
__device__ void fill_table(uint32_t *table, const MotusTileGrid &grid, const uint8_t (*curves)[256],
                           int column, int row) {
    int left = max(column - 1, 0), right = min(column, grid.nx - 1);
    const uint8_t(*above)[256] = curves + max(row - 1, 0) * grid.nx,
          (*below)[256] = curves + min(row, grid.ny - 1) * grid.nx;
    for (int v = threadIdx.x; v < 256; v += MAP_THREADS) {
        uint32_t word = above[left][v] | (uint32_t)above[right][v] << 8 |
                        (uint32_t)below[left][v] << 16 | (uint32_t)below[right][v] << 24;
        for (int k = 0; k < COPIES; k++) table[v * COPIES + ((k + v) & (COPIES - 1))] = word;
    }
}

// Equals the mean in map_tiles of equalize.c, in the top byte: the sum times 16. columns: weights
// of left and right; above, below: 16 times those of the rows.
__device__ __forceinline__ uint32_t mix(uint32_t values, uint32_t columns, uint32_t above,
                                        uint32_t below) {
    return __dp2a_lo(columns, values, 0u) * above +
           (__dp2a_hi(columns, values, 0u) * below + (1u << 23));
}

// Maps four samples. offset: the lane's bytes in a row of copies.
__device__ __forceinline__ uint32_t map_word(const uint32_t *table, uint32_t offset, uint32_t w,
                                             const uint32_t *columns, uint32_t above,
                                             uint32_t below) {
    uint32_t sum[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        sum[k] = mix(*reinterpret_cast<const uint32_t *>(reinterpret_cast<const uint8_t *>(table) +
                                                         (row_of(w, k) | offset)),
                     columns[k], above, below);
    return __byte_perm(__byte_perm(sum[0], sum[1], 0x0073), __byte_perm(sum[2], sum[3], 0x0073),
                       0x5410);
}

// Chunks in flight from device memory, each for its own thread.
typedef uint4 Ahead[MAP_STAGES][MAP_THREADS];

// Every call commits one stage for __pipeline_wait_prior, even if there is nothing to load.
__device__ __forceinline__ void fetch_ahead(uint4 *slot, const uint8_t *chunk, bool inside) {
    if (inside) __pipeline_memcpy_async(slot, chunk, 16);
    __pipeline_commit();
}

__device__ __forceinline__ void start_column(Ahead ahead, const Picture &p, const Area &a,
                                             int column) {
    const uint8_t *in = p.src + (size_t)a.row * (size_t)p.src_stride + 16 * (size_t)column;
#pragma unroll
    for (int s = 0; s < MAP_STAGES; s++)
        fetch_ahead(&ahead[s][threadIdx.x], in + s * a.rows * p.src_stride,
                    column < a.end && a.row + s * a.rows < a.y1);
}

// Maps a thread's rows of a column of chunks, whose loads start_column has begun.
__device__ __forceinline__ void map_column(Ahead ahead, const Picture &p, const Area &a, int column,
                                           const uint32_t *table, const uint32_t *column_weights,
                                           const uint32_t *row_weights) {
    int in_step = a.rows * p.src_stride, out_step = a.rows * p.dst_stride, slot = 0;
    const uint8_t *in =
        p.src + (size_t)a.row * (size_t)p.src_stride + 16 * (size_t)column + MAP_STAGES * in_step;
    uint8_t *out = p.dst + (size_t)a.row * (size_t)p.dst_stride + 16 * (size_t)column;
    uint32_t weights[16], offset = 4 * (threadIdx.x % COPIES);
#pragma unroll
    for (int i = 0; i < 16; i += 4)
        *reinterpret_cast<uint4 *>(weights + i) =
            *reinterpret_cast<const uint4 *>(column_weights + 16 * column + i);
    uint32_t next_below = a.row < a.y1 ? row_weights[a.row] : 0;
    for (int y = a.row; y < a.y1; y += a.rows, in += in_step, out += out_step) {
        uint32_t below = next_below, above = 16384 - below;
        if (y + a.rows < a.y1) next_below = row_weights[y + a.rows];
        __pipeline_wait_prior(MAP_STAGES - 1);
        uint4 v = ahead[slot][threadIdx.x];
        __stcs(reinterpret_cast<uint4 *>(out),
               make_uint4(map_word(table, offset, v.x, weights, above, below),
                          map_word(table, offset, v.y, weights + 4, above, below),
                          map_word(table, offset, v.z, weights + 8, above, below),
                          map_word(table, offset, v.w, weights + 12, above, below)));
        fetch_ahead(&ahead[slot][threadIdx.x], in, y + MAP_STAGES * a.rows < a.y1);
        slot = slot == MAP_STAGES - 1 ? 0 : slot + 1;
    }
}

// Block x, z: cell, the last row of cells first, since the end of the picture is most likely still
// in the L2; y: band of its rows. A cell as large as a tile has gridDim.y bands, smaller ones have
// fewer: blocks take about the same time, and all are resident. column_weights: (1024 - weight) |
// weight << 16; row_weights: 16 * weight.
__global__ void __launch_bounds__(MAP_THREADS, MAP_BLOCKS)
    map_cells(Picture p, MotusTileGrid grid, const uint8_t (*curves)[256],
              const uint32_t *column_weights, const uint32_t *row_weights) {
    __shared__ uint32_t table[256 * COPIES];
    __shared__ Ahead ahead;
    int x0, x1, y0, y1, cell_x = blockIdx.x, cell_y = grid.ny - (int)blockIdx.z;
    motus_let_successor_start();
    cell_range(&x0, &x1, cell_x, grid.tile_w, grid.width);
    cell_range(&y0, &y1, cell_y, grid.tile_h, grid.height);
    int64_t whole = (int64_t)grid.tile_w * grid.tile_h;
    int bands = (int)(((int64_t)gridDim.y * (x1 - x0) * (y1 - y0) + whole - 1) / whole);
    if ((int)blockIdx.y >= bands) return;
    int band = (y1 - y0 + bands - 1) / bands, from = y0 + (bands - 1 - (int)blockIdx.y) * band;
    if (from >= y1) return;
    Area a = area_of(x0, x1, from, min(from + band, y1), MAP_THREADS);
    start_column(ahead, p, a, a.first + a.column); // earlier kernels do not write the picture
    motus_wait_for_predecessor();
    fill_table(table, grid, curves, cell_x, cell_y);
    __syncthreads(); // the table is complete
    for (int column = a.first + a.column; column < a.end; column += MAP_THREADS) {
        map_column(ahead, p, a, column, table, column_weights, row_weights);
        start_column(ahead, p, a, column + MAP_THREADS);
    }
    int x = border_column(a);
    for (int y = a.y0 + (int)threadIdx.x / 32; x >= 0 && y < a.y1; y += MAP_THREADS / 32) {
        uint32_t below = row_weights[y],
                 value = p.src[(size_t)y * (size_t)p.src_stride + (size_t)x];
        p.dst[(size_t)y * (size_t)p.dst_stride + (size_t)x] =
            (uint8_t)(mix(table[value * COPIES + threadIdx.x % COPIES], column_weights[x],
                          16384 - below, below) >>
                      24);
    }
}

} // namespace

extern "C" MotusStatus motus_cuda_equalize_tiles(const MotusCudaEqualizer *e, const Turn *turn,
                                                 const MotusPlane *dst, const MotusPlane *src,
                                                 cudaStream_t stream, MotusError *error) {
    const MotusTileGrid *g = &e->grid;
    Picture p = {dst->data, src->data, (int)dst->stride, (int)src->stride};
    int tiles = g->nx * g->ny, parts = COUNT_BLOCKS * e->processors / tiles;
    // Cells at the edges are smaller than a tile; rounding their bands up adds fewer than nx + ny.
    int bands = (MAP_BLOCKS * e->processors - g->nx - g->ny) / tiles;
    MotusStatus status = motus_launch_early(
        dim3((unsigned)tiles, (unsigned)motus_clip(1, g->tile_h, parts)), COUNT_THREADS, stream,
        "equalizer", error, count_tiles, p, *g, e->state.counts + turn->now * tiles);
    if (!status)
        status = motus_launch_early(dim3((unsigned)tiles), CURVE_THREADS, stream, "equalizer",
                                    error, make_curves, *g, e->state, *turn, e->config.clip_q8);
    if (!status)
        status = motus_launch_early(
            dim3((unsigned)g->nx + 1, (unsigned)motus_clip(1, g->tile_h, bands),
                 (unsigned)g->ny + 1),
            MAP_THREADS, stream, "equalizer", error, map_cells, p, *g,
            (const uint8_t(*)[256])e->state.curves, (const uint32_t *)e->column_weights,
            (const uint32_t *)e->row_weights);
    return status;
}
