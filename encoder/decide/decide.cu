// Decisions of P pictures on a CUDA device, as decide.c makes them (suite gpu_decide).
// mark_kernel: a thread an MB; candidates_kernel, note_kernel: a warp an MB. decide_kernel: the MBs
// of one phase, a block of two or four warps each, 10 or 12 KiB of shared memory; rounds * phases
// launches a picture, of which the first round's may overlap.
// Intra MBs: decide_estimate.cu and decide_intra.cu.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/inter_team_warp.cuh"
#include "encoder/decide/decide_core.h"
#include "encoder/decide/decide_pass.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 32;     // resident on an SM at 64 registers a thread
constexpr int SM_WARPS_FEW = 16; // at 128

__global__ void __launch_bounds__(256)
    mark_kernel(const __grid_constant__ Pass pass, const uint32_t *cost, const MotusMv *mv,
                MotusMv *whole) {
    int i = (int)(blockIdx.x * 256 + threadIdx.x);
    motus_let_successor_start();
    motus_wait_for_predecessor();
    if (i >= pass.pic.n_mb) return;
    if (whole) whole[i] = mv[MOTUS_BLOCK_16x16 * pass.pic.n_mb + i];
    uint32_t own[MOTUS_BLOCKS];
#pragma unroll
    for (int b = 0; b < MOTUS_BLOCKS; b++) own[b] = cost[(size_t)b * pass.pic.n_mb + i];
    pass.pic.candidates[i].blocks =
        motus_candidate_blocks(own, &pass.effort, pass.pic.qp_table[pass.qp].lambda_q8);
}

// Lists and measures the distinct MVs of the marked blocks, in the order of blocks, and makes the
// MB's first guess. A lane has two blocks, then an MV.
__global__ void __launch_bounds__(32 * WARPS)
    candidates_kernel(const __grid_constant__ Pass pass,
                      const __grid_constant__ MotusPCodingCuda p) {
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp(), lane = motus_lane();
    motus_let_successor_start();
    if (i >= w.n_mb) return;
    MotusCandidates *found = &w.candidates[i];
    const uint64_t blocks = found->blocks;
    uint32_t own[2], left[2], mv = 0;
    for (int h = 0; h < 2; h++) {
        const int b = lane + 32 * h, marked = b < MOTUS_BLOCKS && blocks >> b & 1;
        own[h] = marked ? motus_mv_word(p.mv[(size_t)b * w.n_mb + i]) : 0;
        left[h] = motus_lanes_ballot(marked);
    }
    int n = 0;
    for (; n < MOTUS_CANDIDATES && (left[0] | left[1]); n++) {
        const uint32_t next = motus_lanes_shuffle(left[0] ? own[0] : own[1],
                                                  __ffs((int)(left[0] ? left[0] : left[1])) - 1);
        for (int h = 0; h < 2; h++) left[h] &= ~motus_lanes_ballot(own[h] == next);
        if (lane == n) mv = next;
    }
    if (lane < n) found->mv[lane] = motus_mv_of_word(mv);
    MotusInterMb in;
    in.ref = &p.ref;
    in.lists = 1;
    in.x = i % w.mb_width, in.y = i / w.mb_width;
    in.src = mb_source(w, in.x, in.y);
    for (int v = lane >> 4; v - (lane >> 4) < n; v += 2) { // two MVs at a time, a lane a 4x4 block
        const uint32_t satd = motus_team_satd(&in, motus_mv_of_word(motus_lanes_shuffle(mv, v)));
        if (v < n) found->satd[v][lane & 15] = (uint16_t)satd;
    }
    motus_first_guess(&w.mb[i], motus_mv_of_word(motus_lanes_shuffle(mv, 0)));
    if (lane == 0) {
        found->n = (uint8_t)n;
        w.intra_cost[i] = UINT32_MAX;
        w.changed_at[i] = w.seen_at[i] = 0;
        if (i == 0) w.flags[2] = 0;
    }
}

// Launches of the first round may begin early: their blocks do what does not depend on the launch
// before, then wait until it is done. Every block waits, also one without an MB (in narrow
// pictures): so no launch is done before its predecessors, and waiting for one waits for all.

// Pass `now` of a picture, which decides the MBs of one phase.
struct Turn {
    int phase, now;
    int first; // of the first round: all MBs are decided, and none is intra
    int early; // the next launch may begin early
};

