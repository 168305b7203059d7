// Shared by the two files of CUDA equalization: state in device memory, counting into copies of a
// histogram, sums over thread blocks.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_EQUALIZE_EQUALIZE_CUH
#define FILTER_EQUALIZE_EQUALIZE_CUH

#include "common/cuda_call.cuh"
#include "common/lanes.h"
#include "motus/filter_cuda.h"

extern "C" {
#include "filter/equalize/equalize.h"
}

// State in device memory. Histograms rotate: this picture's, the previous one's, and one being
// cleared for the next.
struct State {
    uint32_t (*counts)[256]; // [3][tiles]
    uint16_t (*smooth)[256]; // [2][tiles], alternating
    uint8_t (*curves)[256];  // [tiles]
};

// Indices of one run into State.
struct Turn {
    int now, before, next;         // counts
    int smooth_now, smooth_before; // smooth
    int smooth_q8, started;
};

struct MotusCudaEqualizer {
    MotusEqualizeConfig config;
    MotusTileGrid grid;
    State state;
    uint32_t *column_weights, *row_weights; // of map_cells
    void *memory;                           // holds all of these
    int64_t runs;
    MotusError failure; // sticky: a failed run leaves the rotation undefined
    int processors;
};

// Computes the tiles' curves and maps the picture (equalize_tiles.cu).
extern "C" MotusStatus motus_cuda_equalize_tiles(const MotusCudaEqualizer *e, const Turn *turn,
                                                 const MotusPlane *dst, const MotusPlane *src,
                                                 cudaStream_t stream, MotusError *error);

namespace {

constexpr int COPIES = 32; // of a histogram, one per lane

__device__ __forceinline__ uint32_t word_of(const uint4 &v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// Returns byte k of a word times 128: the byte offset of its row of 32 four-byte copies.
__device__ __forceinline__ uint32_t row_of(uint32_t word, int k) {
    return (k == 0 ? word << 7 : word >> (8 * k - 7)) & 0x7F80u;
}

// Counts a chunk's first `bytes` samples; offset: the lane's bytes in a row of copies.
__device__ __forceinline__ void count_chunk(uint32_t *table, uint32_t offset, const uint4 &v,
                                            int bytes) {
#pragma unroll
    for (int i = 0; i < 16; i++)
        if (i < bytes)
            atomicAdd(reinterpret_cast<uint32_t *>(reinterpret_cast<uint8_t *>(table) +
                                                   (row_of(word_of(v, i / 4), i % 4) | offset)),
                      1u);
}

// Returns the sum of a bin's copies. 32 neighbouring bins use 32 banks.
__device__ __forceinline__ uint32_t sum_copies(const uint32_t *table, int bin) {
    uint32_t n = 0;
    for (int k = 0; k < COPIES; k++) n += table[bin * COPIES + ((k + bin) & (COPIES - 1))];
    return n;
}

// Returns to all threads the sum over a block of up to 1024. shared: 32 words.
__device__ uint32_t block_sum(uint32_t v, uint32_t *shared) {
    v = motus_lanes_sum(v);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    uint32_t sum =
        motus_lanes_sum(threadIdx.x % 32 < blockDim.x / 32 ? shared[threadIdx.x % 32] : 0);
    __syncthreads(); // before `shared` is written again
    return sum;
}

// Returns the inclusive running sum over the first 256 threads. All threads of the block call it.
__device__ uint32_t running_sum(uint32_t v, uint32_t *shared) {
    v = motus_lanes_sum_up_to(v, 32);
    if (threadIdx.x % 32 == 31) shared[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < (int)threadIdx.x / 32 && w < 8; w++) v += shared[w];
    __syncthreads(); // before `shared` is written again
    return v;
}

// True if smoothing restarts. total_now and total_before: this thread's bin over the whole plane.
__device__ int restarts(const Turn &turn, uint32_t total_now, uint32_t total_before,
                        uint32_t samples, uint32_t *shared) {
    if (!turn.started) return 1;
    if (!turn.smooth_q8) return 0;
    uint32_t difference =
        total_now > total_before ? total_now - total_before : total_before - total_now;
    return curve_is_cut(block_sum(difference, shared), samples); // at most 2 * samples < 2^30
}

// Returns the curve's value of this thread's bin. keeps: stores it in the state.
__device__ uint8_t next_value(const State &state, const Turn &turn, int tiles, int tile, int bin,
                              uint8_t now, int restart, int keeps) {
    uint16_t before = state.smooth[turn.smooth_before * tiles + tile][bin];
    uint16_t smooth = curve_smooth(before, now, restart ? 0 : turn.smooth_q8);
    if (keeps)
        state.smooth[turn.smooth_now * tiles + tile][bin] = smooth,
                                               state.curves[tile][bin] = curve_round(smooth);
    return curve_round(smooth);
}

} // namespace

#endif
