// Bins sorted by context and their states (states_core.h), by blocks.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_STATES_CUH
#define ENCODER_CABAC_STATES_CUH

#include "encoder/cabac/job.cuh"

namespace {

// ---- Sorting by context, stably -----------------------------------------------------------------

// Counts a tile's bins of each context, and adds them to all bins.
using CountRoom = uint32_t[2 * CONTEXTS]; // as MotusBinCounts
__device__ void count_tile(const Job &job, const Piece &piece, int tile, CountRoom &count) {
    constexpr int ROUNDS = TILE / THREADS;
    constexpr uint32_t NO_SYMBOL = MOTUS_SYMBOL_BYPASS << 1;
    const int t = (int)threadIdx.x;
    for (int c = t; c < 2 * CONTEXTS; c += THREADS) count[c] = 0;
    __syncthreads(); // cleared before it is added to
    uint32_t others = 0, symbol[ROUNDS];
#pragma unroll
    for (int r = 0, i = tile * TILE + t; r < ROUNDS; r++, i += THREADS)
        symbol[r] = i < piece.n ? job.symbol[i] : NO_SYMBOL;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        if (symbol[r] == NO_SYMBOL) continue;
        if (is_context(symbol[r]))
            atomicAdd(&count[symbol[r] & (2 * CONTEXTS - 1)], 1u);
        else
            others += symbol[r] & MOTUS_SYMBOL_BYPASS ? (symbol[r] >> 8 & 7) + 1 : 1;
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
    const int n = count_of(n_tiles, GROUP) * CONTEXTS / 4;
    for (int k = t; k < n; k += threads) ((uint4 *)job.of_group)[k] = make_uint4(0, 0, 0, 0);
}

// Adds the bins of tiles [from, to) in the thread's two contexts.
__device__ uint2 add_tiles(const Job &job, uint2 sum, int from, int to) {
    const int t = (int)threadIdx.x, whole = min(count_of(from, GROUP) * GROUP, to),
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
struct SortRoom {
    uint32_t next[THREADS / 32][CONTEXTS], base[CONTEXTS + 1], warps[THREADS / 32];
};
__device__ void sort_tiles(const Job &job, const Piece &piece, SortRoom &room) {
    static_assert(2 * THREADS == CONTEXTS, "two contexts a thread");
    constexpr int WARPS = THREADS / 32, ROUNDS = TILE / THREADS;
    uint32_t(&next)[WARPS][CONTEXTS] = room.next, (&base)[CONTEXTS + 1] = room.base;
    const int t = (int)threadIdx.x, lane = motus_lane(), warp = t / 32,
              n_tiles = count_of(piece.n, TILE);
    if ((int)blockIdx.x >= n_tiles) return;
    const uint2 total = add_tiles(job, {0, 0}, 0, count_of(n_tiles, GROUP) * GROUP);
    find_bases(total, base, room.warps);
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
        }
#pragma unroll
        for (int r = 0; r < ROUNDS; r++)
            if (!(symbol[r] & MOTUS_SYMBOL_BYPASS) && !is_context(symbol[r]))
                job.symbol[first + 32 * r] = (uint16_t)motus_resolve_terminating(symbol[r]);
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

constexpr int SEGMENTS = 64;     // that a block resolves at a time, a thread each
constexpr int SEGMENTS_NEAR = 8; // before them, whose bins are at hand

// Packs the bins of n segments from `first` on, those of [0, end) being there.
__device__ void pack_segments(const Job &job, int first, int n, int end, uint64_t *bits) {
    const int lane = motus_lane();
#pragma unroll 3
    for (int k = (int)threadIdx.x / 32; k < n; k += THREADS / 32) {
        const uint32_t *sorted = job.sorted + (ptrdiff_t)(first + k) * MOTUS_SEGMENT;
        const int there = first + k >= 0 && first + k < end;
        const uint32_t low = __ballot_sync(MOTUS_ALL_LANES, there && sorted[lane] >> 31),
                       high = __ballot_sync(MOTUS_ALL_LANES, there && sorted[32 + lane] >> 31);
        if (lane == 0) bits[k] = low | (uint64_t)high << 32;
    }
}

constexpr int STATE_WORDS = MOTUS_SEGMENT / 4 + 1; // of a segment; a gap keeps banks apart

// Finds the states of a segment per thread. near: bins of segments from first_near on. Returns its
// number of bins.
__device__ int resolve(const Job &job, const Piece &piece, const MotusPlaceTables &tables,
                       const uint32_t *base, const uint64_t *near, int first_near, uint32_t segment,
                       uint32_t (&v)[STATE_WORDS]) {
    const int context = context_of(base, segment);
    const uint32_t begin = base[context], done = (segment - begin) * MOTUS_SEGMENT,
                   left = job.total[context] - done;
    const uint64_t bins = near[(int)segment - first_near];
    const int n = (int)min(left, (uint32_t)MOTUS_SEGMENT),
              place = motus_place_before(tables.four, job.sorted, near, first_near, (int)begin,
                                         (int)segment, before_of(job, piece).place[context]);
    motus_resolve_segment(&tables, bins, place, v);
    if (left <= MOTUS_SEGMENT)
        behind_of(job, piece).place[context] = (uint8_t)motus_place_behind(&tables, bins, n, place);
    return n;
}

// Writes the resolved symbols of segments from `first` on. used: bins of each.
__device__ void put_resolved(const Job &job, int first, const int (&used)[SEGMENTS],
                             const uint32_t (&v)[SEGMENTS][STATE_WORDS]) {
    constexpr int HALVES = 2 * SEGMENTS, WARPS = THREADS / 32, EACH = 4; // loads at a time
    static_assert(HALVES % (EACH * WARPS) == 0, "halves of segments");
#pragma unroll 1
    for (int begin = (int)threadIdx.x / 32; begin < HALVES; begin += EACH * WARPS) {
        uint32_t sorted[EACH];
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const int half = begin + r * WARPS, i = half % 2 * 32 + motus_lane();
            sorted[r] = i < used[half / 2]
                            ? job.sorted[(size_t)(first + half / 2) * MOTUS_SEGMENT + (size_t)i]
                            : 0;
        }
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const int half = begin + r * WARPS, i = half % 2 * 32 + motus_lane();
            if (i < used[half / 2])
                job.symbol[sorted[r] & MOTUS_SORTED_INDEX] =
                    motus_resolved_bin(sorted[r], v[half / 2][i / 4] >> 8 * (i % 4) & 255);
        }
    }
}

