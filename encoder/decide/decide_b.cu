// Decisions of B pictures on a CUDA device, as decide.c makes them (suite gpu_decide).
// mark_kernel: a thread an MB; candidates_kernel: a warp an MB. decide_kernel: the MBs of one
// phase, a block of four warps each, 13 KiB of shared memory. The 8x8 transform and intra MBs are
// those of P pictures.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/b_team_warp.cuh"
#include "encoder/decide/decide_core.h"
#include "encoder/decide/decide_pass.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 32; // resident on an SM at 64 registers a thread

static_assert(sizeof(MotusMbCandidates) == sizeof(MotusCandidates), "B pictures share the memory");

__device__ MotusBCandidates *candidates_of(const MotusPictureStateCuda &w, int i) {
    return reinterpret_cast<MotusMbCandidates *>(w.candidates)[i].b;
}

__global__ void __launch_bounds__(256)
    mark_kernel(const __grid_constant__ Pass pass, const __grid_constant__ MotusBCodingCuda b) {
    const int i = (int)(blockIdx.x * 256 + threadIdx.x);
    motus_let_successor_start();
    motus_wait_for_predecessor();
    if (i >= pass.pic.n_mb) return;
    uint32_t cost[2][MOTUS_B_BLOCKS];
    for (int list = 0; list < 2; list++)
#pragma unroll
        for (int k = 0; k < MOTUS_B_BLOCKS; k++)
            cost[list][k] = b.cost[list][(size_t)k * pass.pic.n_mb + i];
    MotusBCandidates *found = candidates_of(pass.pic, i);
    found->blocks = motus_b_blocks(cost[0], cost[1], &pass.effort);
    found->refs = 0;
}

__device__ MotusInterMb b_mb(const Pass &pass, const MotusBCodingCuda &b, int i) {
    const MotusPictureStateCuda &w = pass.pic;
    MotusInterMb in;
    in.ref = b.ref;
    in.limits = &b.limits;
    in.qp = &w.qp_table[motus_mb_qp(pass.qp, w.qp_offset, i)];
    in.x = i % w.mb_width, in.y = i / w.mb_width;
    in.src = mb_source(w, in.x, in.y);
    in.lists = 2, in.refs = 1;
    return in;
}

// Measures the marked blocks, and makes the MB's first guess.
__global__ void __launch_bounds__(32 * WARPS)
    candidates_kernel(const __grid_constant__ Pass pass,
                      const __grid_constant__ MotusBCodingCuda b) {
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp();
    motus_let_successor_start();
    if (i >= w.n_mb) return;
    const MotusInterMb in = b_mb(pass, b, i);
    const MotusMv *const mv[2] = {b.mv[0] + i, b.mv[1] + i};
    const MotusMv centre[2] = {b.centre[0][i], b.centre[1][i]};
    MotusBCandidates *found = candidates_of(w, i);
    motus_b_candidates_warp(&in, &pass.effort, mv, (size_t)w.n_mb, centre,
                            w.qp_table[pass.qp].lambda_q8, found);
    motus_lanes_sync(); // they are written
    motus_b_first_guess(&w.mb[i], found);
    if (motus_lane()) return;
    w.intra_cost[i] = UINT32_MAX;
    w.changed_at[i] = w.seen_at[i] = 0;
    if (i == 0) w.flags[MOTUS_FLAG_ESTIMATED] = 0;
}

