// Histogram equalization on a CUDA device; equals motus_equalizer_run bit for bit.
//
// One curve for the plane takes two kernels (tiles: equalize_tiles.cu). The first counts: the 32
// lanes of a warp add to 32 copies of the histogram, so there are no bank conflicts; a thread loads
// its next samples before it counts. The second maps, from the end of the picture, which is most
// likely still in the L2. Each of its blocks computes the curve itself while its samples load; it
// starts while the first kernel is finishing (early launch). The picture is read twice and written
// once.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/equalize/equalize.cuh"
#include "yuv/usable.h"

extern "C" {
#include "common/alloc.h"
}

namespace {

constexpr int THREADS = 1024;    // of the counting kernel: one block per multiprocessor
constexpr int UNROLL = 4;        // 16-byte chunks that a thread takes at a time
constexpr int MAP_THREADS = 256; // of the mapping kernel

// Planes as rows of 16-byte chunks.
struct Chunks {
    const uint8_t *src;
    uint8_t *dst;
    int src_stride, dst_stride, width, per_row, total;
};

// Returns the offset of chunk i. LINEAR: chunks have no gaps, not even between rows.
template <bool LINEAR>
__device__ __forceinline__ size_t chunk_offset(const Chunks &c, int i, int stride) {
    if (LINEAR) return (size_t)i * 16;
    int y = i / c.per_row;
    return (size_t)y * (size_t)stride + (size_t)(i - y * c.per_row) * 16;
}

// Loads the chunks of one step of a thread: i, i + step, ... inside the picture.
template <bool LINEAR>
__device__ __forceinline__ void fetch(uint4 v[UNROLL], const Chunks &c, int i, int step) {
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        int at = i + u * step;
        if (at >= 0 && at < c.total)
            v[u] =
                *reinterpret_cast<const uint4 *>(c.src + chunk_offset<LINEAR>(c, at, c.src_stride));
    }
}

__device__ __forceinline__ uint32_t map_word(const uint8_t *curve, uint32_t w) {
    uint32_t a = curve[w & 255], b = curve[w >> 8 & 255], c = curve[w >> 16 & 255],
             d = curve[w >> 24];
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

// WHOLE: the width is a multiple of 16.
template <bool LINEAR, bool WHOLE>
__global__ void __launch_bounds__(THREADS) count_plane(Chunks chunks, State state, Turn turn) {
    __shared__ uint32_t table[256 * COPIES];
    int lane = threadIdx.x % 32, step = gridDim.x * THREADS;
    for (int k = threadIdx.x; k < 256 * COPIES; k += THREADS) table[k] = 0;
    motus_wait_for_predecessor();
    motus_let_successor_start(); // not earlier: the mapping kernel loads without waiting
    __syncthreads();             // the table is clear
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
            if (i + u * step < chunks.total)
                count_chunk(table, 4 * lane, v[u],
                            WHOLE ? 16
                                  : min(16, chunks.width - (i + u * step) % chunks.per_row * 16));
    }
    __syncthreads(); // the block has counted
    uint32_t n = threadIdx.x < 256 ? sum_copies(table, threadIdx.x) : 0;
    if (n) // 32 per warp at once: blocks wait for the L2's atomics
        atomicAdd(&state.counts[turn.now][threadIdx.x], n);
}

