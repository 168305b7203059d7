// Deblocking of a picture on a CUDA device, without a wavefront. Equals motus_deblock_picture.
// prepare_kernel: bS and limits of all edges, a warp per MB. strip_kernel, filter_kernel: a block
// per RUN MBs of a row; a thread per line, then per column, through shared memory (5 KiB). Reads
// one set of planes twice, in 26 of 16 lines, and writes another, each word once, and 192 bytes per
// MB.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb/mb_cuda.h"

#include "common/cuda_call.cuh"
#include "common/lanes.h"
#include "encoder/mb/deblock_lines.cuh"

using namespace motus_deblock;

namespace {

// ---- Strengths and limits -----------------------------------------------------------------------

constexpr int PREPARE_WARPS = 4;

// KIND: MOTUS_REFS_*.
template <int KIND>
__global__ void __launch_bounds__(32 * PREPARE_WARPS) prepare_kernel(Picture p) {
    const int n = (int)(blockIdx.x * PREPARE_WARPS + threadIdx.x / 32), lane = motus_lane();
    if (n >= p.mb_width * p.mb_height) return;
    const MotusMb *mb = p.mb + n;
    const MotusMb *left = n % p.mb_width ? mb - 1 : nullptr,
                  *above = n >= p.mb_width && (!p.apart_row || n / p.mb_width != p.apart_row)
                               ? mb - p.mb_width
                               : nullptr;
    Edges &edges = p.edges[n];

    const int direction = lane >> 4, k = lane >> 2 & 3, edge = lane & 3; // one bS per lane
    const MotusMb *outside = direction == MOTUS_VERTICAL ? left : above;
    int strength = motus_deblock_strength_edge(mb, outside, edge, KIND == MOTUS_REFS_B);
    if (strength < 0)
        strength = motus_deblock_strength_block(mb, outside, direction, edge, k, KIND, p.copies);
    uint32_t nibbles = (uint32_t)strength << 4 * edge;
    nibbles |= __shfl_xor_sync(MOTUS_ALL_LANES, nibbles, 1);
    nibbles |= __shfl_xor_sync(MOTUS_ALL_LANES, nibbles, 2);
    if (edge == 0) edges.strength[direction][k] = (uint16_t)nibbles;

    if (lane < 6) {
        const int chroma = lane >= 3, place = lane % 3;
        const MotusMb *other = place == LEFT ? left : place == TOP ? above : mb;
        edges.limits[chroma][place] =
            pack(motus_deblock_limits(motus_deblock_qp(other ? other : mb, mb, chroma)));
    }
}

// ---- Strips -------------------------------------------------------------------------------------
//
// Why no MB waits for another: only edge 0 of an MB has bS 4. An inner edge reads three samples on
// each side and changes two, and edges are four samples apart. So edge e reaches edge e + 1 only by
// its q1', which that edge reads as p2. q1' depends on p1..q2, which edge e - 1 changes only if it
// is edge 0 with bS 4. Hence samples 9..15 of a line or column of an MB depend on that MB alone.
// Chroma has fewer edges, which change one sample on each side.
//
// corner, lines 12..15 of a strip: samples 9..15 of lines 6..15, then edge 0 of the MB to the
// right. strip: samples 9..15 of all lines, and the corner of the MB above. others: vertical edges
// need the strip of the MB to the left; lines 12..15 need lines 6..15 after their vertical edges;
// horizontal edges need lines 12..15 of the MB above.
//
// strip_kernel computes corners and strips, filter_kernel the rest. Each repeats what it needs of
// the MB above. Edges of a strip keep their order: its MB's, edge 0 of the MB to the right, edge 0
// below.

template <bool LUMA> using StripTile = uint32_t[Layout<LUMA>::LINES][RUN];

// Computes the strips' samples after the vertical edges inside the MB.
template <bool LUMA>
__device__ void strip_lines(const Picture &p, const Task &task, int x0, int y,
                            StripTile<LUMA> &tile) {
    for (int t = task.t; t < RUN * Layout<LUMA>::LINES; t += task.threads) {
        const int k = t % RUN, l = t / RUN;
        const Line line = line_of<LUMA>(p, x0 + k, y, l);
        if (!line.there) continue;
        const Edges &edges = p.edges[line.n];
        const uint32_t strengths = strengths_at<LUMA>(edges, MOTUS_VERTICAL, line.in_mb);
        const uint8_t *from =
            p.from[task.plane] + offset_of<LUMA>(p, task.plane, x0 + k, y, l - Layout<LUMA>::ABOVE);
        if (!(strengths >> 8)) {
            tile[l][k] = load_word(from + Layout<LUMA>::SIZE - 4);
            continue;
        }
        uint8_t v[20];
        load_line<LUMA>(v + 4, from);
        filter_last<LUMA>(v, strengths, edges.limits[!LUMA][INSIDE]);
        tile[l][k] = pack(v + Layout<LUMA>::SIZE);
    }
}

// Filters the ends of the strips' columns of the MBs above. Chroma's inner edges do not reach
// there.
__device__ void corner_columns(const Picture &p, const Task &task, int x0, int y,
                               StripTile<true> &tile) {
    constexpr int ABOVE = Layout<true>::ABOVE, HELD = Layout<true>::HELD;
    for (int t = task.t; t < RUN * 4; t += task.threads) {
        const int x = x0 + t / 4;
        if (x >= p.mb_width || !y) continue;
        const Edges &edges = p.edges[(y - 1) * p.mb_width + x];
        const uint32_t strengths = strengths_at<true>(edges, MOTUS_HORIZONTAL, 15);
        if (!(strengths >> 8)) continue;
        uint8_t v[20] = {}, *column = reinterpret_cast<uint8_t *>(tile) + t;
#pragma unroll
        for (int i = 0; i < ABOVE; i++) v[20 - ABOVE + i] = column[i * 4 * RUN];
        filter_last<true>(v, strengths, edges.limits[0][INSIDE]);
#pragma unroll
        for (int i = 0; i < HELD; i++) column[(ABOVE - HELD + i) * 4 * RUN] = v[20 - HELD + i];
    }
}

// Filters edge 0 of the MBs to the right of those above: corners are done.
template <bool LUMA>
__device__ void corner_lines(const Picture &p, const Task &task, int x0, int y,
                             StripTile<LUMA> &tile) {
    constexpr int HELD = Layout<LUMA>::HELD;
    for (int t = task.t; t < RUN * HELD; t += task.threads) {
        const int k = t % RUN, j = t / RUN, x = x0 + k + 1;
        if (x >= p.mb_width || !y) continue;
        const Edges &edges = p.edges[(y - 1) * p.mb_width + x];
        uint32_t &corner = tile[Layout<LUMA>::ABOVE - HELD + j][k];
        uint8_t v[20];
        unpack(v, corner);
        unpack(v + 4,
               load_word(p.from[task.plane] + offset_of<LUMA>(p, task.plane, x, y, j - HELD)));
        filter_edge<LUMA, 0>(v, strengths_at<LUMA>(edges, MOTUS_VERTICAL, Layout<LUMA>::SIZE - 1),
                             edges.limits[!LUMA][LEFT]);
        corner = pack(v);
    }
}

// Filters the strips' columns, from the corners above.
template <bool LUMA>
__device__ void strip_columns(const Picture &p, const Task &task, int x0, int y,
                              StripTile<LUMA> &tile) {
    constexpr int SIZE = Layout<LUMA>::SIZE, HELD = Layout<LUMA>::HELD,
                  FIRST = Layout<LUMA>::ABOVE - HELD;
    for (int t = task.t; t < RUN * 4; t += task.threads) {
        const int x = x0 + t / 4;
        if (x >= p.mb_width) continue;
        const Edges &edges = p.edges[y * p.mb_width + x];
        const uint32_t strengths = strengths_at<LUMA>(edges, MOTUS_HORIZONTAL, SIZE - 4 + t % 4);
        if (!strengths) continue;
        uint8_t v[20], *column = reinterpret_cast<uint8_t *>(tile) + t;
#pragma unroll
        for (int i = 0; i < HELD + SIZE; i++) v[4 - HELD + i] = column[(FIRST + i) * 4 * RUN];
        filter_all<LUMA>(v, strengths, edges.limits[!LUMA][TOP], edges.limits[!LUMA][INSIDE]);
#pragma unroll
        for (int i = 0; i < HELD + SIZE; i++) column[(FIRST + i) * 4 * RUN] = v[4 - HELD + i];
    }
}

// Stores strips, and into the picture what no other MB changes.
template <bool LUMA>
__device__ void store_strip(const Picture &p, const Task &task, int x0, int y,
                            const StripTile<LUMA> &tile) {
    constexpr int SIZE = Layout<LUMA>::SIZE, HELD = Layout<LUMA>::HELD;
    for (int t = task.t; t < RUN * (HELD + SIZE); t += task.threads) {
        const int k = t % RUN, line = t / RUN - HELD, x = x0 + k;
        if (x >= p.mb_width || (line < 0 && !y)) continue;
        const uint32_t word = tile[Layout<LUMA>::ABOVE + line][k];
        if (line >= 0) strip_of<LUMA>(p, task.plane, y * p.mb_width + x)[line] = word;
        if (line < 0 || (x == p.mb_width - 1 && (line < SIZE - HELD || y == p.mb_height - 1)))
            *reinterpret_cast<uint32_t *>(
                p.to[task.plane] + offset_of<LUMA>(p, task.plane, x, y, line) + SIZE - 4) = word;
    }
}

__global__ void __launch_bounds__(THREADS) strip_kernel(const __grid_constant__ Picture p) {
    __shared__ StripTile<true> luma;
    __shared__ StripTile<false> chroma[2];
    const int x0 = (int)blockIdx.x * RUN, y = (int)blockIdx.y;
    const Task task = task_of((int)threadIdx.x);
    motus_begin_early();
    StripTile<false> &tile = chroma[task.plane == 2];
    task.plane ? strip_lines<false>(p, task, x0, y, tile) : strip_lines<true>(p, task, x0, y, luma);
    __syncthreads(); // lines are whole before columns are read
    if (!task.plane) corner_columns(p, task, x0, y, luma);
    __syncthreads(); // last lines of the MBs above are written
    task.plane ? corner_lines<false>(p, task, x0, y, tile)
               : corner_lines<true>(p, task, x0, y, luma);
    __syncthreads(); // corners are written
    task.plane ? strip_columns<false>(p, task, x0, y, tile)
               : strip_columns<true>(p, task, x0, y, luma);
    __syncthreads(); // columns are whole before lines are read
    task.plane ? store_strip<false>(p, task, x0, y, tile) : store_strip<true>(p, task, x0, y, luma);
}

// ---- Filter -------------------------------------------------------------------------------------

// Per MB the strip to its left and its own words but its strip.
template <bool LUMA> using Tile = uint32_t[Layout<LUMA>::LINES][RUN * Layout<LUMA>::WORDS];

template <bool LUMA>
__device__ void filter_lines(const Picture &p, const Task &task, int x0, int y, Tile<LUMA> &tile) {
    for (int t = task.t; t < RUN * Layout<LUMA>::LINES; t += task.threads) {
        const int k = t % RUN, l = t / RUN, x = x0 + k;
        const Line line = line_of<LUMA>(p, x, y, l);
        if (!line.there) continue;
        const Edges &edges = p.edges[line.n];
        const uint32_t strengths = strengths_at<LUMA>(edges, MOTUS_VERTICAL, line.in_mb),
                       strip = x ? strip_of<LUMA>(p, task.plane, line.n - 1)[line.in_mb] : 0;
        const uint8_t *from =
            p.from[task.plane] + offset_of<LUMA>(p, task.plane, x, y, l - Layout<LUMA>::ABOVE);
        uint32_t *to = &tile[l][k * Layout<LUMA>::WORDS];
        if (!strengths) {
            if (LUMA) {
                const uint4 all = __ldg(reinterpret_cast<const uint4 *>(from));
                *reinterpret_cast<uint4 *>(to) = make_uint4(strip, all.x, all.y, all.z);
            } else {
                *reinterpret_cast<uint2 *>(to) = make_uint2(strip, load_word(from));
            }
            continue;
        }
        uint8_t v[20];
        unpack(v, strip);
        load_line<LUMA>(v + 4, from);
        filter_all<LUMA>(v, strengths, edges.limits[!LUMA][LEFT], edges.limits[!LUMA][INSIDE]);
        if (LUMA)
            *reinterpret_cast<uint4 *>(to) =
                make_uint4(pack(v), pack(v + 4), pack(v + 8), pack(v + 12));
        else
            *reinterpret_cast<uint2 *>(to) = make_uint2(pack(v), pack(v + 4));
    }
}

// Filters the columns of the tile but those of strips.
template <bool LUMA>
__device__ void filter_columns(const Picture &p, const Task &task, int x0, int y,
                               Tile<LUMA> &tile) {
    constexpr int SIZE = Layout<LUMA>::SIZE, HELD = Layout<LUMA>::HELD, ABOVE = Layout<LUMA>::ABOVE,
                  PITCH = RUN * SIZE;
    for (int t = task.t; t < RUN * (SIZE - 4); t += task.threads) {
        const int k = t / (SIZE - 4), x = x0 + k, along = t % (SIZE - 4);
        if (x >= p.mb_width) continue;
        const Edges &edges = p.edges[y * p.mb_width + x], &above = (&edges)[y ? -p.mb_width : 0];
        const uint32_t strengths = strengths_at<LUMA>(edges, MOTUS_HORIZONTAL, along),
                       before = y ? strengths_at<LUMA>(above, MOTUS_HORIZONTAL, along) : 0;
        if (!strengths && !(before >> 8)) continue;
        uint8_t v[20] = {}, *column = reinterpret_cast<uint8_t *>(tile) + k * SIZE + 4 + along;
        if (y) {
            uint8_t u[20] = {};
#pragma unroll
            for (int i = 0; i < ABOVE; i++) u[4 + SIZE - ABOVE + i] = column[i * PITCH];
            if (LUMA) filter_last<LUMA>(u, before, above.limits[!LUMA][INSIDE]);
#pragma unroll
            for (int i = 0; i < HELD; i++) v[4 - HELD + i] = u[4 + SIZE - HELD + i];
        }
#pragma unroll
        for (int i = 0; i < SIZE; i++) v[4 + i] = column[(ABOVE + i) * PITCH];
        filter_all<LUMA>(v, strengths, edges.limits[!LUMA][TOP], edges.limits[!LUMA][INSIDE]);
#pragma unroll
        for (int i = 0; i < HELD + SIZE; i++) column[(ABOVE - HELD + i) * PITCH] = v[4 - HELD + i];
    }
}

// Stores what no other MB changes, word by word.
template <bool LUMA>
__device__ void store(const Picture &p, const Task &task, int x0, int y, const Tile<LUMA> &tile) {
    constexpr int SIZE = Layout<LUMA>::SIZE, WORDS = Layout<LUMA>::WORDS, HELD = Layout<LUMA>::HELD,
                  PITCH = RUN * WORDS;
    const int end = y == p.mb_height - 1 ? SIZE : SIZE - HELD;
    for (int i = task.t; i < (HELD + end) * PITCH; i += task.threads) {
        const int line = i / PITCH - HELD, at = i % PITCH, x = x0 + at / WORDS,
                  of_strip = at % WORDS == 0;
        if (x >= p.mb_width || (line < 0 && (of_strip || !y)) || (of_strip && !x)) continue;
        *reinterpret_cast<uint32_t *>(
            p.to[task.plane] + offset_of<LUMA>(p, task.plane, x, y, line) + 4 * (at % WORDS) - 4) =
            tile[Layout<LUMA>::ABOVE + line][at];
    }
}

__global__ void __launch_bounds__(THREADS) filter_kernel(const __grid_constant__ Picture p) {
    __shared__ __align__(16) Tile<true> luma;
    __shared__ __align__(16) Tile<false> chroma[2];
    const int x0 = (int)blockIdx.x * RUN, y = (int)blockIdx.y;
    const Task task = task_of((int)threadIdx.x);
    motus_begin_early();
    Tile<false> &tile = chroma[task.plane == 2];
    task.plane ? filter_lines<false>(p, task, x0, y, tile)
               : filter_lines<true>(p, task, x0, y, luma);
    __syncthreads(); // lines are whole before columns are read
    task.plane ? filter_columns<false>(p, task, x0, y, tile)
               : filter_columns<true>(p, task, x0, y, luma);
    __syncthreads(); // columns are whole before lines are read
    task.plane ? store<false>(p, task, x0, y, tile) : store<true>(p, task, x0, y, luma);
}

} // namespace

