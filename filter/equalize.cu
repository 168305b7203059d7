// Histogram equalization on a CUDA device; equals motus_equalizer_run bit for bit.
//
// One curve for the plane: two kernels. The first counts; each warp's 32 lanes add to 32 copies of the histogram, so that no two lanes ever meet in a bank,
// whatever the picture; a thread fetches its next samples before it counts these. The second maps, backwards through the picture, as the end of it is
// most likely still in the L2. Each of its blocks works the curve out for itself, while its samples are on their way; they start, and fetch, while the first kernel
// is still finishing (programmatic dependent launch, from sm_90 on). Bytes: the picture is read twice and written once.
// Tiles: one kernel counts, one works out the curves of all tiles, one maps; a block of the last covers the rectangle between four tile centres.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"

#include "common/cuda_check.h"

extern "C" {
#include "common/alloc.h"
#include "filter/equalize.h"
}

namespace {

constexpr int THREADS = 1024;    // of the counting kernel: one block on a multiprocessor
constexpr int COPIES = 32;       // of the histogram and the curve, one per lane
constexpr int UNROLL = 4;        // 16-byte chunks that a thread takes at a time
constexpr int MAP_THREADS = 256; // of the mapping kernel
constexpr int TILE_THREADS = 256;
constexpr int SPLITS = 8; // blocks that share a tile's counting

// What runs keep in device memory. Three histograms take turns: this picture's, the one before, and one being cleared for the next.
struct State {
    uint32_t (*counts)[256]; // [3][tiles]
    uint16_t (*smooth)[256]; // [2][tiles], two take turns
    uint8_t (*curves)[256];  // [tiles]
    uint32_t *arrived;       // blocks that came to the barrier, ever
};

// Planes as rows of 16-byte chunks.
struct Chunks {
    const uint8_t *src;
    uint8_t *dst;
    int src_stride, dst_stride, width, per_row, total;
};

struct Turn {
    int now, before, next;         // histograms
    int smooth_now, smooth_before; // curves
    int smooth_q8, started;
};

// Where chunk i lies. LINEAR: chunks follow each other without gaps, from one row to the next too.
template <bool LINEAR> __device__ __forceinline__ size_t chunk_place(const Chunks &c, int i, int stride) {
    if (LINEAR) return (size_t)i * 16;
    int y = i / c.per_row;
    return (size_t)y * (size_t)stride + (size_t)(i - y * c.per_row) * 16;
}

// How many of chunk i's bytes are samples. WHOLE: the width is a multiple of 16.
template <bool WHOLE> __device__ __forceinline__ int chunk_bytes(const Chunks &c, int i) {
    return WHOLE ? 16 : min(16, c.width - i % c.per_row * 16);
}

// The chunks of one step of a thread: i, i + step, ... as far as they are inside the picture.
template <bool LINEAR> __device__ __forceinline__ void fetch(uint4 v[UNROLL], const Chunks &c, int i, int step) {
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        int at = i + u * step;
        if (at >= 0 && at < c.total) v[u] = *reinterpret_cast<const uint4 *>(c.src + chunk_place<LINEAR>(c, at, c.src_stride));
    }
}

