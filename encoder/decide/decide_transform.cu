// The 8x8 transform of inter MBs on a CUDA device, after a round of decisions (choose_transforms in
// decide.c, suite gpu_decide). A warp an MB, 2 KiB of shared memory each; no MB waits for another.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/transform8_warp.cuh"
#include "encoder/decide/decide_pass.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 32; // resident on an SM at 64 registers a thread

template <bool CABAC, Kind KIND>
__global__ void __launch_bounds__(32 * WARPS, SM_WARPS / WARPS)
    transform_kernel(const __grid_constant__ Pass pass, const __grid_constant__ InterOf<KIND> inter,
                     int since, int now) {
    __shared__ MotusTransformShared shared[WARPS];
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp();
    motus_begin_early();
    if (i >= w.n_mb || w.seen_at[i] <= since) return;
    MotusTransformShared *s = &shared[threadIdx.x / 32];
    const MotusInterMb in = inter_mb<KIND>(pass, inter, i % w.mb_width, i / w.mb_width);
    const MotusMbRecon rec = mb_recon(w, in.x, in.y);
    const MotusLevelChoice levels = level_choice<CABAC>(pass, pass.effort.levels);
    uint32_t cost = w.inter_cost[i];
    if (motus_was_skipped_at_once(&w.mb_inter[i], cost, in.qp, &pass.effort)) return;
    copy(&s->mb, &w.mb_inter[i]);
    __syncwarp(); // the MB is written
    if (!motus_choose_transform_warp(&in, &levels, &w.quant8[in.qp->luma.qp], s, &w.coef[i],
                                     rec.plane[0], rec.stride[0], w.luma_bits[i], &cost))
        return;
    copy(&w.mb_inter[i], &s->mb);
    if (motus_lane() == 0) w.inter_cost[i] = cost;
    motus_note_decision(&w.mb[i], w.intra_cost[i] < cost ? &w.mb_intra[i] : &s->mb,
                        &w.changed_at[i], now, KIND == P_ONE ? 1 : 2);
}

} // namespace

template <Kind KIND>
cudaError_t motus_decide::choose_transforms(const Pass &pass, const InterOf<KIND> &inter, int since,
                                            int now, cudaStream_t stream) {
    return motus_launch(pass.pic.early, blocks_for(pass.pic.n_mb), 32 * WARPS, 0, stream,
                        pass.pic.costs ? transform_kernel<true, KIND>
                                       : transform_kernel<false, KIND>,
                        pass, inter, since, now);
}
template cudaError_t motus_decide::choose_transforms<P_ONE>(const Pass &, const FewReferences &,
                                                            int, int, cudaStream_t);
template cudaError_t motus_decide::choose_transforms<P_MANY>(const Pass &, const ManyReferences &,
                                                             int, int, cudaStream_t);
template cudaError_t motus_decide::choose_transforms<B_ONE>(const Pass &, const FewReferences &,
                                                            int, int, cudaStream_t);
template cudaError_t motus_decide::choose_transforms<B_MANY>(const Pass &, const ManyReferences &,
                                                             int, int, cudaStream_t);

cudaError_t motus_decide::prepare_transforms() {
    return motus_load_kernels(transform_kernel<true, P_ONE>, transform_kernel<false, P_ONE>,
                              transform_kernel<true, P_MANY>, transform_kernel<false, P_MANY>,
                              transform_kernel<true, B_ONE>, transform_kernel<false, B_ONE>,
                              transform_kernel<true, B_MANY>, transform_kernel<false, B_MANY>);
}
