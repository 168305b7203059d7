// AQ and mb-tree. The offsets equal those of qp_offsets.c.
//   mb_energies   a warp per MB, half a row of it per lane; reads the picture once
//   aq_offsets    a thread per MB: its offset from its energy
//   propagate     a thread per MB, which adds to up to four MBs of the previous picture
//   final_offsets a thread per MB: its mb-tree offset; sums of offsets and weighted costs
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead_passes_cuda.h"

#include "common/cuda_call.cuh"
#include "common/lanes.h"
#include "encoder/lookahead/qp_offsets_core.h"

namespace {

constexpr int THREADS = 128;

typedef unsigned long long Sum; // the type that atomicAdd takes

__device__ void add(uint64_t *to, uint64_t amount) { atomicAdd((Sum *)to, (Sum)amount); }

// Returns the sum of v over the warp, in lane 0.
__device__ uint64_t warp_sum(uint64_t v) {
    for (int step = 16; step; step >>= 1) v += __shfl_down_sync(MOTUS_ALL_LANES, v, step);
    return v;
}

__global__ void mb_energies(int16_t *offset, MotusPlane luma, int mb_width, int n_mb,
                            MotusLookaheadSums *sums) {
    const int i = (int)(blockIdx.x * (THREADS / 32) + threadIdx.x / 32);
    if (i >= n_mb) return; // the whole warp
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
    const int energy = motus_aq_log2_energy(sum, squares, (uint32_t)(width * height));
    offset[i] = (int16_t)energy;
    add(&sums->energies, (uint64_t)energy);
}

__global__ void aq_offsets(int16_t *offset, int n_mb, int is_auto, int strength_q8,
                           const MotusLookaheadSums *sums) {
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= n_mb) return;
    const int mean = is_auto ? (int)(sums->energies / (uint64_t)n_mb) : 0;
    offset[i] = motus_aq_offset(offset[i], motus_aq_scale(is_auto, mean, strength_q8));
}

struct References {
    uint64_t *propagated[2];
};

__global__ void propagate(References references, const uint64_t *propagated,
                          MotusTreePicture picture, int mb_width, int mb_height) {
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= mb_width * mb_height) return;
    int lists;
    const uint64_t amount =
        motus_mb_tree_amounts(&lists, &picture, i, motus_mb_tree_saturate(propagated[i]));
    for (int list = 0; list < 2 && amount; list++) {
        uint64_t *to = references.propagated[list];
        if (!(lists >> list & 1) || !to) continue;
        const MotusMv mv = picture.mv[list][i];
        for (int k = 0; k < 4; k++) {
            uint32_t share;
            const int at = motus_mb_tree_target(&share, k, i % mb_width * 16 + mv.x,
                                                i / mb_width * 16 + mv.y, mb_width, mb_height);
            // No overflow: at most 2^20 MBs of some pictures add less than 2^33 each.
            if (at >= 0) add(&to[at], amount * share >> 8);
        }
    }
}

__global__ void final_offsets(int16_t *offset, const uint64_t *propagated, const uint16_t *intra,
                              const uint16_t *cost, int n_mb, int strength_q8,
                              MotusLookaheadSums *sums) {
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    int final_offset = 0;
    uint64_t weighted = 0;
    if (i < n_mb) {
        final_offset =
            strength_q8 ? motus_mb_tree_offset(offset[i], intra[i],
                                               motus_mb_tree_saturate(propagated[i]), strength_q8)
                        : offset[i];
        offset[i] = (int16_t)final_offset;
        weighted = motus_weighted_cost(cost[i], final_offset);
    }
    const uint64_t all = warp_sum((uint64_t)(int64_t)final_offset),
                   all_weighted = warp_sum(weighted);
    if (motus_lane()) return;
    add(&sums->offsets, all);
    add(&sums->weighted, all_weighted);
}

int blocks_of(int n) { return (n + THREADS - 1) / THREADS; }

} // namespace

// ---- Launchers ----------------------------------------------------------------------------------

MotusStatus motus_aq_offsets_cuda(int16_t *offset, const MotusPlane *luma, int mb_width,
                                  int mb_height, MotusAqMode mode, int strength_q8,
                                  MotusLookaheadSums *sums, void *stream, MotusError *error) {
    const int n_mb = mb_width * mb_height;
    mb_energies<<<blocks_of(32 * n_mb), THREADS, 0, (cudaStream_t)stream>>>(offset, *luma, mb_width,
                                                                            n_mb, sums);
    MotusStatus status = motus_cuda_launched("lookahead: energies", error);
    if (status) return status;
    aq_offsets<<<blocks_of(n_mb), THREADS, 0, (cudaStream_t)stream>>>(
        offset, n_mb, mode == MOTUS_AQ_AUTO, strength_q8, sums);
    return motus_cuda_launched("lookahead: AQ", error);
}

MotusStatus motus_mb_tree_propagate_cuda(uint64_t *const references[2], const uint64_t *propagated,
                                         const MotusTreePicture *picture, int mb_width,
                                         int mb_height, void *stream, MotusError *error) {
    propagate<<<blocks_of(mb_width * mb_height), THREADS, 0, (cudaStream_t)stream>>>(
        {{references[0], references[1]}}, propagated, *picture, mb_width, mb_height);
    return motus_cuda_launched("lookahead: mb-tree", error);
}

MotusStatus motus_mb_tree_offsets_cuda(int16_t *offset, const uint64_t *propagated,
                                       const MotusMbCosts *costs, int is_idr, int n_mb,
                                       int strength_q8, MotusLookaheadSums *sums, void *stream,
                                       MotusError *error) {
    final_offsets<<<blocks_of(n_mb), THREADS, 0, (cudaStream_t)stream>>>(
        offset, propagated, costs->intra, is_idr ? costs->intra : costs->inter, n_mb, strength_q8,
        sums);
    return motus_cuda_launched("lookahead: offsets", error);
}
