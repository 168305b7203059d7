// Binarization of a slice's MBs (cabac_mb_core.h) by blocks: a lane per unit, units of like kinds
// together; blocks without levels and skipped MBs apart. Symbols are counted and kept, then put in
// their order, a tile at a time.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_SYMBOLS_CUH
#define ENCODER_CABAC_SYMBOLS_CUH

#include "encoder/cabac/contexts.cuh"

namespace {

// ---- Syntax of an MB ----------------------------------------------------------------------------

__device__ MotusMbSyntax syntax_of(const Job &job, int i) {
    const MotusSliceCuda &slice = job.in.slice;
    MotusMbSyntax m;
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

__device__ uint32_t mark_of(int unit) {
    return (uint32_t)motus_unit_kind(unit) << MOTUS_KIND_SHIFT;
}

// Makes a unit's symbols at `to`; NULL: they are counted. wraps: MotusSymbols. Returns their
// number.
template <bool B>
__device__ uint32_t make_unit(const MotusMbSyntax &m, int unit, uint16_t *to, uint32_t wraps) {
    uint16_t last;
    MotusSymbols symbols = {};
    symbols.symbol = to ? to : &last, symbols.wraps = to ? wraps : 0u - 1;
    symbols.mark = mark_of(unit);
    __builtin_assume(symbols.symbol != NULL);
    B ? motus_put_b_unit_symbols(&symbols, &m, unit) : motus_put_unit_symbols(&symbols, &m, unit);
    return symbols.n;
}

// Returns coded_block_flag of a unit that has one, as a symbol.
__device__ uint32_t flag_symbol(const MotusMbSyntax &m, int unit) {
    const MotusCodedBlock block = motus_unit_block(m.mb, m.coef, unit);
    const int component = unit == MOTUS_UNIT_LUMA_DC ? 0 : 1 + unit - MOTUS_UNIT_CHROMA_DC;
    const bool is_dc = block.category == 0 || block.category == 3,
               flag = is_dc ? m.own->dc >> component & 1 : m.mb->total_coeff[block.blk];
    const int context =
        is_dc ? motus_dc_flag_context(&m, component) : motus_ac_flag_context(&m, block.blk);
    return (uint32_t)(MOTUS_CTX_CODED_BLOCK + motus_block_contexts(block.category).coded +
                      context) |
           (flag ? MOTUS_SYMBOL_BIN : 0) | mark_of(unit);
}

// ---- Counting -----------------------------------------------------------------------------------

enum { TALLY_SAMPLES = TALLIES, ALL_TALLIES }; // MBs with I_PCM

// An MB's symbols are kept where they are counted, up to KEPT of them.
constexpr int KEPT = 768;
constexpr int ROW = 32, ROW_PITCH = ROW + 2; // symbols of a unit; a gap keeps banks apart

// Kinds of units that are made, by what takes long: a warp makes units of like kinds. Blocks have
// levels.
enum {
    UNIT_KINDS = 16,
    KIND_OF_LUMA_DC = MOTUS_UNIT_LUMA_DC, // those before are their units' numbers
    KIND_OF_DC = 4,
    KIND_OF_BLOCKS = 6,
    KIND_OF_8x8 = 14
};

__device__ int kind_of_unit(const MotusMb *mb, int unit) {
    if (unit <= KIND_OF_LUMA_DC) return unit;
    if (unit >= MOTUS_UNIT_CHROMA_DC && unit < MOTUS_UNIT_CHROMA) return KIND_OF_DC + 1;
    const int blk = unit < MOTUS_UNIT_CHROMA_DC ? motus_blk_at(unit - MOTUS_UNIT_LUMA)
                                                : 16 + unit - MOTUS_UNIT_CHROMA,
              levels = mb->total_coeff[blk];
    if (blk < 16 && mb->transform_8x8) return KIND_OF_8x8 + (levels > 8);
    return KIND_OF_BLOCKS + (levels < 6 ? levels - 1 : levels < 9 ? 5 : levels < 12 ? 6 : 7);
}

// Units of a block's MBs, in an order by kinds: (MB of the block) * 32 + unit. Each kind before
// KIND_OF_LUMA_DC has a warp of its own, so that their code is fetched at the same time.
struct UnitRoom {
    uint32_t tally[ALL_TALLIES], kinds[UNIT_KINDS], n_late;
    uint32_t symbols[COUNT_MBS];                         // of an MB
    uint16_t list[COUNT_MBS * 32], late[COUNT_MBS * 32]; // late: made again, without a row
    uint16_t n[COUNT_MBS][32], row_of[COUNT_MBS][32];    // a block of one symbol: row_of is it
    static constexpr int ROWS = 12 * COUNT_MBS;          // units beyond them are made twice
    uint16_t row[ROWS][ROW_PITCH];
};

// Sets an MB's number of symbols, `all`. end_of_slice_flag of the MB before is its first one.
__device__ void set_count(const Job &job, int i, uint32_t n, uint32_t *all) {
    job.is_kept[i] = n <= job.most_kept;
    job.restart[i] = 0;
    *all = n + (i > 0);
}

// Sets mb_end of the group's MBs from `first` on, and the group's symbols, by a warp.
__device__ void sum_mbs(const Job &job, int first, const UnitRoom &room) {
    const int lane = motus_lane(), i = first + lane;
    const uint32_t own = lane >= COUNT_MBS || i > job.n_mb ? 0
                         : i < job.n_mb                    ? room.symbols[lane]
                                                           : 1,
                   upto = scan_lanes(own, Sum()); // end_of_slice_flag
    if (lane < COUNT_MBS && i <= job.n_mb) job.mb_end[i] = upto;
    if (lane == COUNT_MBS - 1) job.group_begin[first / COUNT_MBS + 1] = upto;
}

// Tallies the block's MBs from `first` on, and codes skipped ones, by a warp.
template <bool B>
__device__ void begin_mbs(const Job &job, int first, uint32_t coded, UnitRoom &room) {
    const int i = first + motus_lane();
    if (motus_lane() >= COUNT_MBS || i >= job.n_mb) return;
    const MotusMb *mb = &job.in.slice.mb[i];
    atomicAdd(&room.tally[TALLY_KINDS + mb->type], 1u);
    if (mb->type == MOTUS_MB_I_PCM) atomicAdd(&room.tally[TALLY_SAMPLES], 1u);
    const int transform = motus_transform_8x8_kind(mb);
    if (transform >= 0) atomicAdd(&room.tally[TALLY_TRANSFORMS + transform], 1u);
    if (B && mb->type == MOTUS_MB_P_16x16 && motus_is_direct(mb))
        atomicAdd(&room.tally[TALLY_DIRECT], 1u);
    for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8; q++)
        atomicAdd(&room.tally[TALLY_SUBS + mb->sub_type[q]], 1u);
    if (coded >> motus_lane() & 1) return;
    const MotusMbSyntax m = syntax_of(job, i);
    MotusSymbols symbols = {};
    symbols.symbol = job.kept + (size_t)i * job.most_kept, symbols.mark = mark_of(MOTUS_UNIT_RUN);
    motus_put_skip_flag(&symbols, &m, B ? MOTUS_CTX_SKIP_IN_B : MOTUS_CTX_SKIP);
    set_count(job, i, 1, &room.symbols[motus_lane()]);
}

// Lists the units that are to be made of coded MBs, each warp of its own ones; flags of blocks
// without levels are their only symbols. Returns the number of all.
__device__ int list_units(const Job &job, int first, uint32_t own_mbs, UnitRoom &room) {
    const int unit = motus_lane();
#pragma unroll 1
    for (uint32_t left = own_mbs; left; left &= left - 1) {
        const int own = __ffs((int)left) - 1;
        const MotusMbSyntax m = syntax_of(job, first + own);
        const bool has = motus_mb_symbol_units(m.mb, m.slice_type) >> unit & 1,
                   has_flag = has && unit >= MOTUS_UNIT_LUMA_DC &&
                              !(m.mb->transform_8x8 && unit < MOTUS_UNIT_CHROMA_DC);
        uint32_t value = has_flag ? flag_symbol(m, unit) : (uint32_t)MOTUS_SYMBOL_BIN;
        const bool listed = has && value & MOTUS_SYMBOL_BIN;
        if (listed) {
            const int kind = kind_of_unit(m.mb, unit);
            value = atomicAdd(&room.kinds[kind], 1u) * UNIT_KINDS + (uint32_t)kind;
        }
        room.n[own][unit] = has + listed, room.row_of[own][unit] = (uint16_t)value;
    }
    __syncthreads(); // all kinds are counted
    static_assert(COUNT_MBS == 32, "a warp per kind of a unit that an MB has once");
    const uint32_t places =
                       unit < KIND_OF_LUMA_DC ? COUNT_MBS : room.kinds[unit & (UNIT_KINDS - 1)],
                   upto = scan_lanes(places, Sum());
#pragma unroll 1
    for (uint32_t left = own_mbs; left; left &= left - 1) {
        const int own = __ffs((int)left) - 1, value = room.row_of[own][unit],
                  kind = value % UNIT_KINDS;
        const uint32_t before = from_lane(upto, (kind - 1) & 31);
        if (room.n[own][unit] == 2)
            room.list[(kind ? before : 0) + (uint32_t)(value / UNIT_KINDS)] =
                (uint16_t)(own * 32 + unit);
    }
    __syncthreads(); // the list is complete
    return (int)from_lane(upto, UNIT_KINDS - 1);
}

// Keeps an MB's symbols: those of lane `unit`, n, end at `upto` of them. Lists units without a row.
__device__ void keep_symbols(const Job &job, int i, int mb, uint32_t n, uint32_t upto,
                             UnitRoom &room) {
    const uint32_t all = from_lane(upto, 31), own = room.row_of[mb][motus_lane()],
                   is_flag = n == 1 && motus_lane() >= MOTUS_UNIT_LUMA_DC;
    const bool late = !is_flag && n && (n > ROW || own >= UnitRoom::ROWS);
    uint16_t *kept = job.kept + (size_t)i * job.most_kept;
    const uint32_t place = own | (is_flag | late) << 16; // above: there is no row
    for (uint32_t first = 0; first < all; first += 32) {
        const uint32_t k = first + (uint32_t)motus_lane();
        int unit = 0; // the first one that ends behind symbol k
        for (int step = 16; step; step /= 2)
            if (from_lane(upto, unit + step - 1) <= k) unit += step;
        const uint32_t begin = from_lane(upto - n, unit & 31), row = from_lane(place, unit & 31);
        if (k < all && !(row >> 16)) kept[k] = room.row[row][k - begin];
    }
    if (is_flag) kept[upto - 1] = (uint16_t)own;
    if (late) room.late[atomicAdd(&room.n_late, 1u)] = (uint16_t)(mb * 32 + motus_lane());
    if (late) room.row_of[mb][motus_lane()] = (uint16_t)(upto - n); // where they begin
}

// Loads entries [first, first + n) into the L1 cache, of all lines at once.
template <class T> __device__ void warm(const T *v, int first, int n) {
    constexpr int SECTOR = 32;
    const char *begin = (const char *)(v + first);
    for (int k = (int)threadIdx.x * SECTOR; k < n * (int)sizeof(T); k += THREADS * SECTOR)
        asm volatile("{ .reg .b32 x; ld.global.b32 x, [%0]; }" ::"l"(begin + k));
}

// Makes, counts and keeps the symbols of the block's MBs from `first` on. `room` is cleared.
template <bool B> __device__ void count_mbs(const Job &job, int first, UnitRoom &room) {
    constexpr int WARPS = THREADS / 32;
    const int t = (int)threadIdx.x, warp = t / 32, lane = motus_lane();
    // Units read the block's MBs and those above.
    const int n_mbs = min(COUNT_MBS, job.n_mb - first), above = first - job.in.slice.mb_width - 1;
    warm(job.in.slice.mb, first, n_mbs);
    warm(job.in.context, first, n_mbs);
    if (above >= 0) warm(job.in.slice.mb, above, n_mbs + 2);
    if (above >= 0) warm(job.in.context, above, n_mbs + 2);
    const uint32_t coded = __ballot_sync(
        MOTUS_ALL_LANES, lane < n_mbs && job.in.slice.mb[first + lane].type != MOTUS_MB_P_SKIP);
    const int rank = __popc(coded & ((1u << lane) - 1));
    const uint32_t own_mbs =
        __ballot_sync(MOTUS_ALL_LANES, coded >> lane & 1 && rank % WARPS == warp);
    if (warp == WARPS - 1) begin_mbs<B>(job, first, coded, room);
    const int n_listed = list_units(job, first, own_mbs, room);
#pragma unroll 1 // late units by the same code
    for (int is_late = 0; is_late < 2; is_late++) {
        const uint16_t *list = is_late ? room.late : room.list;
        const int n = is_late ? (int)room.n_late : n_listed;
        for (int k = t; k < n; k += THREADS) {
            if (!is_late && k < KIND_OF_LUMA_DC * COUNT_MBS &&
                k % COUNT_MBS >= (int)room.kinds[k / COUNT_MBS])
                continue; // a gap
            const int mb = list[k] / 32, unit = list[k] % 32;
            uint16_t *kept =
                         job.kept + (size_t)(first + mb) * job.most_kept + room.row_of[mb][unit],
                     *row = k < UnitRoom::ROWS ? room.row[k] : NULL;
            const MotusMbSyntax m = syntax_of(job, first + mb);
            const uint32_t own =
                make_unit<B>(m, unit, is_late ? kept : row, is_late ? 0 : 0u - ROW);
            room.n[mb][unit] = (uint16_t)own;
            if (!is_late) room.row_of[mb][unit] = (uint16_t)k;
        }
        if (is_late) break;
        __syncthreads(); // all units are made
        for (uint32_t left = own_mbs; left; left &= left - 1) {
            const int own = __ffs((int)left) - 1;
            const uint32_t n_own = room.n[own][lane], upto = scan_lanes(n_own, Sum()),
                           all = from_lane(upto, 31);
            if (all <= job.most_kept) keep_symbols(job, first + own, own, n_own, upto, room);
            if (lane == 0) set_count(job, first + own, all, &room.symbols[own]);
        }
        __syncthreads(); // late ones are listed, all MBs are counted
        if (t < 32) sum_mbs(job, first, room);
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
        const uint32_t behind =
            __ballot_sync(MOTUS_ALL_LANES, motus_mb_end(job.mb_end, job.group_begin, at) > symbol);
        const int k = __ffs((int)behind) - 1;
        low += k * step, n = min(step, n - k * step);
    }
    return low;
}

// Finds the MBs of a tile. Returns their number.
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
        const int i = mb + k - 1,
                  begin = (int)((i < 0 ? 0 : motus_mb_end(job.mb_end, job.group_begin, i)) - first);
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

constexpr uint32_t NOT_KEPT = 1 << 16;

// Returns symbol k of a tile whose first MB is `mb`; NOT_KEPT: its MB's are not kept.
__device__ uint32_t symbol_at(const Job &job, int mb, int k, const PutRoom &room) {
    const uint32_t upto = room.begins[k / 32] & ((2u << k % 32) - 1);
    const int own = (int)room.before[k / 32] + __popc(upto) - 1;
    const int i = mb + own, at = k - room.end[own]; // of MB i
    if (!room.kept[own]) return NOT_KEPT;
    if (i == job.n_mb) return MOTUS_CTX_TERMINATE | MOTUS_SYMBOL_BIN; // end_of_slice_flag
    if (i && !at) return MOTUS_CTX_TERMINATE;
    return job.kept[(size_t)i * job.most_kept + (size_t)(at - (i > 0))];
}

// Makes the symbols of an MB's units that lie in the tile, as far as SLACK outside of it, where
// another block writes the same. begin: of the MB; to: of the tile.
template <bool B>
__device__ void make_symbols(const Job &job, int i, int begin, int n, uint16_t *to) {
    const int unit = motus_lane();
    const MotusMbSyntax m = syntax_of(job, i);
    const bool has = motus_mb_symbol_units(m.mb, m.slice_type) >> unit & 1;
    int own = 0, at = 0;
#pragma unroll 1 // counted, then made by the same code
    for (int is_made = 0; is_made < 2; is_made++) {
        const bool wanted = !is_made || (at + own > 0 && at < n);
        if (has && wanted) own = (int)make_unit<B>(m, unit, is_made ? to + at : NULL, 0);
        if (!is_made) at = begin + (i > 0) + (int)scan_lanes((uint32_t)own, Sum()) - own;
    }
    if (unit == 0 && i && begin >= 0) to[begin] = MOTUS_CTX_TERMINATE;
}

// Writes a tile's symbols, a thread per symbol that is kept, a warp per MB whose symbols are not.
// keeps: some are, as this is the only piece.
template <bool B>
__device__ void put_tile(const Job &job, const Piece &piece, int tile, bool keeps, PutRoom &room) {
    const int t = (int)threadIdx.x, n = min(TILE, piece.n - tile * TILE);
    const uint32_t first = piece.first + (uint32_t)(tile * TILE);
    uint16_t *to = job.symbol + tile * TILE;
    if (job.in.string) {
        for (int k = t; k < n; k += THREADS) to[k] = job.in.string[first + (uint32_t)k];
        return;
    }
    const int n_mbs = find_mbs(job, first, n, keeps, room), mb = room.first;
    constexpr int EACH = 4; // loads at a time
#pragma unroll 1
    for (int begin = t; begin < n; begin += EACH * THREADS) {
        uint32_t symbol[EACH];
#pragma unroll
        for (int r = 0, k = begin; r < EACH; r++, k += THREADS)
            symbol[r] = k < n ? symbol_at(job, mb, k, room) : NOT_KEPT;
#pragma unroll
        for (int r = 0, k = begin; r < EACH; r++, k += THREADS)
            if (symbol[r] != NOT_KEPT) to[k] = (uint16_t)symbol[r];
    }
    for (int k = t / 32; k < n_mbs; k += THREADS / 32)
        if (!room.kept[k]) make_symbols<B>(job, mb + k, room.end[k], n, to);
}

} // namespace

#endif
