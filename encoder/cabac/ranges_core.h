// Further steps of a parallel CABAC coder (states_core.h), with resolved symbols in the order of
// the slice: ranges, in chunks that are maps of 4 classes to 4; then low, a sum of digits.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_RANGES_CORE_H
#define ENCODER_CABAC_RANGES_CORE_H

#include "encoder/bitstream/bits_core.h"
#include "encoder/bitstream/syntax_core.h"
#include "encoder/cabac/states_core.h"

// ---- Range --------------------------------------------------------------------------------------

MOTUS_HD uint32_t motus_resolve_terminating(uint32_t symbol) {
    return MOTUS_TERMINATING | (symbol >> 9 & 1) << 6 | (symbol & MOTUS_KIND_MASK);
}

// True for a cut: the less probable symbol of a context, or a terminating bin of 1. Behind it only
// the class of the range before it, bits 6 and 7, matters.
MOTUS_HD int motus_is_cut(uint32_t v) {
    return (v & (MOTUS_SYMBOL_BYPASS | MOTUS_LESS_PROBABLE)) == MOTUS_LESS_PROBABLE;
}

#define MOTUS_FIRST_RANGE 510u
#define MOTUS_STOP_BITS 2u      // behind a restart, up to the stop bit
#define MOTUS_SAMPLE_BITS 3072u // I_PCM, behind whole bytes

// Effect of a resolved symbol on the range, by the class of the range before it. `bytes`: range
// behind a cut less 256; else rangeTabLPS (table 9-44), 0 for bypass bins. `shifts`: 4 bits each.
// A terminating bin of 1 is a restart: the coder finishes and, after I_PCM samples, begins anew;
// the end of a slice counts as if samples followed.
typedef struct __attribute__((aligned(8))) MotusRangeRow {
    uint32_t bytes, shifts;
} MotusRangeRow;

enum { MOTUS_ROW_CUT = 1 << 16, MOTUS_ROW_RESTART = 1 << 17, MOTUS_ROWS = 128 };

// Returns the row of the symbol of a context or terminating bin, v < MOTUS_ROWS.
MOTUS_HD MotusRangeRow motus_context_row(uint32_t v) {
    MotusRangeRow row = {0, 0};
    for (int i = 0; i < 4; i++) {
        const uint32_t lps = motus_cabac_lps_range((int)(v & 63), i);
        const int shift = 9 - motus_bit_length(lps);
        if (v & MOTUS_LESS_PROBABLE) {
            row.bytes |= ((lps << shift) - 256) << 8 * i;
            row.shifts |= MOTUS_ROW_CUT | (uint32_t)shift << 4 * i;
        } else {
            row.bytes |= lps << 8 * i;
        }
    }
    if (v == (MOTUS_LESS_PROBABLE | MOTUS_TERMINATING))
        row.bytes = (MOTUS_FIRST_RANGE - 256) * 0x01010101u, row.shifts |= MOTUS_ROW_RESTART;
    return row;
}

// Returns the row of any symbol. context: all rows of contexts.
MOTUS_HD MotusRangeRow motus_row_of(const MotusRangeRow *context, uint32_t v) {
    const MotusRangeRow bypass = {0, ((v >> 8 & 7) + 1) * 0x1111};
    return v & MOTUS_SYMBOL_BYPASS ? bypass : context[v & (MOTUS_ROWS - 1)];
}

// Returns bits 6 and 7 of a range.
MOTUS_HD uint32_t motus_range_class(uint32_t range) { return range >> 6 & 3; }

// Returns the byte of a range's class. A range has bit 8 and none above.
MOTUS_HD uint32_t motus_row_byte(MotusRangeRow row, uint32_t range) {
#ifdef __CUDA_ARCH__
    return __byte_perm(0, row.bytes, range >> 6);
#else
    return row.bytes >> 8 * motus_range_class(range) & 255;
#endif
}

// Moves the range behind a symbol. Returns its bits. More probable symbols shift by one at most.
MOTUS_HD uint32_t motus_range_step(uint32_t *range, MotusRangeRow row) {
    const uint32_t byte = motus_row_byte(row, *range),
                   bits = row.shifts >> 4 * motus_range_class(*range) & 15,
                   rest = row.shifts & MOTUS_ROW_CUT ? 256 + byte : *range - byte;
    *range = rest < 256 ? 2 * rest : rest;
    return bits + (rest < 256);
}

enum { MOTUS_CHUNK = 32, MOTUS_MOST_SYMBOLS = (1 << 24) - (1 << 16) }; // of a piece

