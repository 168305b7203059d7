// Adaptive quantization, as aq.c finds it.
//   energies     a warp: an MB, each lane half a row of it; reads the picture once
//   move         a thread: an MB's offset from its energy
//   pass_back    a thread: an MB, which adds to up to four of the picture before
//   propagated   a thread: an MB's offset in the end
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/lookahead_cuda.h"

#include "common/cuda_call.h"
#include "common/lanes.h"
#include "encoder/rate/aq_core.h"

namespace {

constexpr int THREADS = 128;

typedef unsigned long long Sum; // as atomicAdd has it

__device__ void add(uint64_t *to, uint64_t amount) { atomicAdd((Sum *)to, (Sum)amount); }

// The sum of all lanes' v, in lane 0.
__device__ uint64_t sum_of_lanes(uint64_t v) {
    for (int step = 16; step; step >>= 1) v += __shfl_down_sync(MOTUS_ALL_LANES, v, step);
    return v;
}

__global__ void energies(int16_t *offset, MotusPlane luma, int mb_width, int n_mb,
                         MotusLookaheadSums *sums) {
    const int i = (int)(blockIdx.x * (THREADS / 32) + threadIdx.x / 32);
    if (i >= n_mb) return; // a whole warp
    const int x = i % mb_width * 16, y = i / mb_width * 16, row = motus_lane() >> 1,
              from = 8 * (motus_lane() & 1);
    const int width = min(16, luma.width - x), height = min(16, luma.height - y);
    const uint8_t *at = luma.data + (ptrdiff_t)(y + row) * luma.stride + x;
    uint32_t sum = 0, squares = 0;
    if (row < height)
        for (int k = from; k < min(width, from + 8); k++)
            sum += at[k], squares += (uint32_t)(at[k] * at[k]);
    sum = motus_lanes_sum(sum);
    squares = motus_lanes_sum(squares);
    if (motus_lane()) return;
    const int octaves = motus_aq_octaves(sum, squares, (uint32_t)(width * height));
    offset[i] = (int16_t)octaves;
    add(&sums->octaves, (uint64_t)octaves);
}

__global__ void move(int16_t *offset, int n_mb, int is_auto, int strength_q8,
                     const MotusLookaheadSums *sums) {
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= n_mb) return;
    const int middle = is_auto ? (int)(sums->octaves / (uint64_t)n_mb)
                               : MOTUS_AQ_MIDDLE; // octaves are 8 * 256 or more each
    offset[i] = motus_aq_moved(offset[i], middle, strength_q8);
}

__device__ uint32_t as_on_cpu(uint64_t passed) {
    return passed < UINT32_MAX ? (uint32_t)passed : UINT32_MAX;
}

__global__ void pass_back(uint64_t *before, const uint64_t *passed, MotusMbCosts costs,
                          const int16_t *aq, int mb_width, int mb_height) {
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= mb_width * mb_height) return;
    const uint32_t intra = costs.intra[i], inter = costs.inter[i];
    if (inter >= intra) return;
    const uint64_t owed = motus_aq_owed(intra, inter, aq ? motus_aq_worth(intra, aq[i]) : intra,
                                        as_on_cpu(passed[i]));
    const MotusMv mv = costs.mv[i];
    for (int k = 0; k < 4; k++) {
        uint32_t share;
        const int at = motus_aq_under(&share, k, i % mb_width * 16 + mv.x, i / mb_width * 16 + mv.y,
                                      mb_width, mb_height);
        if (at >= 0) add(&before[at], owed * share >> 8); // below 2^33, of at most 2^17 MBs
    }
}

__global__ void propagated(int16_t *offset, const uint64_t *passed, const uint16_t *intra,
                           const uint16_t *cost, int n_mb, int strength_q8,
                           MotusLookaheadSums *sums) {
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    int lowered = 0;
    uint64_t weighted = 0;
    if (i < n_mb) {
        lowered = strength_q8
                      ? motus_aq_lowered(offset[i], intra[i], as_on_cpu(passed[i]), strength_q8)
                      : offset[i];
        offset[i] = (int16_t)lowered;
        weighted = motus_aq_weighted(cost[i], lowered);
    }
    const uint64_t all = sum_of_lanes((uint64_t)(int64_t)lowered),
                   all_weighted = sum_of_lanes(weighted);
    if (motus_lane()) return;
    add(&sums->offsets, all);
    add(&sums->weighted, all_weighted);
}

int blocks_of(int n) { return (n + THREADS - 1) / THREADS; }

} // namespace

// ---- Launchers ----------------------------------------------------------------------------------

MotusStatus motus_aq_variance_cuda(int16_t *offset, const MotusPlane *luma, int mb_width,
                                   int mb_height, MotusAqMode mode, int strength_q8,
                                   MotusLookaheadSums *sums, void *stream, MotusError *error) {
    const int n_mb = mb_width * mb_height;
    energies<<<blocks_of(32 * n_mb), THREADS, 0, (cudaStream_t)stream>>>(offset, *luma, mb_width,
                                                                         n_mb, sums);
    MotusStatus status = motus_cuda_launched("look-ahead: energies", error);
    if (status) return status;
    move<<<blocks_of(n_mb), THREADS, 0, (cudaStream_t)stream>>>(offset, n_mb, mode == MOTUS_AQ_AUTO,
                                                                strength_q8, sums);
    return motus_cuda_launched("look-ahead: offsets", error);
}

MotusStatus motus_aq_pass_back_cuda(uint64_t *before, const uint64_t *passed,
                                    const MotusMbCosts *costs, const int16_t *aq, int mb_width,
                                    int mb_height, void *stream, MotusError *error) {
    pass_back<<<blocks_of(mb_width * mb_height), THREADS, 0, (cudaStream_t)stream>>>(
        before, passed, *costs, aq, mb_width, mb_height);
    return motus_cuda_launched("look-ahead: propagation", error);
}

MotusStatus motus_aq_propagated_cuda(int16_t *offset, const uint64_t *passed,
                                     const MotusMbCosts *costs, int is_idr, int n_mb,
                                     int strength_q8, MotusLookaheadSums *sums, void *stream,
                                     MotusError *error) {
    propagated<<<blocks_of(n_mb), THREADS, 0, (cudaStream_t)stream>>>(
        offset, passed, costs->intra, is_idr ? costs->intra : costs->inter, n_mb, strength_q8,
        sums);
    return motus_cuda_launched("look-ahead: propagated offsets", error);
}