// Grid: linear over groups of UNROLL * MAP_THREADS chunks, from the last to the first.
template <bool LINEAR>
__global__ void __launch_bounds__(MAP_THREADS)
    map_plane(Chunks chunks, State state, Turn turn, uint32_t samples) {
    __shared__ uint8_t curve[256];
    __shared__ uint32_t scratch[32];
    int i = chunks.total - 1 - (int)(blockIdx.x * UNROLL * MAP_THREADS + threadIdx.x);
    uint4 v[UNROLL];
    motus_let_successor_start();
    fetch<LINEAR>(v, chunks, i, -MAP_THREADS); // the counting kernel does not write the picture
    motus_wait_for_predecessor();
    int bin = threadIdx.x;
    uint32_t n = __ldcg(&state.counts[turn.now][bin]);
    int restart = restarts(turn, n, __ldcg(&state.counts[turn.before][bin]), samples, scratch);
    curve[bin] = next_value(state, turn, 1, 0, bin, curve_value(running_sum(n, scratch), samples),
                            restart, blockIdx.x == 0);
    if (blockIdx.x == 0) state.counts[turn.next][bin] = 0;
    __syncthreads(); // the curve is complete
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
        if (i - u * MAP_THREADS >= 0)
            __stcs(reinterpret_cast<uint4 *>(chunks.dst + chunk_offset<LINEAR>(chunks,
                                                                               i - u * MAP_THREADS,
                                                                               chunks.dst_stride)),
                   make_uint4(map_word(curve, v[u].x), map_word(curve, v[u].y),
                              map_word(curve, v[u].z), map_word(curve, v[u].w)));
}

} // namespace

// Uploads the weights of all columns (up to a whole number of chunks) and rows for map_cells.
static MotusStatus upload_weights(const MotusCudaEqualizer *e, int columns, MotusError *error) {
    const MotusTileGrid *g = &e->grid;
    uint32_t *weights = (uint32_t *)motus_alloc((size_t)(columns + g->height), sizeof *weights);
    if (!weights) return motus_fail(error, MOTUS_ERR_MEMORY, "equalizer: out of memory");
    for (int x = 0; x < columns; x++)
        weights[x] = 1024 + 65535u * tile_position(x, g->tile_w, g->nx).weight;
    for (int y = 0; y < g->height; y++)
        weights[columns + y] = 16u * tile_position(y, g->tile_h, g->ny).weight;
    MotusStatus status =
        motus_cuda_check(cudaMemcpy(e->column_weights, weights, 4 * (size_t)(columns + g->height),
                                    cudaMemcpyHostToDevice),
                         "equalizer", error);
    motus_free(weights);
    return status;
}

// Allocates and fills device memory.
static MotusStatus set_up(MotusCudaEqualizer *e, MotusError *error) {
    const MotusTileGrid *g = &e->grid;
    int columns = (g->width + 15) / 16 * 16, device = 0;
    size_t tiles = (size_t)g->nx * (size_t)g->ny, counts = 3 * tiles * 1024,
           smooth = 2 * tiles * 512, curves = tiles * 256;
    size_t state = counts + smooth + curves, weights = 4 * (size_t)(columns + g->height);
    const char *what = "equalizer";
    MotusStatus status = motus_cuda_check(cudaMalloc(&e->memory, state + weights), what, error);
    if (!status) status = motus_cuda_check(cudaMemset(e->memory, 0, state), what, error);
    if (!status) status = motus_cuda_check(cudaGetDevice(&device), what, error);
    if (!status)
        status = motus_cuda_check(
            cudaDeviceGetAttribute(&e->processors, cudaDevAttrMultiProcessorCount, device), what,
            error);
    if (status) return status;
    uint8_t *base = (uint8_t *)e->memory;
    e->state.counts = (uint32_t(*)[256])base;
    e->state.smooth = (uint16_t(*)[256])(base + counts);
    e->state.curves = (uint8_t(*)[256])(base + counts + smooth);
    e->column_weights = (uint32_t *)(base + state), e->row_weights = e->column_weights + columns;
    status = upload_weights(e, columns, error);
    // Streams of runs need not wait for the default one, and a copy from pageable memory may still
    // be in flight.
    return status ? status : motus_cuda_check(cudaStreamSynchronize(0), what, error);
}

