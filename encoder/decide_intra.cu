// Intra MBs on a CUDA device, by the cores that the CPU runs (see decide.cu). estimate_kernel: every MB of a P picture, a warp each. intra_kernel: the wavefront
// of intra MBs, all of an I picture's, the chosen ones of a P picture's.
//
// The wavefront is one launch: the MBs to be coded as intra stand in a list (list_kernel) in which each comes after those that it depends on; a block takes the
// next one, waits for its neighbours among them and codes it, with a warp for Intra4x4, one for Intra16x16 and one for chroma. Whoever is waited for was taken
// before by a block that runs, so the first MB of the list that is not done waits for nobody, and whatever number of blocks is resident, the picture is finished.
//
// Shared memory: 8 KiB a warp for estimates, 20 KiB a block of the wavefront. Read and written: MBs, levels, reconstruction.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide_pass.cuh"
#include "encoder/schedule_core.h"

using namespace motus_decide;

namespace {

constexpr int INTRA_THREADS = 32 * MOTUS_INTRA_ROLES;

enum { NOT_LISTED, LISTED, DONE }; // an MB in the intra wavefront

struct IntraShared {
    MotusTrial trial[2];
    MotusIntraScratch scratch;
};

__device__ MotusIntraMb intra_mb(const Pass &pass, const MotusLevelChoice *levels, int x, int y) {
    const int i = y * pass.work.mb_width + x;
    MotusIntraMb in;
    in.qp = &pass.work.qp_table[motus_mb_qp(pass.qp, pass.work.qp_offset, i)];
    in.levels = levels;
    in.i4_trials = pass.effort.i4_trials;
    in.p_slice = pass.p_slice;
    in.src = mb_source(pass.work, x, y);
    in.rec = mb_recon(pass.work, x, y);
    in.neighbours = motus_neighbours(pass.work.mb, pass.work.mb_width, x, y, motus_slice_first(pass.work.slice_first, i));
    in.has = motus_intra_has(&in.neighbours);
    return in;
}

// A block's shared memory in the wavefront.
struct IntraTeam {
    MotusIntraTeam team;
    alignas(16) uint8_t luma[256], chroma[2][64]; // the source
    MotusQp qp;
    int at, stays;
};

// The MB's source and quantizers come into shared memory before its neighbours are done: no part of coding waits for it.
__device__ void fetch_source(IntraTeam *s, MotusIntraMb *in) {
    const MotusMbSource from = in->src;
    int t = (int)threadIdx.x, c = t >> 4 & 1, row = t >> 1 & 7;
    if (t < 64)
        copy4(s->luma + 4 * t, from.plane[0] + (t >> 2) * from.stride[0] + 4 * (t & 3));
    else
        copy4(s->chroma[c] + 8 * row + 4 * (t & 1), from.plane[c + 1] + row * from.stride[c + 1] + 4 * (t & 1));
    static_assert(sizeof(MotusQp) % 4 == 0, "whole words");
    if (t < (int)(sizeof(MotusQp) / 4)) reinterpret_cast<uint32_t *>(&s->qp)[t] = reinterpret_cast<const uint32_t *>(in->qp)[t];
    in->qp = &s->qp;
    in->src.plane[0] = s->luma, in->src.plane[1] = s->chroma[0], in->src.plane[2] = s->chroma[1];
    in->src.stride[0] = MOTUS_LUMA_STRIDE, in->src.stride[1] = in->src.stride[2] = MOTUS_CHROMA_STRIDE;
}

// A warp waits for the neighbours A, B, C and D of MB i that are on the list as well, a lane each; returns the length of the longest chain of intra MBs that MB i
// would end, 1 where it waits for none.
__device__ int wait_for_neighbours(const MotusWorkCuda &w, int i) {
    int lane = motus_lane(), x = i % w.mb_width, length = 0;
    bool there = lane == 0 ? x > 0 : lane == 1 ? true : lane == 2 ? x + 1 < w.mb_width : lane == 3 && x > 0;
    int at = lane == 0 ? i - 1 : lane == 1 ? i - w.mb_width : lane == 2 ? i - w.mb_width + 1 : i - w.mb_width - 1;
    if (there && at >= motus_slice_first(w.slice_first, i)) {
        volatile const uint8_t *state = w.listed + at;
        if (*state != NOT_LISTED) {
            while (*state != DONE) __nanosleep(20);
            __threadfence(); // what they have written is read after their states
            length = *(volatile const uint8_t *)(w.chain + at);
        }
    }
    __syncwarp();
    return 256 - (int)motus_lanes_min((uint32_t)(255 - length));
}

// Makes MB i's state known, after everything that neighbours look at has been written by this warp.
__device__ void mark_done(const MotusWorkCuda &w, int i, int chain) {
    if (motus_lane() == 0) w.chain[i] = (uint8_t)motus_min(chain, UINT8_MAX);
    __threadfence(); // all of it before the state
    __syncwarp();
    if (motus_lane() == 0) *(volatile uint8_t *)(w.listed + i) = DONE;
}

// MBs whose turn it is, in the order of the list.
__global__ void __launch_bounds__(INTRA_THREADS) intra_kernel(const __grid_constant__ Pass pass) {
    __shared__ IntraTeam s;
    const MotusWorkCuda &w = pass.work;
    const int warp = (int)threadIdx.x / 32;
    for (;;) {
        if (threadIdx.x == 0) s.at = atomicAdd(&w.flags[0], 1);
        __syncthreads(); // the place is there; shared memory of the last MB has been read
        if (s.at >= w.flags[1]) return;
        int i = w.list[s.at], length = 0;
        const MotusLevelChoice levels = {w.zero_runs, pass.effort.levels};
        MotusIntraMb in = intra_mb(pass, &levels, i % w.mb_width, i / w.mb_width);
        fetch_source(&s, &in);
        __syncthreads(); // quantizers are there
        if (warp == 0) {
            motus_intra_begin(&in, &s.team.trial[0], &s.team.trial[1]);
            length = wait_for_neighbours(w, i);
            if (motus_lane() == 0) s.stays = pass.p_slice && length > pass.effort.intra_chain;
        }
        __syncthreads(); // source, beginnings and neighbours are there
        if (s.stays) {
            if (warp) continue;
            copy(&w.mb[i], &w.mb_inter[i]);
            mark_done(w, i, 0);
            continue;
        }
        motus_intra_role(&in, &s.team, warp);
        __syncthreads(); // all parts are there
        if (warp) continue;
        const MotusTrial *best = motus_intra_join(&in, &s.team);
        __syncwarp();
        copy(&w.mb[i], &best->mb);
        store_samples(best, w, i % w.mb_width, i / w.mb_width);
        mark_done(w, i, length);
        copy(&w.coef[i], &best->coef); // which no MB of the wavefront reads
    }
}

// MBs of a diagonal x + 2y, y counted from the top of their slice, don't depend on one another, and whatever they wait for lies on diagonals before.
__device__ int diagonal_of(const MotusWorkCuda &w, int i) {
    const int y = i / w.mb_width, top = motus_slice_first(w.slice_first, i) / w.mb_width;
    return i - y * w.mb_width + 2 * (y - top);
}

constexpr int LIST_THREADS = 1024, LIST_EACH = 2, DIAGONALS = LIST_THREADS * LIST_EACH; // more than pictures up to 8K have
constexpr int LIST_MASKS = 5, MAX_MBS = 32 * LIST_MASKS * LIST_THREADS;                 // MaxFS of level 6.2 is 139,264

// Sums of the lanes up to and with this one.
__device__ int sum_up_to(int v) {
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(MOTUS_ALL_LANES, v, step);
        if (motus_lane() >= step) v += other;
    }
    return v;
}

