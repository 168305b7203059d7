// Common to the searches of large and of small windows (search.cu, search_small.cu): pictures, an
// MB's window, results.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_WINDOW_CUH
#define ME_SEARCH_WINDOW_CUH

#include "common/cuda_call.cuh"
#include "me/pixel/cost_core.h"
#include "me/pixel/sad.cuh"
#include "me/search/blocks.cuh"
#include "me/search/search_cuda.h"

namespace {

struct Batch {
    MotusSearchPicture picture[MOTUS_SEARCH_BATCH];
};

struct Geometry {
    int width, height, mb_width, n_mb, range;
    uint32_t modes;
    int section; // rows of panels that one raster index can number; large windows
    Merge merge;
    const uint8_t *mask; // of wanted modes, per MB; NULL: all
};

// Writes the eight copies of a 16-byte chunk. raw: the chunk and the eight bytes after it.
__device__ void store_copies(uint4 *to, const uint32_t raw[6]) {
#pragma unroll
    for (int shift = 0; shift < 4; shift++) {
        uint32_t w[5];
#pragma unroll
        for (int i = 0; i < 5; i++)
            w[i] = shift ? __funnelshift_r(raw[i], raw[i + 1], 8 * shift) : raw[i];
        to[shift] = make_uint4(w[0], w[1], w[2], w[3]);
        to[shift + 4] = make_uint4(w[1], w[2], w[3], w[4]);
    }
}

// A warp's MB and panel.
struct Window {
    const uint8_t *samples; // the panel's first row in shared memory
    const uint32_t *source; // the MB's 64 words
    // lambda * bits << 7 of each column and row of the window. Their sum, low bits cleared, is the
    // MV's part of a key.
    const uint32_t *column_cost, *row_cost;
    int at;      // byte position of the MB at the panel's first column
    int points;  // 2R + 1
    int section; // first row of the window that indices count from

    __device__ uint32_t index(int x, int y) const { return (y - section) * points + x; }
    __device__ uint32_t word(uint32_t cost, uint32_t index) const {
        return (cost & ~INDEX_MASK) | index;
    }
    __device__ uint32_t word(int x, int y) const {
        return word(column_cost[x] + row_cost[y], index(x, y));
    }
};

__device__ MotusMv per_mb(const MotusMv *mv, int mb) { return mv ? mv[mb] : MotusMv{0, 0}; }

// Loads the MB's 64 words into shared memory, half a row per lane.
__device__ void load_source(uint32_t *source, const MotusSearchPicture &p, const Geometry &g,
                            int mb_x, int mb_y, int lane) {
    uint32_t w[2];
    motus_load_clamped<2>(w, p.cur, p.cur_stride, g.width, g.height, 16 * mb_x + 8 * (lane & 1),
                          16 * mb_y + (lane >> 1));
    *reinterpret_cast<uint2 *>(source + 2 * lane) = make_uint2(w[0], w[1]);
}

// Writes the MV costs, times 128, of the window's columns and then of its rows.
__device__ void fill_costs(uint32_t *costs, const MotusSearchPicture &p, const Geometry &g, int mb,
                           int lane) {
    MotusMv centre = per_mb(p.centre, mb), predictor = per_mb(p.predictor, mb);
    uint32_t lambda = p.lambda ? p.lambda[mb] : p.lambda_q8;
    int points = 2 * g.range + 1;
#pragma unroll 1
    for (int i = lane; i < 2 * points; i += 32) {
        int mv =
            i < points ? centre.x - predictor.x + 4 * i : centre.y - predictor.y + 4 * (i - points);
        costs[i] = lambda * motus_se_bits(mv - 4 * g.range) << (INDEX_BITS - 8);
    }
}

__device__ int mode_of(int block) {
    return block < 3    ? (block > 0)
           : block < 9  ? 2 + (block > 4)
           : block < 25 ? 4 + (block > 16)
                        : 6;
}

// Writes a block's result. winner: J in the high word, the point's raster index in the window in
// the low one.
__device__ void write_result(const MotusSearchPicture &p, const Geometry &g, int block, int mb,
                             uint64_t winner, const uint32_t *column_cost,
                             const uint32_t *row_cost) {
    if (!(g.modes >> mode_of(block) & 1) || (g.mask && !(g.mask[mb] >> mode_of(block) & 1))) return;
    int points = 2 * g.range + 1, index = (int)(uint32_t)winner;
    // Below 2^17: half a step keeps the division exact.
    int y = (int)((index + 0.5f) * (1.0f / points)), x = index - y * points;
    uint32_t j = (uint32_t)(winner >> 32);
    MotusMv centre = per_mb(p.centre, mb);
    size_t at = (size_t)block * g.n_mb + mb;
    p.mv[at] =
        MotusMv{(int16_t)(centre.x + 4 * (x - g.range)), (int16_t)(centre.y + 4 * (y - g.range))};
    p.cost[at] = j;
    p.sad[at] = (uint16_t)(j - ((column_cost[x] + row_cost[y]) >> INDEX_BITS));
}

__device__ void reset(uint32_t (&best)[MOTUS_BLOCKS]) {
#pragma unroll
    for (int b = 0; b < MOTUS_BLOCKS; b++) best[b] = ~0u;
}

Batch batch_of(const MotusSearchPicture *pictures, int n) {
    Batch batch = {};
    for (int i = 0; i < n; i++) batch.picture[i] = pictures[i];
    return batch;
}

Geometry geometry_of(int width, int height, int range, uint32_t modes) {
    const int mb_width = motus_mbs(width);
    return Geometry{width, height, mb_width, mb_width * motus_mbs(height),
                    range, modes,  1,        {1u << INDEX_BITS, 1},
                    NULL};
}

} // namespace

#endif