__device__ __forceinline__ uint32_t word_of(const uint4 &v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Byte k of a word times 128: the byte offset of its row of 32 four-byte copies.
__device__ __forceinline__ uint32_t row_of(uint32_t word, int k) { return (k == 0 ? word << 7 : word >> (8 * k - 7)) & 0x7F80u; }

// place: the lane's byte offset in a row of copies.
__device__ __forceinline__ void count_chunk(uint32_t *table, uint32_t place, const uint4 &v, int bytes) {
#pragma unroll
    for (int i = 0; i < 16; i++)
        if (i < bytes)
            atomicAdd(
                reinterpret_cast<uint32_t *>(reinterpret_cast<uint8_t *>(table) + (row_of(word_of(v, i / 4), i % 4) | place)),
                1u);
}

__device__ __forceinline__ uint32_t map_word(const uint8_t *curve, uint32_t w) {
    uint32_t a = curve[w & 255], b = curve[w >> 8 & 255], c = curve[w >> 16 & 255], d = curve[w >> 24];
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// Waits until everything before this kernel in its stream has finished; until then only shared memory and what no kernel writes may be touched.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

__device__ __forceinline__ void let_successor_start() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Sum over a block of up to 1024 threads, known to all of them; shared: 32 words that nothing else uses.
__device__ uint32_t block_sum(uint32_t v, uint32_t *shared) {
    v = __reduce_add_sync(0xFFFFFFFFu, v);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    uint32_t sum = __reduce_add_sync(0xFFFFFFFFu, threadIdx.x % 32 < blockDim.x / 32 ? shared[threadIdx.x % 32] : 0);
    __syncthreads(); // before `shared` is written again
    return sum;
}

// Running sum over the first 256 threads' values; every thread of the block takes part.
__device__ uint32_t running_sum(uint32_t v, uint32_t *shared) {
    int lane = threadIdx.x % 32;
    for (int d = 1; d < 32; d *= 2) {
        uint32_t left = __shfl_up_sync(0xFFFFFFFFu, v, d);
        if (lane >= d) v += left;
    }
    if (lane == 31) shared[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < (int)threadIdx.x / 32 && w < 8; w++) v += shared[w];
    __syncthreads(); // before `shared` is written again
    return v;
}

// 1 where smoothing must start anew; total_now and total_before: this thread's bin over the whole plane.
__device__ int starts_anew(const Turn &turn, uint32_t total_now, uint32_t total_before, uint32_t samples, uint32_t *shared) {
    if (!turn.started) return 1;
    if (!turn.smooth_q8) return 0;
    uint32_t difference = total_now > total_before ? total_now - total_before : total_before - total_now;
    return motus_curve_is_cut(block_sum(difference, shared), samples); // at most 2 * samples < 2^30
}

// The curve's value of this thread's bin; the block that keeps it puts it in its place in the state.
__device__ uint8_t next_value(const State &state, const Turn &turn, int tiles, int tile, int bin, uint8_t now, int anew,
                              int keeps) {
    uint16_t before = state.smooth[turn.smooth_before * tiles + tile][bin];
    uint16_t smooth = motus_curve_smooth(before, now, anew ? 0 : turn.smooth_q8);
    if (keeps) state.smooth[turn.smooth_now * tiles + tile][bin] = smooth, state.curves[tile][bin] = motus_curve_round(smooth);
    return motus_curve_round(smooth);
}

template <bool LINEAR, bool WHOLE> __global__ void __launch_bounds__(THREADS) count_plane(Chunks chunks, State state, Turn turn) {
    __shared__ uint32_t table[256 * COPIES];
    int lane = threadIdx.x % 32, step = gridDim.x * THREADS;
    for (int k = threadIdx.x; k < 256 * COPIES; k += THREADS) table[k] = 0;
    wait_for_predecessor();
    let_successor_start(); // not earlier: the mapping kernel fetches the picture without waiting for whoever made it
    __syncthreads();       // the table is clear
    int i = blockIdx.x * THREADS + threadIdx.x;
    uint4 next[UNROLL];
    fetch<LINEAR>(next, chunks, i, step);
    for (; i < chunks.total; i += UNROLL * step) {
        uint4 v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++) v[u] = next[u];
        fetch<LINEAR>(next, chunks, i + UNROLL * step, step);
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            if (i + u * step < chunks.total) count_chunk(table, 4 * lane, v[u], chunk_bytes<WHOLE>(chunks, i + u * step));
    }
    __syncthreads(); // the block has counted
    int bin = threadIdx.x & 255, first = threadIdx.x < 256;
    uint32_t n = 0;
    for (int k = 0; first && k < COPIES; k++) n += table[bin * COPIES + ((k + bin) & (COPIES - 1))]; // 32 neighbours, 32 banks
    if (n)
        atomicAdd(&state.counts[turn.now][bin],
                  n); // a warp's 32 in one go: the memory behind the L2's atomics is what many blocks wait for
}

// Grid: linear over groups of UNROLL * MAP_THREADS chunks, from the last to the first.
template <bool LINEAR>
__global__ void __launch_bounds__(MAP_THREADS) map_plane(Chunks chunks, State state, Turn turn, uint32_t samples) {
    __shared__ uint8_t curve[256];
    __shared__ uint32_t scratch[32];
    int i = chunks.total - 1 - (int)(blockIdx.x * UNROLL * MAP_THREADS + threadIdx.x);
    uint4 v[UNROLL];
    let_successor_start();
    fetch<LINEAR>(v, chunks, i, -MAP_THREADS); // the counting kernel, which has begun, only reads the picture
    wait_for_predecessor();
    int bin = threadIdx.x;
    uint32_t n = __ldcg(&state.counts[turn.now][bin]);
    int anew = starts_anew(turn, n, __ldcg(&state.counts[turn.before][bin]), samples, scratch);
    curve[bin] = next_value(state, turn, 1, 0, bin, motus_curve_value(running_sum(n, scratch), samples), anew, blockIdx.x == 0);
    if (blockIdx.x == 0) state.counts[turn.next][bin] = 0;
    __syncthreads(); // the curve is there
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
        if (i - u * MAP_THREADS >= 0)
            __stcs(
                reinterpret_cast<uint4 *>(chunks.dst + chunk_place<LINEAR>(chunks, i - u * MAP_THREADS, chunks.dst_stride)),
                make_uint4(map_word(curve, v[u].x), map_word(curve, v[u].y), map_word(curve, v[u].z), map_word(curve, v[u].w)));
}

// Block x: tile, y: part of its rows.
__global__ void __launch_bounds__(TILE_THREADS)
    count_tiles(const uint8_t *src, int stride, MotusTileGrid grid, uint32_t (*counts)[256]) {
    __shared__ uint32_t table[256];
    int tile = blockIdx.x, x0 = tile % grid.nx * grid.tile_w, y0 = tile / grid.nx * grid.tile_h;
    int x1 = min(x0 + grid.tile_w, grid.width), y1 = min(y0 + grid.tile_h, grid.height);
    table[threadIdx.x] = 0;
    __syncthreads(); // the table is clear
    for (int y = y0 + (int)blockIdx.y; y < y1; y += gridDim.y)
        for (int x = x0 + (int)threadIdx.x; x < x1; x += TILE_THREADS)
            atomicAdd(&table[src[(size_t)y * (size_t)stride + (size_t)x]], 1u);
    __syncthreads(); // the block has counted
    if (table[threadIdx.x]) atomicAdd(&counts[tile][threadIdx.x], table[threadIdx.x]);
}

// Block: tile; thread: bin.
__global__ void __launch_bounds__(TILE_THREADS) make_curves(MotusTileGrid grid, State state, Turn turn, int clip_q8) {
    __shared__ uint32_t scratch[32];
    int tiles = grid.nx * grid.ny, tile = blockIdx.x, bin = threadIdx.x;
    uint32_t plane_now = 0, plane_before = 0;
    if (turn.smooth_q8 && turn.started)
        for (int t = 0; t < tiles; t++)
            plane_now += state.counts[turn.now * tiles + t][bin], plane_before += state.counts[turn.before * tiles + t][bin];
    int anew = starts_anew(turn, plane_now, plane_before, (uint32_t)grid.width * (uint32_t)grid.height, scratch);
    uint32_t n = state.counts[turn.now * tiles + tile][bin], total = block_sum(n, scratch),
             limit = motus_clip_limit(total, clip_q8);
    uint32_t excess = block_sum(limit && n > limit ? n - limit : 0, scratch);
    MotusClip clip = motus_clip_share(limit, excess);
    uint32_t sum = running_sum(motus_clip_bin(n, bin, &clip), scratch);
    next_value(state, turn, tiles, tile, bin, motus_curve_value(sum, total), anew, 1);
    state.counts[turn.next * tiles + tile][bin] = 0;
}

// Columns or rows whose tiles a and b are the same: stretch k of n + 1 along an axis. motus_tile_place changes where 2 * position reaches an odd
// multiple of size.
__device__ void cell_range(int *from, int *to, int k, int size, int length) {
    *from = k ? ((2 * k - 1) * size + 1) / 2 : 0;
    *to = min(((2 * k + 1) * size + 1) / 2, length);
}

// Block x, y: cell between tile centres; z: part of its rows. The four curves of the cell are the bytes of one word per value.
__global__ void __launch_bounds__(TILE_THREADS) map_cells(uint8_t *dst, int dst_stride, const uint8_t *src, int src_stride,
                                                          MotusTileGrid grid, const uint8_t (*curves)[256]) {
    __shared__ uint32_t table[256];
    int x0, x1, y0, y1;
    cell_range(&x0, &x1, blockIdx.x, grid.tile_w, grid.width);
    cell_range(&y0, &y1, blockIdx.y, grid.tile_h, grid.height);
    if (x0 >= x1 || y0 >= y1) return;
    MotusTilePlace cx = motus_tile_place(x0, grid.tile_w, grid.nx), cy = motus_tile_place(y0, grid.tile_h, grid.ny);
    int v = threadIdx.x;
    table[v] = curves[cy.a * grid.nx + cx.a][v] | curves[cy.a * grid.nx + cx.b][v] << 8 | curves[cy.b * grid.nx + cx.a][v] << 16 |
               (uint32_t)curves[cy.b * grid.nx + cx.b][v] << 24;
    __syncthreads(); // the table is there
    for (int x = x0 + (int)threadIdx.x; x < x1; x += TILE_THREADS) {
        uint32_t wx = motus_tile_place(x, grid.tile_w, grid.nx).weight;
        for (int y = y0 + (int)blockIdx.z; y < y1; y += gridDim.z) {
            uint32_t wy = motus_tile_place(y, grid.tile_h, grid.ny).weight,
                     c = table[src[(size_t)y * (size_t)src_stride + (size_t)x]];
            dst[(size_t)y * (size_t)dst_stride + (size_t)x] =
                motus_tile_mix(c & 255, c >> 8 & 255, c >> 16 & 255, c >> 24, wx, wy);
        }
    }
}

} // namespace

