// Decisions of B pictures on a CUDA device, as decide.c makes them (suite gpu_decide).
// skip_kernel: a warp an MB, before the search. mark_kernel: a thread an MB; candidates_kernel: a
// warp an MB. decide_kernel: the MBs of one phase, a block of four warps each, 13 KiB of shared
// memory. The 8x8 transform and intra MBs are those of P pictures.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/b_warp.cuh"
#include "encoder/decide/decide_pass.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 32; // resident on an SM at 64 registers a thread

static_assert(sizeof(MotusMbCandidates) == sizeof(MotusCandidates), "B pictures share the memory");

__device__ MotusBCandidates *candidates_of(const MotusPictureStateCuda &w, int i) {
    return reinterpret_cast<MotusMbCandidates *>(w.candidates)[i].b;
}

// True if skip_kernel has coded the MB. All others have blocks once mark_kernel has run.
__device__ bool is_skipped(const MotusBCandidates *found) { return !found->blocks; }

// Codes the MBs whose B_Skip is sure.
template <bool CABAC>
__global__ void __launch_bounds__(32 * WARPS, SM_WARPS / WARPS)
    skip_kernel(const __grid_constant__ Pass pass, const __grid_constant__ FewReferences inter,
                const MotusDirect *direct) {
    __shared__ MotusTrial trial[WARPS];
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp();
    motus_begin_early();
    if (i >= w.n_mb) return;
    MotusTrial *skip = &trial[threadIdx.x / 32];
    MotusInterMb in = inter_mb<B_ONE>(pass, inter, i % w.mb_width, i / w.mb_width);
    const MotusLevelChoice levels = level_choice<CABAC>(pass, pass.effort.levels);
    in.costs = levels.costs;
    const int is_sure = motus_b_warp_skip_is_sure(&in, direct + i, &pass.effort, &levels, skip);
    if (motus_lane() == 0) candidates_of(w, i)->blocks = !is_sure;
    if (!is_sure) return;
    copy(&w.mb[i], &skip->mb);
    store_samples(skip, w, in.x, in.y);
}

// MANY: list 0 has several references.
template <bool MANY>
__global__ void __launch_bounds__(256)
    mark_kernel(const __grid_constant__ Pass pass, const __grid_constant__ BFields b) {
    const int i = (int)(blockIdx.x * 256 + threadIdx.x), n_mb = pass.pic.n_mb;
    const int refs = MANY ? b.refs : 1;
    const uint32_t lambda_q8 = MANY ? pass.pic.qp_table[pass.qp].lambda_q8 : 0;
    motus_begin_early();
    if (i >= n_mb || (b.skips_first && is_skipped(candidates_of(pass.pic, i)))) return;
    uint32_t least[MOTUS_B_BLOCKS], list1[MOTUS_B_BLOCKS];
#pragma unroll
    for (int k = 0; k < MOTUS_B_BLOCKS; k++) {
        const uint32_t cost = b.cost[0][(size_t)k * n_mb + i];
        least[k] = MANY && cost != UINT32_MAX ? cost + motus_ref_cost(lambda_q8, refs, 0) : cost;
        list1[k] = b.cost[refs][(size_t)k * n_mb + i];
    }
    for (int ref = 1; ref < refs; ref++)
#pragma unroll
        for (int k = 0; k < MOTUS_B_BLOCKS; k++) {
            const uint32_t cost = b.cost[ref][(size_t)k * n_mb + i],
                           with_ref = cost + motus_ref_cost(lambda_q8, refs, ref);
            if (cost != UINT32_MAX && with_ref < least[k]) least[k] = with_ref;
        }
    MotusBCandidates *found = candidates_of(pass.pic, i);
    const uint64_t blocks = motus_b_blocks(least, list1, &pass.effort);
    found->blocks = blocks;
    found->refs = 0;
    for (int ref = 1; ref < refs; ref++) {
        const uint32_t ref_cost = motus_ref_cost(lambda_q8, refs, ref);
        uint64_t close = 0;
#pragma unroll
        for (int k = 0; k < MOTUS_B_BLOCKS; k++)
            if (blocks >> k & 1 && motus_ref_is_close(b.cost[ref][(size_t)k * n_mb + i] + ref_cost,
                                                      least[k], pass.effort.type_gate))
                close |= (uint64_t)1 << k;
        b.far_blocks[(size_t)(ref - 1) * n_mb + i] = close;
    }
}

