// RD refinement of MVs on a CUDA device, after each pass of decisions (refine_mvs in decide.c). A
// block of eight warps an MB of the phase, 19 KiB of shared memory, 35 with both transforms.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/rd_refine_warp.cuh"
#include "encoder/decide/decide_pass.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 32; // resident on an SM at 64 registers a thread

// Refines an MB that was decided in pass `now`, the blockIdx.x-th of the phase in row blockIdx.y.
// BOTH: trials have both transforms.
template <bool CABAC, bool BOTH, Kind KIND>
__global__ void __launch_bounds__(32 * MOTUS_RD_WARPS, SM_WARPS / MOTUS_RD_WARPS)
    refine_kernel(const __grid_constant__ Pass pass, const __grid_constant__ InterOf<KIND> inter,
                  int phase, int now) {
    __shared__ MotusRdTeam team;
    __shared__ MotusTrialCoefs coefs[MOTUS_RD_WARPS];
    __shared__ MotusTransformShared transforms[BOTH ? MOTUS_RD_WARPS : 1];
    const MotusPictureStateCuda &w = pass.pic;
    motus_wait_for_predecessor(); // MBs of the phase are decided
    motus_let_successor_start();
    const int y = (int)blockIdx.y, x = mb_column(pass.effort.phases, phase), i = y * w.mb_width + x,
              warp = (int)threadIdx.x / 32;
    if (x >= w.mb_width || w.seen_at[i] != now) return; // the whole block
    MotusInterMb in = inter_mb<KIND>(pass, inter, x, y);
    in.neighbours = motus_neighbours(w.mb, w.mb_width, x, y, motus_slice_first(w.slice_first, i));
    if (warp == 0) copy(&team.mb, &w.mb_inter[i]);
    motus_team_sync(); // the MB is written
    const MotusLevelChoice levels = level_choice<CABAC>(pass, pass.effort.levels);
    in.costs = levels.costs;
    if (BOTH) in.quant8 = &w.quant8[in.qp->luma.qp];
    if (!motus_rd_team_refine(&in, &levels, pass.effort.rd_mvs, w.inter_cost[i], &team, coefs,
                              BOTH ? transforms : nullptr, warp))
        return; // the whole block
    const MotusTrial *best = &team.trial[0];
    if (warp == 0) {
        if (best->mb.cbp) copy(&w.coef[i], &best->coef);
        if (motus_lane() == 0) w.luma_bits[i] = best->luma_bits, w.inter_cost[i] = best->cost;
    } else if (warp == 1) {
        const MotusMb *mb = w.intra_cost[i] < best->cost ? &w.mb_intra[i] : &best->mb;
        motus_note_decision(&w.mb[i], mb, &w.changed_at[i], now, KIND == P_ONE ? 1 : 2);
        copy(&w.mb_inter[i], &best->mb);
        store_samples(best, w, x, y);
    }
}

} // namespace

template <Kind KIND>
cudaError_t motus_decide::refine_mvs(const Pass &pass, const InterOf<KIND> &inter, int phase,
                                     int now, cudaStream_t stream) {
    return pass.effort.rd_mvs
               ? motus_launch(pass.pic.early, blocks_of_phase(pass), 32 * MOTUS_RD_WARPS, 0, stream,
                              has_both_transforms(pass) ? refine_kernel<true, true, KIND>
                              : pass.pic.costs          ? refine_kernel<true, false, KIND>
                                                        : refine_kernel<false, false, KIND>,
                              pass, inter, phase, now)
               : cudaSuccess;
}
template cudaError_t motus_decide::refine_mvs<P_ONE>(const Pass &, const FewReferences &, int, int,
                                                     cudaStream_t);
template cudaError_t motus_decide::refine_mvs<P_MANY>(const Pass &, const ManyReferences &, int,
                                                      int, cudaStream_t);
template cudaError_t motus_decide::refine_mvs<B_ONE>(const Pass &, const FewReferences &, int, int,
                                                     cudaStream_t);
template cudaError_t motus_decide::refine_mvs<B_MANY>(const Pass &, const ManyReferences &, int,
                                                      int, cudaStream_t);

cudaError_t motus_decide::prepare_refinement() {
    return motus_load_kernels(refine_kernel<true, true, P_ONE>, refine_kernel<true, false, P_ONE>,
                              refine_kernel<false, false, P_ONE>, refine_kernel<true, true, P_MANY>,
                              refine_kernel<true, false, P_MANY>,
                              refine_kernel<false, false, P_MANY>, refine_kernel<true, true, B_ONE>,
                              refine_kernel<true, false, B_ONE>, refine_kernel<false, false, B_ONE>,
                              refine_kernel<true, true, B_MANY>, refine_kernel<true, false, B_MANY>,
                              refine_kernel<false, false, B_MANY>);
}
