// Decisions of I and P pictures on a CUDA device: the passes of decide.c, a warp per MB, the arithmetic of the same cores (their loops over blocks, modes and
// candidates are shared out among the warp's lanes: common/lanes.h).
//
// mark_kernel, candidates_kernel: every MB at once. decide_kernel: the MBs of one colour; a picture launches it rounds * colours times. estimate_kernel and
// note_kernel: every MB. intra_kernel: the wavefront of intra MBs, all of an I picture's, the chosen ones of a P picture's.
//
// The wavefront is one launch: the MBs to be coded as intra stand in a list (list_kernel) in which each comes after those that it depends on; a block takes the
// next one, waits for its neighbours among them and codes it, with a warp for Intra4x4, one for Intra16x16 and one for chroma. Whoever is waited for was taken
// before by a block that runs, so the first MB of the list that is not done waits for nobody, and whatever number of blocks is resident, the picture is finished.
//
// Shared memory: each warp's scratch (10 KiB for decisions, 8 KiB for estimates), 20 KiB a block of the wavefront. Read and written: MBs, levels, reconstruction.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide_cuda.h"

#include <stdlib.h>

#include "common/cuda_call.h"

namespace {

constexpr int WARPS = 4; // of a block
constexpr int INTRA_THREADS = 32 * MOTUS_INTRA_ROLES, INTER_THREADS = 32 * MOTUS_INTER_ROLES;

enum { NOT_LISTED, LISTED, DONE }; // an MB in the intra wavefront

struct Pass {
    MotusWorkCuda work;
    MotusEffort effort;
    int qp, p_slice;
};

__device__ MotusMbSource mb_source(const MotusWorkCuda &w, int x, int y) {
    MotusMbSource src;
    for (int p = 0; p < 3; p++) {
        int size = p ? 8 : 16;
        src.stride[p] = w.src_stride[p];
        src.plane[p] = w.src[p] + y * size * src.stride[p] + x * size;
    }
    return src;
}

__device__ MotusMbRecon mb_recon(const MotusWorkCuda &w, int x, int y) {
    MotusMbRecon rec;
    for (int p = 0; p < 3; p++) {
        int size = p ? 8 : 16;
        rec.stride[p] = w.rec_stride[p];
        rec.plane[p] = w.rec[p] + y * size * rec.stride[p] + x * size;
    }
    return rec;
}

__device__ void copy4(uint8_t *to, const uint8_t *from) {
    *reinterpret_cast<uint32_t *>(to) = *reinterpret_cast<const uint32_t *>(from);
}

// The warp copies a structure of 16-byte vectors.
template <class T> __device__ void copy(T *to, const T *from) {
    static_assert(sizeof(T) % 16 == 0, "whole vectors");
    uint4 *d = reinterpret_cast<uint4 *>(to);
    const uint4 *s = reinterpret_cast<const uint4 *>(from);
    for (int i = motus_lane(); i < (int)(sizeof(T) / 16); i += MOTUS_LANES) d[i] = s[i];
}

__device__ void store_samples(const MotusTrial *trial, const MotusWorkCuda &w, int x, int y) {
    MotusMbRecon rec = mb_recon(w, x, y);
    for (int i = motus_lane(); i < 64; i += MOTUS_LANES)
        *reinterpret_cast<uint32_t *>(rec.plane[0] + (i >> 2) * rec.stride[0] + 4 * (i & 3)) =
            *reinterpret_cast<const uint32_t *>(trial->luma + 4 * i);
    for (int i = motus_lane(); i < 32; i += MOTUS_LANES) {
        int c = 1 + (i >> 4), row = i >> 1 & 7;
        *reinterpret_cast<uint32_t *>(rec.plane[c] + row * rec.stride[c] + 4 * (i & 1)) =
            *reinterpret_cast<const uint32_t *>(trial->chroma[c - 1] + 8 * row + 4 * (i & 1));
    }
}

__device__ int this_warp() { return (int)(blockIdx.x * WARPS + threadIdx.x / 32); }

// ---- Intra --------------------------------------------------------------------------------------------------------------------------------

struct IntraShared {
    MotusTrial trial[2];
    MotusIntraScratch scratch;
};

__device__ MotusIntraMb intra_mb(const Pass &pass, const MotusLevelChoice *levels, int x, int y) {
    MotusIntraMb in;
    in.qp = &pass.work.qp_table[motus_mb_qp(pass.qp, pass.work.qp_offset, y * pass.work.mb_width + x)];
    in.levels = levels;
    in.i4_trials = pass.effort.i4_trials;
    in.p_slice = pass.p_slice;
    in.src = mb_source(pass.work, x, y);
    in.rec = mb_recon(pass.work, x, y);
    in.neighbours = motus_neighbours(pass.work.mb, pass.work.mb_width, x, y);
    in.has = motus_intra_has(&in.neighbours);
    return in;
}

// A block's shared memory in the wavefront.
struct IntraTeam {
    MotusIntraTeam team;
    alignas(16) uint8_t luma[256], chroma[2][64]; // the source
    int at, stays;
};

// The MB's source comes into shared memory before its neighbours are done: no part of coding waits for it.
__device__ void fetch_source(IntraTeam *s, MotusIntraMb *in) {
    const MotusMbSource from = in->src;
    int t = (int)threadIdx.x, c = t >> 4 & 1, row = t >> 1 & 7;
    if (t < 64)
        copy4(s->luma + 4 * t, from.plane[0] + (t >> 2) * from.stride[0] + 4 * (t & 3));
    else
        copy4(s->chroma[c] + 8 * row + 4 * (t & 1), from.plane[c + 1] + row * from.stride[c + 1] + 4 * (t & 1));
    in->src.plane[0] = s->luma, in->src.plane[1] = s->chroma[0], in->src.plane[2] = s->chroma[1];
    in->src.stride[0] = MOTUS_LUMA_STRIDE, in->src.stride[1] = in->src.stride[2] = MOTUS_CHROMA_STRIDE;
}

// A warp waits for the neighbours A, B, C and D of MB i that are on the list as well, a lane each; returns the length of the longest chain of intra MBs that MB i
// would end, 1 where it waits for none.
__device__ int wait_for_neighbours(const MotusWorkCuda &w, int i) {
    int lane = motus_lane(), x = i % w.mb_width, y = i / w.mb_width, length = 0;
    bool there = lane == 0 ? x > 0 : lane == 1 ? y > 0 : lane == 2 ? y > 0 && x + 1 < w.mb_width : lane == 3 && x > 0 && y > 0;
    int at = lane == 0 ? i - 1 : lane == 1 ? i - w.mb_width : lane == 2 ? i - w.mb_width + 1 : i - w.mb_width - 1;
    if (there) {
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

// Lists the MBs to be coded as intra by diagonals x + 2y: whatever an MB waits for comes before it. One block; a thread looks at a stretch of the diagonals.
__global__ void __launch_bounds__(1024) list_kernel(const __grid_constant__ Pass pass) {
    __shared__ int count[1024];
    const MotusWorkCuda &w = pass.work;
    int places = (w.mb_width + 2 * w.mb_height) * w.mb_height, each = (places + 1023) / 1024, n = 0;
    int first = (int)threadIdx.x * each, end = motus_min(first + each, places);
    for (int k = first; k < end; k++) {
        int y = k % w.mb_height, x = k / w.mb_height - 2 * y, i = y * w.mb_width + x;
        if (x < 0 || x >= w.mb_width) continue;
        int listed = !pass.p_slice || motus_mb_is_intra(&w.mb[i]);
        w.listed[i] = (uint8_t)(listed ? LISTED : NOT_LISTED);
        n += listed;
    }
    count[threadIdx.x] = n;
    __syncthreads(); // counted before it is summed
    for (int step = 1; step < 1024; step *= 2) {
        int before = (int)threadIdx.x >= step ? count[threadIdx.x - step] : 0;
        __syncthreads(); // read before it is added to
        count[threadIdx.x] += before;
        __syncthreads(); // added before it is read
    }
    int at = count[threadIdx.x] - n;
    for (int k = first; k < end; k++) {
        int y = k % w.mb_height, x = k / w.mb_height - 2 * y, i = y * w.mb_width + x;
        if (x >= 0 && x < w.mb_width && w.listed[i] == LISTED) w.list[at++] = i;
    }
    if (threadIdx.x == 1023) w.flags[0] = 0, w.flags[1] = count[1023];
}

__global__ void __launch_bounds__(32 * WARPS, 5) estimate_kernel(const __grid_constant__ Pass pass) {
    extern __shared__ __align__(64) uint8_t memory[];
    const MotusWorkCuda &w = pass.work;
    IntraShared *s = reinterpret_cast<IntraShared *>(memory) + threadIdx.x / 32;
    int i = this_warp();
    if (i >= w.n_mb || w.mb[i].type == MOTUS_MB_P_SKIP) return;
    const MotusLevelChoice levels = {w.zero_runs, pass.effort.levels};
    MotusIntraMb in = intra_mb(pass, &levels, i % w.mb_width, i / w.mb_width);
    int mode;
    uint64_t satd = motus_intra16x16_estimate(&in, &s->scratch, &mode);
    if (satd * 16 > (uint64_t)w.satd[i] * (uint32_t)pass.effort.intra_gate) return;
    const MotusTrial *best = motus_intra_search(&in, &s->scratch, &s->trial[0], &s->trial[1]);
    motus_lanes_sync();
    copy(&w.mb_intra[i], &best->mb);
    if (motus_lane() == 0) w.intra_cost[i] = best->cost;
}

// ---- Inter --------------------------------------------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(256) mark_kernel(const __grid_constant__ Pass pass, const uint32_t *cost) {
    int i = (int)(blockIdx.x * 256 + threadIdx.x);
    if (i >= pass.work.n_mb) return;
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
    int x = i % w.mb_width, y = i / w.mb_width;
    MotusMbSource src = mb_source(w, x, y);
    for (int v = 0; v < n; v++) motus_satd_mb(found->satd[v], src.plane[0], src.stride[0], &p.ref, 16 * x, 16 * y, found->mv[v]);
    MotusMb *mb = &w.mb[i];
    uint32_t *words = reinterpret_cast<uint32_t *>(mb);
    words[lane] = 0;
    __syncwarp();
    if (lane < 16) mb->mv[lane] = found->mv[0];
    if (lane == 0) {
        mb->type = MOTUS_MB_P_16x16;
        found->n = (uint8_t)n;
        w.intra_cost[i] = UINT32_MAX;
        w.changed_at[i] = w.seen_at[i] = 0;
    }
}

__device__ int neighbours_changed(const MotusWorkCuda &work, int i) {
    const uint16_t *changed = work.changed_at;
    int w = work.mb_width, x = i % w, seen = work.seen_at[i];
    return !seen || (x && changed[i - 1] > seen) ||
           (i >= w && (changed[i - w] > seen || (x && changed[i - w - 1] > seen) || (x + 1 < w && changed[i - w + 1] > seen)));
}

// Takes the cheaper of the two ways to code MB i, a lane a vector.
__device__ void note_decision(const MotusWorkCuda &w, int i, int now) {
    const MotusMb *mb = w.intra_cost[i] < w.inter_cost[i] ? &w.mb_intra[i] : &w.mb_inter[i];
    int lane = motus_lane(), differs = lane < 16 && !motus_mv_equal(mb->mv[lane & 15], w.mb[i].mv[lane & 15]);
    differs |= motus_mb_is_intra(mb) != motus_mb_is_intra(&w.mb[i]);
    differs = __any_sync(MOTUS_ALL_LANES, differs);
    if (differs && lane == 0) w.changed_at[i] = (uint16_t)now;
    __syncwarp();
    copy(&w.mb[i], mb);
}

// A block decides an MB, with a warp for each type and one for P_Skip: what a pass takes is its slowest MB.
__global__ void __launch_bounds__(INTER_THREADS, 6)
    decide_kernel(const __grid_constant__ Pass pass, const __grid_constant__ MotusPCodingCuda p, int colour, int now) {
    __shared__ MotusInterTeam team;
    const MotusWorkCuda &w = pass.work;
    int colours = pass.effort.colours, columns = (w.mb_width + colours - 1) / colours, at = (int)blockIdx.x;
    int y = at / columns, x = (colour + 2 * colours - 2 * y % colours) % colours + at % columns * colours, i = y * w.mb_width + x;
    if (y >= w.mb_height || x >= w.mb_width || !neighbours_changed(w, i)) return; // the whole block
    const int warp = (int)threadIdx.x / 32;
    MotusInterMb in;
    in.ref = &p.ref;
    in.limits = &p.limits;
    in.qp = &w.qp_table[motus_mb_qp(pass.qp, w.qp_offset, i)];
    in.src = mb_source(w, x, y);
    in.neighbours = motus_neighbours(w.mb, w.mb_width, x, y);
    in.x = x, in.y = y;
    const MotusLevelChoice levels = {w.zero_runs, pass.effort.levels};
    const MotusCandidates *found = &w.candidates[i];
    if (warp == 0) motus_choose_begin(&in, found, &team.choose, &team.choice);
    __syncthreads(); // vectors are measured
    motus_inter_choose(&in, found->blocks, &team, warp);
    __syncthreads(); // and chosen
    motus_inter_evaluate(&in, &pass.effort, &levels, &team, warp);
    __syncthreads(); // and every type evaluated
    if (warp) return;
    uint32_t satd;
    const MotusTrial *best = motus_inter_join(&in, &pass.effort, &team, &satd);
    __syncwarp();
    copy(&w.coef[i], &best->coef);
    copy(&w.mb_inter[i], &best->mb);
    store_samples(best, w, x, y);
    if (motus_lane() == 0) {
        w.satd[i] = satd;
        w.inter_cost[i] = best->cost;
        w.seen_at[i] = (uint16_t)now;
    }
    __syncwarp();
    note_decision(w, i, now);
}

__global__ void __launch_bounds__(32 * WARPS) note_kernel(const __grid_constant__ Pass pass, int now) {
    int i = this_warp();
    if (i < pass.work.n_mb) note_decision(pass.work, i, now);
}

// ---- What is left of a picture ------------------------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(256) keep_kernel(const MotusMb *mb, const MotusMv *searched, MotusMv *kept, int n) {
    int i = (int)(blockIdx.x * 256 + threadIdx.x);
    if (i < n) kept[i] = motus_mb_is_intra(&mb[i]) ? searched[i] : mb[i].mv[0];
}

// A block sums rows of a plane: at most 2^12 samples a thread keep 32 bits from overflowing.
__global__ void __launch_bounds__(256) error_kernel(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                                                    int width, int height, unsigned long long *ssd) {
    uint32_t sum = 0;
    for (int y = blockIdx.x; y < height; y += gridDim.x)
        for (int x = threadIdx.x; x < width; x += 256) {
            int d = a[y * a_stride + x] - b[y * b_stride + x];
            sum += (uint32_t)(d * d);
        }
    sum = motus_lanes_sum(sum);
    if (motus_lane() == 0 && sum) atomicAdd(ssd, (unsigned long long)sum);
}

// ---- Launchers ----------------------------------------------------------------------------------------------------------------------------

int blocks_for(int warps) { return (warps + WARPS - 1) / WARPS; }

size_t place(size_t *end, size_t bytes) {
    size_t at = *end;
    *end += (bytes + 255) & ~(size_t)255;
    return at;
}

// Lays the arrays out from `base` on; returns the bytes.
size_t lay_out(MotusWorkCuda *w, uint8_t *base, int mb_width, int mb_height) {
    size_t n = (size_t)mb_width * (size_t)mb_height, end = 0;
    w->mb = (MotusMb *)(base + place(&end, n * sizeof(MotusMb)));
    w->mb_inter = (MotusMb *)(base + place(&end, n * sizeof(MotusMb)));
    w->mb_intra = (MotusMb *)(base + place(&end, n * sizeof(MotusMb)));
    w->coef = (MotusMbCoef *)(base + place(&end, n * sizeof(MotusMbCoef)));
    w->candidates = (MotusCandidates *)(base + place(&end, n * sizeof(MotusCandidates)));
    w->inter_cost = (uint32_t *)(base + place(&end, 4 * n));
    w->intra_cost = (uint32_t *)(base + place(&end, 4 * n));
    w->satd = (uint32_t *)(base + place(&end, 4 * n));
    w->changed_at = (uint16_t *)(base + place(&end, 2 * n));
    w->seen_at = (uint16_t *)(base + place(&end, 2 * n));
    w->chain = base + place(&end, n);
    w->zero_runs = base + place(&end, MOTUS_ZERO_RUNS);
    w->qp_table = (const MotusQp *)(base + place(&end, 52 * sizeof(MotusQp)));
    w->listed = base + place(&end, n);
    w->list = (int *)(base + place(&end, 4 * n));
    w->flags = (int *)(base + place(&end, 2 * sizeof(int)));
    return end;
}

cudaError_t wavefront(const Pass &pass, cudaStream_t stream) {
    const MotusWorkCuda &w = pass.work;
    list_kernel<<<1, 1024, 0, stream>>>(pass);
    // The wave is half as wide as the picture, and no higher, in MBs. More blocks would only wait, in places that other lanes have use for.
    const int blocks = motus_min(motus_clip(64, w.mb_height, 256), w.n_mb);
    intra_kernel<<<blocks, INTRA_THREADS, 0, stream>>>(pass);
    return cudaGetLastError();
}

} // namespace