struct MotusCudaEqualizer {
    MotusEqualizeConfig config;
    MotusTileGrid grid;
    State state;
    void *memory;
    int64_t runs;
    int blocks;       // of the counting kernel: as many as are resident at once
    int starts_early; // the device knows programmatic dependent launch
};

extern "C" MotusStatus motus_cuda_equalizer_open(MotusCudaEqualizer **equalizer, const MotusEqualizeConfig *config, int width,
                                                 int height, MotusError *error) {
    MotusTileGrid grid;
    if (!equalizer || motus_equalize_grid(&grid, config, width, height))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalizer: parameter out of range");
    *equalizer = NULL;
    MotusCudaEqualizer *e = (MotusCudaEqualizer *)motus_alloc(1, sizeof *e);
    if (!e) return motus_fail(error, MOTUS_ERR_MEMORY, "equalizer: out of memory");
    e->config = *config, e->grid = grid;
    size_t tiles = (size_t)grid.nx * (size_t)grid.ny, counts = 3 * tiles * 1024, smooth = 2 * tiles * 512, curves = tiles * 256;
    int device = 0, processors = 0, major = 0;
    MotusStatus status = motus_cuda_check(cudaMalloc(&e->memory, counts + smooth + curves), "equalizer", error);
    if (!status) status = motus_cuda_check(cudaMemset(e->memory, 0, counts + smooth + curves), "equalizer", error);
    if (!status) status = motus_cuda_check(cudaGetDevice(&device), "equalizer", error);
    if (!status)
        status =
            motus_cuda_check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "equalizer", error);
    if (!status)
        status = motus_cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "equalizer", error);
    if (status) {
        motus_cuda_equalizer_close(&e);
        return status;
    }
    uint8_t *base = (uint8_t *)e->memory;
    e->state.counts = (uint32_t(*)[256])base;
    e->state.smooth = (uint16_t(*)[256])(base + counts);
    e->state.curves = (uint8_t(*)[256])(base + counts + smooth);
    e->blocks = processors, e->starts_early = major >= 9;
    *equalizer = e;
    return MOTUS_OK;
}

