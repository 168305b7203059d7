// Ranges and low of resolved symbols (ranges_core.h), by blocks.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_RANGES_CUH
#define ENCODER_CABAC_RANGES_CUH

#include "encoder/cabac/job.cuh"

namespace {

// ---- Range --------------------------------------------------------------------------------------

// Symbols of a block, N from a chunk's first one on (MotusResolved).
template <int N> struct Staged {
    MotusRangeRow context[MOTUS_ROWS], row[N + N / MOTUS_CHUNK];
    uint16_t near[N + N / MOTUS_CHUNK];
    uint32_t cuts[N / MOTUS_CHUNK];
};

template <int THREADS, int N> __device__ void load_rows(const Job &job, Staged<N> *s) {
    static_assert(THREADS >= MOTUS_ROWS, "a thread per row");
    if (threadIdx.x < MOTUS_ROWS) s->context[threadIdx.x] = job.rows[threadIdx.x];
    __syncthreads(); // complete before they are read
}

// Stages symbols from `first` on. The caller's next barrier completes them.
template <int THREADS, int N>
__device__ MotusResolved stage(const Job &job, const Piece &piece, Staged<N> *s, int first) {
    constexpr int ROUNDS = (N + THREADS - 1) / THREADS,
                  STAGED = (ROUNDS + 2) / 3; // symbols that a thread loads at a time
    const int begin = max(first, 0), end = min(first + N, piece.n);
    const MotusResolved view = {job.symbol, s->context, s->row, s->near, s->cuts, begin, end};
    for (int at = begin + (int)threadIdx.x; at - motus_lane() < end; at += STAGED * THREADS) {
        uint32_t v[STAGED];
#pragma unroll
        for (int r = 0, i = at; r < STAGED; r++, i += THREADS)
            v[r] = i < end ? job.symbol[i] : (uint32_t)MOTUS_SYMBOL_BYPASS;
#pragma unroll
        for (int r = 0, i = at; r < STAGED; r++, i += THREADS) {
            const uint32_t cuts =
                __ballot_sync(MOTUS_ALL_LANES, motus_is_cut(v[r]) && i < piece.n - 1);
            if (i >= end) continue;
            const int place = motus_resolved_place(&view, i);
            s->near[place] = (uint16_t)v[r], s->row[place] = motus_row_of(s->context, v[r]);
            if (motus_lane() == 0) s->cuts[(i - begin) / MOTUS_CHUNK] = cuts;
        }
    }
    return view;
}

__device__ MotusChunks chunks_of(const Job &job, const Piece &piece) {
    return {piece.n, before_of(job, piece).range, job.run, job.record, job.origin, job.end};
}

__device__ MotusWay no_way(int q) { return {0, 0, (uint32_t)q}; }

// Ways by the class at their beginning.
struct Ways {
    MotusWay way[4];
    static __device__ Ways none() { return {{no_way(0), no_way(1), no_way(2), no_way(3)}}; }
};

__device__ MotusWay pick(const Ways &ways, uint32_t q) {
    return q & 2 ? (q & 1 ? ways.way[3] : ways.way[2]) : (q & 1 ? ways.way[1] : ways.way[0]);
}
__device__ MotusWay then(MotusWay way, const Ways &ways) {
    return motus_way_join(way, pick(ways, way.range_class));
}
__device__ MotusWay then(MotusWay way, const MotusWay (&stored)[4]) {
    return motus_way_join(way, stored[way.range_class]);
}

struct Follow {
    static __device__ Ways none() { return Ways::none(); }
    __device__ Ways operator()(Ways a, const Ways &b) const {
#pragma unroll
        for (int q = 0; q < 4; q++) a.way[q] = then(a.way[q], b);
        return a;
    }
};

__device__ Ways from_before(const Ways &v, int step) {
    Ways other;
#pragma unroll
    for (int q = 0; q < 4; q++)
        other.way[q] = {from_before(v.way[q].before, step), from_before(v.way[q].after, step),
                        from_before(v.way[q].range_class, step)};
    return other;
}

__device__ Ways load_ways(const MotusWay (&from)[4]) {
    return {{from[0], from[1], from[2], from[3]}};
}
__device__ void store_ways(MotusWay (&to)[4], const Ways &ways) {
#pragma unroll
    for (int q = 0; q < 4; q++) to[q] = ways.way[q];
}

// Equals scan_lanes; its steps share their code.
__device__ Ways scan_ways(Ways v) {
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
        const Ways other = from_before(v, step);
        if (motus_lane() >= step) v = Follow()(other, v);
    }
    return v;
}

// Joins a tile's ways by a warp.
__device__ void join_ways(const Job &job, int tile, int n_chunks, const MotusWay (&way)[64][4]) {
    const int lane = motus_lane(), t = tile * TILE_CHUNKS + 2 * lane;
    const Ways first = load_ways(way[2 * lane]), second = load_ways(way[2 * lane + 1]);
    const Ways upto = scan_ways(Follow()(first, second));
    Ways before = from_before(upto, 1);
    if (lane == 0) before = Ways::none();
    if (t < n_chunks) store_ways(job.way[t], before);
    if (t + 1 < n_chunks) store_ways(job.way[t + 1], Follow()(before, first));
    if (lane == 31) store_ways(job.tile_way[tile], upto);
}

