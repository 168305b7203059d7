// Costs of a P picture's MBs as intra on a CUDA device, after the first round of decisions
// (estimate_intra in decide.c, suite gpu_decide). A block is one warp with one MB, 6 or 7 KiB of
// shared memory. estimate_kernel finds MBs that come close and evaluates Intra16x16 with chroma,
// estimate4x4_kernel Intra4x4; estimate8x8_kernel Intra8x8 where another type costs less than
// inter, if MBs are coded as types that were chosen before. Instruction fetches bound both: one
// kernel for both had 160 KB of code, and warps at different places evicted each other's from the
// SM's instruction cache.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide_core.h"
#include "encoder/decide/decide_pass.cuh"
#include "encoder/intra/intra8x8_warp.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 16; // resident on an SM at 128 registers a thread
constexpr int BLOCKS = 4096; // of estimate4x4_kernel at most; few pictures have more MBs for it

struct Shared16x16 {
    MotusTrial trial;
    MotusIntraShared scratch;
};

struct Shared4x4 {
    MotusTrial trial[2];
    MotusIntraShared scratch;
};

struct Shared8x8 {
    MotusTrial trial;
    MotusIntraShared scratch;
    MotusI8Lanes lanes;
};

// Returns MB i, beside MBs of an intra refresh that are not coded yet.
__device__ MotusIntraMb estimated_mb(const Pass &pass, const MotusLevelChoice *levels, int i) {
    const int x = i % pass.pic.mb_width, y = i / pass.pic.mb_width;
    MotusIntraMb in = intra_mb(pass, levels, x, y);
    in.i4_trials = pass.effort.estimate_trials;
    in.has &= ~motus_refresh_uncoded(&pass.pic.refresh, x);
    return in;
}

// Leaves the MB as Intra16x16 in mb_intra, and its costs for estimate4x4_kernel in `estimate`.
template <bool CABAC>
__global__ void __launch_bounds__(32, SM_WARPS) estimate_kernel(const __grid_constant__ Pass pass) {
    __shared__ Shared16x16 s;
    const MotusPictureStateCuda &w = pass.pic;
    const int i = (int)blockIdx.x;
    motus_let_successor_start();
    motus_wait_for_predecessor();
    if (w.mb[i].type == MOTUS_MB_P_SKIP || is_refreshed(w, i)) return;
    const MotusLevelChoice levels = intra_choice<CABAC>(pass, pass.effort.estimate_levels);
    const MotusIntraMb in = estimated_mb(pass, &levels, i);
    int mode;
    const uint32_t satd =
        motus_intra16x16_estimate_warp(&in, &s.scratch.sides, s.scratch.pred, &mode);
    if (!motus_intra_is_close(satd, w.satd[i], w.inter_cost[i], in.qp, &pass.effort)) return;
    motus_intra_begin_as(&in, &s.trial, MOTUS_MB_I_16x16);
    const MotusIntraPart chroma = motus_intra_search16x16(&in, &s.scratch, &s.trial);
    copy(&w.mb_intra[i], &s.trial.mb);
    if (motus_lane()) return;
    w.estimate[i] = MotusIntraEstimate{s.trial.cost, s.trial.bits, chroma};
    w.found[atomicAdd(&w.flags[MOTUS_FLAG_ESTIMATED], 1)] = i;
}

template <bool CABAC>
__global__ void __launch_bounds__(32, SM_WARPS)
    estimate4x4_kernel(const __grid_constant__ Pass pass) {
    __shared__ Shared4x4 s;
    const MotusPictureStateCuda &w = pass.pic;
    const MotusLevelChoice levels = intra_choice<CABAC>(pass, pass.effort.estimate_levels);
    motus_let_successor_start();
    motus_wait_for_predecessor();
    for (int at = (int)blockIdx.x; at < w.flags[MOTUS_FLAG_ESTIMATED]; at += BLOCKS) {
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

// Keeps MB i as Intra8x8 if that costs less.
__device__ void estimate_8x8(const MotusIntraMb *in, const MotusPictureStateCuda &w, Shared8x8 *s,
                             int i) {
    const uint32_t least = w.intra_cost[i];
    MotusTrial *trial = &s->trial;
    motus_intra_begin_as(in, trial, MOTUS_MB_I_4x4);
    if (motus_lane() == 0) {
        trial->mb.transform_8x8 = 1;
        trial->mb.intra_chroma_pred_mode = w.mb_intra[i].intra_chroma_pred_mode;
    }
    motus_i4_prepare(in, &s->scratch);
    const MotusI8Mb mb = motus_i8_prepare(in, &w.quant8[in->qp->luma.qp], &s->lanes);
    motus_lanes_sync(); // costs are written
    const MotusIntraPart part =
        motus_code_intra8x8_warp(&mb, in, s->scratch.i4_minus, &s->lanes, trial);
    if (part.cost > least) return;
    motus_intra_add_up_warp(in, trial, &part, &w.estimate[i].chroma);
    if (trial->cost >= least || trial->bits > MOTUS_MB_BITS_LIMIT) return;
    copy(&w.mb_intra[i], &trial->mb);
    if (motus_lane() == 0) w.intra_cost[i] = trial->cost;
}

template <bool CABAC>
__global__ void __launch_bounds__(32, SM_WARPS)
    estimate8x8_kernel(const __grid_constant__ Pass pass) {
    __shared__ Shared8x8 s;
    const MotusPictureStateCuda &w = pass.pic;
    const MotusLevelChoice levels = intra_choice<CABAC>(pass, pass.effort.estimate_levels);
    motus_let_successor_start();
    motus_wait_for_predecessor();
    for (int at = (int)blockIdx.x; at < w.flags[MOTUS_FLAG_ESTIMATED]; at += BLOCKS) {
        const int i = w.found[at];
        const MotusIntraMb in = estimated_mb(pass, &levels, i);
        if (w.intra_cost[i] < w.inter_cost[i] && w.mb_intra[i].type != MOTUS_MB_I_PCM &&
            motus_tries_intra8x8(&in))
            estimate_8x8(&in, w, &s, i);
        motus_lanes_sync(); // all have read the trial
    }
}

} // namespace

cudaError_t motus_decide::estimate_intra(const Pass &pass, cudaStream_t stream) {
    const int early = pass.pic.early, blocks = motus_min(pass.pic.n_mb, BLOCKS);
    const bool cabac = pass.pic.costs != nullptr;
    cudaError_t status = motus_launch(early, pass.pic.n_mb, 32, 0, stream,
                                      cabac ? estimate_kernel<true> : estimate_kernel<false>, pass);
    if (status == cudaSuccess)
        status = motus_launch(early, blocks, 32, 0, stream,
                              cabac ? estimate4x4_kernel<true> : estimate4x4_kernel<false>, pass);
    if (status == cudaSuccess && pass.typed && pass.pic.transform_8x8)
        status = motus_launch(early, blocks, 32, 0, stream,
                              cabac ? estimate8x8_kernel<true> : estimate8x8_kernel<false>, pass);
    return status;
}
