// Costs of a P picture's MBs as intra on a CUDA device, after the first round of decisions
// (estimate_intra in decide.c, suite gpu_decide). close_kernel, a warp an MB, lists the MBs that
// come close by SATD. Then a warp takes an MB of the list at a time, with 6 to 8 KiB of shared
// memory: estimate_kernel evaluates Intra16x16 with chroma, estimate4x4_kernel Intra4x4,
// estimate8x8_kernel Intra8x8 where another type costs less than inter, if MBs are coded as types
// that were chosen before. Instruction fetches bound them: one kernel for the first two had 160 KB
// of code, and warps at different places evicted each other's from the SM's instruction cache.
// Beside other GOP coders sixteen warps fill an SM, for the same reason.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide_pass.cuh"
#include "encoder/intra/intra8x8_warp.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 16;     // of a block at most; they take all registers of an SM
constexpr int MOST_WARPS = 2048; // that evaluate; few pictures list more MBs

template <int TRIALS> struct Shared {
    MotusTrial trial[TRIALS];
    MotusIntraShared scratch;
};

struct Shared8x8 {
    MotusTrial trial;
    MotusIntraShared scratch;
    MotusI8Lanes lanes;
};

// Returns the warp's shared memory.
template <class T> __device__ T *own_of(uint4 *memory) {
    return reinterpret_cast<T *>(memory) + threadIdx.x / 32;
}

// Returns the warp's number in the grid, and *warps, all of them.
__device__ int warp_of_grid(int *warps) {
    *warps = (int)(gridDim.x * blockDim.x) / 32;
    return (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

// Returns MB i.
__device__ MotusIntraMb estimated_mb(const Pass &pass, const MotusLevelChoice *levels, int i) {
    const int x = i % pass.pic.mb_width, y = i / pass.pic.mb_width;
    MotusIntraMb in = intra_mb(pass, levels, x, y);
    in.i4_trials = pass.effort.estimate_trials;
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
__global__ void __launch_bounds__(32 * SM_WARPS, 1)
    estimate_kernel(const __grid_constant__ Pass pass) {
    extern __shared__ uint4 memory[];
    Shared<1> *s = own_of<Shared<1>>(memory);
    const MotusPictureStateCuda &w = pass.pic;
    const MotusLevelChoice levels = intra_choice<CABAC>(pass, pass.effort.estimate_levels);
    int warps;
    motus_begin_early();
    for (int at = warp_of_grid(&warps); at < w.flags[MOTUS_FLAG_ESTIMATED]; at += warps) {
        const int i = w.found[at];
        const MotusIntraMb in = estimated_mb(pass, &levels, i);
        MotusTrial *trial = s->trial;
        motus_intra_begin_as(&in, trial, MOTUS_MB_I_16x16);
        const MotusIntraPart chroma = motus_intra_search16x16(&in, &s->scratch, trial);
        copy(&w.mb_intra[i], &trial->mb);
        if (motus_lane() == 0) w.estimate[i] = MotusIntraEstimate{trial->cost, trial->bits, chroma};
        motus_lanes_sync(); // all have read the trial
    }
}

template <bool CABAC>
__global__ void __launch_bounds__(32 * SM_WARPS, 1)
    estimate4x4_kernel(const __grid_constant__ Pass pass) {
    extern __shared__ uint4 memory[];
    Shared<2> *s = own_of<Shared<2>>(memory);
    const MotusPictureStateCuda &w = pass.pic;
    const MotusLevelChoice levels = intra_choice<CABAC>(pass, pass.effort.estimate_levels);
    int warps;
    motus_begin_early();
    for (int at = warp_of_grid(&warps); at < w.flags[MOTUS_FLAG_ESTIMATED]; at += warps) {
        const int i = w.found[at];
        const MotusIntraMb in = estimated_mb(pass, &levels, i);
        const MotusIntraEstimate estimate = w.estimate[i];
        MotusTrial *first = &s->trial[0], *second = &s->trial[1];
        copy(&first->mb, &w.mb_intra[i]);
        if (motus_lane() == 0) first->cost = estimate.cost, first->bits = estimate.bits;
        motus_intra_begin_as(&in, second, MOTUS_MB_I_4x4);
        const MotusTrial *best =
            motus_intra_search4x4(&in, &s->scratch, first, second, &estimate.chroma);
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
__global__ void __launch_bounds__(32 * SM_WARPS, 1)
    estimate8x8_kernel(const __grid_constant__ Pass pass) {
    extern __shared__ uint4 memory[];
    const MotusPictureStateCuda &w = pass.pic;
    const MotusLevelChoice levels = intra_choice<CABAC>(pass, pass.effort.estimate_levels);
    int warps;
    motus_begin_early();
    for (int at = warp_of_grid(&warps); at < w.flags[MOTUS_FLAG_ESTIMATED]; at += warps) {
        const int i = w.found[at];
        const MotusIntraMb in = estimated_mb(pass, &levels, i);
        if (w.intra_cost[i] < w.inter_cost[i] && w.mb_intra[i].type != MOTUS_MB_I_PCM &&
            motus_tries_intra8x8(&in))
            estimate_8x8(&in, w, own_of<Shared8x8>(memory), i);
        motus_lanes_sync(); // all have read the trial
    }
}

using Kernel = void (*)(Pass);

// In the order of their launches, without and with CABAC, and the shared memory of a warp.
const Kernel kernels[3][2] = {{estimate_kernel<false>, estimate_kernel<true>},
                              {estimate4x4_kernel<false>, estimate4x4_kernel<true>},
                              {estimate8x8_kernel<false>, estimate8x8_kernel<true>}};
const int warp_bytes[3] = {sizeof(Shared<1>), sizeof(Shared<2>), sizeof(Shared8x8)};

// Returns how many warps of a block of kernels[k] fit in the current device's shared memory.
int warps_of_block(int k) { return motus_clip(1, SM_WARPS, motus_shared_bytes() / warp_bytes[k]); }

} // namespace

cudaError_t motus_decide::estimate_intra(const Pass &pass, cudaStream_t stream) {
    const int n = 2 + (pass.typed && pass.pic.transform_8x8);
    cudaError_t status = motus_launch(pass.pic.early, blocks_for(pass.pic.n_mb), 32 * WARPS, 0,
                                      stream, close_kernel, pass);
    for (int k = 0; k < n && status == cudaSuccess; k++) {
        const int warps = pass.pic.block_mbs > 1 ? warps_of_block(k) : 1,
                  blocks = (motus_min(pass.pic.n_mb, MOST_WARPS) + warps - 1) / warps;
        status = motus_launch(pass.pic.early, blocks, 32 * warps, warps * warp_bytes[k], stream,
                              kernels[k][pass.pic.costs != nullptr], pass);
    }
    return status;
}

cudaError_t motus_decide::prepare_estimates() {
    cudaError_t status = cudaSuccess;
    for (int k = 0; k < 3; k++)
        for (const Kernel kernel : kernels[k])
            if (status == cudaSuccess)
                status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              warps_of_block(k) * warp_bytes[k]);
    return status;
}
