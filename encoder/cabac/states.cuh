// Bins sorted by context and their states (states_core.h), by blocks.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_STATES_CUH
#define ENCODER_CABAC_STATES_CUH

#include "encoder/cabac/job.cuh"

namespace {

// ---- Sorting by context, stably -----------------------------------------------------------------

// Counts a tile's bins of each context, and adds them to all bins.
struct CountRoom {
    uint32_t count[2 * CONTEXTS]; // as MotusBinCounts
};
template <int THREADS>
__device__ void count_tile(const Job &job, const Piece &piece, int tile, CountRoom &room) {
    uint32_t(&count)[2 * CONTEXTS] = room.count;
    const int t = (int)threadIdx.x;
    for (int c = t; c < 2 * CONTEXTS; c += THREADS) count[c] = 0;
    __syncthreads(); // cleared before it is added to
    uint32_t others = 0;
    for (int i = tile * TILE + t; i < min(piece.n, (tile + 1) * TILE); i += THREADS) {
        const uint32_t symbol = job.symbol[i];
        if (is_context(symbol))
            atomicAdd(&count[symbol & (2 * CONTEXTS - 1)], 1u);
        else
            others += symbol & MOTUS_SYMBOL_BYPASS ? (symbol >> 8 & 7) + 1 : 1;
    }
    others = motus_lanes_sum(others);
    if (motus_lane() == 0 && others) atomicAdd(&job.in.bins->others, others);
    __syncthreads(); // complete before it is read
    for (int c = t; c < CONTEXTS; c += THREADS) {
        const uint32_t n = count[c] + count[c + CONTEXTS];
        job.of_tile[tile][c] = (uint16_t)n;
        if (n) atomicAdd(&job.of_group[tile / GROUP][c], n);
    }
    for (int c = t; c < 2 * CONTEXTS; c += THREADS)
        if (count[c]) atomicAdd(&job.in.bins->bin[c], count[c]);
    __syncthreads(); // read before it is cleared
}

// Clears the counts of groups, to be added to. t: of `threads`.
__device__ void clear_groups(const Job &job, int n_tiles, int t, int threads) {
    const int n = groups_of(n_tiles) * CONTEXTS / 4;
    for (int k = t; k < n; k += threads) ((uint4 *)job.of_group)[k] = make_uint4(0, 0, 0, 0);
}

// Adds the bins of tiles [from, to) in the thread's two contexts.
__device__ uint2 add_tiles(const Job &job, uint2 sum, int from, int to) {
    const int t = (int)threadIdx.x, whole = min(groups_of(from) * GROUP, to),
              rest = max(to / GROUP * GROUP, whole);
    auto add_tile = [&](int k) {
        const ushort2 n = ((const ushort2 *)job.of_tile[k])[t];
        sum.x += n.x, sum.y += n.y;
    };
#pragma unroll 4
    for (int k = from; k < whole; k++) add_tile(k);
#pragma unroll 4
    for (int k = whole; k < rest; k += GROUP) {
        const uint2 n = ((const uint2 *)job.of_group[k / GROUP])[t];
        sum.x += n.x, sum.y += n.y;
    }
#pragma unroll 4
    for (int k = rest; k < to; k++) add_tile(k);
    return sum;
}

// Sets base[c] to the first segment of context c, base[CONTEXTS] to the number of all. total: of
// the thread's two contexts. The caller's next barrier completes them.
template <int THREADS>
__device__ void find_bases(uint2 total, uint32_t *base, uint32_t (&room)[THREADS / 32]) {
    const uint32_t own = (total.x + MOTUS_SEGMENT - 1) / MOTUS_SEGMENT,
                   sum = own + (total.y + MOTUS_SEGMENT - 1) / MOTUS_SEGMENT,
                   upto = scan_lanes(sum, Sum());
    uint32_t all;
    const uint32_t at = upto - sum + scan_warps<THREADS>(from_lane(upto, 31), Sum(), room, &all);
    const int t = (int)threadIdx.x;
    base[2 * t] = at, base[2 * t + 1] = at + own;
    if (t == THREADS - 1) base[CONTEXTS] = all;
}

// Sorts bins, and resolves terminating ones. A warp takes neighbouring symbols of the tile.
template <int THREADS> struct SortRoom {
    uint32_t next[THREADS / 32][CONTEXTS], base[CONTEXTS + 1], warps[THREADS / 32];
};
template <int THREADS>
__device__ void sort_tiles(const Job &job, const Piece &piece, SortRoom<THREADS> &room) {
    static_assert(2 * THREADS == CONTEXTS, "two contexts a thread");
    constexpr int WARPS = THREADS / 32, ROUNDS = TILE / THREADS;
    uint32_t(&next)[WARPS][CONTEXTS] = room.next, (&base)[CONTEXTS + 1] = room.base;
    const int t = (int)threadIdx.x, lane = motus_lane(), warp = t / 32, n_tiles = tiles_of(piece);
    if ((int)blockIdx.x >= n_tiles) return;
    const uint2 total = add_tiles(job, {0, 0}, 0, groups_of(n_tiles) * GROUP);
    find_bases<THREADS>(total, base, room.warps);
    __syncthreads(); // complete before they are read
    for (int c = t; c <= CONTEXTS && blockIdx.x == 0; c += THREADS) job.base[c] = base[c];
    if (blockIdx.x == 0) ((uint2 *)job.total)[t] = total;
    uint2 earlier = {0, 0}; // bins of the tiles before
    for (int tile = (int)blockIdx.x, done = 0; tile < n_tiles; tile += (int)gridDim.x) {
        earlier = add_tiles(job, earlier, done, tile), done = tile;
        const int first = tile * TILE + warp * 32 * ROUNDS + lane;
        uint32_t symbol[ROUNDS], rank[ROUNDS];
        for (int k = t; k < WARPS * CONTEXTS; k += THREADS) next[k / CONTEXTS][k % CONTEXTS] = 0;
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            const int i = first + 32 * r;
            symbol[r] = i < piece.n ? job.symbol[i] : (uint32_t)MOTUS_SYMBOL_BYPASS;
            if (!(symbol[r] & MOTUS_SYMBOL_BYPASS) && !is_context(symbol[r]))
                job.symbol[i] = (uint16_t)motus_resolve_terminating(symbol[r]);
        }
        __syncthreads(); // `next` is cleared
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            const uint32_t c = is_context(symbol[r]) ? symbol[r] & MOTUS_SYMBOL_CONTEXT
                                                     : (uint32_t)MOTUS_CTX_TERMINATE;
            const uint32_t same = __match_any_sync(MOTUS_ALL_LANES, c),
                           before = same & ((1u << lane) - 1);
            rank[r] = next[warp][c] + (uint32_t)__popc(before);
            __syncwarp(); // read before the first of these lanes moves it on
            if (!before) next[warp][c] += (uint32_t)__popc(same);
            __syncwarp(); // and that before the next round
        }
        __syncthreads(); // counts of all warps are complete
        for (int c = 2 * t; c < 2 * t + 2; c++) {
            uint32_t at = base[c] * MOTUS_SEGMENT + (c % 2 ? earlier.y : earlier.x);
#pragma unroll
            for (int w = 0; w < WARPS; w++) {
                const uint32_t own = next[w][c];
                next[w][c] = at;
                at += own;
            }
        }
        __syncthreads(); // they are places now
#pragma unroll
        for (int r = 0; r < ROUNDS; r++)
            if (is_context(symbol[r]))
                job.sorted[next[warp][symbol[r] & MOTUS_SYMBOL_CONTEXT] + rank[r]] =
                    motus_sorted_bin(symbol[r], (uint32_t)(first + 32 * r));
        __syncthreads(); // read before they are cleared
    }
}

