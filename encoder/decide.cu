// Decisions of P pictures on a CUDA device: the passes of decide.c and the arithmetic of the same cores (their loops over blocks, modes and candidates are shared
// out among a warp's lanes: common/lanes.h).
//
// mark_kernel, candidates_kernel, note_kernel: every MB at once. decide_kernel: the MBs of one colour, a block of two or four warps each; a picture launches it
// rounds * colours times. Intra MBs: decide_intra.cu.
//
// Shared memory: 10 or 12 KiB a block of decide_kernel. Read and written: MBs, levels, reconstruction.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide_pass.cuh"
#include "encoder/schedule_core.h"
#include "encoder/trial_lanes_core.h"

using namespace motus_decide;

namespace {

constexpr int PLACES = 32; // warps an SM has places for, at 64 registers

__global__ void __launch_bounds__(256)
    mark_kernel(const __grid_constant__ Pass pass, const uint32_t *cost, const MotusMv *mv, MotusMv *whole) {
    int i = (int)(blockIdx.x * 256 + threadIdx.x);
    if (i >= pass.work.n_mb) return;
    if (whole) whole[i] = mv[MOTUS_BLOCK_16x16 * pass.work.n_mb + i];
    uint32_t own[MOTUS_BLOCKS];
#pragma unroll
    for (int b = 0; b < MOTUS_BLOCKS; b++) own[b] = cost[(size_t)b * pass.work.n_mb + i];
    pass.work.candidates[i].blocks = motus_blocks_with_a_chance(own, &pass.effort, pass.work.qp_table[pass.qp].lambda_q8);
}

// The different vectors of the marked blocks, in the order of the blocks, measured; and what neighbours see of the MB before its first decision.
__global__ void __launch_bounds__(32 * WARPS)
    candidates_kernel(const __grid_constant__ Pass pass, const __grid_constant__ MotusPCodingCuda p) {
    __shared__ MotusMv all[WARPS][MOTUS_BLOCKS];
    const MotusWorkCuda &w = pass.work;
    int i = this_warp(), lane = motus_lane(), n = 0;
    if (i >= w.n_mb) return;
    MotusMv *mv = all[threadIdx.x / 32];
    MotusCandidates *found = &w.candidates[i];
    uint64_t blocks = found->blocks;
    for (int b = lane; b < MOTUS_BLOCKS; b += 32) mv[b] = p.mv[(size_t)b * w.n_mb + i];
    __syncwarp();
    for (int first = 0; first < MOTUS_BLOCKS; first += 32) {
        int b = first + lane, fresh = b < MOTUS_BLOCKS && blocks >> b & 1;
        for (int k = 0; k < b && fresh; k++) fresh = !(blocks >> k & 1 && motus_mv_equal(mv[k], mv[b]));
        uint32_t which = __ballot_sync(MOTUS_ALL_LANES, fresh);
        int at = n + __popc(which & ((1u << lane) - 1));
        if (fresh && at < MOTUS_CANDIDATES) found->mv[at] = mv[b];
        n = motus_min(n + __popc(which), MOTUS_CANDIDATES);
    }
    __syncwarp();
#if MOTUS_LANES > 1 // nvcc compiles this for the host as well, which has no warps
    MotusInterMb in;
    in.ref = &p.ref;
    in.x = i % w.mb_width, in.y = i / w.mb_width;
    in.src = mb_source(w, in.x, in.y);
    for (int k = lane; k < 16 * n; k += 32) found->satd[k >> 4][k & 15] = (uint16_t)motus_team_satd(&in, found->mv[k >> 4]);
#endif
    motus_first_guess(&w.mb[i], found->mv[0]);
    if (lane == 0) {
        found->n = (uint8_t)n;
        w.intra_cost[i] = UINT32_MAX;
        w.changed_at[i] = w.seen_at[i] = 0;
    }
}

// Takes the cheaper of the two ways to code MB i.
__device__ void note_decision(const MotusWorkCuda &w, int i, int now) {
    const MotusMb *mb = w.intra_cost[i] < w.inter_cost[i] ? &w.mb_intra[i] : &w.mb_inter[i];
    motus_note_decision(&w.mb[i], mb, &w.changed_at[i], now);
}

// A block decides an MB, by a team of warps: the blockIdx.x-th of the colour in row blockIdx.y.
template <int TEAM>
__global__ void __launch_bounds__(32 * TEAM, PLACES / TEAM)
    decide_kernel(const __grid_constant__ Pass pass, const __grid_constant__ MotusPCodingCuda p, int colour, int now) {
    __shared__ MotusInterTeam team;
    __shared__ MotusTrialCoefs coefs[TEAM];
    const MotusWorkCuda &w = pass.work;
    const uint32_t colours = (uint32_t)pass.effort.colours;
    const int y = (int)blockIdx.y; // (x + 2y) % colours is the colour
    const int x = (int)(((uint32_t)colour + (colours - 1) * 2 * blockIdx.y) % colours + blockIdx.x * colours);
    const int i = y * w.mb_width + x;
    if (x >= w.mb_width) return; // the whole block
    const int first = motus_slice_first(w.slice_first, i);
    if (!motus_neighbours_changed(w.changed_at, w.seen_at, i, x, w.mb_width, first)) return; // likewise
    const int warp = (int)threadIdx.x / 32;
    MotusInterMb in;
    in.ref = &p.ref;
    in.limits = &p.limits;
    in.qp = &w.qp_table[motus_mb_qp(pass.qp, w.qp_offset, i)];
    in.src = mb_source(w, x, y);
    in.neighbours = motus_neighbours(w.mb, w.mb_width, x, y, first);
    in.x = x, in.y = y;
    const MotusLevelChoice levels = {w.zero_runs, pass.effort.levels};
#if MOTUS_LANES > 1 // nvcc compiles this for the host as well, which has no warps
    uint32_t satd;
    const MotusTrial *best =
        motus_team_decide(&in, &w.candidates[i], &pass.effort, &levels, &team, &coefs[warp], warp, TEAM, &satd);
    if (warp == 0) {
        copy(&w.coef[i], &best->coef);
        if (motus_lane() == 0) {
            w.satd[i] = satd;
            w.inter_cost[i] = best->cost;
            w.seen_at[i] = (uint16_t)now;
        }
    } else if (warp == 1) {
        copy(&w.mb_inter[i], &best->mb);
        store_samples(best, w, x, y);
        const MotusMb *mb = w.intra_cost[i] < best->cost ? &w.mb_intra[i] : &best->mb;
        motus_note_decision(&w.mb[i], mb, &w.changed_at[i], now);
    }
#endif
}

__global__ void __launch_bounds__(32 * WARPS) note_kernel(const __grid_constant__ Pass pass, int now) {
    int i = this_warp();
    if (i < pass.work.n_mb) note_decision(pass.work, i, now);
}

// Where several types may come close to the best one, four warps share them out; else the second two would only hold places that other lanes have use for.
void launch_pass(const Pass &pass, const MotusPCodingCuda &p, int colour, int now, cudaStream_t stream) {
    const int colours = pass.effort.colours;
    const dim3 blocks((unsigned)((pass.work.mb_width + colours - 1) / colours), (unsigned)pass.work.mb_height);
    if (pass.effort.trial_gate > 16)
        decide_kernel<4><<<blocks, 32 * 4, 0, stream>>>(pass, p, colour, now);
    else
        decide_kernel<2><<<blocks, 32 * 2, 0, stream>>>(pass, p, colour, now);
}

} // namespace