extern "C" size_t motus_deblock_cuda_bytes(int mb_width, int mb_height) {
    return (size_t)mb_width * (size_t)mb_height * (sizeof(Edges) + sizeof(Strip));
}

extern "C" cudaError_t motus_deblock_cuda(uint8_t *const to[3], const uint8_t *const from[3],
                                          const ptrdiff_t stride[3], const MotusMb *mb,
                                          int mb_width, int mb_height, int refs, int copies,
                                          int apart_row, void *work, int early,
                                          cudaStream_t stream) {
    static_assert(sizeof(Edges) == 64 && sizeof(Strip) == 128, "aligned one behind the other");
    const int n_mb = mb_width * mb_height;
    Edges *edges = static_cast<Edges *>(work);
    const Picture p = {{from[0], from[1], from[2]},
                       {to[0], to[1], to[2]},
                       {stride[0], stride[1], stride[2]},
                       mb,
                       mb_width,
                       mb_height,
                       copies,
                       apart_row,
                       edges,
                       reinterpret_cast<Strip *>(edges + n_mb)};
    const dim3 runs((unsigned)(mb_width + RUN - 1) / RUN, (unsigned)mb_height);
    const auto prepare = !refs      ? prepare_kernel<MOTUS_REFS_B>
                         : refs > 1 ? prepare_kernel<MOTUS_REFS_LIST0>
                                    : prepare_kernel<MOTUS_REFS_ONE>;
    cudaError_t status = motus_launch(0, (n_mb + PREPARE_WARPS - 1) / PREPARE_WARPS,
                                      32 * PREPARE_WARPS, 0, stream, prepare, p);
    if (status == cudaSuccess)
        status = motus_launch(early, runs, THREADS, 0, stream, strip_kernel, p);
    return status == cudaSuccess ? motus_launch(early, runs, THREADS, 0, stream, filter_kernel, p)
                                 : status;
}
