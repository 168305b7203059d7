// Binarization of a slice's MBs (cabac_mb_core.h) by blocks. Units before the residual are made by
// a lane per MB, one unit by each warp; residuals by a warp per MB. Symbols are counted and kept,
// then put in their order, a tile at a time.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_SYMBOLS_CUH
#define ENCODER_CABAC_SYMBOLS_CUH

#include "encoder/cabac/contexts.cuh"
#include "encoder/cabac/residual_warp.cuh"

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

// Makes a unit's symbols at `to`; NULL: they are counted. HEAD: it is before the residual. wraps:
// MotusSymbols. Returns their number.
template <bool B, bool HEAD>
__device__ __noinline__ uint32_t make_unit(const MotusCabacMb &m, int unit, uint16_t *to,
                                           uint32_t wraps) {
    if (HEAD) __builtin_assume(unit < MOTUS_UNIT_LUMA_DC && to);
    MotusSymbols symbols = {};
    symbols.symbol = to, symbols.wraps = wraps;
    symbols.mark = (uint32_t)motus_unit_kind(unit) << MOTUS_KIND_SHIFT;
    B ? motus_put_b_unit_symbols(&symbols, &m, unit) : motus_put_unit_symbols(&symbols, &m, unit);
    return symbols.n;
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
constexpr int HEADS = MOTUS_UNIT_LUMA_DC;    // units before the residual
constexpr int ROW = 32, ROW_PITCH = ROW + 2; // symbols of a unit; a gap keeps banks apart

// MBs of a block.
template <int MBS> struct MbRoom {
    uint32_t tally[TALLIES];
    int n_coded;
    uint8_t coded[MBS]; // MBs that are not skipped
    uint16_t n[MBS][HEADS], row[MBS][HEADS][ROW_PITCH];
};

// Tallies an MB; n_mb or more: there is none.
template <bool B> __device__ void tally_mb(const Job &job, int i, uint32_t *tally) {
    if (i >= job.n_mb) return;
    const MotusMb *mb = &job.in.slice.mb[i];
    job.restart[i] = 0;
    atomicAdd(&tally[TALLY_KINDS + mb->type], 1u);
    if (mb->type == MOTUS_MB_I_PCM) atomicAdd(&tally[TALLY_SAMPLES], 1u);
    const int transform = motus_transform_8x8_kind(mb);
    if (transform >= 0) atomicAdd(&tally[TALLY_TRANSFORMS + transform], 1u);
    if (B && mb->type == MOTUS_MB_P_16x16 && motus_is_direct(mb))
        atomicAdd(&tally[TALLY_DIRECT], 1u);
    for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8; q++)
        atomicAdd(&tally[TALLY_SUBS + mb->sub_type[q]], 1u);
}

// Lists the coded ones of the block's MBs from `first` on, by a warp.
template <int MBS> __device__ void list_coded(const Job &job, int first, MbRoom<MBS> &room) {
    const int lane = motus_lane(), i = first + lane;
    const bool coded = lane < MBS && i < job.n_mb && job.in.slice.mb[i].type != MOTUS_MB_P_SKIP;
    const uint32_t all = motus_lanes_ballot(coded);
    if (coded) room.coded[__popc(all & ((1u << lane) - 1))] = (uint8_t)lane;
    if (lane == 0) room.n_coded = __popc(all);
}

// Makes unit `unit`, before the residual, of the block's MBs by a warp, a lane per MB.
template <bool B, int MBS>
__device__ void make_heads(const Job &job, int first, int unit, MbRoom<MBS> &room) {
    const int lane = motus_lane(),
              n = unit == MOTUS_UNIT_RUN ? min(MBS, job.n_mb - first) : room.n_coded;
    if (lane >= n) return;
    const int mb = unit == MOTUS_UNIT_RUN ? lane : room.coded[lane];
    const MotusCabacMb m = syntax_of(job, first + mb);
    const bool has = motus_mb_symbol_units(m.mb, m.slice_type) >> unit & 1;
    room.n[mb][unit] =
        has ? (uint16_t)make_unit<B, true>(m, unit, room.row[mb][unit], 0u - ROW) : 0;
}

// Sets an MB's number of symbols. end_of_slice_flag of the MB before is its first one.
__device__ void set_count(const Job &job, int i, uint32_t n) {
    job.is_kept[i] = n <= job.most_kept;
    job.mb_end[i] = n + (i > 0);
}