struct StateRoom {
    uint64_t bits[SEGMENTS_NEAR + SEGMENTS];
    uint32_t base[CONTEXTS + 1], v[SEGMENTS][STATE_WORDS];
    int used[SEGMENTS];
    alignas(4) MotusPlaceTables tables;
};
__device__ void find_states(const Job &job, const Piece &piece, StateRoom &room) {
    static_assert(THREADS >= SEGMENTS, "a thread per segment");
    const int t = (int)threadIdx.x, n = (int)job.base[CONTEXTS];
    if (blockIdx.x == 0)
        for (int c = t; c < CONTEXTS; c += THREADS)
            if (!job.total[c]) behind_of(job, piece).place[c] = before_of(job, piece).place[c];
    if ((int)blockIdx.x * SEGMENTS >= n) return;
    for (int c = t; c <= CONTEXTS; c += THREADS) room.base[c] = job.base[c];
    for (int k = t; k < (int)sizeof room.tables / 4; k += THREADS)
        ((uint32_t *)&room.tables)[k] = ((const uint32_t *)job.tables)[k];
    for (int tile = (int)blockIdx.x * SEGMENTS; tile < n; tile += (int)gridDim.x * SEGMENTS) {
        const int first = tile - SEGMENTS_NEAR;
        pack_segments(job, first, SEGMENTS_NEAR + SEGMENTS, n, room.bits);
        __syncthreads(); // complete before they are read
        if (t < SEGMENTS)
            room.used[t] = tile + t < n ? resolve(job, piece, room.tables, room.base, room.bits,
                                                  first, (uint32_t)(tile + t), room.v[t])
                                        : 0;
        __syncthreads(); // states are there
        put_resolved(job, tile, room.used, room.v);
        __syncthreads(); // read before others come
    }
}

} // namespace

#endif