extern "C" size_t motus_work_cuda_bytes(int mb_width, int mb_height) {
    MotusWorkCuda unused;
    return lay_out(&unused, NULL, mb_width, mb_height);
}

extern "C" cudaError_t motus_work_cuda_place(MotusWorkCuda *w, void *memory, int mb_width, int mb_height) {
    static_assert(sizeof(MotusMb) == 128, "see mb.h");
    MotusQp qp_table[52];
    uint8_t *zero_runs = (uint8_t *)malloc(MOTUS_ZERO_RUNS);
    if (!zero_runs) return cudaErrorMemoryAllocation;
    lay_out(w, (uint8_t *)memory, mb_width, mb_height);
    w->qp_offset = NULL;
    w->mb_width = mb_width, w->mb_height = mb_height, w->n_mb = mb_width * mb_height;
    for (int qp = 0; qp < 52; qp++) qp_table[qp] = motus_qp_at(qp);
    zero_runs[0] = 0;
    for (uint32_t mask = 1; mask < MOTUS_ZERO_RUNS; mask++) zero_runs[mask] = (uint8_t)motus_cavlc_zero_run_bits(mask);
    cudaError_t status = cudaMemcpy((void *)w->zero_runs, zero_runs, MOTUS_ZERO_RUNS, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) status = cudaMemcpy((void *)w->qp_table, qp_table, sizeof qp_table, cudaMemcpyHostToDevice);
    free(zero_runs);
    const int estimate = WARPS * sizeof(IntraShared);
    if (status == cudaSuccess)
        status = cudaFuncSetAttribute(estimate_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, estimate);
    return status;
}

