// Intra MBs on a CUDA device, by the cores that the CPU runs (see decide.cu). intra_kernel: the
// wavefront of intra MBs, all of an I picture's, the chosen ones of a P picture's
// (decide_estimate.cu).
//
// The wavefront is one launch: the MBs to be coded as intra stand in a list (list_kernel) in which
// each comes after those that it depends on; a team of three warps takes the next one, waits for
// its neighbours on the list and codes it, with a warp for Intra4x4, one for Intra16x16 and one for
// chroma. Whoever is waited for was taken before by a team that runs, so the first MB of the list
// that is not done waits for nobody, and whatever number of blocks is resident, the picture is
// finished.
//
// Where a picture is alone on the device, each team is a block of its own, on an SM of its own as
// far as they reach. Beside other lanes' kernels five are one block, which fills an SM: their code
// is larger than an SM's instruction cache, and so is what others run there in the meantime.
//
// Shared memory: 17 KiB a team of the wavefront. Read and written: MBs, levels, reconstruction.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse/intra_trial_warp.cuh"
#include "encoder/decide/decide_pass.cuh"

using namespace motus_decide;

namespace {

constexpr int TEAM_THREADS = 32 * MOTUS_INTRA_ROLES;
constexpr int MOST_TEAMS = 5; // of a block: they take all registers of an SM

enum { NOT_LISTED, LISTED, DONE }; // an MB in the intra wavefront; what stays inter is not listed

// A team's shared memory in the wavefront.
struct IntraTeam {
    MotusIntraTeam team;
    alignas(16) uint8_t luma[256], chroma[2][64]; // the source
    MotusQp qp;
    int at;
};

// The MB's source and quantizers come into shared memory before its neighbours are done: no part of
// coding waits for it. t: the thread of the team.
__device__ void fetch_source(IntraTeam *s, MotusIntraMb *in, int t) {
    const MotusMbSource from = in->src;
    const int c = t >> 4 & 1, row = t >> 1 & 7;
    const uint8_t *chroma =
        c ? from.plane[2] + row * from.stride[2] : from.plane[1] + row * from.stride[1];
    if (t < 64)
        copy4(s->luma + 4 * t, from.plane[0] + (t >> 2) * from.stride[0] + 4 * (t & 3));
    else
        copy4(s->chroma[c] + 8 * row + 4 * (t & 1), chroma + 4 * (t & 1));
    static_assert(sizeof(MotusQp) % 4 == 0, "whole words");
    if (t < (int)(sizeof(MotusQp) / 4))
        reinterpret_cast<uint32_t *>(&s->qp)[t] = reinterpret_cast<const uint32_t *>(in->qp)[t];
    in->qp = &s->qp;
    in->src.plane[0] = s->luma, in->src.plane[1] = s->chroma[0], in->src.plane[2] = s->chroma[1];
    in->src.stride[0] = MOTUS_LUMA_STRIDE,
    in->src.stride[1] = in->src.stride[2] = MOTUS_CHROMA_STRIDE;
}

// An MB's state is read and written with the whole device's order: whoever has acquired DONE sees
// what was written before it was released.
__device__ uint32_t acquire(const uint8_t *state) {
    uint32_t v;
    asm volatile("ld.acquire.gpu.u8 %0, [%1];" : "=r"(v) : "l"(state) : "memory");
    return v;
}
__device__ void release(uint8_t *state, uint32_t v) {
    asm volatile("st.release.gpu.u8 [%0], %1;" : : "l"(state), "r"(v) : "memory");
}

// Raster index of the k-th of MB i's neighbours A, B, C and D; -1: it is not there, or in another
// slice.
__device__ int neighbour_of(const MotusPictureStateCuda &w, int i, int k) {
    const int x = i % w.mb_width, at = k == 0 ? i - 1 : i - w.mb_width + (k == 2) - (k == 3);
    const bool there = k == 0 || k == 3 ? x > 0 : k == 1 || x + 1 < w.mb_width;
    return there && at >= motus_slice_first(w.slice_first, i) ? at : -1;
}

// A warp waits for the neighbours of MB i that are on the list as well, a lane each. Acquiring
// empties the SM's cache: where other teams are at work on it, only the last look does; a team
// alone has its answer a look earlier.
template <int TEAMS> __device__ void wait_for_neighbours(const MotusPictureStateCuda &w, int i) {
    const int at = motus_lane() < 4 ? neighbour_of(w, i, motus_lane()) : -1;
    volatile const uint8_t *state = w.listed + at;
    if (TEAMS == 1 && at >= 0)
        while (acquire(w.listed + at) == LISTED) __nanosleep(20);
    if (TEAMS > 1 && at >= 0 && *state != NOT_LISTED)
        while (*state != DONE || acquire(w.listed + at) != DONE) __nanosleep(20);
    __syncwarp();
}

// Makes MB i's state known, after everything that neighbours look at has been written by this warp.
__device__ void mark_done(const MotusPictureStateCuda &w, int i) {
    __syncwarp(); // all of it before the state
    if (motus_lane() == 0) release(w.listed + i, DONE);
}

// The team's warps meet.
__device__ void meet(int team) {
    asm volatile("bar.sync %0, %1;" : : "r"(team + 1), "n"(TEAM_THREADS) : "memory");
}

// MBs whose turn it is, in the order of the list. TEAMS: of a block, at most; one alone may have
// more registers.
template <int TEAMS>
__global__ void __launch_bounds__(TEAMS *TEAM_THREADS, TEAMS > 1 ? 1 : 4)
    intra_kernel(const __grid_constant__ Pass pass) {
    extern __shared__ uint4 memory[];
    const MotusPictureStateCuda &w = pass.pic;
    const int team = (int)threadIdx.x / TEAM_THREADS, t = (int)threadIdx.x % TEAM_THREADS,
              warp = t / 32;
    IntraTeam *s = reinterpret_cast<IntraTeam *>(memory) + team;
    motus_wait_for_predecessor();
    for (;;) {
        MotusI4Mb i4;
        if (t == 0) s->at = atomicAdd(&w.flags[0], 1);
        meet(team); // the place is there; shared memory of the last MB has been read
        if (s->at >= w.flags[1]) return;
        const int i = w.list[s->at];
        const MotusLevelChoice levels = {w.zero_runs, pass.effort.intra_levels};
        MotusIntraMb in = intra_mb(pass, &levels, i % w.mb_width, i / w.mb_width);
        fetch_source(s, &in, t);
        meet(team); // quantizers are there
        if (warp == 0) {
            motus_intra_begin(&in, &s->team.trial[0], &s->team.trial[1]);
            i4 = motus_i4_prepare(&in, &s->team.scratch[0]);
            wait_for_neighbours<TEAMS>(w, i);
        }
        meet(team); // source, beginnings and neighbours are there
        motus_intra_role(&in, &s->team, warp, &i4);
        if (warp == MOTUS_ROLE_CHROMA) store_chroma(&s->team.trial[0], in.rec);
        meet(team); // all parts are there
        if (warp) continue;
        const MotusTrial *best = motus_intra_join(&in, &s->team);
        __syncwarp();
        copy(&w.mb[i], &best->mb);
        store_luma(best, in.rec);
        if (best->mb.type == MOTUS_MB_I_PCM)
            store_chroma(best, in.rec); // in place of what was stored before
        mark_done(w, i);
        copy(&w.coef[i], &best->coef); // which no MB of the wavefront reads
    }
}

// ---- The list -----------------------------------------------------------------------------------

// MBs of a diagonal x + 2y, y counted from the top of their slice, don't depend on one another, and
// whatever they wait for lies on diagonals before.
__device__ int diagonal_of(const MotusPictureStateCuda &w, int i) {
    const int y = i / w.mb_width, top = motus_slice_first(w.slice_first, i) / w.mb_width;
    return i - y * w.mb_width + 2 * (y - top);
}

constexpr int LIST_THREADS = 1024, LIST_EACH = 2,
              PLACES = LIST_THREADS * LIST_EACH; // more than 8K has diagonals
constexpr int NEAR_MBS = 36864; // whose chains find room in shared memory: 4096x2304

struct ListShared {
    uint8_t chain[NEAR_MBS];
    int at[PLACES], sums[32], n, longest;
};

__device__ int sum_up_to(int v) { return (int)motus_lanes_sum_up_to((uint32_t)v, MOTUS_LANES); }

// Collects the MBs of a P picture that are to be intra, in any order; of all others, and to begin
// with of these, `chain` is 0. Returns their number.
__device__ int find_intra(const MotusPictureStateCuda &w, ListShared *s, uint8_t *chain) {
    constexpr int EACH = 8;
    const int t = (int)threadIdx.x;
    if (t == 0) s->n = s->longest = 0;
    __syncthreads(); // none before they are counted
#pragma unroll 1
    for (int first = t; first < w.n_mb + t;
         first += EACH * LIST_THREADS) { // as often for all threads
        uint32_t mask = 0;
#pragma unroll
        for (int k = 0; k < EACH; k++) { // nothing is stored between the loads: they wait together
            const int i = first + k * LIST_THREADS;
            if (i < w.n_mb && motus_mb_is_intra(&w.mb[i])) mask |= 1u << k;
        }
        const int up_to = sum_up_to(__popc(mask));
        int at = 0;
        if (motus_lane() == 31 && up_to) at = atomicAdd(&s->n, up_to);
        at = __shfl_sync(MOTUS_ALL_LANES, at, 31) + up_to - __popc(mask);
#pragma unroll 1
        for (; mask; mask &= mask - 1)
            w.found[at++] = first + (__ffs((int)mask) - 1) * LIST_THREADS;
#pragma unroll 1
        for (int i = first; i < motus_min(first + EACH * LIST_THREADS, w.n_mb); i += LIST_THREADS)
            chain[i] = 0;
    }
    __syncthreads(); // all are found, and chains begin with 0
    return s->n;
}

// at[k] becomes `first` and what at[0..k - 1] are together; returns that of all of them. The whole
// block.
__device__ int sum_before(ListShared *s, int first) {
    const int warp = (int)threadIdx.x / 32, lane = motus_lane();
    int *mine = s->at + LIST_EACH * threadIdx.x, sum = 0;
    for (int k = 0; k < LIST_EACH; k++) sum += mine[k];
    const int up_to = sum_up_to(sum);
    if (lane == 31) s->sums[warp] = up_to;
    __syncthreads(); // every warp's sum is there
    const int warps = sum_up_to(s->sums[lane]), all = __shfl_sync(MOTUS_ALL_LANES, warps, 31);
    int at = first + up_to - sum + (warp ? __shfl_sync(MOTUS_ALL_LANES, warps, warp - 1) : 0);
    for (int k = 0; k < LIST_EACH; k++) {
        const int n = mine[k];
        mine[k] = at;
        at += n;
    }
    __syncthreads(); // places are there, and `sums` has been read
    return first + all;
}

// Puts those of `n` MBs, mb(0), mb(1), ..., whose keys are within [0, PLACES) into list[begin] and
// on by their keys; the order among those with one key is any, and nothing depends on it. Leaves in
// s->at[key] where those with that key end; returns where all end.
template <class Mb, class Key>
__device__ int sort(ListShared *s, int n, Mb mb, Key key, int begin, int *list) {
    int end = 0;
#pragma unroll 1
    for (int k = (int)threadIdx.x; k < PLACES; k += LIST_THREADS) s->at[k] = 0;
    __syncthreads(); // empty before it is counted
#pragma unroll 1
    for (int placing = 0; placing < 2; placing++) {
#pragma unroll 1
        for (int j = (int)threadIdx.x; j < n; j += LIST_THREADS) {
            const int i = mb(j), k = key(i);
            if (k < 0 || k >= PLACES) continue;
            const int at = atomicAdd(&s->at[k], 1);
            if (placing) list[at] = i;
        }
        __syncthreads(); // counted before it is summed; placed before it is used
        if (!placing) end = sum_before(s, begin);
    }
    return end;
}

// An I picture's list, by diagonals. Returns its length.
__device__ int list_all(const MotusPictureStateCuda &w, ListShared *s) {
    int n = 0;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < w.n_mb; i += LIST_THREADS) w.listed[i] = LISTED;
#pragma unroll 1
    for (int first = 0; first < w.mb_width + 2 * w.mb_height; first += PLACES) {
        n = sort(
            s, w.n_mb, [](int j) { return j; }, [&](int i) { return diagonal_of(w, i) - first; }, n,
            w.list);
        __syncthreads(); // places have been read
    }
    return n;
}