// ---- States -------------------------------------------------------------------------------------

// Returns the context of a segment.
__device__ int context_of(const uint32_t *base, uint32_t segment) {
    int low = 0, high = CONTEXTS; // the last one that begins at or before it
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (base[middle] <= segment)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Packs the bins of segments [first, first + 32) by a warp; this lane's are returned.
__device__ uint64_t pack_segments(const Job &job, int first, int n) {
    const int lane = motus_lane();
    uint64_t own = 0;
#pragma unroll 8
    for (int k = 0; k < 32; k++) {
        const uint32_t *sorted = job.sorted + (ptrdiff_t)(first + k) * MOTUS_SEGMENT;
        const int there = first + k >= 0 && first + k < n;
        const uint32_t low = __ballot_sync(MOTUS_ALL_LANES, there && sorted[lane] >> 31),
                       high = __ballot_sync(MOTUS_ALL_LANES, there && sorted[32 + lane] >> 31);
        if (k == lane) own = low | (uint64_t)high << 32;
    }
    return own;
}

constexpr int STATE_WORDS = MOTUS_SEGMENT / 4 + 1; // of a segment; a gap keeps banks apart

// Finds the states of a segment per thread. Returns its number of bins.
__device__ int resolve(const Job &job, const Piece &piece, const MotusPlaceTables &tables,
                       const uint32_t *base, const MotusSegments &segments, uint32_t segment,
                       uint32_t (&v)[STATE_WORDS]) {
    const int context = context_of(base, segment);
    const uint32_t begin = base[context], done = (segment - begin) * MOTUS_SEGMENT,
                   left = job.total[context] - done;
    const uint64_t bins = segments.near[(int)segment - segments.first];
    const int n = (int)min(left, (uint32_t)MOTUS_SEGMENT),
              place = motus_place_before(tables.four, &segments, (int)begin, (int)segment,
                                         before_of(job, piece).place[context]);
    motus_resolve_segment(&tables, bins, place, v);
    if (left <= MOTUS_SEGMENT)
        behind_of(job, piece).place[context] = (uint8_t)motus_place_behind(&tables, bins, n, place);
    return n;
}

// Writes the resolved symbols of 32 segments by a warp. n: of this lane's segment.
__device__ void put_resolved(const Job &job, int first, int n, const uint32_t (*v)[STATE_WORDS]) {
    const int lane = motus_lane();
#pragma unroll 4
    for (int k = 0; k < 32; k++) {
        const int n_there = (int)from_lane((uint32_t)n, k);
        const uint32_t *sorted = job.sorted + (size_t)(first + k) * MOTUS_SEGMENT;
        for (int i = lane; i < n_there; i += 32)
            job.symbol[sorted[i] & MOTUS_SORTED_INDEX] =
                motus_resolved_bin(sorted[i], v[k][i / 4] >> 8 * (i % 4) & 255);
    }
}

template <int THREADS> struct StateRoom {
    uint64_t bits[32 + THREADS];
    uint32_t base[CONTEXTS + 1], v[THREADS][STATE_WORDS];
    alignas(4) MotusPlaceTables tables;
};
template <int THREADS>
__device__ void find_states(const Job &job, const Piece &piece, StateRoom<THREADS> &room) {
    uint64_t(&bits)[32 + THREADS] = room.bits;
    const int t = (int)threadIdx.x, warp = t & ~31, n = (int)job.base[CONTEXTS];
    if (blockIdx.x == 0)
        for (int c = t; c < CONTEXTS; c += THREADS)
            if (!job.total[c]) behind_of(job, piece).place[c] = before_of(job, piece).place[c];
    if ((int)blockIdx.x * THREADS >= n) return;
    for (int c = t; c <= CONTEXTS; c += THREADS) room.base[c] = job.base[c];
    for (int k = t; k < (int)sizeof room.tables / 4; k += THREADS)
        ((uint32_t *)&room.tables)[k] = ((const uint32_t *)job.tables)[k];
    for (int tile = (int)blockIdx.x * THREADS; tile < n; tile += (int)gridDim.x * THREADS) {
        bits[32 + t] = pack_segments(job, tile + warp, n);
        if (warp == 0) bits[t] = pack_segments(job, tile - 32, n);
        __syncthreads(); // complete before they are read
        const MotusSegments segments = {job.sorted, bits, tile - 32};
        const int used = tile + t < n ? resolve(job, piece, room.tables, room.base, segments,
                                                (uint32_t)(tile + t), room.v[t])
                                      : 0;
        __syncwarp(); // the warp's states are there
        put_resolved(job, tile + warp, used, room.v + warp);
        __syncthreads(); // read before others come
    }
}

} // namespace

#endif