extern "C" cudaError_t motus_keep_vectors_cuda(const MotusWorkCuda *work, const MotusMv *searched, MotusMv *kept,
                                               cudaStream_t stream) {
    keep_kernel<<<(work->n_mb + 255) / 256, 256, 0, stream>>>(work->mb, searched, kept, work->n_mb);
    return cudaGetLastError();
}

extern "C" cudaError_t motus_plane_errors_cuda(const MotusPlane src[3], const MotusPlane rec[3], int width, int height,
                                               uint64_t *ssd, cudaStream_t stream) {
    for (int p = 0; p < 3; p++) {
        int w = p ? width / 2 : width, h = p ? height / 2 : height;
        error_kernel<<<h, 256, 0, stream>>>(src[p].data, src[p].stride, rec[p].data, rec[p].stride, w, h,
                                            (unsigned long long *)(ssd + p));
    }
    return cudaGetLastError();
}

extern "C" cudaError_t motus_code_i_cuda(const MotusWorkCuda *work, int qp, const MotusEffort *effort, cudaStream_t stream) {
    const Pass pass = {*work, *effort, qp, 0};
    return wavefront(pass, stream);
}

extern "C" cudaError_t motus_mark_blocks_cuda(const MotusWorkCuda *work, const uint32_t *cost, int qp, const MotusEffort *effort,
                                              cudaStream_t stream) {
    const Pass pass = {*work, *effort, qp, 1};
    mark_kernel<<<(work->n_mb + 255) / 256, 256, 0, stream>>>(pass, cost);
    return cudaGetLastError();
}

extern "C" cudaError_t motus_code_p_cuda(const MotusWorkCuda *work, const MotusPCodingCuda *p, int qp, const MotusEffort *effort,
                                         cudaStream_t stream) {
    const Pass pass = {*work, *effort, qp, 1};
    const int colours = effort->colours, columns = (work->mb_width + colours - 1) / colours;
    int now = 0;
    candidates_kernel<<<blocks_for(work->n_mb), 32 * WARPS, 0, stream>>>(pass, *p);
    for (int round = 0; round < effort->rounds; round++) {
        for (int k = 0; k < colours; k++)
            decide_kernel<<<columns * work->mb_height, INTER_THREADS, 0, stream>>>(pass, *p, k, ++now);
        if (round) continue;
        estimate_kernel<<<blocks_for(work->n_mb), 32 * WARPS, WARPS * sizeof(IntraShared), stream>>>(pass);
        note_kernel<<<blocks_for(work->n_mb), 32 * WARPS, 0, stream>>>(pass, ++now);
    }
    cudaError_t status = cudaGetLastError();
    return status == cudaSuccess ? wavefront(pass, stream) : status;
}