// An MB that is to be intra, and its neighbours (neighbour_of).
struct Link {
    int i, near[4];
};

__device__ Link link_of(const MotusPictureStateCuda &w, int i) {
    Link link = {i, {}};
    for (int k = 0; k < 4; k++) link.near[k] = neighbour_of(w, i, k);
    return link;
}

// Writes the length of the chain that ends in an MB, by those of its neighbours; returns whether it
// is another one than before.
__device__ int lengthen(const Link &link, int most, const uint8_t *before, uint8_t *after) {
    int longest = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (link.near[k] >= 0) longest = motus_max(longest, before[link.near[k]]);
    const uint8_t length = (uint8_t)(longest < most ? longest + 1 : 0);
    after[link.i] = length;
    return length != before[link.i];
}

// The lengths of chains of intra MBs, which the MBs' types alone decide: an MB's is one more than
// the longest of its neighbours', but 0 where that is more than a chain may have; then the MB stays
// inter. Two ways to the same lengths, of which the first returns where they are:
//
// Few MBs, one a thread: all at once, again and again, until none changes, which happens after as
// many rounds as MBs depend on one another.
__device__ const uint8_t *chains_by_rounds(const MotusPictureStateCuda &w, int n, int most,
                                           uint8_t *chain) {
    const int t = (int)threadIdx.x;
    const Link mine = t < n ? link_of(w, w.found[t]) : Link{};
    uint8_t *before = chain, *after = chain + w.n_mb;
#pragma unroll 1
    for (int i = t; i < w.n_mb; i += LIST_THREADS) after[i] = 0;
    for (;;) {
        __syncthreads(); // zeros are there; all have been written before they are read
        const int changed = t < n && lengthen(mine, most, before, after);
        if (!__syncthreads_or(changed)) return before;
        uint8_t *const other = before;
        before = after, after = other;
    }
}

