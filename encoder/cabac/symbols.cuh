// Binarization of a slice's MBs (cabac_mb_core.h) by blocks: a lane per unit, units of like kinds
// together. Symbols are counted and kept, then put in their order, a tile at a time.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_SYMBOLS_CUH
#define ENCODER_CABAC_SYMBOLS_CUH

#include "encoder/cabac/contexts.cuh"

namespace {

// ---- Syntax of an MB ----------------------------------------------------------------------------

__device__ MotusCabacMb syntax_of(const Job &job, int i) {
    const MotusSliceCuda &slice = job.in.slice;
    MotusCabacMb m;
    m.mb = &slice.mb[i];
    m.coef = &slice.coef[i];
    m.own = &job.in.context[i];
    m.neighbours = neighbours_of(job, i);
    m.a = m.own - 1;
    m.b = m.own - slice.mb_width;
    m.qp_delta_before = i ? job.in.context[i - 1].qp_delta : 0;
    m.slice_type = slice.head->slice_type;
    m.transform_8x8 = slice.head->transform_8x8;
    m.refs = slice.refs;
    return m;
}

template <bool B> __device__ void put_unit(MotusSymbols *s, const MotusCabacMb &m, int unit) {
    B ? motus_put_b_unit_symbols(s, &m, unit) : motus_put_unit_symbols(s, &m, unit);
}

// ---- Counting -----------------------------------------------------------------------------------

enum {
    TALLY_KINDS,
    TALLY_SUBS = MOTUS_MB_KINDS,
    TALLY_TRANSFORMS = TALLY_SUBS + 4,
    TALLY_DIRECT = TALLY_TRANSFORMS + 2,
    TALLY_SAMPLES, // MBs with I_PCM
    TALLIES
};

// An MB's symbols are kept where they are counted, up to KEPT of them.
constexpr int KEPT = 768;
constexpr int ROW = 32, ROW_PITCH = ROW + 2; // symbols of a unit; a gap keeps banks apart
constexpr int ROWS = 192;                    // of a block; units beyond them are made twice

__device__ uint32_t mark_of(int unit) {
    return (uint32_t)motus_unit_kind(unit) << MOTUS_KIND_SHIFT;
}

// Kinds of units by what takes long: a warp makes units of like kinds.
enum { UNIT_KINDS = 16, KIND_OF_BLOCKS = 5, KIND_OF_8x8 = 14 };

__device__ int kind_of_unit(const MotusMb *mb, int unit) {
    if (unit < MOTUS_UNIT_LUMA_DC) return unit;
    if (unit == MOTUS_UNIT_LUMA_DC) return KIND_OF_8x8 - 1;
    if (unit >= MOTUS_UNIT_CHROMA_DC && unit < MOTUS_UNIT_CHROMA) return KIND_OF_BLOCKS - 1;
    const int blk = unit < MOTUS_UNIT_LUMA        ? 0
                    : unit < MOTUS_UNIT_CHROMA_DC ? motus_blk_at(unit - MOTUS_UNIT_LUMA)
                                                  : 16 + unit - MOTUS_UNIT_CHROMA,
              levels = mb->total_coeff[blk];
    if (blk < 16 && mb->transform_8x8) return KIND_OF_8x8 + (levels > 8);
    return KIND_OF_BLOCKS + (levels < 5 ? levels : levels < 7 ? 5 : levels < 10 ? 6 : 7);
}

// Units of a block's MBs, in an order by kinds: (MB of the block) * 32 + unit.
template <int MBS> struct UnitRoom {
    uint32_t tally[TALLIES], kinds[UNIT_KINDS], n_late;
    uint16_t list[MBS * 32], late[MBS * 32]; // late: made again, without a row
    uint16_t n[MBS][32], row_of[MBS][32];
    uint16_t row[ROWS][ROW_PITCH];
};

// Lists the units of the block's MBs from `first` on. A warp takes every WARPS-th MB. Returns their
// number.
template <int WARPS, int MBS>
__device__ int list_units(const Job &job, int first, UnitRoom<MBS> &room) {
    const int warp = (int)threadIdx.x / 32, unit = motus_lane();
    int kind[MBS / WARPS], at[MBS / WARPS];
#pragma unroll
    for (int k = 0; k < MBS / WARPS; k++) {
        const int i = first + warp + k * WARPS;
        const MotusMb *mb = &job.in.slice.mb[min(i, job.n_mb - 1)];
        const bool has = motus_mb_symbol_units(mb, job.in.slice.head->slice_type) >> unit & 1;
        kind[k] = i < job.n_mb && has ? kind_of_unit(mb, unit) : UNIT_KINDS;
        if (kind[k] < UNIT_KINDS) at[k] = (int)atomicAdd(&room.kinds[kind[k]], 1u);
        room.n[warp + k * WARPS][unit] = 0;
    }
    __syncthreads(); // all kinds are counted
    const uint32_t upto = scan_lanes(room.kinds[unit & (UNIT_KINDS - 1)], Sum());
#pragma unroll
    for (int k = 0; k < MBS / WARPS; k++) {
        const int begin = (int)from_lane(upto, (kind[k] - 1) & 31);
        if (kind[k] < UNIT_KINDS)
            room.list[(kind[k] ? begin : 0) + at[k]] = (uint16_t)((warp + k * WARPS) * 32 + unit);
    }
    __syncthreads(); // the list is complete
    return (int)from_lane(upto, UNIT_KINDS - 1);
}

// Makes a unit's symbols at `to`. wraps: MotusSymbols. Returns their number.
template <bool B>
__device__ uint32_t make_unit(const Job &job, int i, int unit, uint16_t *to, uint32_t wraps) {
    MotusSymbols symbols = {};
    symbols.symbol = to, symbols.wraps = wraps;
    symbols.mark = mark_of(unit);
    const MotusCabacMb m = syntax_of(job, i);
    put_unit<B>(&symbols, m, unit);
    return symbols.n;
}

// Keeps an MB's symbols: those of lane `unit`, n, end at `upto` of them. Lists units without a row.
template <int MBS>
__device__ void keep_symbols(const Job &job, int i, int mb, uint32_t n, uint32_t upto,
                             UnitRoom<MBS> &room) {
    const uint32_t all = from_lane(upto, 31), own = room.row_of[mb][motus_lane()];
    const bool late = n && (n > ROW || own >= ROWS);
    for (uint32_t first = 0; first < all; first += 32) {
        const uint32_t k = first + (uint32_t)motus_lane();
        int unit = 0; // the first one that ends behind symbol k
        for (int step = 16; step; step /= 2)
            if (from_lane(upto, unit + step - 1) <= k) unit += step;
        const uint32_t begin = from_lane(upto - n, unit & 31), row = from_lane(own, unit & 31);
        const bool has_row = !from_lane(late, unit & 31);
        if (k < all && has_row) job.kept[(size_t)i * job.most_kept + k] = room.row[row][k - begin];
    }
    if (late) room.late[atomicAdd(&room.n_late, 1u)] = (uint16_t)(mb * 32 + motus_lane());
    if (late) room.row_of[mb][motus_lane()] = (uint16_t)(upto - n); // where they begin
}

// Counts an MB whose units are made. end_of_slice_flag of the MB before is its first symbol.
template <bool B, int MBS>
__device__ void count_mb(const Job &job, int i, int of_block, UnitRoom<MBS> &room) {
    const MotusMb *mb = &job.in.slice.mb[i];
    const int unit = motus_lane();
    const uint32_t n = room.n[of_block][unit], upto = scan_lanes(n, Sum()),
                   all = from_lane(upto, 31);
    uint32_t *tally = room.tally;
    job.count[i][unit] = (uint16_t)n;
    if (all <= job.most_kept) keep_symbols(job, i, of_block, n, upto, room);
    if (unit == 0) {
        job.is_kept[i] = all <= job.most_kept;
        job.mb_end[i] = all + (i > 0);
        job.restart[i] = 0;
        atomicAdd(&tally[TALLY_KINDS + mb->type], 1u);
        if (mb->type == MOTUS_MB_I_PCM) atomicAdd(&tally[TALLY_SAMPLES], 1u);
        const int transform = motus_transform_8x8_kind(mb);
        if (transform >= 0) atomicAdd(&tally[TALLY_TRANSFORMS + transform], 1u);
        if (B && mb->type == MOTUS_MB_P_16x16 && motus_is_direct(mb))
            atomicAdd(&tally[TALLY_DIRECT], 1u);
    }
    if (unit < 4 && mb->type == MOTUS_MB_P_8x8)
        atomicAdd(&tally[TALLY_SUBS + mb->sub_type[unit]], 1u);
}

// Makes, counts and keeps the symbols of the block's MBs from `first` on. `room` is cleared.
template <int THREADS, bool B, int MBS>
__device__ void count_mbs(const Job &job, int first, UnitRoom<MBS> &room) {
    const int t = (int)threadIdx.x, n = list_units<THREADS / 32>(job, first, room);
    for (int k = t; k < n; k += THREADS) {
        const int mb = room.list[k] / 32, unit = room.list[k] % 32;
        room.n[mb][unit] =
            (uint16_t)make_unit<B>(job, first + mb, unit, k < ROWS ? room.row[k] : NULL, 0u - ROW);
        room.row_of[mb][unit] = (uint16_t)k;
    }
    __syncthreads(); // all units are made
    for (int k = t / 32; k < MBS && first + k < job.n_mb; k += THREADS / 32)
        count_mb<B>(job, first + k, k, room);
    __syncthreads(); // late ones are listed
    for (int k = t; k < (int)room.n_late; k += THREADS) {
        const int mb = room.late[k] / 32, unit = room.late[k] % 32;
        make_unit<B>(job, first + mb, unit,
                     job.kept + (size_t)(first + mb) * job.most_kept + room.row_of[mb][unit], 0);
    }
}

__device__ void add_tally(MotusPictureStats *stats, const uint32_t *tally) {
    const int t = (int)threadIdx.x;
    if (t >= TALLIES || !tally[t]) return;
    if (t < TALLY_SUBS)
        atomicAdd(&stats->mb[t], tally[t]);
    else if (t < TALLY_TRANSFORMS)
        atomicAdd(&stats->sub[t - TALLY_SUBS], tally[t]);
    else if (t < TALLY_DIRECT)
        atomicAdd(&stats->transform_8x8[t - TALLY_TRANSFORMS], tally[t]);
    else if (t == TALLY_DIRECT)
        atomicAdd((unsigned long long *)&stats->direct, (unsigned long long)tally[t]);
    else {
        atomicAdd((unsigned long long *)&stats->bits_luma, 2048ull * tally[t]);
        atomicAdd((unsigned long long *)&stats->bits_chroma, 1024ull * tally[t]);
    }
}

// ---- Writing ------------------------------------------------------------------------------------

// Symbols [first, first + n) of the slice, which a tile has, and its MBs. An MB but the first one
// has two symbols or more.
constexpr int TILE_MBS = TILE / 2 + 2;
struct PutRoom {
    int first, last;
    int end[TILE_MBS + 1]; // where MBs end, from the tile's first symbol on; [0]: where they begin
    bool kept[TILE_MBS];
};

// Equals motus_mb_of_symbol, by a warp.
__device__ int mb_of_symbol(const Job &job, uint32_t symbol) {
    int low = 0, n = job.n_mb + 1;
    while (n > 1) {
        const int step = (n + 31) / 32, at = low + min((motus_lane() + 1) * step, n) - 1;
        const uint32_t behind = __ballot_sync(MOTUS_ALL_LANES, job.mb_end[at] > symbol);
        const int k = __ffs((int)behind) - 1;
        low += k * step, n = min(step, n - k * step);
    }
    return low;
}

// Finds the MBs of a tile. Returns their number.
template <int THREADS>
__device__ int find_mbs(const Job &job, uint32_t first, int n, bool keeps, PutRoom &room) {
    const int t = (int)threadIdx.x;
    if (t < 32) {
        const int own = mb_of_symbol(job, first);
        if (t == 0) room.first = own;
    } else if (t < 64) {
        const int own = mb_of_symbol(job, first + (uint32_t)n - 1);
        if (t == 32) room.last = own;
    }
    __syncthreads(); // both are found
    const int mb = room.first, n_mbs = room.last - mb + 1;
    for (int k = t; k <= n_mbs; k += THREADS) {
        const int i = mb + k - 1;
        room.end[k] = (int)((i < 0 ? 0 : job.mb_end[i]) - first);
        if (k) room.kept[k - 1] = i == job.n_mb || (keeps && job.is_kept[i]);
    }
    __syncthreads(); // they are there
    return n_mbs;
}

// Returns symbol `at` of an MB whose symbols are kept.
__device__ uint32_t kept_symbol(const Job &job, int i, int at) {
    if (i == job.n_mb) return MOTUS_CTX_TERMINATE | MOTUS_SYMBOL_BIN; // end_of_slice_flag
    if (i && !at) return MOTUS_CTX_TERMINATE;
    return job.kept[(size_t)i * job.most_kept + (size_t)(at - (i > 0))];
}

// Makes the symbols of an MB's units that lie in the tile, as far as SLACK outside of it, where
// another block writes the same. begin: of the MB; to: of the tile.
template <bool B>
__device__ void make_symbols(const Job &job, int i, int begin, int n, uint16_t *to) {
    const int unit = motus_lane(), own = job.count[i][unit],
              at = begin + (i > 0) + (int)scan_lanes((uint32_t)own, Sum()) - own;
    if (unit == 0 && i && begin >= 0) to[begin] = MOTUS_CTX_TERMINATE;
    if (!own || at + own <= 0 || at >= n) return;
    make_unit<B>(job, i, unit, to + at, 0);
}

// Writes a tile's symbols, a thread per symbol that is kept, a warp per MB whose symbols are not.
// keeps: some are, as this is the only piece.
template <int THREADS, bool B>
__device__ void put_tile(const Job &job, const Piece &piece, int tile, bool keeps, PutRoom &room) {
    const int t = (int)threadIdx.x, n = min(TILE, piece.n - tile * TILE);
    const uint32_t first = piece.first + (uint32_t)(tile * TILE);
    uint16_t *to = job.symbol + tile * TILE;
    if (job.in.string) {
        for (int k = t; k < n; k += THREADS) to[k] = job.in.string[first + (uint32_t)k];
        return;
    }
    const int n_mbs = find_mbs<THREADS>(job, first, n, keeps, room), mb = room.first;
    for (int k = t; k < n; k += THREADS) {
        int low = 0, high = n_mbs - 1; // the first one that ends behind k
        while (low < high) {
            const int middle = (low + high) / 2;
            if (room.end[middle + 1] > k)
                high = middle;
            else
                low = middle + 1;
        }
        if (room.kept[low]) to[k] = (uint16_t)kept_symbol(job, mb + low, k - room.end[low]);
    }
    for (int k = t / 32; k < n_mbs; k += THREADS / 32)
        if (!room.kept[k]) make_symbols<B>(job, mb + k, room.end[k], n, to);
}

} // namespace

#endif
