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

// N: threads of the block.
template <int N, int SIZE> __device__ void load_rows(const Job &job, Staged<SIZE> *s) {
    static_assert(N >= MOTUS_ROWS, "a thread per row");
    if (threadIdx.x < MOTUS_ROWS) s->context[threadIdx.x] = job.rows[threadIdx.x];
    __syncthreads(); // complete before they are read
}

// Stages symbols from `first` on. The caller's next barrier completes them.
template <int N, int SIZE>
__device__ MotusResolved stage(const Job &job, const Piece &piece, Staged<SIZE> *s, int first) {
    constexpr int ROUNDS = (SIZE + N - 1) / N,
                  STAGED = (ROUNDS + 2) / 3; // symbols that a thread loads at a time
    const int begin = max(first, 0), end = min(first + SIZE, piece.n);
    const MotusResolved view = {job.symbol, s->context, s->row, s->near, s->cuts, begin, end};
    for (int at = begin + (int)threadIdx.x; at - motus_lane() < end; at += STAGED * N) {
        uint32_t v[STAGED];
#pragma unroll
        for (int r = 0, i = at; r < STAGED; r++, i += N)
            v[r] = i < end ? job.symbol[i] : (uint32_t)MOTUS_SYMBOL_BYPASS;
#pragma unroll
        for (int r = 0, i = at; r < STAGED; r++, i += N) {
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
__device__ Ways no_ways() { return {{no_way(0), no_way(1), no_way(2), no_way(3)}}; }

// Return a way with those of `ways` behind it, which are in registers or in memory.
__device__ MotusWay then(MotusWay way, const Ways &ways) {
    const uint32_t q = way.range_class;
    return motus_way_join(way, q & 2 ? (q & 1 ? ways.way[3] : ways.way[2])
                                     : (q & 1 ? ways.way[1] : ways.way[0]));
}
__device__ MotusWay then_stored(MotusWay way, const Ways &ways) {
    return motus_way_join(way, ways.way[way.range_class]);
}
__device__ Ways follow(Ways a, Ways b) { // by value: `b` is in registers
#pragma unroll
    for (int q = 0; q < 4; q++) a.way[q] = then(a.way[q], b);
    return a;
}

// Equals scan_lanes; its steps share their code.
__device__ Ways scan_ways(Ways v) {
#pragma unroll 1
    for (int step = 1; step < 32; step *= 2) {
        const Ways other = from_before(v, step);
        if (motus_lane() >= step) v = follow(other, v);
    }
    return v;
}

// Joins a tile's ways by a warp.
__device__ void join_ways(const Job &job, int tile, int n_chunks, const Ways *way) {
    const int lane = motus_lane(), t = tile * TILE_CHUNKS + 2 * lane;
    const Ways first = way[2 * lane], upto = scan_ways(follow(first, way[2 * lane + 1]));
    Ways before = from_before(upto, 1);
    if (lane == 0) before = no_ways();
    if (t < n_chunks) job.way[t] = before;
    if (t + 1 < n_chunks) job.way[t + 1] = follow(before, first);
    if (lane == 31) job.tile_way[tile] = upto;
}

// Finds runs, a warp each, and makes their tables, a thread per range.
struct RunRoom {
    Staged<MOTUS_RUN> staged;
    bool found[THREADS / 32];
};
__device__ void make_runs(const Job &job, const Piece &piece, RunRoom &room) {
    static_assert(THREADS == MOTUS_RUN, "a thread per range, one for the flag");
    static_assert(MOTUS_RUN == 32 * 8, "symbols of a lane");
    static_assert(MOTUS_LESS_PROBABLE == 1 << 6 && MOTUS_SYMBOL_BYPASS == 1 << 15, "bits");
    constexpr int WARPS = THREADS / 32;
    const int t = (int)threadIdx.x, n_runs = (piece.n - 1) / MOTUS_RUN;
    for (int first = (int)blockIdx.x * WARPS; first < n_runs; first += (int)gridDim.x * WARPS) {
        const int own = first + t / 32;
        bool found = own < n_runs;
        if (found) { // if none of its symbols is a cut (motus_is_cut)
            const uint4 v = ((const uint4 *)(job.symbol + own * MOTUS_RUN))[motus_lane()];
            const uint32_t cuts = (v.x >> 6 & ~v.x >> 15) | (v.y >> 6 & ~v.y >> 15) |
                                  (v.z >> 6 & ~v.z >> 15) | (v.w >> 6 & ~v.w >> 15);
            found = !__any_sync(MOTUS_ALL_LANES, cuts & 0x10001);
        }
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
    Ways way[TILE_CHUNKS];
};
__device__ void find_ways(const Job &job, const Piece &piece, WayRoom &room) {
    static_assert(THREADS == 4 * TILE_CHUNKS, "a thread per chunk and class");
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
        room.way[t / 4].way[t % 4] =
            chunk < n_chunks ? motus_chunk_way(&chunks, &symbols, chunk, (uint32_t)t % 4)
                             : no_way(t % 4);
        __syncthreads(); // complete before they are joined
        if (t < 32) join_ways(job, tile, n_chunks, room.way);
        __syncthreads(); // joined before they are overwritten
    }
}

// Ways from the piece's beginning up to tiles, `before` of every each-th one, and its end; symbols.
template <int N> struct LowRoom {
    Ways warps[N / 32];
    MotusWay before[N], end;
    Staged<TILE + 2 * MOTUS_CHUNK> staged;
};

template <int N>
__device__ void find_entries(const Job &job, const Piece &piece, LowRoom<N> &room) {
    const int t = (int)threadIdx.x, warp = t / 32, n = chunk_tiles_of(piece), each = count_of(n, N),
              from = min(t * each, n), to = min(from + each, n);
    Ways own = no_ways();
#pragma unroll 1
    for (int k = from; k < to; k++) own = follow(own, job.tile_way[k]);
    const Ways upto = scan_ways(own);
    if (motus_lane() == 31) room.warps[warp] = upto;
    __syncthreads(); // complete before they are read
    const Ways before = from_before(upto, 1);
    MotusWay way = no_way(0); // the first chunk's way is the same for all classes
#pragma unroll 1
    for (int w = 0; w < warp; w++) way = then_stored(way, room.warps[w]);
    if (motus_lane()) way = then(way, before);
    room.before[t] = way;
    if (t == N - 1) room.end = then(way, own);
    __syncthreads(); // ways are written
}

// Returns the way from the piece's beginning up to a chunk.
template <int N>
__device__ MotusWay way_to(const Job &job, const Piece &piece, const LowRoom<N> &room, int chunk) {
    const int each = count_of(chunk_tiles_of(piece), N), tile = chunk / TILE_CHUNKS;
    MotusWay way = room.before[tile / each];
#pragma unroll 1
    for (int k = tile / each * each; k < tile; k++) way = then_stored(way, job.tile_way[k]);
    return then_stored(way, job.way[chunk]);
}

// ---- Low ----------------------------------------------------------------------------------------

// Returns the bytes of the RBSP up to a piece's end at bit `end`, whole ones behind the last piece.
__device__ uint32_t bytes_upto(const Job &job, const Piece &piece, uint32_t end) {
    const bool last = piece.first + (uint32_t)piece.n == symbols_of(job);
    return (end - (last ? MOTUS_SAMPLE_BITS : 0)) / 8;
}

// Adds a chunk's digits, and returns its bits by kind.
template <int N>
__device__ uint64_t add_chunk(const Job &job, const Piece &piece, const LowRoom<N> &entry,
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
template <int N> __device__ void add_low(const Job &job, const Piece &piece, LowRoom<N> &room) {
    const int t = (int)threadIdx.x, n_chunks = motus_chunks_of(piece.n),
              n_tiles = chunk_tiles_of(piece);
    if ((int)blockIdx.x >= n_tiles) return;
    load_rows<N>(job, &room.staged);
    find_entries(job, piece, room);
    const uint32_t end = motus_way_end(room.end, before_of(job, piece).at);
    if (blockIdx.x == 0 && t == 0) {
        const MotusWay last = way_to(job, piece, room, (int)job.end[4]);
        behind_of(job, piece).at = end;
        behind_of(job, piece).range = job.end[last.range_class];
    }
    if (bytes_upto(job, piece, end) > job.in.slice.capacity) return;
    for (int tile = (int)blockIdx.x; tile < n_tiles; tile += (int)gridDim.x) {
        const MotusResolved symbols = stage<N>(job, piece, &room.staged, tile * TILE - MOTUS_CHUNK);
        __syncthreads(); // symbols are there
        if (t < TILE_CHUNKS) {
            const int chunk = tile * TILE_CHUNKS + t;
            const uint64_t packed =
                chunk < n_chunks ? add_chunk(job, piece, room, symbols, chunk) : 0;
            uint32_t bits[MOTUS_BIT_KINDS];
            for (int i = 0; i < MOTUS_BIT_KINDS; i++)
                bits[i] = motus_lanes_sum((uint32_t)(packed >> 16 * i) & 0xFFFF);
            for (int i = 0; i < MOTUS_BIT_KINDS && motus_lane() == 0; i++)
                if (bits[i]) add_bits(job.in.slice.stats, i, bits[i]);
        }
        __syncthreads(); // read before others come
    }
}

} // namespace

#endif