// Many: diagonal by diagonal. The list is put in their order for it.
__device__ void chains_by_diagonals(const MotusPictureStateCuda &w, ListShared *s, int n, int most,
                                    uint8_t *chain) {
    const int diagonals = w.mb_width + 2 * w.mb_height;
#pragma unroll 1
    for (int first = 0, begin = 0; first < diagonals; first += PLACES) {
        sort(
            s, n, [&](int j) { return w.found[j]; },
            [&](int i) { return diagonal_of(w, i) - first; }, begin, w.list);
#pragma unroll 1
        for (int d = 0; d < PLACES && first + d < diagonals; d++) {
            const int end = s->at[d];
#pragma unroll 1
            for (int j = begin + (int)threadIdx.x; j < end; j += LIST_THREADS)
                lengthen(link_of(w, w.list[j]), most, chain, chain);
            begin = end;
            __syncthreads(); // this diagonal is there for the next one; at the end: places have
                             // been read
        }
    }
}

// Whether an MB whose chain is one long is nobody's neighbour on the list either.
__device__ bool stands_alone(const MotusPictureStateCuda &w, int i, const uint8_t *chain) {
    const int x = i % w.mb_width, below = i + w.mb_width;
    const bool right = x + 1 < w.mb_width, under = below < w.n_mb;
    return !((right && chain[i + 1]) || (under && x > 0 && chain[below - 1]) ||
             (under && chain[below]) || (under && right && chain[below + 1]));
}