// Returns true, to all lanes of a warp, if a run's symbols have no cut. A lane has eight.
__device__ bool is_run(const Job &job, int run) {
    static_assert(MOTUS_RUN == 32 * 8, "symbols of a lane");
    const uint4 v = ((const uint4 *)(job.symbol + run * MOTUS_RUN))[motus_lane()];
    const uint32_t cuts = (v.x >> 6 & ~v.x >> 15) | (v.y >> 6 & ~v.y >> 15) |
                          (v.z >> 6 & ~v.z >> 15) | (v.w >> 6 & ~v.w >> 15); // as motus_is_cut
    static_assert(MOTUS_LESS_PROBABLE == 1 << 6 && MOTUS_SYMBOL_BYPASS == 1 << 15, "bits");
    return !__any_sync(MOTUS_ALL_LANES, cuts & 0x10001);
}

// Finds runs, a warp each, and makes their tables, a thread per range.
template <int THREADS> struct RunRoom {
    Staged<MOTUS_RUN> staged;
    bool found[THREADS / 32];
};
template <int THREADS>
__device__ void make_runs(const Job &job, const Piece &piece, RunRoom<THREADS> &room) {
    static_assert(THREADS == MOTUS_RUN, "a thread per range, one for the flag");
    constexpr int WARPS = THREADS / 32;
    const int t = (int)threadIdx.x, n_runs = (piece.n - 1) / MOTUS_RUN;
    for (int first = (int)blockIdx.x * WARPS; first < n_runs; first += (int)gridDim.x * WARPS) {
        const int own = first + t / 32;
        const bool found = own < n_runs && is_run(job, own);
        if (motus_lane() == 0) room.found[t / 32] = found;
        if (motus_lane() == 0 && own < n_runs) job.run[own][MOTUS_RUN_FLAG] = found;
        if (!__syncthreads_or(found)) continue;
        load_rows<THREADS>(job, &room.staged);
        for (int w = 0; w < WARPS; w++) {
            if (!room.found[w]) continue;
            const int run = first + w;
            const MotusResolved symbols = stage<THREADS>(job, piece, &room.staged, run * MOTUS_RUN);
            __syncthreads(); // symbols are there
            if (t != MOTUS_RUN_FLAG)
                job.run[run][t] = motus_run_entry(&symbols, run, 256 + (uint32_t)t);
            __syncthreads(); // read before others come
        }
        __syncthreads(); // `found` has been read
    }
}

// Finds the ways of chunks, a thread per chunk and class, and those of tiles.
struct WayRoom {
    Staged<TILE + 4 * MOTUS_CHUNK> staged;
    MotusWay way[TILE_CHUNKS][4];
};
template <int THREADS>
__device__ void find_ways(const Job &job, const Piece &piece, WayRoom &room) {
    static_assert(THREADS == 4 * TILE_CHUNKS, "a thread per chunk and class");
    MotusWay(&way)[TILE_CHUNKS][4] = room.way;
    const int t = (int)threadIdx.x, n_chunks = motus_chunks_of(piece.n),
              n_tiles = chunk_tiles_of(piece);
    const MotusChunks chunks = chunks_of(job, piece);
    if ((int)blockIdx.x >= n_tiles) return;
    load_rows<THREADS>(job, &room.staged);
    for (int tile = (int)blockIdx.x; tile < n_tiles; tile += (int)gridDim.x) {
        const int chunk = tile * TILE_CHUNKS + t / 4;
        const MotusResolved symbols =
            stage<THREADS>(job, piece, &room.staged, tile * TILE - MOTUS_CHUNK);
        __syncthreads(); // symbols are there
        way[t / 4][t % 4] = chunk < n_chunks
                                ? motus_chunk_way(&chunks, &symbols, chunk, (uint32_t)t % 4)
                                : no_way(t % 4);
        __syncthreads(); // complete before they are joined
        if (t < 32) join_ways(job, tile, n_chunks, way);
        __syncthreads(); // joined before they are overwritten
    }
}

// Ways from the piece's beginning up to tiles: `before` of every each-th one, and its end.
template <int THREADS> struct EntryRoom { MotusWay warps[THREADS / 32][4], before[THREADS], end; };

__device__ int tiles_each(int n_tiles, int threads) { return (n_tiles + threads - 1) / threads; }

template <int THREADS>
__device__ void find_entries(const Job &job, const Piece &piece, EntryRoom<THREADS> &room) {
    MotusWay(&warps)[THREADS / 32][4] = room.warps;
    const int t = (int)threadIdx.x, warp = t / 32, n = chunk_tiles_of(piece),
              each = tiles_each(n, THREADS), from = min(t * each, n), to = min(from + each, n);
    Ways own = Ways::none();
#pragma unroll 1
    for (int k = from; k < to; k++) own = Follow()(own, load_ways(job.tile_way[k]));
    const Ways upto = scan_ways(own);
    if (motus_lane() == 31) store_ways(warps[warp], upto);
    __syncthreads(); // complete before they are read
    const Ways before = from_before(upto, 1);
    MotusWay way = no_way(0); // the first chunk's way is the same for all classes
#pragma unroll 1
    for (int w = 0; w < warp; w++) way = then(way, warps[w]);
    if (motus_lane()) way = then(way, before);
    room.before[t] = way;
    if (t == THREADS - 1) room.end = then(way, own);
    __syncthreads(); // ways are written
}