// Measures the marked blocks, and makes the MB's first guess.
template <Kind KIND>
__global__ void __launch_bounds__(32 * WARPS)
    candidates_kernel(const __grid_constant__ Pass pass,
                      const __grid_constant__ InterOf<KIND> inter,
                      const __grid_constant__ BFields b) {
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp();
    motus_let_successor_start();
    if (i >= w.n_mb) return;
    const MotusInterMb in = inter_mb<KIND>(pass, inter, i % w.mb_width, i / w.mb_width);
    const MotusBFields fields = {b.mv, b.centre, b.cost, b.far_blocks, (size_t)i, (size_t)w.n_mb};
    MotusBCandidates *found = candidates_of(w, i);
    if (!is_skipped(found)) {
        motus_b_candidates_warp(&in, &pass.effort, &fields, w.qp_table[pass.qp].lambda_q8, found);
        motus_lanes_sync(); // they are written
        motus_b_first_guess(&w.mb[i], found);
    }
    if (motus_lane()) return;
    w.intra_cost[i] = UINT32_MAX;
    w.changed_at[i] = w.seen_at[i] = 0;
    if (i == 0) w.flags[MOTUS_FLAG_ESTIMATED] = w.flags[MOTUS_FLAG_NOTED] = 0;
}

// Decides an MB, the blockIdx.x-th of the phase in row blockIdx.y. is_first: of the first round,
// whose launches may begin early, as in decide.cu. BOTH: trials have both transforms.
template <bool CABAC, bool BOTH, Kind KIND>
__global__ void __launch_bounds__(32 * MOTUS_B_WARPS, SM_WARPS / MOTUS_B_WARPS)
    decide_kernel(const __grid_constant__ Pass pass, const __grid_constant__ InterOf<KIND> inter,
                  const __grid_constant__ MotusDirectSource direct, int phase, int now,
                  int is_first) {
    constexpr int SETS = KIND == B_MANY ? MOTUS_B_SETS : 1;
    __shared__ MotusBTeam team;
    __shared__ MotusTrialCoefs coefs[MOTUS_B_WARPS];
    __shared__ MotusTransformShared transforms[BOTH ? MOTUS_B_WARPS : 1];
    __shared__ MotusBCandidates found[SETS];
    const MotusPictureStateCuda &w = pass.pic;
    if (!is_first || !phase) motus_wait_for_predecessor(); // candidates are written
    motus_let_successor_start();
    const int y = (int)blockIdx.y, x = mb_column(pass.effort.phases, phase);
    const int i = y * w.mb_width + x, warp = (int)threadIdx.x / 32;
    if (x >= w.mb_width || is_skipped(candidates_of(w, i))) { // the whole block
        if (is_first) motus_wait_for_predecessor();
        return;
    }
    const int first = motus_slice_first(w.slice_first, i);
    if (!is_first && !motus_neighbours_changed(w.changed_at, w.seen_at, i, x, w.mb_width, first))
        return; // the whole block
    MotusInterMb in = inter_mb<KIND>(pass, inter, x, y);
    for (int set = 0; set < SETS && warp == MOTUS_B_WARPS - 1; set++) // beside B_Skip
        copy(&found[set], candidates_of(w, i) + set);
    if (is_first) motus_wait_for_predecessor(); // the neighbours are decided
    in.neighbours = motus_neighbours(w.mb, w.mb_width, x, y, first);
    const MotusLevelChoice levels = level_choice<CABAC>(pass, pass.effort.levels);
    in.costs = levels.costs;
    if (BOTH) in.quant8 = &w.quant8[in.qp->luma.qp];
    uint32_t satd;
    const MotusTrial *best =
        motus_b_team_decide(&in, found, &direct, i, &pass.effort, &levels, &team, coefs,
                            BOTH ? transforms : nullptr, warp, &satd);
    if (warp == 0) {
        copy(&w.coef[i], &best->coef);
        if (motus_lane() == 0) {
            w.satd[i] = satd;
            w.luma_bits[i] = best->luma_bits;
            w.inter_cost[i] = best->cost;
            w.seen_at[i] = (uint16_t)now;
        }
    } else if (warp == 1) {
        const MotusMb *mb = !is_first && w.intra_cost[i] < best->cost ? &w.mb_intra[i] : &best->mb;
        motus_note_decision(&w.mb[i], mb, &w.changed_at[i], now, 2);
        copy(&w.mb_inter[i], &best->mb);
        store_samples(best, w, x, y);
    }
}