// Length of the longest chain.
__device__ int longest_chain(const MotusPictureStateCuda &w, ListShared *s, int n,
                             const uint8_t *chain) {
    uint32_t own = 0;
#pragma unroll 1
    for (int j = (int)threadIdx.x; j < n; j += LIST_THREADS)
        own = motus_max(own, chain[w.found[j]]);
    own = ~motus_lanes_min(~own);
    if (motus_lane() == 0) atomicMax(&s->longest, (int)own);
    __syncthreads(); // all have said theirs
    return s->longest;
}

// A P picture's, by the length of chains: none waits for one of the same length. MBs that stand
// alone, a quarter of all, fill up what the later ones, of which there are fewer and fewer, leave
// free: else all chains would begin only when they are done. MBs whose chain is too long become
// inter, which they have been coded as.
__device__ int list_chains(const MotusPictureStateCuda &w, int most, ListShared *s) {
    uint8_t *const room = w.n_mb <= NEAR_MBS ? s->chain : w.chain;
    const int found = find_intra(w, s, room);
    const bool few = found <= LIST_THREADS && 2 * w.n_mb <= NEAR_MBS;
    if (!few) chains_by_diagonals(w, s, found, most, room);
    const uint8_t *chain = few ? chains_by_rounds(w, found, most, room) : room;
    const int longest = longest_chain(w, s, found, chain), later = longest / 4;
    const auto turn = [&](int i) {
        if (chain[i] != 1 || !stands_alone(w, i, chain)) return chain[i] - 1;
        const uint32_t any = (uint32_t)i * 2654435769u >> 16; // scattered: below 2^16
        return later + (int)(any * (uint32_t)(longest - later) >> 16);
    };
    const int n = sort(
        s, found, [&](int j) { return w.found[j]; }, turn, 0, w.list);
#pragma unroll 1
    for (int j = (int)threadIdx.x; j < found; j += LIST_THREADS) {
        const int i = w.found[j];
        if (!chain[i]) w.mb[i] = w.mb_inter[i];
    }
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < w.n_mb; i += LIST_THREADS)
        w.listed[i] = (uint8_t)(chain[i] ? LISTED : NOT_LISTED);
    return n;
}

