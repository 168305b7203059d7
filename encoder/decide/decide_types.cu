// Types of MBs before any is coded, of an I picture or of a range of intra refresh, on a CUDA
// device (choose_type in intra_pass_cpu.h, suite gpu_decide). By SATD in one kernel; by RD cost in
// three, for Intra16x16, Intra4x4 and Intra8x8: a block is one warp with one MB, and keeps the type
// if it costs less. They are apart since instruction fetches bound them, as those of
// decide_estimate.cu.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide_pass.cuh"
#include "encoder/intra/intra8x8_warp.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 16; // resident on an SM at 128 registers a thread

struct SharedType {
    MotusTrial trial;
    MotusIntraShared scratch;
    MotusMb neighbour;
};

struct SharedType8 {
    SharedType of;
    MotusI8Lanes lanes;
};

// True if this block has an MB to choose a type for.
__device__ bool has_mb(const Pass &pass, int i) {
    return !pass.slice_type || is_refreshed(pass.pic, i);
}

template <bool CABAC> __device__ MotusLevelChoice type_choice(const Pass &pass) {
    if (CABAC) return intra_choice<CABAC>(pass, pass.effort.estimate_levels);
    return level_choice<CABAC>(
        pass, motus_type_levels(pass.effort.estimate_levels, nullptr, pass.pic.transform_8x8));
}

// Lets an MB be predicted from the source around it.
__device__ void use_source(MotusIntraMb *in) {
    for (int p = 0; p < 3; p++) {
        in->rec.plane[p] = const_cast<uint8_t *>(in->src.plane[p]); // only read
        in->rec.stride[p] = in->src.stride[p];
    }
}

// Returns MB i with the source around it and neighbours without levels.
__device__ MotusIntraMb source_mb(const Pass &pass, const MotusLevelChoice *levels,
                                  MotusMb *neighbour, int i) {
    const MotusPictureStateCuda &w = pass.pic;
    MotusIntraMb in = intra_mb(pass, levels, i % w.mb_width, i / w.mb_width);
    use_source(&in);
    in.i4_trials = pass.effort.estimate_trials;
    reinterpret_cast<uint32_t *>(neighbour)[motus_lane()] = 0;
    __syncwarp(); // before the type
    if (motus_lane() == 0) neighbour->type = MOTUS_MB_I_16x16;
    __syncwarp(); // the neighbour is written
    in.neighbours.a = in.neighbours.a ? neighbour : nullptr;
    in.neighbours.b = in.neighbours.b ? neighbour : nullptr;
    return in;
}

// Returns the cost of a trial by luma alone. One lane calls it.
__device__ uint32_t cost_of(const MotusIntraMb *in, MotusTrial *trial, const MotusIntraPart *luma) {
    const MotusIntraPart none = {0, 0, 0, 0, 0};
    motus_intra_add_up(in, trial, luma, &none);
    return trial->cost;
}

// Keeps the trial's type if it costs less.
__device__ void keep_cheaper(const MotusPictureStateCuda &w, int i, const MotusIntraMb *in,
                             MotusTrial *trial, const MotusIntraPart *luma, uint32_t least) {
    if (motus_lane() || luma->cost > least) return;
    const uint32_t cost = cost_of(in, trial, luma);
    if (cost >= least) return;
    w.intra_cost[i] = cost;
    w.mb[i].type = trial->mb.type;
    w.mb[i].transform_8x8 = trial->mb.transform_8x8;
}

// Sets what is known of MB i as Intra16x16, and clears what it hands on.
__device__ void begin_type(const MotusPictureStateCuda &w, int i, int mode) {
    static_assert(sizeof(MotusHandedMb) == 8 * sizeof(uint4), "a vector a lane");
    if (motus_lane() < 8)
        reinterpret_cast<uint4 *>(&w.handed[i])[motus_lane()] = make_uint4(0, 0, 0, 0);
    if (motus_lane()) return;
    w.mb[i].type = MOTUS_MB_I_16x16;
    w.mb[i].transform_8x8 = 0;
    w.mb[i].intra16x16_pred_mode = (uint8_t)mode;
}

__global__ void __launch_bounds__(32) satd_kernel(const __grid_constant__ Pass pass) {
    __shared__ MotusTypeShared s;
    const MotusPictureStateCuda &w = pass.pic;
    const int i = (int)blockIdx.x;
    motus_begin_early();
    if (!has_mb(pass, i)) return;
    MotusIntraMb in = intra_mb(pass, nullptr, i % w.mb_width, i / w.mb_width);
    use_source(&in);
    const MotusIntraType type = motus_intra_type_by_satd_warp(&in, &s);
    begin_type(w, i, type.mode);
    if (motus_lane() == 0) w.mb[i].type = type.type;
}

