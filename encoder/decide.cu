// Decisions of P pictures on a CUDA device: the passes of decide.c and the arithmetic of the same cores (their loops over blocks, modes and candidates are shared
// out among a warp's lanes: common/lanes.h).
//
// mark_kernel, candidates_kernel, note_kernel: every MB at once. decide_kernel: the MBs of one colour, a block of two or four warps each; a picture launches it
// rounds * colours times. Intra MBs: decide_estimate.cu and decide_intra.cu.
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

// The different vectors of the marked blocks, in the order of the blocks, measured; and what neighbours see of the MB before its first decision. A lane has two
// blocks, and then a vector.
__global__ void __launch_bounds__(32 * WARPS)
    candidates_kernel(const __grid_constant__ Pass pass, const __grid_constant__ MotusPCodingCuda p) {
#if MOTUS_LANES > 1 // nvcc compiles this for the host as well, which has no warps
    const MotusWorkCuda &w = pass.work;
    const int i = this_warp(), lane = motus_lane();
    if (i >= w.n_mb) return;
    MotusCandidates *found = &w.candidates[i];
    const uint64_t blocks = found->blocks;
    uint32_t own[2], left[2], mv = 0;
    for (int h = 0; h < 2; h++) {
        const int b = lane + 32 * h, marked = b < MOTUS_BLOCKS && blocks >> b & 1;
        own[h] = marked ? motus_mv_word(p.mv[(size_t)b * w.n_mb + i]) : 0;
        left[h] = motus_lanes_which(marked);
    }
    int n = 0;
    for (; n < MOTUS_CANDIDATES && (left[0] | left[1]); n++) {
        const uint32_t next = motus_lanes_get(left[0] ? own[0] : own[1], __ffs((int)(left[0] ? left[0] : left[1])) - 1);
        for (int h = 0; h < 2; h++) left[h] &= ~motus_lanes_which(own[h] == next);
        if (lane == n) mv = next;
    }
    if (lane < n) found->mv[lane] = motus_mv_of_word(mv);
    MotusInterMb in;
    in.ref = &p.ref;
    in.x = i % w.mb_width, in.y = i / w.mb_width;
    in.src = mb_source(w, in.x, in.y);
    for (int v = lane >> 4; v - (lane >> 4) < n; v += 2) { // two vectors at a time, a lane a 4x4 block
        const uint32_t satd = motus_team_satd(&in, motus_mv_of_word(motus_lanes_get(mv, v)));
        if (v < n) found->satd[v][lane & 15] = (uint16_t)satd;
    }
    motus_first_guess(&w.mb[i], motus_mv_of_word(motus_lanes_get(mv, 0)));
    if (lane == 0) {
        found->n = (uint8_t)n;
        w.intra_cost[i] = UINT32_MAX;
        w.changed_at[i] = w.seen_at[i] = 0;
        if (i == 0) w.flags[2] = 0;
    }
#endif
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