// Notes the decision about an MB. With a single round changes do not matter, and the first guess is
// not read.
__device__ void note_decision(const Pass &pass, const Turn &turn, const MotusTrial *best, int i) {
    const MotusPictureStateCuda &w = pass.pic;
    if (pass.effort.rounds == 1) {
        copy(&w.mb[i], &best->mb);
        return;
    }
    const MotusMb *mb = !turn.first && w.intra_cost[i] < best->cost ? &w.mb_intra[i] : &best->mb;
    motus_note_decision(&w.mb[i], mb, &w.changed_at[i], turn.now, 1);
}

// Decides an MB, the blockIdx.x-th of the phase in row blockIdx.y. TEAM: warps of a block. SHARES:
// they evaluate a single type together. RESIDENT: warps on an SM at a time. CABAC: level_choice.
template <int TEAM, bool SHARES, int RESIDENT, bool CABAC>
__global__ void __launch_bounds__(32 * TEAM, RESIDENT / TEAM)
    decide_kernel(const __grid_constant__ Pass pass, const __grid_constant__ MotusPCodingCuda p,
                  const Turn turn) {
    __shared__ MotusInterTeam team;
    __shared__ MotusTrialCoefs coefs[TEAM];
    const MotusPictureStateCuda &w = pass.pic;
    if (turn.first && !turn.phase)
        motus_wait_for_predecessor(); // candidates are written, also for launches that begin early
    if (turn.early) motus_let_successor_start();
    const uint32_t phases = (uint32_t)pass.effort.phases;
    const int y = (int)blockIdx.y; // (x + 2y) % phases is the phase
    const int x = (int)(((uint32_t)turn.phase + (phases - 1) * 2 * blockIdx.y) % phases +
                        blockIdx.x * phases);
    const int i = y * w.mb_width + x;
    if (x >= w.mb_width) { // the whole block
        if (turn.first) motus_wait_for_predecessor();
        return;
    }
    const int first = motus_slice_first(w.slice_first, i);
    if (!turn.first && !motus_neighbours_changed(w.changed_at, w.seen_at, i, x, w.mb_width, first))
        return; // the whole block
    const int warp = (int)threadIdx.x / 32;
    MotusInterMb in;
    in.ref = &p.ref;
    in.lists = 1;
    in.limits = &p.limits;
    in.qp = &w.qp_table[motus_mb_qp(pass.qp, w.qp_offset, i)];
    in.src = mb_source(w, x, y);
    in.neighbours = motus_neighbours(w.mb, w.mb_width, x, y, first);
    in.x = x, in.y = y;
    const MotusLevelChoice levels = level_choice<CABAC>(pass, pass.effort.levels);
    const MotusCandidates *found = &w.candidates[i];
    MotusTeamLane own;
    uint32_t satd;
    motus_team_begin(&own, found, &team.choose.choice, &team.of.sums, warp, TEAM);
    if (turn.first) motus_wait_for_predecessor(); // the neighbours are decided
    const MotusTeamEdge edge = motus_team_edge(&in.neighbours);
    const MotusTrial *best = motus_team_decide(&in, own, &edge, found, &pass.effort, &levels, &team,
                                               coefs, warp, TEAM, SHARES, &satd);
    if (warp == 0) {
        copy(&w.coef[i], &best->coef);
        if (motus_lane() == 0) {
            w.satd[i] = satd;
            w.luma_bits[i] = best->luma_bits;
            w.inter_cost[i] = best->cost;
            w.seen_at[i] = (uint16_t)turn.now;
        }
    } else if (warp == 1) {
        note_decision(pass, turn, best, i);
        copy(&w.mb_inter[i], &best->mb);
        store_samples(best, w, x, y);
    }
}

template <int LISTS>
__global__ void __launch_bounds__(32 * WARPS)
    note_kernel(const __grid_constant__ Pass pass, int now) {
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp();
    motus_let_successor_start();
    motus_wait_for_predecessor();
    if (i < w.n_mb && w.intra_cost[i] < w.inter_cost[i])
        motus_note_decision(&w.mb[i], &w.mb_intra[i], &w.changed_at[i], now, LISTS);
}

template <int TEAM, bool SHARES, int RESIDENT = SM_WARPS>
cudaError_t launch_team(const Pass &pass, const MotusPCodingCuda &p, const Turn &turn,
                        cudaStream_t stream) {
    const int phases = pass.effort.phases;
    const dim3 blocks((unsigned)((pass.pic.mb_width + phases - 1) / phases),
                      (unsigned)pass.pic.mb_height);
    return motus_launch(turn.early, blocks, 32 * TEAM, 0, stream,
                        pass.pic.costs ? decide_kernel<TEAM, SHARES, RESIDENT, true>
                                       : decide_kernel<TEAM, SHARES, RESIDENT, false>,
                        pass, p, turn);
}