// Resolved symbols of a piece. Those of [begin, end) are at hand, `begin` being the first one of a
// chunk: rows and symbols with a gap behind each chunk, so that threads which are chunks apart read
// from different banks, and cuts as bits of a word per chunk, without the piece's last symbol.
typedef struct MotusResolved {
    const uint16_t *all;
    const MotusRangeRow *context; // [MOTUS_ROWS]
    const MotusRangeRow *row;
    const uint16_t *near; // NULL: not wanted
    const uint32_t *cuts;
    int begin, end;
} MotusResolved;

MOTUS_HD int motus_resolved_place(const MotusResolved *s, int i) {
    return i - s->begin + (i - s->begin) / MOTUS_CHUNK;
}
MOTUS_HD MotusRangeRow motus_row_at(const MotusResolved *s, int i) {
    return i >= s->begin && i < s->end ? s->row[motus_resolved_place(s, i)]
                                       : motus_row_of(s->context, s->all[i]);
}

// Way through some symbols: its bits, and the class of the range before its last cut. `after`: 0,
// or 1 + the bits behind the last restart, which begins at a whole byte; `before` then counts the
// bits up to the first one.
typedef struct MotusWay {
    uint32_t before, after, range_class;
} MotusWay;

// Returns the bit behind a way that begins at bit `at`.
MOTUS_HD uint32_t motus_way_end(MotusWay way, uint32_t at) {
    at += way.before;
    return way.after ? motus_align8(at) + way.after - 1 : at;
}

MOTUS_HD MotusWay motus_way_join(MotusWay a, MotusWay b) {
    MotusWay both = b;
    if (a.after) {
        const uint32_t after = a.after - 1 + b.before;
        both.before = a.before;
        both.after = 1 + (b.after ? motus_align8(after) + b.after - 1 : after);
    } else {
        both.before += a.before;
    }
    return both;
}

// A chunk t goes from behind the first cut at or after symbol CHUNK * (t - 1) up to and with the
// first one at or after CHUNK * t; chunk 0 from symbol 0 on. For each class at the cut before it,
// it is a way. Without a cut among the CHUNK symbols from CHUNK * (t - 1) on, chunk t is empty: the
// chunk that passes CHUNK * t is its origin, and records the range and the bits there.
MOTUS_HD int motus_chunks_of(int n) { return (n + MOTUS_CHUNK - 1) / MOTUS_CHUNK + 1; }

// A run is RUN symbols from a multiple of RUN on, without a cut, and not the last ones. A table
// maps all ranges to those behind it, so that walks take one step: range in 9 bits, and bits.
enum { MOTUS_RUN = 256, MOTUS_RUN_FLAG = 255, MOTUS_RUN_CHUNKS = MOTUS_RUN / MOTUS_CHUNK };

// Symbols of a piece, and what walks over them record.
typedef struct MotusChunks {
    int n; // symbols, at least 1
    uint32_t first_range;
    // Per RUN symbols: by range - 256, and [MOTUS_RUN_FLAG] 1 if they are a run, else 0
    const uint32_t (*run)[MOTUS_RUN];
    // Records of empty chunks, by the class at their origin; of runs the first one's. Range in 9
    // bits, then MotusWay.after in 27 and `before` in 28: enough for MOTUS_MOST_SYMBOLS
    uint64_t (*record)[4];
    uint32_t *origin; // of empty chunks
    uint32_t *end;    // [0..3] last range by the class at its chunk, [4] this chunk
} MotusChunks;

MOTUS_HD int motus_is_run(const MotusChunks *c, int i) {
    return i + MOTUS_RUN < c->n && c->run[i / MOTUS_RUN][MOTUS_RUN_FLAG];
}

typedef struct MotusChunkBegin {
    int i; // first symbol
    uint32_t range;
    int empty;
} MotusChunkBegin;

// Returns the table's entry of run k for a range.
MOTUS_HD uint32_t motus_run_entry(const MotusResolved *s, int k, uint32_t range) {
    uint32_t bits = 0;
    for (int i = MOTUS_RUN * k; i < MOTUS_RUN * (k + 1); i++)
        bits += motus_range_step(&range, motus_row_at(s, i));
    return range | bits << 9;
}

// Returns the beginning of chunk t, at hand, if the cut before it has class q.
MOTUS_HD MotusChunkBegin motus_chunk_begin(const MotusChunks *c, const MotusResolved *s, int t,
                                           uint32_t q) {
    MotusChunkBegin begin = {0, c->first_range, 0};
    if (!t) return begin;
    const uint32_t cuts = s->cuts[t - 1 - s->begin / MOTUS_CHUNK];
    begin.empty = !cuts;
    if (begin.empty) return begin;
    const int cut = MOTUS_CHUNK * (t - 1) + motus_bit_length(cuts & (0u - cuts)) - 1;
    begin.i = cut + 1;
    begin.range = 256 + motus_row_byte(motus_row_at(s, cut), 256 + 64 * q);
    return begin;
}

