// The 8x8 transform of inter MBs on a CUDA device, after a round of decisions (choose_transforms in
// decide.c, suite gpu_decide). A warp an MB, 2 KiB of shared memory each; no MB waits for another.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/transform8_warp.cuh"
#include "encoder/decide/decide_core.h"
#include "encoder/decide/decide_pass.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 32; // resident on an SM at 64 registers a thread

template <bool CABAC, int LISTS>
__global__ void __launch_bounds__(32 * WARPS, SM_WARPS / WARPS)
    transform_kernel(const __grid_constant__ Pass pass,
                     const __grid_constant__ InterOf<LISTS> inter, int since, int now) {
    __shared__ MotusTransformShared shared[WARPS];
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp();
    motus_let_successor_start();
    motus_wait_for_predecessor();
    if (i >= w.n_mb || w.seen_at[i] <= since) return;
    MotusTransformShared *s = &shared[threadIdx.x / 32];
    const int qp = motus_mb_qp(pass.qp, w.qp_offset, i);
    MotusInterMb in;
    in.ref = inter.ref;
    in.lists = LISTS;
    in.limits = &inter.limits;
    in.qp = &w.qp_table[qp];
    in.x = i % w.mb_width, in.y = i / w.mb_width;
    in.src = mb_source(w, in.x, in.y);
    const MotusMbRecon rec = mb_recon(w, in.x, in.y);
    const MotusLevelChoice levels = level_choice<CABAC>(pass, pass.effort.levels);
    uint32_t cost = w.inter_cost[i];
    copy(&s->mb, &w.mb_inter[i]);
    __syncwarp(); // the MB is written
    if (!motus_choose_transform_warp(&in, &levels, &w.quant8[qp], s, &w.coef[i], rec.plane[0],
                                     rec.stride[0], w.luma_bits[i], &cost))
        return;
    copy(&w.mb_inter[i], &s->mb);
    if (motus_lane() == 0) w.inter_cost[i] = cost;
    motus_note_decision(&w.mb[i], w.intra_cost[i] < cost ? &w.mb_intra[i] : &s->mb,
                        &w.changed_at[i], now, LISTS);
}

} // namespace

template <int LISTS>
cudaError_t motus_decide::choose_transforms(const Pass &pass, const InterOf<LISTS> &inter,
                                            int since, int now, cudaStream_t stream) {
    return motus_launch(pass.pic.early, blocks_for(pass.pic.n_mb), 32 * WARPS, 0, stream,
                        pass.pic.costs ? transform_kernel<true, LISTS>
                                       : transform_kernel<false, LISTS>,
                        pass, inter, since, now);
}
template cudaError_t motus_decide::choose_transforms(const Pass &, const InterOf<1> &, int, int,
                                                     cudaStream_t);
template cudaError_t motus_decide::choose_transforms(const Pass &, const InterOf<2> &, int, int,
                                                     cudaStream_t);

cudaError_t motus_decide::prepare_transforms() {
    cudaFuncAttributes unused;
    cudaError_t status = cudaFuncGetAttributes(&unused, transform_kernel<true, 1>);
    if (status == cudaSuccess) status = cudaFuncGetAttributes(&unused, transform_kernel<false, 1>);
    if (status == cudaSuccess) status = cudaFuncGetAttributes(&unused, transform_kernel<true, 2>);
    return status == cudaSuccess ? cudaFuncGetAttributes(&unused, transform_kernel<false, 2>)
                                 : status;
}