// Decides an MB, the blockIdx.x-th of the phase in row blockIdx.y. is_first: of the first round,
// whose launches may begin early, as in decide.cu.
template <bool CABAC>
__global__ void __launch_bounds__(32 * MOTUS_B_WARPS, SM_WARPS / MOTUS_B_WARPS)
    decide_kernel(const __grid_constant__ Pass pass, const __grid_constant__ MotusBCodingCuda b,
                  int phase, int now, int is_first) {
    __shared__ MotusBTeam team;
    __shared__ MotusTrialCoefs coefs[MOTUS_B_WARPS];
    __shared__ MotusBCandidates found;
    const MotusPictureStateCuda &w = pass.pic;
    if (!is_first || !phase) motus_wait_for_predecessor(); // candidates are written
    motus_let_successor_start();
    const uint32_t phases = (uint32_t)pass.effort.phases;
    const int y = (int)blockIdx.y; // (x + 2y) % phases is the phase
    const int x =
        (int)(((uint32_t)phase + (phases - 1) * 2 * blockIdx.y) % phases + blockIdx.x * phases);
    const int i = y * w.mb_width + x, warp = (int)threadIdx.x / 32;
    if (x >= w.mb_width) { // the whole block
        if (is_first) motus_wait_for_predecessor();
        return;
    }
    const int first = motus_slice_first(w.slice_first, i);
    if (!is_first && !motus_neighbours_changed(w.changed_at, w.seen_at, i, x, w.mb_width, first))
        return; // the whole block
    MotusInterMb in = b_mb(pass, b, i);
    if (warp == MOTUS_B_WARPS - 1) copy(&found, candidates_of(w, i)); // beside B_Skip
    const int col_zero = b.col_zero[i];
    if (is_first) motus_wait_for_predecessor(); // the neighbours are decided
    in.neighbours = motus_neighbours(w.mb, w.mb_width, x, y, first);
    const MotusLevelChoice levels = level_choice<CABAC>(pass, pass.effort.levels);
    uint32_t satd;
    const MotusTrial *best = motus_b_team_decide(&in, &found, col_zero, &pass.effort, &levels,
                                                 &team, coefs, warp, &satd);
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

cudaError_t launch_round(const Pass &pass, const MotusBCodingCuda &b, int is_first, int *now,
                         cudaStream_t stream) {
    const int phases = pass.effort.phases;
    const dim3 blocks((unsigned)((pass.pic.mb_width + phases - 1) / phases),
                      (unsigned)pass.pic.mb_height);
    cudaError_t status = cudaSuccess;
    for (int k = 0; k < phases && status == cudaSuccess; k++)
        status = motus_launch(pass.pic.early, blocks, 32 * MOTUS_B_WARPS, 0, stream,
                              pass.pic.costs ? decide_kernel<true> : decide_kernel<false>, pass, b,
                              k, ++*now, is_first);
    return status;
}

} // namespace

cudaError_t motus_decide::prepare_b() {
    cudaFuncAttributes unused;
    const cudaError_t status = cudaFuncGetAttributes(&unused, decide_kernel<true>);
    return status == cudaSuccess ? cudaFuncGetAttributes(&unused, decide_kernel<false>) : status;
}

extern "C" cudaError_t motus_mark_b_blocks_cuda(const MotusPictureStateCuda *pic,
                                                const MotusBCodingCuda *b,
                                                const MotusEffort *effort, cudaStream_t stream) {
    return motus_launch(pic->early, (pic->n_mb + 255) / 256, 256, 0, stream, mark_kernel,
                        pass_of(pic, effort, 0, MOTUS_SLICE_B), *b);
}

extern "C" cudaError_t motus_code_b_cuda(const MotusPictureStateCuda *pic,
                                         const MotusBCodingCuda *b, int qp,
                                         const MotusEffort *effort, cudaStream_t stream) {
    const Pass pass = pass_of(pic, effort, qp, MOTUS_SLICE_B);
    const InterOf<B_LISTS> inter = {{b->ref[0], b->ref[1]}, b->limits};
    int now = 0;
    candidates_kernel<<<blocks_for(pic->n_mb), 32 * WARPS, 0, stream>>>(pass, *b);
    cudaError_t status = motus_stage_ended_cuda(pic, MOTUS_STAGE_CANDIDATES, stream);
    for (int round = 0; round < effort->rounds && status == cudaSuccess; round++) {
        const int since = now;
        status = launch_round(pass, *b, round == 0, &now, stream);
        if (pic->transform_8x8 && status == cudaSuccess)
            status = choose_transforms(pass, inter, since, ++now, stream);
        if (!round && status == cudaSuccess) status = estimate_intra(pass, stream);
        if (!round && status == cudaSuccess) status = note_intra(pass, true, ++now, stream);
    }
    if (status == cudaSuccess) status = motus_stage_ended_cuda(pic, MOTUS_STAGE_DECIDE, stream);
    return status == cudaSuccess ? code_intra(pass, stream) : status;
}