template <bool CABAC>
__global__ void __launch_bounds__(32, SM_WARPS) whole_kernel(const __grid_constant__ Pass pass) {
    __shared__ SharedType s;
    const MotusPictureStateCuda &w = pass.pic;
    const int i = (int)blockIdx.x;
    motus_begin_early();
    if (!has_mb(pass, i)) return;
    const MotusLevelChoice levels = type_choice<CABAC>(pass);
    const MotusIntraMb in = source_mb(pass, &levels, &s.neighbour, i);
    motus_intra_begin_as(&in, &s.trial, MOTUS_MB_I_16x16);
    const MotusIntraPart part = motus_code_intra_whole(&in, &s.scratch, &s.trial, 0);
    begin_type(w, i, s.trial.mb.intra16x16_pred_mode);
    if (motus_lane() == 0) w.intra_cost[i] = cost_of(&in, &s.trial, &part);
}

template <bool CABAC>
__global__ void __launch_bounds__(32, SM_WARPS) small_kernel(const __grid_constant__ Pass pass) {
    __shared__ SharedType s;
    const MotusPictureStateCuda &w = pass.pic;
    const int i = (int)blockIdx.x;
    motus_begin_early();
    if (!has_mb(pass, i)) return;
    const MotusLevelChoice levels = type_choice<CABAC>(pass);
    const MotusIntraMb in = source_mb(pass, &levels, &s.neighbour, i);
    const uint32_t least = w.intra_cost[i];
    motus_intra_begin_as(&in, &s.trial, MOTUS_MB_I_4x4);
    const MotusI4Mb mb = motus_i4_prepare(&in, &s.scratch);
    const MotusIntraPart part = motus_code_intra4x4_warp(&mb, &in, &s.scratch, &s.trial, least);
    keep_cheaper(w, i, &in, &s.trial, &part, least);
}

template <bool CABAC>
__global__ void __launch_bounds__(32, SM_WARPS) eight_kernel(const __grid_constant__ Pass pass) {
    __shared__ SharedType8 s;
    const MotusPictureStateCuda &w = pass.pic;
    const int i = (int)blockIdx.x;
    motus_begin_early();
    if (!has_mb(pass, i)) return;
    const MotusLevelChoice levels = type_choice<CABAC>(pass);
    const MotusIntraMb in = source_mb(pass, &levels, &s.of.neighbour, i);
    if (!motus_tries_intra8x8(&in)) return;
    MotusTrial *trial = &s.of.trial;
    motus_intra_begin_as(&in, trial, MOTUS_MB_I_4x4);
    if (motus_lane() == 0) trial->mb.transform_8x8 = 1;
    motus_i4_prepare(&in, &s.of.scratch);
    const MotusI8Mb mb = motus_i8_prepare(&in, &w.quant8[in.qp->luma.qp], &s.lanes);
    motus_lanes_sync(); // costs are written
    const MotusIntraPart part =
        motus_code_intra8x8_warp(&mb, &in, s.of.scratch.i4_minus, &s.lanes, trial);
    keep_cheaper(w, i, &in, trial, &part, w.intra_cost[i]);
}

using Kernel = void (*)(Pass);

// In the order of their launches, without and with CABAC.
const Kernel kernels[3][2] = {{whole_kernel<false>, whole_kernel<true>},
                              {small_kernel<false>, small_kernel<true>},
                              {eight_kernel<false>, eight_kernel<true>}};

} // namespace

cudaError_t motus_decide::choose_types(const Pass &pass, cudaStream_t stream) {
    const MotusPictureStateCuda &w = pass.pic;
    if (pass.effort.types_by_satd && !w.transform_8x8)
        return motus_launch(w.early, w.n_mb, 32, 0, stream, satd_kernel, pass);
    cudaError_t status = cudaSuccess;
    for (int type = 0; type < 2 + w.transform_8x8 && status == cudaSuccess; type++)
        status =
            motus_launch(w.early, w.n_mb, 32, 0, stream, kernels[type][w.costs != nullptr], pass);
    return status;
}

cudaError_t motus_decide::prepare_types() {
    cudaError_t status = motus_load_kernels(satd_kernel);
    for (const auto &by_coder : kernels)
        if (status == cudaSuccess) status = motus_load_kernels(by_coder[0], by_coder[1]);
    return status;
}