extern "C" void motus_cuda_equalizer_close(MotusCudaEqualizer **equalizer) {
    if (!equalizer || !*equalizer) return;
    cudaFree((*equalizer)->memory); // waits for the device
    motus_free(*equalizer);
    *equalizer = NULL;
}

static Turn next_turn(MotusCudaEqualizer *e) {
    int64_t n = e->runs++;
    Turn turn = {(int)(n % 3), (int)((n + 2) % 3), (int)((n + 1) % 3), (int)(n & 1), (int)(~n & 1), e->config.smooth_q8, n > 0};
    return turn;
}

// Launches a kernel that may start while the one before it in the stream is still finishing.
template <class... T>
static MotusStatus launch_early(const MotusCudaEqualizer *e, int blocks, int threads, cudaStream_t stream, MotusError *error,
                                void (*kernel)(T...), T... arguments) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks), config.blockDim = dim3((unsigned)threads), config.stream = stream;
    config.attrs = &early, config.numAttrs = e->starts_early ? 1 : 0;
    return motus_cuda_check(cudaLaunchKernelEx(&config, kernel, arguments...), "equalizer", error);
}

static MotusStatus run_plane(MotusCudaEqualizer *e, const MotusPlane *dst, const MotusPlane *src, cudaStream_t stream,
                             MotusError *error) {
    int per_row = (src->width + 15) / 16, total = per_row * src->height;
    bool linear = src->stride == 16 * per_row && dst->stride == 16 * per_row, whole = src->width % 16 == 0;
    Chunks chunks = {src->data, dst->data, (int)src->stride, (int)dst->stride, src->width, per_row, total};
    Turn turn = next_turn(e);
    uint32_t samples = (uint32_t)src->width * (uint32_t)src->height;
    int wanted = (total + UNROLL * THREADS - 1) / (UNROLL * THREADS), blocks = wanted < e->blocks ? wanted : e->blocks;
    int map_blocks = (total + UNROLL * MAP_THREADS - 1) / (UNROLL * MAP_THREADS);
    auto count = linear ? whole ? count_plane<true, true> : count_plane<true, false> : count_plane<false, false>;
    MotusStatus status = launch_early(e, blocks, THREADS, stream, error, count, chunks, e->state, turn);
    if (status) return status;
    return launch_early(e, map_blocks, MAP_THREADS, stream, error, linear ? map_plane<true> : map_plane<false>, chunks, e->state,
                        turn, samples);
}