// Chooses the kernel of a pass. Four warps a team if several types may be evaluated; else two would
// be idle, and other GOP coders can use the SM. A GOP coder alone waits for the slowest MB of each
// pass: warps share types, and if levels are lowered registers matter more than resident MBs.
cudaError_t launch_pass(const Pass &pass, const MotusPCodingCuda &p, int round, int phase, int now,
                        cudaStream_t stream) {
    const Turn turn = {phase, now, round == 0, round == 0 && pass.pic.early};
    if (pass.pic.early && pass.effort.levels == MOTUS_LEVELS_LOWERED)
        return launch_team<4, true, SM_WARPS_FEW>(pass, p, turn, stream);
    if (pass.pic.early) return launch_team<4, true>(pass, p, turn, stream);
    return pass.effort.trial_gate > 16 ? launch_team<4, false>(pass, p, turn, stream)
                                       : launch_team<2, false>(pass, p, turn, stream);
}

} // namespace

cudaError_t motus_decide::note_intra(const Pass &pass, int now, cudaStream_t stream) {
    return motus_launch(pass.pic.early, blocks_for(pass.pic.n_mb), 32 * WARPS, 0, stream,
                        pass.slice_type == MOTUS_SLICE_B ? note_kernel<2> : note_kernel<1>, pass,
                        now);
}

extern "C" cudaError_t motus_code_i_cuda(const MotusPictureStateCuda *pic, int qp,
                                         const MotusEffort *effort, cudaStream_t stream) {
    return code_intra(pass_of(pic, effort, qp, MOTUS_SLICE_I), stream);
}

extern "C" cudaError_t motus_mark_blocks_cuda(const MotusPictureStateCuda *pic,
                                              const uint32_t *cost, const MotusMv *mv,
                                              MotusMv *whole, int qp, const MotusEffort *effort,
                                              cudaStream_t stream) {
    const Pass pass = pass_of(pic, effort, qp, MOTUS_SLICE_P);
    return motus_launch(pic->early, (pic->n_mb + 255) / 256, 256, 0, stream, mark_kernel, pass,
                        cost, mv, whole);
}

extern "C" cudaError_t motus_code_p_cuda(const MotusPictureStateCuda *pic,
                                         const MotusPCodingCuda *p, int qp,
                                         const MotusEffort *effort, cudaStream_t stream) {
    const Pass pass = pass_of(pic, effort, qp, MOTUS_SLICE_P);
    const InterOf<1> inter = {{p->ref}, p->limits};
    int now = 0;
    candidates_kernel<<<blocks_for(pic->n_mb), 32 * WARPS, 0, stream>>>(pass, *p);
    cudaError_t status = motus_stage_ended_cuda(pic, MOTUS_STAGE_CANDIDATES, stream);
    for (int round = 0; round < effort->rounds; round++) {
        const int since = now;
        for (int k = 0; k < effort->phases && status == cudaSuccess; k++)
            status = launch_pass(pass, *p, round, k, ++now, stream);
        if (pic->transform_8x8 && status == cudaSuccess)
            status = choose_transforms(pass, inter, since, ++now, stream);
        if (round) continue;
        if (status == cudaSuccess) status = estimate_intra(pass, stream);
        if (status != cudaSuccess) return status;
        status = note_intra(pass, ++now, stream);
    }
    if (status == cudaSuccess) status = motus_stage_ended_cuda(pic, MOTUS_STAGE_DECIDE, stream);
    return status == cudaSuccess ? code_intra(pass, stream) : status;
}

// Kernels built for an older architecture cannot wait for their predecessor on any device.
extern "C" cudaError_t motus_decide_cuda_prepare(int *early) {
    cudaFuncAttributes attributes;
    cudaError_t status = cudaSuccess;
    for (auto kernel :
         {decide_kernel<2, false, SM_WARPS, false>, decide_kernel<2, false, SM_WARPS, true>,
          decide_kernel<4, false, SM_WARPS, false>, decide_kernel<4, false, SM_WARPS, true>,
          decide_kernel<4, true, SM_WARPS, false>, decide_kernel<4, true, SM_WARPS, true>,
          decide_kernel<4, true, SM_WARPS_FEW, false>, decide_kernel<4, true, SM_WARPS_FEW, true>})
        if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, kernel);
    if (status == cudaSuccess) status = prepare_transforms();
    if (status == cudaSuccess) status = prepare_b();
    *early = status == cudaSuccess && attributes.ptxVersion >= 90;
    return status;
}