extern "C" cudaError_t motus_code_i_cuda(const MotusWorkCuda *work, int qp, const MotusEffort *effort, cudaStream_t stream) {
    const Pass pass = {*work, *effort, qp, 0};
    return code_intra(pass, stream);
}

extern "C" cudaError_t motus_mark_blocks_cuda(const MotusWorkCuda *work, const uint32_t *cost, const MotusMv *mv, MotusMv *whole,
                                              int qp, const MotusEffort *effort, cudaStream_t stream) {
    const Pass pass = {*work, *effort, qp, 1};
    mark_kernel<<<(work->n_mb + 255) / 256, 256, 0, stream>>>(pass, cost, mv, whole);
    return cudaGetLastError();
}

extern "C" cudaError_t motus_code_p_cuda(const MotusWorkCuda *work, const MotusPCodingCuda *p, int qp, const MotusEffort *effort,
                                         cudaStream_t stream) {
    const Pass pass = {*work, *effort, qp, 1};
    int now = 0;
    candidates_kernel<<<blocks_for(work->n_mb), 32 * WARPS, 0, stream>>>(pass, *p);
    cudaError_t status = motus_stage_ended_cuda(work, MOTUS_STAGE_CANDIDATES, stream);
    for (int round = 0; round < effort->rounds; round++) {
        for (int k = 0; k < effort->colours; k++) launch_pass(pass, *p, k, ++now, stream);
        if (round) continue;
        if (status == cudaSuccess) status = estimate_intra(pass, stream);
        if (status != cudaSuccess) return status;
        note_kernel<<<blocks_for(work->n_mb), 32 * WARPS, 0, stream>>>(pass, ++now);
    }
    status = cudaGetLastError();
    if (status == cudaSuccess) status = motus_stage_ended_cuda(work, MOTUS_STAGE_DECIDE, stream);
    return status == cudaSuccess ? code_intra(pass, stream) : status;
}