extern "C" MotusStatus motus_cuda_equalizer_run(MotusCudaEqualizer *e, const MotusPlane *dst, const MotusPlane *src, void *stream,
                                                MotusError *error) {
    if (!e || !dst || !src || src->width != e->grid.width || src->height != e->grid.height || dst->width != src->width ||
        dst->height != src->height)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalizer: planes of another size");
    if (((uintptr_t)dst->data | (uintptr_t)src->data | (uintptr_t)dst->stride | (uintptr_t)src->stride) % 16)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalizer: planes not aligned to 16 bytes");
    cudaStream_t s = (cudaStream_t)stream;
    const MotusTileGrid *g = &e->grid;
    unsigned nx = (unsigned)g->nx, ny = (unsigned)g->ny;
    if (nx * ny == 1 && !e->config.clip_q8) return run_plane(e, dst, src, s, error);
    Turn turn = next_turn(e);
    count_tiles<<<dim3(nx * ny, SPLITS), TILE_THREADS, 0, s>>>(src->data, (int)src->stride, *g,
                                                               e->state.counts + turn.now * (int)(nx * ny));
    make_curves<<<nx * ny, TILE_THREADS, 0, s>>>(*g, e->state, turn, e->config.clip_q8);
    map_cells<<<dim3(nx + 1, ny + 1, SPLITS), TILE_THREADS, 0, s>>>(dst->data, (int)dst->stride, src->data, (int)src->stride, *g,
                                                                    e->state.curves);
    return motus_cuda_launched("equalizer", error);
}

extern "C" MotusStatus motus_cuda_equalizer_curves(MotusCudaEqualizer *e, uint8_t (*curves)[256], int tiles, void *stream,
                                                   MotusError *error) {
    if (!e || !curves || tiles != e->grid.nx * e->grid.ny)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalizer: another number of tiles");
    MotusStatus status = motus_cuda_check(
        cudaMemcpyAsync(curves, e->state.curves, (size_t)tiles * 256, cudaMemcpyDeviceToHost, (cudaStream_t)stream), "equalizer",
        error);
    return status ? status : motus_cuda_check(cudaStreamSynchronize((cudaStream_t)stream), "equalizer", error);
}
