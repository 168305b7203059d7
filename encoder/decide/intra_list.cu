// The list of intra MBs for the wavefront (decide_intra.cu), by one block. Each MB comes after
// those that it depends on: an I picture's MBs by diagonals, a P picture's by the lengths of their
// chains. Chains that are too long are cut: their MBs become inter, as in decide.c's
// visit_decided_intra.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide_pass.cuh"

using namespace motus_decide;

namespace {

// Returns the diagonal x + 2y of MB i, y counted from the top of its slice. MBs of a diagonal are
// independent of one another, and depend on earlier diagonals only.
__device__ int diagonal_of(const MotusPictureStateCuda &w, int i) {
    const int y = i / w.mb_width, top = motus_slice_first(w.slice_first, i) / w.mb_width;
    return i - y * w.mb_width + 2 * (y - top);
}

constexpr int LIST_THREADS = 1024, LIST_EACH = 2;
constexpr int KEYS = LIST_THREADS * LIST_EACH; // more than 8K has diagonals
constexpr int NEAR_MBS = 36864;                // most whose chains fit in shared memory: 4096x2304

struct ListShared {
    uint8_t chain[NEAR_MBS];
    int at[KEYS], sums[32], n, longest;
};

__device__ int sum_up_to(int v) { return (int)motus_lanes_sum_up_to((uint32_t)v, MOTUS_LANES); }

// Collects the intra MBs of a P picture in w.found, in any order, and clears `chain`. Returns their
// number.
__device__ int find_intra(const MotusPictureStateCuda &w, ListShared *s, uint8_t *chain) {
    constexpr int EACH = 8;
    const int t = (int)threadIdx.x;
    if (t == 0) s->n = s->longest = 0;
    __syncthreads(); // counts are 0
#pragma unroll 1
    for (int first = t; first < w.n_mb + t; first += EACH * LIST_THREADS) { // alike for all threads
        uint32_t mask = 0;
#pragma unroll
        for (int k = 0; k < EACH; k++) { // no store between the loads, so that they overlap
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
    __syncthreads(); // all are found, chains are 0
    return s->n;
}

// Replaces at[k] by first + the sum of at[0..k - 1]. Returns first + the sum of all. The whole
// block calls it.
__device__ int sum_before(ListShared *s, int first) {
    const int warp = (int)threadIdx.x / 32, lane = motus_lane();
    int *mine = s->at + LIST_EACH * threadIdx.x, sum = 0;
    for (int k = 0; k < LIST_EACH; k++) sum += mine[k];
    const int up_to = sum_up_to(sum);
    if (lane == 31) s->sums[warp] = up_to;
    __syncthreads(); // every warp's sum is written
    const int warps = sum_up_to(s->sums[lane]), all = __shfl_sync(MOTUS_ALL_LANES, warps, 31);
    int at = first + up_to - sum + (warp ? __shfl_sync(MOTUS_ALL_LANES, warps, warp - 1) : 0);
    for (int k = 0; k < LIST_EACH; k++) {
        const int n = mine[k];
        mine[k] = at;
        at += n;
    }
    __syncthreads(); // `at` is written, all have read `sums`
    return first + all;
}

// Sorts those of n MBs, mb(0), mb(1), ..., whose keys are within [0, KEYS) into list[begin] and on.
// MBs with equal keys come in any order, on which nothing depends. s->at[key] becomes the end of
// those with that key. Returns the end of all.
template <class Mb, class Key>
__device__ int sort(ListShared *s, int n, Mb mb, Key key, int begin, int *list) {
    int end = 0;
#pragma unroll 1
    for (int k = (int)threadIdx.x; k < KEYS; k += LIST_THREADS) s->at[k] = 0;
    __syncthreads(); // cleared before counting
#pragma unroll 1
    for (int placing = 0; placing < 2; placing++) {
#pragma unroll 1
        for (int j = (int)threadIdx.x; j < n; j += LIST_THREADS) {
            const int i = mb(j), k = key(i);
            if (k < 0 || k >= KEYS) continue;
            const int at = atomicAdd(&s->at[k], 1);
            if (placing) list[at] = i;
        }
        __syncthreads(); // counted before it is summed; sorted before it is used
        if (!placing) end = sum_before(s, begin);
    }
    return end;
}

// Lists all MBs of an I picture by diagonals. Returns their number.
__device__ int list_all(const MotusPictureStateCuda &w, ListShared *s) {
    int n = 0;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < w.n_mb; i += LIST_THREADS) w.listed[i] = LISTED;
#pragma unroll 1
    for (int first = 0; first < w.mb_width + 2 * w.mb_height; first += KEYS) {
        n = sort(
            s, w.n_mb, [](int j) { return j; }, [&](int i) { return diagonal_of(w, i) - first; }, n,
            w.list);
        __syncthreads(); // all have read `at`
    }
    return n;
}

// An intra MB and its neighbours (neighbour_of).
struct Link {
    int i, near[4];
};

__device__ Link link_of(const MotusPictureStateCuda &w, int i) {
    Link link = {i, {}};
    for (int k = 0; k < 4; k++) link.near[k] = neighbour_of(w, i, k);
    return link;
}

// Sets the length of the chain that ends in an MB from those of its neighbours, or 0 if it is too
// long (above `most`); then the MB stays inter. True if it has changed.
__device__ int lengthen(const Link &link, bool typed, int most, const uint8_t *before,
                        uint8_t *after) {
    int longest = 1;
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (link.near[k] >= 0)
            longest = motus_max(longest, motus_chain_up_to(before[link.near[k]], k, typed));
    const uint8_t length = (uint8_t)(longest <= most ? longest : 0);
    after[link.i] = length;
    return length != before[link.i];
}

// Computes the chain lengths of few MBs, one a thread: all at once, again until none changes. MBs
// that intra refresh wants keep 0: no chain bounds them. Returns the lengths.
__device__ const uint8_t *chains_by_rounds(const MotusPictureStateCuda &w, int n, bool typed,
                                           int most, uint8_t *chain) {
    const int t = (int)threadIdx.x;
    const bool counts = t < n && !is_refreshed(w, w.found[t]);
    const Link mine = counts ? link_of(w, w.found[t]) : Link{};
    uint8_t *before = chain, *after = chain + w.n_mb;
#pragma unroll 1
    for (int i = t; i < w.n_mb; i += LIST_THREADS) after[i] = 0;
    for (;;) {
        __syncthreads(); // lengths are written before they are read
        const int changed = counts && lengthen(mine, typed, most, before, after);
        if (!__syncthreads_or(changed)) return before;
        uint8_t *const other = before;
        before = after, after = other;
    }
}

// Computes the same of many MBs, diagonal by diagonal. Uses w.list for their order.
__device__ void chains_by_diagonals(const MotusPictureStateCuda &w, ListShared *s, int n,
                                    bool typed, int most, uint8_t *chain) {
    const int diagonals = w.mb_width + 2 * w.mb_height;
#pragma unroll 1
    for (int first = 0, begin = 0; first < diagonals; first += KEYS) {
        sort(
            s, n, [&](int j) { return w.found[j]; },
            [&](int i) { return diagonal_of(w, i) - first; }, begin, w.list);
#pragma unroll 1
        for (int d = 0; d < KEYS && first + d < diagonals; d++) {
            const int end = s->at[d];
#pragma unroll 1
            for (int j = begin + (int)threadIdx.x; j < end; j += LIST_THREADS)
                if (!is_refreshed(w, w.list[j]))
                    lengthen(link_of(w, w.list[j]), typed, most, chain, chain);
            begin = end;
            __syncthreads(); // this diagonal is written, all have read `at`
        }
    }
}

// Returns the length of the longest chain.
__device__ int longest_chain(const MotusPictureStateCuda &w, ListShared *s, int n,
                             const uint8_t *chain) {
    uint32_t own = 0;
#pragma unroll 1
    for (int j = (int)threadIdx.x; j < n; j += LIST_THREADS)
        own = motus_max(own, chain[w.found[j]]);
    own = ~motus_lanes_min(~own);
    if (motus_lane() == 0) atomicMax(&s->longest, (int)own);
    __syncthreads(); // the maximum is complete
    return s->longest;
}

// Lists the intra MBs of a P picture by the lengths of their chains: none depends on one of the
// same length. MBs that stand alone, a quarter of all, are spread over the later three quarters,
// which have fewer and fewer others. With intra refresh all are listed by diagonals. MBs whose
// chain is too long become inter. Returns the list's length.
__device__ int list_chains(const MotusPictureStateCuda &w, const MotusEffort *effort,
                           ListShared *s) {
    uint8_t *const lengths = w.n_mb <= NEAR_MBS ? s->chain : w.chain;
    int found;
    if (effort->rounds > 1) {
        found = find_intra(w, s, lengths);
    } else { // note_kernel has collected them
        if (threadIdx.x == 0) s->longest = 0;
#pragma unroll 1
        for (int i = (int)threadIdx.x; i < w.n_mb; i += LIST_THREADS) lengths[i] = 0;
        __syncthreads(); // chains are 0
        found = w.flags[MOTUS_FLAG_NOTED];
    }
    const int most = motus_longest_chain(found, w.n_mb, effort);
    const bool typed = effort->types_first;
    const bool refreshes = w.refresh.end > 0, few = found <= LIST_THREADS && 2 * w.n_mb <= NEAR_MBS;
    if (!few) chains_by_diagonals(w, s, found, typed, most, lengths);
    const uint8_t *chain = few ? chains_by_rounds(w, found, typed, most, lengths) : lengths;
    const int longest = longest_chain(w, s, found, chain), later = longest / 4;
    const auto turn = [&](int i) {
        const int x = i % w.mb_width, below = i + w.mb_width;
        const bool right = x + 1 < w.mb_width, under = below < w.n_mb;
        if (chain[i] != 1 || (right && chain[i + 1]) || (under && x > 0 && chain[below - 1]) ||
            (under && chain[below]) || (under && right && chain[below + 1]))
            return chain[i] - 1;                              // MBs of the list depend on it
        const uint32_t any = (uint32_t)i * 2654435769u >> 16; // a hash below 2^16 (Fibonacci)
        return later + (int)(any * (uint32_t)(longest - later) >> 16);
    };
    const auto coded = [&](int i) { return chain[i] || is_refreshed(w, i); };
    const int keys = refreshes ? w.mb_width + 2 * w.mb_height : 1;
    int n = 0;
#pragma unroll 1
    for (int first = 0; first < keys; first += KEYS) {
        n = sort(
            s, found, [&](int j) { return w.found[j]; },
            [&](int i) { return !refreshes ? turn(i)
                                : coded(i) ? diagonal_of(w, i) - first
                                           : -1; },
            n, w.list);
        __syncthreads(); // all have read `at`
    }
#pragma unroll 1
    for (int j = (int)threadIdx.x; j < found; j += LIST_THREADS) {
        const int i = w.found[j];
        if (coded(i))
            w.listed[i] = LISTED;
        else
            w.mb[i] = w.mb_inter[i];
    }
#pragma unroll 1
    for (int i = (int)threadIdx.x; effort->rounds > 1 && i < w.n_mb; i += LIST_THREADS)
        w.listed[i] = (uint8_t)(coded(i) ? LISTED : NOT_LISTED);
    return n;
}

__global__ void __launch_bounds__(LIST_THREADS) list_kernel(const __grid_constant__ Pass pass) {
    __shared__ ListShared s;
    const MotusPictureStateCuda &w = pass.pic;
    motus_begin_early();
    const int n = pass.slice_type ? list_chains(w, &pass.effort, &s) : list_all(w, &s);
    if (threadIdx.x) return;
    for (int flag :
         {MOTUS_FLAG_TAKEN, MOTUS_FLAG_LUMA_TAKEN, MOTUS_FLAG_CHROMA_TAKEN, MOTUS_FLAG_WANTS_PCM})
        w.flags[flag] = 0;
    w.flags[MOTUS_FLAG_LISTED] = n;
}

} // namespace

cudaError_t motus_decide::list_intra(const Pass &pass, cudaStream_t stream) {
    // An I picture's list comes first: before it the stream waits for an event, not for a launch.
    return motus_launch(pass.pic.early && pass.slice_type, 1, LIST_THREADS, 0, stream, list_kernel,
                        pass);
}