// Lists the MBs to be coded as intra. One block.
__global__ void __launch_bounds__(LIST_THREADS) list_kernel(const __grid_constant__ Pass pass) {
    __shared__ ListShared s;
    const MotusPictureStateCuda &w = pass.pic;
    motus_let_successor_start();
    motus_wait_for_predecessor();
    const int n = pass.p_slice ? list_chains(w, pass.effort.intra_chain, &s) : list_all(w, &s);
    if (threadIdx.x == 0) w.flags[0] = 0, w.flags[1] = n;
}

} // namespace

// MBs of the wavefront that are to be taken at once: more would only wait. An I picture's wave is
// half as wide as the picture, and no higher, in MBs; slices have waves of their own. A P picture's
// chains are many.
static int taken_at_once(const Pass &pass) {
    const MotusPictureStateCuda &w = pass.pic;
    if (pass.p_slice) return w.teams == 1 ? 256 : motus_clip(20, 160, w.n_mb / 100);
    return w.teams == 1 || w.slice_first ? motus_min(w.mb_height, 256)
                                         : motus_min(w.mb_height, (w.mb_width + 1) / 2) + 4;
}

cudaError_t motus_decide::code_intra(const Pass &pass, cudaStream_t stream) {
    const int teams = pass.pic.teams,
              blocks = (motus_min(taken_at_once(pass), pass.pic.n_mb) + teams - 1) / teams;
    const int early = pass.pic.early;
    // An I picture's list comes first: what the stream waits for before it is no launch.
    cudaError_t status =
        motus_launch(early && pass.p_slice, 1, LIST_THREADS, 0, stream, list_kernel, pass);
    if (status == cudaSuccess)
        status = motus_launch(early, blocks, teams * TEAM_THREADS, teams * sizeof(IntraTeam),
                              stream, teams > 1 ? intra_kernel<MOST_TEAMS> : intra_kernel<1>, pass);
    return status;
}

extern "C" cudaError_t motus_intra_cuda_prepare(int *teams) {
    int device = 0, bytes = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    *teams = motus_clip(1, MOST_TEAMS, bytes / (int)sizeof(IntraTeam));
    cudaFuncAttributes unused;
    if (status == cudaSuccess) status = cudaFuncGetAttributes(&unused, intra_kernel<1>);
    if (status != cudaSuccess) return status;
    return cudaFuncSetAttribute(intra_kernel<MOST_TEAMS>,
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                *teams * (int)sizeof(IntraTeam));
}
