// Decisions of P pictures on a CUDA device, as decide.c makes them (suite gpu_decide).
// mark_kernel: a thread an MB; candidates_kernel, note_kernel: a warp an MB. decide_kernel: the MBs
// of one phase, a block of two or four warps each, 10 or 12 KiB of shared memory; rounds * phases
// launches a picture, of which the first round's may overlap.
// Intra MBs: decide_estimate.cu and decide_intra.cu.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/inter_warp.cuh"
#include "encoder/decide/decide_pass.cuh"

using namespace motus_decide;

namespace {

constexpr int SM_WARPS = 32;     // resident on an SM at 64 registers a thread
constexpr int SM_WARPS_FEW = 16; // at 128
// With both transforms, if many GOP coders share the device.
template <Kind KIND> constexpr int BOTH_WARPS = KIND == P_ONE ? SM_WARPS : SM_WARPS_FEW;

__global__ void __launch_bounds__(256)
    mark_kernel(const __grid_constant__ Pass pass, const uint32_t *cost, const MotusMv *mv,
                MotusMv *whole) {
    int i = (int)(blockIdx.x * 256 + threadIdx.x);
    motus_begin_early();
    if (i >= pass.pic.n_mb) return;
    if (whole) whole[i] = mv[MOTUS_BLOCK_16x16 * pass.pic.n_mb + i];
    uint32_t own[MOTUS_BLOCKS];
#pragma unroll
    for (int b = 0; b < MOTUS_BLOCKS; b++) own[b] = cost[(size_t)b * pass.pic.n_mb + i];
    pass.pic.candidates[i].blocks =
        motus_candidate_blocks(own, &pass.effort, pass.pic.qp_table[pass.qp].lambda_q8);
}

// Marks blocks with several references, as find_p_candidates (candidates_cpu.h) up to refinement.
__global__ void __launch_bounds__(256)
    mark_refs_kernel(const __grid_constant__ Pass pass, const __grid_constant__ PFields p,
                     MotusMv *whole) {
    const int i = (int)(blockIdx.x * 256 + threadIdx.x), n_mb = pass.pic.n_mb;
    const uint32_t lambda_q8 = pass.pic.qp_table[pass.qp].lambda_q8;
    motus_begin_early();
    if (i >= n_mb) return;
    if (whole) whole[i] = p.mv[0][MOTUS_BLOCK_16x16 * n_mb + i];
    uint32_t least[MOTUS_BLOCKS];
#pragma unroll
    for (int b = 0; b < MOTUS_BLOCKS; b++) least[b] = p.cost[0][(size_t)b * n_mb + i];
    const uint32_t first = motus_ref_cost(lambda_q8, p.refs, 0);
#pragma unroll
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (least[b] != UINT32_MAX) least[b] += first;
    for (int ref = 1; ref < p.refs; ref++) {
        const uint32_t ref_cost = motus_ref_cost(lambda_q8, p.refs, ref);
#pragma unroll
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            const uint32_t cost = p.cost[ref][(size_t)b * n_mb + i];
            if (cost != UINT32_MAX && cost + ref_cost < least[b]) least[b] = cost + ref_cost;
        }
    }
    const uint64_t blocks = motus_candidate_blocks(least, &pass.effort, lambda_q8);
    pass.pic.candidates[i].blocks = blocks;
    for (int ref = 1; ref < p.refs; ref++) {
        const uint32_t ref_cost = motus_ref_cost(lambda_q8, p.refs, ref);
        uint64_t close = 0;
#pragma unroll
        for (int b = 0; b < MOTUS_BLOCKS; b++)
            if (blocks >> b & 1 && motus_ref_is_close(p.cost[ref][(size_t)b * n_mb + i] + ref_cost,
                                                      least[b], pass.effort.type_gate))
                close |= (uint64_t)1 << b;
        p.far_blocks[(size_t)(ref - 1) * n_mb + i] = close;
    }
}