extern "C" MotusStatus motus_cuda_equalizer_open(MotusCudaEqualizer **equalizer,
                                                 const MotusEqualizeConfig *config, int width,
                                                 int height, MotusError *error) {
    MotusTileGrid grid;
    if (!equalizer || motus_equalize_grid(&grid, config, width, height))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalizer: parameter out of range");
    *equalizer = NULL;
    MotusCudaEqualizer *e = (MotusCudaEqualizer *)motus_alloc(1, sizeof *e);
    if (!e) return motus_fail(error, MOTUS_ERR_MEMORY, "equalizer: out of memory");
    e->config = *config, e->grid = grid;
    MotusStatus status = set_up(e, error);
    if (status) motus_cuda_equalizer_close(&e);
    *equalizer = e;
    return status;
}

extern "C" void motus_cuda_equalizer_close(MotusCudaEqualizer **equalizer) {
    if (!equalizer || !*equalizer) return;
    cudaFree((*equalizer)->memory); // waits for the device
    motus_free(*equalizer);
    *equalizer = NULL;
}

static MotusStatus run_plane(const MotusCudaEqualizer *e, const Turn &turn, const MotusPlane *dst,
                             const MotusPlane *src, cudaStream_t stream, MotusError *error) {
    int per_row = (src->width + 15) / 16, total = per_row * src->height;
    bool linear = src->stride == 16 * per_row && dst->stride == 16 * per_row,
         whole = src->width % 16 == 0;
    Chunks chunks = {src->data, dst->data, (int)src->stride, (int)dst->stride, src->width,
                     per_row,   total};
    uint32_t samples = (uint32_t)src->width * (uint32_t)src->height;
    int wanted = (total + UNROLL * THREADS - 1) / (UNROLL * THREADS),
        blocks = motus_min(wanted, e->processors);
    int map_blocks = (total + UNROLL * MAP_THREADS - 1) / (UNROLL * MAP_THREADS);
    auto count = linear ? whole ? count_plane<true, true> : count_plane<true, false>
                        : count_plane<false, false>;
    MotusStatus status = motus_launch_early(dim3((unsigned)blocks), THREADS, stream, "equalizer",
                                            error, count, chunks, e->state, turn);
    if (status) return status;
    return motus_launch_early(dim3((unsigned)map_blocks), MAP_THREADS, stream, "equalizer", error,
                              linear ? map_plane<true> : map_plane<false>, chunks, e->state, turn,
                              samples);
}

extern "C" MotusStatus motus_cuda_equalizer_run(MotusCudaEqualizer *e, const MotusPlane *dst,
                                                const MotusPlane *src, void *stream,
                                                MotusError *error) {
    if (!e || !dst || !src || src->width != e->grid.width || src->height != e->grid.height ||
        dst->width != src->width || dst->height != src->height)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalizer: planes of another size");
    if (!motus_plane_aligned(dst) || !motus_plane_aligned(src))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "equalizer: planes missing, or not aligned to 16 bytes");
    if (!e->failure.status) {
        const int64_t n = e->runs++;
        const Turn turn = {(int)(n % 3), (int)((n + 2) % 3), (int)((n + 1) % 3),
                           (int)(n & 1), (int)(~n & 1),      e->config.smooth_q8,
                           n > 0};
        if (e->grid.nx * e->grid.ny == 1 && !e->config.clip_q8)
            run_plane(e, turn, dst, src, (cudaStream_t)stream, &e->failure);
        else
            motus_cuda_equalize_tiles(e, &turn, dst, src, (cudaStream_t)stream, &e->failure);
    }
    if (e->failure.status && error) *error = e->failure;
    return e->failure.status;
}

extern "C" MotusStatus motus_cuda_equalizer_curves(MotusCudaEqualizer *e, uint8_t (*curves)[256],
                                                   int tiles, void *stream, MotusError *error) {
    if (!e || !curves || tiles != e->grid.nx * e->grid.ny)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalizer: another number of tiles");
    MotusStatus status =
        motus_cuda_check(cudaMemcpyAsync(curves, e->state.curves, (size_t)tiles * 256,
                                         cudaMemcpyDeviceToHost, (cudaStream_t)stream),
                         "equalizer", error);
    return status
               ? status
               : motus_cuda_check(cudaStreamSynchronize((cudaStream_t)stream), "equalizer", error);
}