// Returns the beginning of an empty chunk t, whose origin's way and class are known. *way: up to
// it.
MOTUS_HD MotusChunkBegin motus_empty_begin(const MotusChunks *c, const MotusResolved *s, int t,
                                           MotusWay *way) {
    const int run = t / MOTUS_RUN_CHUNKS * MOTUS_RUN_CHUNKS, first = MOTUS_CHUNK * run,
              passed = MOTUS_CHUNK * (int)c->origin[t] < first && motus_is_run(c, first);
    const uint64_t record = c->record[passed ? run : t][way->range_class];
    MotusChunkBegin begin = {MOTUS_CHUNK * t, (uint32_t)record & 511, 0};
    MotusWay more = {(uint32_t)(record >> 36), (uint32_t)(record >> 9) & ((1u << 27) - 1), 0};
    *way = motus_way_join(*way, more);
    more.before = more.after = 0;
    for (int i = passed ? first : begin.i; i < begin.i; i++)
        more.before += motus_range_step(&begin.range, motus_row_at(s, i));
    *way = motus_way_join(*way, more);
    return begin;
}

// Records range and way where chunk t passes the boundary before symbol i, and takes a run behind
// it in one step. Returns its symbols.
MOTUS_HD int motus_pass_boundary(const MotusChunks *c, int t, uint32_t q, int i, MotusWay way,
                                 uint32_t *range, uint32_t *bits) {
    const MotusWay more = {*bits, 0, 0};
    const int is_run = i % MOTUS_RUN == 0 && motus_is_run(c, i);
    way = motus_way_join(way, more);
    c->record[i / MOTUS_CHUNK][q] = *range | (uint64_t)way.after << 9 | (uint64_t)way.before << 36;
    for (int k = (int)q; k < (is_run ? (int)MOTUS_RUN_CHUNKS : q == 0); k += 4)
        c->origin[i / MOTUS_CHUNK + k] = (uint32_t)t;
    if (!is_run) return 0;
    const uint32_t entry = c->run[i / MOTUS_RUN][*range - 256];
    *range = entry & 511, *bits += entry >> 9;
    return MOTUS_RUN;
}

// A walk through a chunk: its way up to the last restart, its bits since, the next symbol.
typedef struct MotusWalk {
    MotusWay way;
    uint32_t range, bits;
    int i;
} MotusWalk;

// Walks on, within a chunk's symbols, up to `limit` or behind the first cut from `stop` on. Returns
// 1 if there was one.
MOTUS_HD int motus_walk(MotusWalk *w, const MotusResolved *s, int stop, int limit) {
    const int near = w->i >= s->begin && limit <= s->end;
    const MotusRangeRow *row = near ? s->row + motus_resolved_place(s, w->i) : NULL;
    uint32_t before = 0x40 * w->way.range_class;
    int ended = 0;
    while (w->i < limit && !ended) {
        const MotusRangeRow own = near ? *row++ : motus_row_of(s->context, s->all[w->i]);
        const uint32_t is_cut = own.shifts & MOTUS_ROW_CUT;
        before = is_cut ? w->range : before;
        w->bits += motus_range_step(&w->range, own), w->i++;
        ended = is_cut && w->i > stop;
        if (!(own.shifts & MOTUS_ROW_RESTART)) continue;
        const MotusWay finish = {w->bits + MOTUS_STOP_BITS, 1 + MOTUS_SAMPLE_BITS,
                                 motus_range_class(before)};
        w->way = motus_way_join(w->way, finish);
        w->bits = 0;
    }
    w->way.range_class = motus_range_class(before);
    return ended;
}

// Returns the way through chunk t if the cut before it has class q.
MOTUS_HD MotusWay motus_chunk_way(const MotusChunks *c, const MotusResolved *s, int t, uint32_t q) {
    const MotusChunkBegin begin = motus_chunk_begin(c, s, t, q);
    const int stop = motus_min(MOTUS_CHUNK * t, c->n - 1);
    MotusWalk w = {{0, 0, q}, begin.range, 0, begin.empty ? c->n : begin.i};
    int ended = begin.empty;
    while (!ended) {
        while (w.i > stop && w.i % MOTUS_CHUNK == 0) {
            const int passed = motus_pass_boundary(c, t, q, w.i, w.way, &w.range, &w.bits);
            w.i += passed;
            if (!passed) break;
        }
        const int limit = motus_min(w.i / MOTUS_CHUNK * MOTUS_CHUNK + MOTUS_CHUNK, c->n);
        ended = motus_walk(&w, s, stop, limit);
        if (w.i == c->n) ended = 1, c->end[q] = w.range, c->end[4] = (uint32_t)t;
    }
    const MotusWay more = {w.bits, 0, w.way.range_class};
    return motus_way_join(w.way, more);
}