// Keeps the symbols before a coded MB's residual, puts the residual and counts all, by a warp.
template <bool B, int MBS>
__device__ void keep_coded(const Job &job, int first, int mb, MbRoom<MBS> &room) {
    const int lane = motus_lane(), i = first + mb, own = room.n[mb][lane % HEADS];
    const int begin = (int)motus_lanes_sum_up_to((uint32_t)own, HEADS) - own;
    const int all_heads = (int)from_lane((uint32_t)(begin + own), HEADS - 1),
              n = min(all_heads, (int)job.most_kept);
    uint16_t *kept = job.kept + (size_t)i * job.most_kept;
    const MotusCabacMb m = syntax_of(job, i);
    for (int first_k = 0; first_k < n; first_k += 32) {
        const int k = first_k + lane;
        int unit = 0; // the last one that begins at or before k
        for (int u = 1; u < HEADS; u++)
            if ((int)from_lane((uint32_t)begin, u) <= k) unit = u;
        const int at = k - (int)from_lane((uint32_t)begin, unit);
        if (k < n) kept[k] = room.row[mb][unit][at & (ROW - 1)];
    }
    __syncwarp(); // long units overwrite them
    if (lane < HEADS && own > ROW && n == all_heads) make_unit<B, true>(m, lane, kept + begin, 0);
    const uint32_t all = motus_put_residual_warp(kept, (uint32_t)all_heads, job.most_kept, &m);
    if (lane == 0) set_count(job, i, all);
}

// Makes, counts and keeps the symbols of the block's MBs from `first` on. `tally` is cleared.
template <int THREADS, bool B, int MBS>
__device__ void count_mbs(const Job &job, int first, MbRoom<MBS> &room) {
    static_assert(MBS <= 32, "a lane per MB");
    const int warp = (int)threadIdx.x / 32, lane = motus_lane();
    if (warp == 0) list_coded(job, first, room);
    if (warp == 1 && lane < MBS) tally_mb<B>(job, first + lane, room.tally);
    __syncthreads(); // coded ones are listed
    for (int unit = warp; unit < HEADS; unit += THREADS / 32) make_heads<B>(job, first, unit, room);
    __syncthreads(); // units before the residual are made
    for (int k = warp; k < room.n_coded; k += THREADS / 32)
        keep_coded<B>(job, first, room.coded[k], room);
    const int i = first + (int)threadIdx.x;
    if (threadIdx.x < MBS && i < job.n_mb && job.in.slice.mb[i].type == MOTUS_MB_P_SKIP) {
        job.kept[(size_t)i * job.most_kept] = room.row[threadIdx.x][MOTUS_UNIT_RUN][0];
        set_count(job, i, 1);
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
    uint32_t begins[TILE / 32], before[TILE / 32]; // symbols where MBs begin; those of words before
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
    static_assert(TILE / 32 == 64 && THREADS >= 64, "a lane has two words");
    const int t = (int)threadIdx.x;
    if (t < TILE / 32) room.begins[t] = 0;
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
        const int i = mb + k - 1, begin = (int)((i < 0 ? 0 : job.mb_end[i]) - first);
        room.end[k] = begin;
        if (k) room.kept[k - 1] = i == job.n_mb || (keeps && job.is_kept[i]);
        if (k < n_mbs) atomicOr(&room.begins[max(begin, 0) / 32], 1u << max(begin, 0) % 32);
    }
    __syncthreads(); // they are there
    if (t < 32) {
        const uint32_t own = __popc(room.begins[2 * t]),
                       both = own + __popc(room.begins[2 * t + 1]),
                       before = scan_lanes(both, Sum()) - both;
        room.before[2 * t] = before, room.before[2 * t + 1] = before + own;
    }
    __syncthreads(); // and what is before each word
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
    const int unit = motus_lane();
    const MotusCabacMb m = syntax_of(job, i);
    const bool has = motus_mb_symbol_units(m.mb, m.slice_type) >> unit & 1;
    const int own = has ? (int)make_unit<B, false>(m, unit, NULL, 0) : 0,
              at = begin + (i > 0) + (int)scan_lanes((uint32_t)own, Sum()) - own;
    if (unit == 0 && i && begin >= 0) to[begin] = MOTUS_CTX_TERMINATE;
    if (!own || at + own <= 0 || at >= n) return;
    make_unit<B, false>(m, unit, to + at, 0);
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
        const uint32_t upto = room.begins[k / 32] & ((2u << k % 32) - 1);
        const int own = (int)room.before[k / 32] + __popc(upto) - 1;
        if (room.kept[own]) to[k] = (uint16_t)kept_symbol(job, mb + own, k - room.end[own]);
    }
    for (int k = t / 32; k < n_mbs; k += THREADS / 32)
        if (!room.kept[k]) make_symbols<B>(job, mb + k, room.end[k], n, to);
}

} // namespace

#endif