// Returns the way from the piece's beginning up to a chunk.
template <int THREADS>
__device__ MotusWay way_to(const Job &job, const Piece &piece, const EntryRoom<THREADS> &room,
                           int chunk) {
    const int each = tiles_each(chunk_tiles_of(piece), THREADS), tile = chunk / TILE_CHUNKS;
    MotusWay way = room.before[tile / each];
#pragma unroll 1
    for (int k = tile / each * each; k < tile; k++) way = then(way, job.tile_way[k]);
    return then(way, job.way[chunk]);
}

// ---- Low ----------------------------------------------------------------------------------------

// Returns the bytes of the RBSP up to a piece's end at bit `end`, whole ones behind the last piece.
__device__ uint32_t bytes_upto(const Job &job, const Piece &piece, uint32_t end) {
    const bool last = piece.first + (uint32_t)piece.n == symbols_of(job);
    return (end - (last ? MOTUS_SAMPLE_BITS : 0)) / 8;
}

__device__ void add_bits(MotusPictureStats *stats, const uint32_t bits[MOTUS_BIT_KINDS]) {
    uint64_t *const to[] = {&stats->bits_mode, &stats->bits_mv, &stats->bits_luma,
                            &stats->bits_chroma};
    for (int i = 0; i < MOTUS_BIT_KINDS; i++)
        if (bits[i]) atomicAdd((unsigned long long *)to[i], (unsigned long long)bits[i]);
}

// Adds a chunk's digits, and returns its bits by kind.
template <int THREADS>
__device__ uint64_t add_chunk(const Job &job, const Piece &piece, const EntryRoom<THREADS> &entry,
                              const MotusResolved &symbols, int chunk) {
    const MotusChunks chunks = chunks_of(job, piece);
    const MotusLowDigits digits = {job.digit,       job.restart, job.mb_end,
                                   job.group_begin, job.n_mb,    piece.first};
    MotusWay way;
    MotusChunkBegin begin;
    for (int from = chunk;; from = (int)job.origin[chunk]) { // of an empty one: its origin
        way = way_to(job, piece, entry, from);
        begin = from == chunk ? motus_chunk_begin(&chunks, &symbols, chunk, way.range_class)
                              : motus_empty_begin(&chunks, &symbols, chunk, &way);
        if (!begin.empty) break;
        if (chunk * MOTUS_CHUNK >= piece.n) return 0;
    }
    return motus_chunk_low(&chunks, &symbols, chunk, begin,
                           motus_way_end(way, before_of(job, piece).at), &digits);
}

// Adds low's digits, a thread per chunk, and finds where the piece ends.
template <int THREADS> struct LowRoom {
    EntryRoom<THREADS> entry;
    Staged<TILE + 2 * MOTUS_CHUNK> staged;
};
template <int THREADS>
__device__ void add_low(const Job &job, const Piece &piece, LowRoom<THREADS> &room) {
    const int t = (int)threadIdx.x, n_chunks = motus_chunks_of(piece.n),
              n_tiles = chunk_tiles_of(piece);
    if ((int)blockIdx.x >= n_tiles) return;
    load_rows<THREADS>(job, &room.staged);
    find_entries(job, piece, room.entry);
    const uint32_t end = motus_way_end(room.entry.end, before_of(job, piece).at);
    if (blockIdx.x == 0 && t == 0) {
        const MotusWay last = way_to(job, piece, room.entry, (int)job.end[4]);
        behind_of(job, piece).at = end;
        behind_of(job, piece).range = job.end[last.range_class];
    }
    if (bytes_upto(job, piece, end) > job.in.slice.capacity) return;
    for (int tile = (int)blockIdx.x; tile < n_tiles; tile += (int)gridDim.x) {
        const MotusResolved symbols =
            stage<THREADS>(job, piece, &room.staged, tile * TILE - MOTUS_CHUNK);
        __syncthreads(); // symbols are there
        if (t < TILE_CHUNKS) {
            const int chunk = tile * TILE_CHUNKS + t;
            const uint64_t packed =
                chunk < n_chunks ? add_chunk(job, piece, room.entry, symbols, chunk) : 0;
            uint32_t bits[MOTUS_BIT_KINDS];
            for (int i = 0; i < MOTUS_BIT_KINDS; i++)
                bits[i] = motus_lanes_sum((uint32_t)(packed >> 16 * i) & 0xFFFF);
            if (motus_lane() == 0) add_bits(job.in.slice.stats, bits);
        }
        __syncthreads(); // read before others come
    }
}

} // namespace

#endif
