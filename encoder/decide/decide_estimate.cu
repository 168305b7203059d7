// Costs of a P picture's MBs as intra on a CUDA device, after the first round of decisions
// (estimate_intra in decide.c, suite gpu_decide). close_kernel, a warp an MB, lists the MBs that
// come close by SATD. Then a block is one warp with one MB, 6 or 7 KiB of shared memory:
// estimate_kernel evaluates Intra16x16 with chroma, estimate4x4_kernel Intra4x4. Instruction
// fetches bound both: one kernel for both had 160 KB of code, and warps at different places evicted
// each other's from the SM's instruction cache.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide_core.h"
#include "encoder/decide/decide_pass.cuh"
#include "encoder/intra/intra_trial_warp.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 16; // resident on an SM at 128 registers a thread
constexpr int BLOCKS = 2048; // that evaluate, at most; few pictures list more MBs

struct Shared16x16 {
    MotusTrial trial;
    MotusIntraShared scratch;
};

struct Shared4x4 {
    MotusTrial trial[2];
    MotusIntraShared scratch;
};

// Returns MB i, beside MBs of an intra refresh that are not coded yet.
__device__ MotusIntraMb estimated_mb(const Pass &pass, const MotusLevelChoice *levels, int i) {
    const int x = i % pass.pic.mb_width, y = i / pass.pic.mb_width;
    MotusIntraMb in = intra_mb(pass, levels, x, y);
    in.i4_trials = pass.effort.estimate_trials;
    in.has &= ~motus_refresh_uncoded(&pass.pic.refresh, x);
    return in;
}

// Lists the MBs that come close.
__global__ void __launch_bounds__(32 * WARPS) close_kernel(const __grid_constant__ Pass pass) {
    __shared__ MotusIntraSides sides[WARPS];
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp();
    motus_begin_early();
    if (i >= w.n_mb || w.mb[i].type == MOTUS_MB_P_SKIP || is_refreshed(w, i)) return;
    const MotusIntraMb in = estimated_mb(pass, nullptr, i);
    int mode;
    const uint32_t satd =
        motus_intra16x16_estimate_warp(&in, &sides[threadIdx.x / 32], nullptr, &mode);
    if (motus_lane() == 0 &&
        motus_intra_is_close(satd, w.satd[i], w.inter_cost[i], in.qp, &pass.effort))
        w.found[atomicAdd(&w.flags[MOTUS_FLAG_ESTIMATED], 1)] = i;
}

// Leaves each MB as Intra16x16 in mb_intra, and its costs for estimate4x4_kernel in `estimate`.
template <bool CABAC>
__global__ void __launch_bounds__(32, SM_WARPS) estimate_kernel(const __grid_constant__ Pass pass) {
    __shared__ Shared16x16 s;
    const MotusPictureStateCuda &w = pass.pic;
    const MotusLevelChoice levels = intra_choice<CABAC>(pass, pass.effort.estimate_levels);
    motus_begin_early();
    for (int at = (int)blockIdx.x; at < w.flags[MOTUS_FLAG_ESTIMATED]; at += (int)gridDim.x) {
        const int i = w.found[at];
        const MotusIntraMb in = estimated_mb(pass, &levels, i);
        motus_intra_begin_as(&in, &s.trial, MOTUS_MB_I_16x16);
        const MotusIntraPart chroma = motus_intra_search16x16(&in, &s.scratch, &s.trial);
        copy(&w.mb_intra[i], &s.trial.mb);
        if (motus_lane() == 0)
            w.estimate[i] = MotusIntraEstimate{s.trial.cost, s.trial.bits, chroma};
        motus_lanes_sync(); // all have read the trial
    }
}

template <bool CABAC>
__global__ void __launch_bounds__(32, SM_WARPS)
    estimate4x4_kernel(const __grid_constant__ Pass pass) {
    __shared__ Shared4x4 s;
    const MotusPictureStateCuda &w = pass.pic;
    const MotusLevelChoice levels = intra_choice<CABAC>(pass, pass.effort.estimate_levels);
    motus_begin_early();
    for (int at = (int)blockIdx.x; at < w.flags[MOTUS_FLAG_ESTIMATED]; at += (int)gridDim.x) {
        const int i = w.found[at];
        const MotusIntraMb in = estimated_mb(pass, &levels, i);
        const MotusIntraEstimate estimate = w.estimate[i];
        MotusTrial *first = &s.trial[0], *second = &s.trial[1];
        copy(&first->mb, &w.mb_intra[i]);
        if (motus_lane() == 0) first->cost = estimate.cost, first->bits = estimate.bits;
        motus_intra_begin_as(&in, second, MOTUS_MB_I_4x4);
        const MotusTrial *best =
            motus_intra_search4x4(&in, &s.scratch, first, second, &estimate.chroma);
        copy(&w.mb_intra[i], &best->mb);
        if (motus_lane() == 0) w.intra_cost[i] = best->cost;
        motus_lanes_sync(); // all have read the trials
    }
}

} // namespace

cudaError_t motus_decide::estimate_intra(const Pass &pass, cudaStream_t stream) {
    const int early = pass.pic.early, blocks = motus_min(pass.pic.n_mb, BLOCKS);
    const bool cabac = pass.pic.costs != nullptr;
    cudaError_t status =
        motus_launch(early, blocks_for(pass.pic.n_mb), 32 * WARPS, 0, stream, close_kernel, pass);
    if (status == cudaSuccess)
        status = motus_launch(early, blocks, 32, 0, stream,
                              cabac ? estimate_kernel<true> : estimate_kernel<false>, pass);
    return status == cudaSuccess
               ? motus_launch(early, blocks, 32, 0, stream,
                              cabac ? estimate4x4_kernel<true> : estimate4x4_kernel<false>, pass)
               : status;
}
