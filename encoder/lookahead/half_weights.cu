// Weights of half-size references; the results equal those of half_weights.c.
// A block: a picture and a reference; a thread: every so many MBs. Sums of pictures come from
// motus_intra_costs_cuda.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/half_weights_core.h"

#include "common/cuda_call.cuh"
#include "common/lanes.h"
#include "encoder/lookahead/lookahead_passes_cuda.h"

namespace {

constexpr int FINDERS = 512;

// A picture's references.
struct References {
    MotusHalfStats stats[MOTUS_B_SPAN]; // [blockIdx.x]
};

__device__ void add_up(uint32_t *to, uint32_t amount) {
    const uint32_t all = motus_lanes_sum(amount);
    if (!motus_lane()) atomicAdd(to, all);
}

__global__ void __launch_bounds__(FINDERS)
    find(MotusHalfWeight *weight, const __grid_constant__ References references, MotusHalfStats cur,
         int mb_width, int mb_height) {
    __shared__ MotusHalfWeight suggestion[MOTUS_HALF_SUGGESTIONS];
    __shared__ MotusHalfTrial sums;
    __shared__ int any;
    const MotusHalfStats &ref = references.stats[blockIdx.x];
    const MotusHalfPair pair = {cur.small, ref.small, mb_width, mb_height};
    const int n_mb = mb_width * mb_height, step = motus_half_row_step(n_mb),
              searched = (mb_height + step - 1) / step * mb_width;
    MotusHalfTrial trial = {};
    if (!threadIdx.x) {
        any = motus_half_suggest(suggestion, cur.sums, ref.sums, 64 * (uint64_t)n_mb);
        sums = trial;
    }
    __syncthreads(); // any, suggestion[] and sums are set
    for (int i = (int)threadIdx.x; i < searched && any; i += FINDERS)
        motus_half_try(&trial, &pair, i % mb_width, i / mb_width * step, suggestion);
    for (int k = 0; k <= MOTUS_HALF_SUGGESTIONS && any; k++) add_up(&sums.cost[k], trial.cost[k]);
    for (int k = 0; k < MOTUS_HALF_SUGGESTIONS && any; k++)
        add_up(&sums.helped[k], trial.helped[k]), add_up(&sums.harmed[k], trial.harmed[k]);
    __syncthreads(); // sums are complete
    if (!threadIdx.x)
        weight[blockIdx.x] = any ? motus_half_choose(&sums, suggestion) : motus_half_no_weight();
}

} // namespace

MotusStatus motus_half_find_weights_cuda(MotusHalfWeight *weight, const MotusHalfStats *cur,
                                         const MotusHalfStats *ref, int n, int mb_width,
                                         int mb_height, void *stream, MotusError *error) {
    References references = {};
    if (!n) return MOTUS_OK;
    for (int i = 0; i < n; i++) references.stats[i] = ref[i];
    find<<<(unsigned)n, FINDERS, 0, (cudaStream_t)stream>>>(weight, references, *cur, mb_width,
                                                            mb_height);
    return motus_cuda_launched("lookahead: weights", error);
}