// List of candidates, one a lane; n and what follows from it are the same in all lanes.
struct Listed {
    int n, ref;
    uint32_t mv; // motus_mv_word
};

// Lists the distinct MVs of the marked blocks in a reference, in the order of blocks. A lane has
// two blocks, then an MV. max_y: motus_refresh_max_mv_y.
__device__ void list_mvs(Listed *l, uint64_t blocks, const MotusMv *mv, size_t pitch, int ref,
                         int max_y) {
    const int lane = motus_lane();
    uint32_t own[2], left[2];
    for (int h = 0; h < 2; h++) {
        const int b = lane + 32 * h, marked = b < MOTUS_BLOCKS && blocks >> b & 1;
        MotusMv its = marked ? mv[b * pitch] : MotusMv{0, 0};
        its.y = (int16_t)motus_refresh_block_mv_y(max_y, b, its.y);
        own[h] = motus_mv_word(its);
        left[h] = motus_lanes_ballot(marked);
    }
    while (l->n < MOTUS_CANDIDATES && (left[0] | left[1])) {
        const uint32_t next = motus_lanes_shuffle(left[0] ? own[0] : own[1],
                                                  __ffs((int)(left[0] ? left[0] : left[1])) - 1);
        for (int h = 0; h < 2; h++) left[h] &= ~motus_lanes_ballot(own[h] == next);
        if (motus_lanes_ballot(lane < l->n && l->mv == next && l->ref == ref)) continue;
        if (lane == l->n) l->mv = next, l->ref = ref;
        l->n++;
    }
}