// ---- Low ----------------------------------------------------------------------------------------

// Slice data is a number, the sum of what its symbols add to low, each at its place. It is kept in
// digits of 16 bits, digit 0 at the beginning of the RBSP, each in 32 bits: they may be too large
// until carries are propagated. Bit b of low, `at` bits into the RBSP, is its bit at + 8 - b.
typedef struct MotusLowDigits {
    uint32_t *digit;
    uint32_t *restart; // per MB: bit behind its terminating bin of 1 and stop bit
    // Symbols up to and with an MB, from the first MB of its group on; symbols before a group.
    // NULL: the slice is one group.
    const uint32_t *mb_end, *group_begin;
    int n_mb;       // an entry more stands for the end of the slice
    uint32_t first; // number of the piece's first symbol
} MotusLowDigits;

enum { MOTUS_MB_GROUP = 32 };

MOTUS_HD uint32_t motus_mb_end(const uint32_t *mb_end, const uint32_t *group_begin, int i) {
    return mb_end[i] + (group_begin ? group_begin[i / MOTUS_MB_GROUP] : 0);
}

MOTUS_HD void motus_add_digit(uint32_t *digit, uint32_t value) {
#ifdef __CUDA_ARCH__
    atomicAdd(digit, value);
#else
    *digit += value;
#endif
}

// Returns the MB with symbol i, n_mb for the end of the slice.
MOTUS_HD int motus_mb_of_symbol(const MotusLowDigits *d, uint32_t i) {
    int low = 0, high = d->n_mb; // the first one that ends behind i
    while (low < high) {
        const int middle = (low + high) / 2;
        if (motus_mb_end(d->mb_end, d->group_begin, middle) > i)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Adds to the digits what symbols of chunk t, at hand, add: from `begin` on, at bit `at`, up to
// where the next chunk begins. Returns their bits by kind, 16 bits each, the first kind lowest;
// without samples.
MOTUS_HD uint64_t motus_chunk_low(const MotusChunks *c, const MotusResolved *s, int t,
                                  MotusChunkBegin begin, uint32_t at, const MotusLowDigits *d) {
    const int last = motus_min(MOTUS_CHUNK * (t + 1), c->n) - 1;
    // Low within the digit that is being filled; `behind` bits of it are behind the digit's end.
    uint32_t low = 0, digit = at / 16;
    int behind = (int)(at % 16) - 7;
    uint64_t sum = 0; // at most 16 for each of 64 symbols
    uint32_t range = begin.range;
    int place = motus_resolved_place(s, begin.i);
    for (int i = begin.i; i <= last; i++, place += 1 + (i % MOTUS_CHUNK == 0)) {
        const uint32_t v = s->near[place];
        const MotusRangeRow row = s->row[place];
        const uint32_t before = range, bits = motus_range_step(&range, row),
                       lps = row.shifts & MOTUS_ROW_RESTART ? 2 : range >> bits,
                       bypass = (low << bits) + before * (v & 255),
                       rest = row.shifts & MOTUS_ROW_CUT ? before - lps : 0;
        low = v & MOTUS_SYMBOL_BYPASS ? bypass : (low + rest) << bits;
        behind += (int)bits;
        at += bits;
        sum += (uint64_t)bits << 16 * (v >> MOTUS_KIND_SHIFT & 3);
        if (behind >= 0) {
            motus_add_digit(d->digit + digit++, low >> behind);
            low &= (1u << behind) - 1, behind -= 16;
        }
        if (!(row.shifts & MOTUS_ROW_CUT)) continue;
        if (row.shifts & MOTUS_ROW_RESTART) {
            // Ends slice data before I_PCM samples, or at its end.
            const int mb = motus_mb_of_symbol(d, d->first + (uint32_t)i);
            const uint32_t end = at + MOTUS_STOP_BITS, samples = motus_align8(end);
            if (low) motus_add_digit(d->digit + digit, low << -behind);
            sum += mb < d->n_mb ? samples - at : 0; // MOTUS_BITS_MODE
            d->restart[mb] = end;
            at = samples + MOTUS_SAMPLE_BITS;
            low = 0, digit = at / 16, behind = (int)(at % 16) - 7;
        }
        if (i >= MOTUS_CHUNK * t) break;
    }
    if (low) motus_add_digit(d->digit + digit, low << -behind);
    return sum;
}

// Returns a digit with the excess of the one behind it: at most 0xFFFF and a carry.
MOTUS_HD uint32_t motus_digit_sum(uint32_t digit, uint32_t behind) {
    return (digit & 0xFFFF) + (behind >> 16);
}

#endif