BFields b_fields(const MotusPictureJob *job) {
    BFields b = {};
    b.refs = job->refs, b.list = job->ref_list, b.far_blocks = job->far_blocks;
    if (job->refs == 1) b.ref[0] = job->ref[0], b.ref[1] = job->ref[1];
    for (int k = 0; k <= job->refs; k++) {
        const MotusMotion *motion = &job->motion[k];
        b.mv[k] = motion->mv, b.centre[k] = motion->centre, b.cost[k] = motion->cost;
    }
    b.direct = job->direct, b.limits = job->limits, b.skips_first = job->skips_first;
    return b;
}

template <Kind KIND>
cudaError_t decide_all(const Pass &pass, const MotusPictureJob *job, cudaStream_t stream) {
    const InterOf<KIND> inter = inter_of<KIND>(job);
    const cudaError_t status = motus_launch(0, blocks_for(pass.pic.n_mb), 32 * WARPS, 0, stream,
                                            candidates_kernel<KIND>, pass, inter, b_fields(job));
    const auto kernel = has_both_transforms(pass) ? decide_kernel<true, true, KIND>
                        : pass.pic.costs          ? decide_kernel<true, false, KIND>
                                                  : decide_kernel<false, false, KIND>;
    const auto launch_pass = [&](const Pass &, const InterOf<KIND> &, int round, int phase, int now,
                                 cudaStream_t) {
        return motus_launch(pass.pic.early, blocks_of_phase(pass), 32 * MOTUS_B_WARPS, 0, stream,
                            kernel, pass, inter, job->direct, phase, now, round == 0);
    };
    return status == cudaSuccess ? run_rounds<KIND>(pass, inter, launch_pass, stream) : status;
}

} // namespace

cudaError_t motus_decide::prepare_b() {
    return motus_load_kernels(skip_kernel<true>, skip_kernel<false>,
                              decide_kernel<true, true, B_ONE>, decide_kernel<true, false, B_ONE>,
                              decide_kernel<false, false, B_ONE>, decide_kernel<true, true, B_MANY>,
                              decide_kernel<true, false, B_MANY>,
                              decide_kernel<false, false, B_MANY>);
}

extern "C" cudaError_t motus_skip_cuda(const MotusPictureStateCuda *pic, const MotusPictureJob *job,
                                       cudaStream_t stream) {
    return motus_launch(pic->early, blocks_for(pic->n_mb), 32 * WARPS, 0, stream,
                        pic->costs ? skip_kernel<true> : skip_kernel<false>, pass_of(pic, job),
                        inter_of<B_ONE>(job), job->direct.fixed);
}

cudaError_t motus_decide::mark_b(const Pass &pass, const MotusPictureJob *job,
                                 cudaStream_t stream) {
    return motus_launch(pass.pic.early, (pass.pic.n_mb + 255) / 256, 256, 0, stream,
                        job->refs == 1 ? mark_kernel<false> : mark_kernel<true>, pass,
                        b_fields(job));
}

cudaError_t motus_decide::decide_b(const Pass &pass, const MotusPictureJob *job,
                                   cudaStream_t stream) {
    return job->refs == 1 ? decide_all<B_ONE>(pass, job, stream)
                          : decide_all<B_MANY>(pass, job, stream);
}