// v[d] becomes `first` and what v[0..d - 1] are together; returns that of all of them. The whole block; `room` is of 32.
__device__ int sum_before(int *v, int *room, int first) {
    const int warp = (int)threadIdx.x / 32, lane = motus_lane();
    int *mine = v + LIST_EACH * threadIdx.x, sum = 0;
    for (int k = 0; k < LIST_EACH; k++) sum += mine[k];
    const int up_to = sum_up_to(sum);
    if (lane == 31) room[warp] = up_to;
    __syncthreads(); // every warp's sum is there
    const int warps = sum_up_to(room[lane]), all = __shfl_sync(MOTUS_ALL_LANES, warps, 31);
    int at = first + up_to - sum + (warp ? __shfl_sync(MOTUS_ALL_LANES, warps, warp - 1) : 0);
    for (int k = 0; k < LIST_EACH; k++) {
        const int n = mine[k];
        mine[k] = at;
        at += n;
    }
    __syncthreads(); // v is there, and `room` has been read
    return first + all;
}

// Of the MBs first, first + LIST_THREADS, ..., 32 in all, those to be coded as intra; says so to those who wait for them.
__device__ uint32_t listed_of(const Pass &pass, int first) {
    const MotusWorkCuda &w = pass.work;
    uint32_t mask = 0;
#pragma unroll 8
    for (int k = 0; k < 32; k++) { // nothing is stored between the loads: they wait together
        const int i = first + k * LIST_THREADS;
        if (i < w.n_mb && (!pass.p_slice || motus_mb_is_intra(&w.mb[i]))) mask |= 1u << k;
    }
    for (int k = 0; k < 32 && first + k * LIST_THREADS < w.n_mb; k++)
        w.listed[first + k * LIST_THREADS] = (uint8_t)(mask >> k & 1 ? LISTED : NOT_LISTED);
    return mask;
}