// Lists and measures the distinct MVs of the marked blocks, and makes the MB's first guess.
template <Kind KIND>
__global__ void __launch_bounds__(32 * WARPS)
    candidates_kernel(const __grid_constant__ Pass pass,
                      const __grid_constant__ InterOf<KIND> inter,
                      const __grid_constant__ PFields p) {
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp(), lane = motus_lane();
    motus_let_successor_start();
    if (i >= w.n_mb) return;
    MotusCandidates *found = &w.candidates[i];
    const uint64_t blocks = found->blocks;
    const size_t pitch = (size_t)w.n_mb;
    const MotusInterMb in = inter_mb<KIND>(pass, inter, i % w.mb_width, i / w.mb_width);
    Listed listed = {0, 0, 0};
    if (KIND == P_ONE) list_mvs(&listed, blocks, p.mv[0] + i, pitch, 0, in.max_mv_y);
    for (int small = 0; KIND == P_MANY && small < 2; small++)
        for (int ref = 0; ref < p.refs; ref++) {
            const uint64_t wanted = ref ? p.far_blocks[(ref - 1) * pitch + i] : blocks;
            list_mvs(&listed, wanted & (small ? ~MOTUS_LARGE_BLOCKS : MOTUS_LARGE_BLOCKS),
                     p.mv[ref] + i, pitch, ref, in.max_mv_y);
        }
    const int n = listed.n;
    const uint32_t mv = listed.mv;
    if (lane < n) {
        found->mv[lane] = motus_mv_of_word(mv);
        if (KIND == P_MANY) found->ref[lane] = (uint8_t)listed.ref;
    }
    for (int v = lane >> 4; v - (lane >> 4) < n; v += 2) { // two MVs at a time, a lane a 4x4 block
        const int ref = KIND == P_MANY ? (int)motus_lanes_shuffle((uint32_t)listed.ref, v) : 0;
        const MotusMv its = motus_mv_of_word(motus_lanes_shuffle(mv, v));
        const int allowed = motus_refresh_mv_y(in.max_mv_y, lane >> 2 & 3, its.y) == its.y;
        const uint32_t satd = motus_team_satd(&in, ref, its);
        if (v < n) found->satd[v][lane & 15] = (uint16_t)(allowed ? satd : MOTUS_REFRESH_SATD);
    }
    const bool is_intra = is_refreshed(w, i);
    const uint32_t guess = is_intra ? 0 : motus_lanes_shuffle(mv, 0);
    motus_first_guess(&w.mb[i], motus_mv_of_word(guess));
    if (lane == 0) {
        if (is_intra) w.mb[i].type = MOTUS_MB_I_16x16;
        found->n = (uint8_t)n;
        w.intra_cost[i] = UINT32_MAX;
        w.changed_at[i] = w.seen_at[i] = 0;
        if (i == 0) w.flags[MOTUS_FLAG_ESTIMATED] = w.flags[MOTUS_FLAG_NOTED] = 0;
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
template <Kind KIND>
__device__ void note_decision(const Pass &pass, const Turn &turn, const MotusTrial *best, int i) {
    const MotusPictureStateCuda &w = pass.pic;
    if (pass.effort.rounds == 1) {
        copy(&w.mb[i], &best->mb);
        return;
    }
    const MotusMb *mb = !turn.first && w.intra_cost[i] < best->cost ? &w.mb_intra[i] : &best->mb;
    motus_note_decision(&w.mb[i], mb, &w.changed_at[i], turn.now, KIND == P_ONE ? 1 : 2);
}

// Decides an MB, the blockIdx.x-th of the phase in row blockIdx.y. TEAM: warps of a block. SHARES:
// they evaluate a single type together. RESIDENT: warps on an SM at a time. CABAC: level_choice.
// BOTH: trials have both transforms.
template <int TEAM, bool SHARES, int RESIDENT, bool CABAC, bool BOTH, Kind KIND>
__global__ void __launch_bounds__(32 * TEAM, RESIDENT / TEAM)
    decide_kernel(const __grid_constant__ Pass pass, const __grid_constant__ InterOf<KIND> inter,
                  const Turn turn) {
    __shared__ MotusInterTeam team;
    __shared__ MotusTrialCoefs coefs[TEAM];
    __shared__ MotusTransformShared transforms[BOTH ? TEAM : 1];
    const MotusPictureStateCuda &w = pass.pic;
    if (turn.first && !turn.phase)
        motus_wait_for_predecessor(); // candidates are written, also for launches that begin early
    if (turn.early) motus_let_successor_start();
    const int y = (int)blockIdx.y, x = mb_column(pass.effort.phases, turn.phase);
    const int i = y * w.mb_width + x;
    if (x >= w.mb_width || motus_is_refreshed(&w.refresh, y)) { // the whole block
        if (turn.first) motus_wait_for_predecessor();
        return;
    }
    const int first = motus_slice_first(w.slice_first, i);
    if (!turn.first && !motus_neighbours_changed(w.changed_at, w.seen_at, i, x, w.mb_width, first))
        return; // the whole block
    const int warp = (int)threadIdx.x / 32;
    MotusInterMb in = inter_mb<KIND>(pass, inter, x, y);
    in.neighbours = motus_neighbours(w.mb, w.mb_width, x, y, first);
    const MotusLevelChoice levels = level_choice<CABAC>(pass, pass.effort.levels);
    in.costs = levels.costs;
    if (BOTH) in.quant8 = &w.quant8[in.qp->luma.qp];
    const MotusCandidates *found = &w.candidates[i];
    MotusTeamLane own;
    uint32_t satd;
    motus_team_begin(&own, found, in.refs, &team.choice, &team.sums, warp, TEAM);
    if (turn.first) motus_wait_for_predecessor(); // the neighbours are decided
    const MotusEdge edge = motus_edge(&in.neighbours, in.refs, 1);
    const MotusTrial *best =
        motus_team_decide(&in, own, &edge, found, &pass.effort, &levels, &team, coefs,
                          BOTH ? transforms : nullptr, warp, TEAM, SHARES, &satd);
    if (warp == 0) {
        copy(&w.coef[i], &best->coef);
        if (motus_lane() == 0) {
            w.satd[i] = satd;
            w.luma_bits[i] = best->luma_bits;
            w.inter_cost[i] = best->cost;
            w.seen_at[i] = (uint16_t)turn.now;
        }
    } else if (warp == 1) {
        note_decision<KIND>(pass, turn, best, i);
        copy(&w.mb_inter[i], &best->mb);
        store_samples(best, w, x, y);
    }
}

// Notes intra coding where it is cheaper. Collects intra MBs in w.found, in any order, and prepares
// the wave of typed ones.
template <int LISTS>
__global__ void __launch_bounds__(32 * WARPS)
    note_kernel(const __grid_constant__ Pass pass, int now) {
    const MotusPictureStateCuda &w = pass.pic;
    const int i = this_warp(), lane = motus_lane();
    motus_begin_early();
    if (i >= w.n_mb) return;
    const bool noted = w.intra_cost[i] < w.inter_cost[i];
    if (noted) motus_note_decision(&w.mb[i], &w.mb_intra[i], &w.changed_at[i], now, LISTS);
    if (lane == 0) w.listed[i] = NOT_LISTED;
    if (!noted && !motus_mb_is_intra(&w.mb[i])) return; // refreshed, or I_PCM
    if (lane == 0) w.found[atomicAdd(&w.flags[MOTUS_FLAG_NOTED], 1)] = i;
    static_assert(sizeof(MotusHandedMb) == 8 * sizeof(uint4), "a vector a lane");
    if (lane < 8) reinterpret_cast<uint4 *>(&w.handed[i])[lane] = make_uint4(0, 0, 0, 0);
}

// Returns the kernel whose trials have one transform.
template <int TEAM, bool SHARES, int RESIDENT, Kind KIND> auto team_kernel(bool cabac) {
    return cabac ? decide_kernel<TEAM, SHARES, RESIDENT, true, false, KIND>
                 : decide_kernel<TEAM, SHARES, RESIDENT, false, false, KIND>;
}

// Chooses the kernel of a pass. Four warps a team if several types may be evaluated; else two would
// be idle, and other GOP coders can use the SM. A GOP coder alone waits for the slowest MB of each
// pass: warps share types, and if levels are lowered registers matter more than resident MBs.
template <Kind KIND>
cudaError_t launch_pass(const Pass &pass, const InterOf<KIND> &inter, int round, int phase, int now,
                        cudaStream_t stream) {
    const Turn turn = {phase, now, round == 0, round == 0 && pass.pic.early};
    const bool cabac = pass.pic.costs != nullptr;
    int team = 4;
    auto kernel = team_kernel<4, false, SM_WARPS, KIND>(cabac);
    if (has_both_transforms(pass)) {
        kernel = pass.effort.transforms == 1
                     ? decide_kernel<4, false, SM_WARPS_FEW, true, true, KIND>
                     : decide_kernel<4, false, BOTH_WARPS<KIND>, true, true, KIND>;
    } else if (pass.pic.early) {
        kernel = pass.effort.levels == MOTUS_LEVELS_LOWERED
                     ? team_kernel<4, true, SM_WARPS_FEW, KIND>(cabac)
                     : team_kernel<4, true, SM_WARPS, KIND>(cabac);
    } else if (pass.effort.trial_gate <= 16) {
        kernel = team_kernel<2, false, SM_WARPS, KIND>(cabac);
        team = 2;
    }
    return motus_launch(turn.early, blocks_of_phase(pass), 32 * team, 0, stream, kernel, pass,
                        inter, turn);
}

PFields p_fields(const MotusPictureJob *job) {
    PFields p = {job->refs, job->ref[0], job->ref_list, {}, {}, job->far_blocks, job->limits};
    for (int k = 0; k < job->refs; k++)
        p.mv[k] = job->motion[k].mv, p.cost[k] = job->motion[k].cost;
    return p;
}

template <Kind KIND>
cudaError_t decide_p(const Pass &pass, const MotusPictureJob *job, cudaStream_t stream) {
    const InterOf<KIND> inter = inter_of<KIND>(job);
    const cudaError_t status = motus_launch(0, blocks_for(pass.pic.n_mb), 32 * WARPS, 0, stream,
                                            candidates_kernel<KIND>, pass, inter, p_fields(job));
    return status == cudaSuccess ? run_rounds<KIND>(pass, inter, launch_pass<KIND>, stream)
                                 : status;
}

// Loads the kernels whose trials have one transform.
template <Kind KIND> cudaError_t load_teams(cudaFuncAttributes *attributes) {
    cudaError_t status = cudaSuccess;
    for (const bool cabac : {false, true})
        for (const auto kernel : {team_kernel<2, false, SM_WARPS, KIND>(cabac),
                                  team_kernel<4, false, SM_WARPS, KIND>(cabac),
                                  team_kernel<4, true, SM_WARPS, KIND>(cabac),
                                  team_kernel<4, true, SM_WARPS_FEW, KIND>(cabac)})
            if (status == cudaSuccess) status = cudaFuncGetAttributes(attributes, kernel);
    return status;
}

} // namespace

cudaError_t motus_decide::note_intra(const Pass &pass, bool all, int now, cudaStream_t stream) {
    return motus_launch(pass.pic.early, blocks_for(pass.pic.n_mb), 32 * WARPS, 0, stream,
                        all ? note_kernel<2> : note_kernel<1>, pass, now);
}

extern "C" cudaError_t motus_mark_cuda(const MotusPictureStateCuda *pic, const MotusPictureJob *job,
                                       MotusMv *whole, cudaStream_t stream) {
    const Pass pass = pass_of(pic, job);
    const unsigned blocks = (unsigned)(pic->n_mb + 255) / 256;
    if (job->type == MOTUS_SLICE_B) return mark_b(pass, job, stream);
    return job->refs == 1 ? motus_launch(pic->early, blocks, 256, 0, stream, mark_kernel, pass,
                                         job->motion[0].cost, job->motion[0].mv, whole)
                          : motus_launch(pic->early, blocks, 256, 0, stream, mark_refs_kernel, pass,
                                         p_fields(job), whole);
}

extern "C" cudaError_t motus_decide_cuda(const MotusPictureStateCuda *pic,
                                         const MotusPictureJob *job, cudaStream_t stream) {
    const Pass pass = pass_of(pic, job);
    if (job->type == MOTUS_SLICE_B) return decide_b(pass, job, stream);
    return job->refs == 1 ? decide_p<P_ONE>(pass, job, stream)
                          : decide_p<P_MANY>(pass, job, stream);
}

// Kernels built for an older architecture cannot wait for their predecessor on any device.
extern "C" cudaError_t motus_decide_cuda_prepare(int *early, int *block_mbs) {
    cudaFuncAttributes attributes = {};
    cudaError_t status = load_teams<P_ONE>(&attributes);
    if (status == cudaSuccess) status = load_teams<P_MANY>(&attributes);
    if (status == cudaSuccess)
        status = motus_load_kernels(decide_kernel<4, false, SM_WARPS_FEW, true, true, P_ONE>,
                                    decide_kernel<4, false, SM_WARPS, true, true, P_ONE>,
                                    decide_kernel<4, false, SM_WARPS_FEW, true, true, P_MANY>);
    if (status == cudaSuccess) status = prepare_transforms();
    if (status == cudaSuccess) status = prepare_refinement();
    if (status == cudaSuccess) status = prepare_b();
    if (status == cudaSuccess) status = prepare_estimates();
    if (status == cudaSuccess) status = prepare_types();
    if (status == cudaSuccess) status = prepare_typed();
    if (status == cudaSuccess) status = prepare_listed(block_mbs);
    *early = status == cudaSuccess && attributes.ptxVersion >= 90;
    return status;
}