// Lists the MBs to be coded as intra, diagonal after diagonal; the order within one is any, and nothing depends on it. One block.
__global__ void __launch_bounds__(LIST_THREADS) list_kernel(const __grid_constant__ Pass pass) {
    __shared__ uint32_t masks[LIST_MASKS][LIST_THREADS];
    __shared__ int at[DIAGONALS], room[32];
    const MotusWorkCuda &w = pass.work;
    const int t = (int)threadIdx.x, diagonals = w.mb_width + 2 * w.mb_height;
    for (int c = 0; 32 * c * LIST_THREADS < w.n_mb; c++) masks[c][t] = listed_of(pass, t + 32 * c * LIST_THREADS);
    int n = 0;
    for (int first = 0; first < diagonals; first += DIAGONALS) {
        for (int d = t; d < DIAGONALS; d += LIST_THREADS) at[d] = 0;
        __syncthreads(); // empty before it is counted
        for (int placing = 0; placing < 2; placing++) {
            for (int c = 0; 32 * c * LIST_THREADS < w.n_mb; c++)
                for (uint32_t mask = masks[c][t]; mask; mask &= mask - 1) {
                    const int i = t + (32 * c + __ffs((int)mask) - 1) * LIST_THREADS, d = diagonal_of(w, i) - first;
                    if (d < 0 || d >= DIAGONALS) continue;
                    const int k = atomicAdd(&at[d], 1);
                    if (placing) w.list[k] = i;
                }
            __syncthreads(); // counted before it is summed; placed before it is emptied
            if (!placing) n = sum_before(at, room, n);
        }
    }
    if (t == 0) w.flags[0] = 0, w.flags[1] = n;
}

__global__ void __launch_bounds__(32 * WARPS, 5) estimate_kernel(const __grid_constant__ Pass pass) {
    __shared__ IntraShared memory[WARPS];
    const MotusWorkCuda &w = pass.work;
    IntraShared *s = &memory[threadIdx.x / 32];
    int i = this_warp();
    if (i >= w.n_mb || w.mb[i].type == MOTUS_MB_P_SKIP) return;
    const MotusLevelChoice levels = {w.zero_runs, pass.effort.levels};
    MotusIntraMb in = intra_mb(pass, &levels, i % w.mb_width, i / w.mb_width);
    int mode;
    uint32_t satd = motus_intra16x16_estimate(&in, &s->scratch, &mode);
    if (!motus_intra_is_close(satd, w.satd[i], pass.effort.intra_gate)) return;
    const MotusTrial *best = motus_intra_search(&in, &s->scratch, &s->trial[0], &s->trial[1]);
    motus_lanes_sync();
    copy(&w.mb_intra[i], &best->mb);
    if (motus_lane() == 0) w.intra_cost[i] = best->cost;
}

} // namespace

cudaError_t motus_decide::estimate_intra(const Pass &pass, cudaStream_t stream) {
    estimate_kernel<<<blocks_for(pass.work.n_mb), 32 * WARPS, 0, stream>>>(pass);
    return cudaGetLastError();
}

cudaError_t motus_decide::code_intra(const Pass &pass, cudaStream_t stream) {
    const MotusWorkCuda &w = pass.work;
    if (w.n_mb > MAX_MBS) return cudaErrorInvalidValue;
    list_kernel<<<1, LIST_THREADS, 0, stream>>>(pass);
    // The wave is half as wide as the picture, and no higher, in MBs. More blocks would only wait, in places that other lanes have use for.
    const int blocks = motus_min(motus_clip(64, w.mb_height, 256), w.n_mb);
    intra_kernel<<<blocks, INTRA_THREADS, 0, stream>>>(pass);
    return cudaGetLastError();
}
