// Steps of a CABAC coder (9.3.4) without a serial chain. Bins are sorted by context, so that a
// thread finds the states of 64 bins of a context; then ranges, in chunks that are maps of 4
// classes; then low, a sum of digits. cabac.cuh puts them together for a CUDA device; the suite
// `cabac_parallel` does for a CPU, and compares with cabac.c.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_PARALLEL_CORE_H
#define ENCODER_CABAC_PARALLEL_CORE_H

#include "encoder/bitstream/cabac_core.h"
#include "encoder/bitstream/syntax_core.h"

// Symbols as cabac_core.h has them, with their kind of bits (MOTUS_BITS_MODE, ...) above bit 11.
// Once its state is known a bin in a context becomes a resolved symbol: pStateIdx (63: terminating
// bins) and MOTUS_LESS_PROBABLE. Bypass bins stay.
enum {
    MOTUS_KIND_SHIFT = 11,
    MOTUS_KIND_MASK = 3 << MOTUS_KIND_SHIFT,
    MOTUS_LESS_PROBABLE = 1 << 6,
    MOTUS_TERMINATING = 63
};

// ---- States: each context's bins by themselves --------------------------------------------------

// Places are states in the order 62/0 .. 0/0, 0/1 .. 62/1 of pStateIdx/valMPS. Both transitions are
// monotone in it: the ways from the first and the last place bound all others, and where they meet
// the state is known whatever it was before.
enum {
    MOTUS_PLACES = 126,
    MOTUS_SEGMENT = 64,     // bins of a context that a thread resolves
    MOTUS_SEGMENTS_BACK = 3 // from where it begins to look
};

// Convert between states (pStateIdx * 2 + valMPS) and places.
MOTUS_HD int motus_place_of(int state) { return state & 1 ? 63 + (state >> 1) : 62 - (state >> 1); }
MOTUS_HD int motus_state_at(int place) {
    return place >= 63 ? 2 * (place - 63) + 1 : 2 * (62 - place);
}

MOTUS_HD int motus_next_place(int place, int bin) {
    const int state = motus_state_at(place);
    return motus_place_of(motus_cabac_next_state((uint32_t)state, (uint32_t)((state ^ bin) & 1)));
}

// Next places: one[2 * place + bin]; four[16 * place + bins], first of four bins lowest.
typedef struct MotusPlaceTables {
    uint8_t one[2 * MOTUS_PLACES], four[16 * MOTUS_PLACES];
} MotusPlaceTables;

MOTUS_HD uint8_t motus_place_after_four(const uint8_t *one, int place, int bins) {
    for (int i = 0; i < 4; i++) place = one[2 * place + (bins >> i & 1)];
    return (uint8_t)place;
}

// Sorted bin: index of its symbol, kind, and bin in the highest bit.
#define MOTUS_SORTED_INDEX ((1u << 29) - 1)
MOTUS_HD uint32_t motus_sorted_bin(uint32_t symbol, uint32_t index) {
    return index | (symbol >> MOTUS_KIND_SHIFT & 3) << 29 | (symbol >> 9 & 1) << 31;
}

// Bins of segments, one in each bit: those from `first` on are in `near`.
typedef struct MotusSegments {
    const uint32_t *sorted;
    const uint64_t *near;
    int first;
} MotusSegments;

MOTUS_HD uint64_t motus_pack_segment(const uint32_t *sorted) {
    uint64_t bins = 0;
    for (int i = 0; i < MOTUS_SEGMENT; i++) bins |= (uint64_t)(sorted[i] >> 31) << i;
    return bins;
}

MOTUS_HD int motus_place_after(const uint8_t *four, uint64_t bins, int place) {
    for (int i = 0; i < MOTUS_SEGMENT / 4; i++, bins >>= 4)
        place = four[16 * place + (int)(bins & 15)];
    return place;
}

// Returns the place before segment `at` of a context that begins in place `first_place` with
// segment `begin`.
MOTUS_HD int motus_place_before(const uint8_t *four, const MotusSegments *segments, int begin,
                                int at, int first_place) {
    for (int back = MOTUS_SEGMENTS_BACK;; back *= 2) {
        int k = at - back, low = 0, high = MOTUS_PLACES - 1;
        if (k <= begin) k = begin, low = high = first_place;
        for (; k < at; k++) {
            const uint64_t bins = k >= segments->first
                                      ? segments->near[k - segments->first]
                                      : motus_pack_segment(segments->sorted + MOTUS_SEGMENT * k);
            const int met = low == high;
            low = motus_place_after(four, bins, low);
            high = met ? low : motus_place_after(four, bins, high);
        }
        if (low == high) return low;
    }
}

// Writes the n resolved symbols of a segment. Returns the place after them.
MOTUS_HD int motus_resolve_segment(const uint8_t *one, const uint32_t *sorted, int n, int place,
                                   uint16_t *symbol) {
    for (int i = 0; i < n; i++) {
        const uint32_t bin = sorted[i] >> 31, kind = sorted[i] >> 29 & 3;
        const int state = motus_state_at(place);
        symbol[sorted[i] & MOTUS_SORTED_INDEX] =
            (uint16_t)((uint32_t)(state >> 1) | (((uint32_t)state ^ bin) & 1) << 6 |
                       kind << MOTUS_KIND_SHIFT);
        place = one[2 * place + (int)bin];
    }
    return place;
}

// ---- Range --------------------------------------------------------------------------------------

// Resolved symbols; those of [begin, end) are in `near`.
typedef struct MotusResolved {
    const uint16_t *near, *all;
    int begin, end;
} MotusResolved;

MOTUS_HD uint32_t motus_resolved_at(const MotusResolved *s, int i) {
    return i >= s->begin && i < s->end ? s->near[i - s->begin] : s->all[i];
}

MOTUS_HD uint32_t motus_resolve_terminating(uint32_t symbol) {
    return MOTUS_TERMINATING | (symbol >> 9 & 1) << 6 | (symbol & MOTUS_KIND_MASK);
}

// True for the less probable symbol of a context, or a terminating bin of 1. Behind it only the
// class of the range before it, bits 6 and 7, matters.
MOTUS_HD int motus_is_cut(uint32_t v) {
    return (v & (MOTUS_SYMBOL_BYPASS | MOTUS_LESS_PROBABLE)) == MOTUS_LESS_PROBABLE;
}

// True for a terminating bin of 1. The coder finishes and, after I_PCM samples, begins anew; the
// end of a slice counts as if samples followed.
MOTUS_HD int motus_is_restart(uint32_t v) {
    return (v & (MOTUS_SYMBOL_BYPASS | 127)) == (MOTUS_LESS_PROBABLE | MOTUS_TERMINATING);
}

#define MOTUS_FIRST_RANGE 510u
#define MOTUS_FINISH_BITS (7 + 2u) // of the terminating bin, and up to the stop bit
#define MOTUS_SAMPLE_BITS 3072u    // I_PCM, behind whole bytes

// Row of rangeTabLPS (table 9-44) with its four classes in its bytes.
MOTUS_HD uint32_t motus_lps_row(int state) {
    uint32_t row = 0;
    for (int i = 0; i < 4; i++) row |= motus_cabac_lps_range(state, i) << 8 * i;
    return row;
}

MOTUS_HD uint32_t motus_range_class(uint32_t range) { return range >> 6 & 3; }

// Outcome of a symbol: low = ((low << early) + add) << (shift - early), and the range.
typedef struct MotusRangeStep {
    uint32_t range, add;
    int early, shift;
} MotusRangeStep;

MOTUS_HD MotusRangeStep motus_range_step(uint32_t range, uint32_t v, const uint32_t *row) {
    MotusRangeStep step;
    if (v & MOTUS_SYMBOL_BYPASS) {
        step.early = step.shift = (int)(v >> 8 & 7) + 1;
        step.add = range * (v & 255);
        step.range = range;
    } else {
        const uint32_t lps = row[v & 63] >> 8 * motus_range_class(range) & 255, rest = range - lps,
                       is_lps = v & MOTUS_LESS_PROBABLE, left = is_lps ? lps : rest;
        step.early = 0;
        step.shift = 9 - motus_bit_length(left);
        step.add = is_lps ? rest : 0;
        step.range = left << step.shift;
    }
    return step;
}

// Way through some symbols: its bits, and the class of the range before its last cut. `after`: 0,
// or 1 + the bits behind the last restart, which begins at a whole byte; `before` then counts the
// bits up to the first one.
typedef struct MotusWay {
    uint32_t before, after, range_class;
} MotusWay;

MOTUS_HD uint32_t motus_align8(uint32_t bits) { return (bits + 7) & ~7u; }

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
enum { MOTUS_CHUNK = 32, MOTUS_MOST_SYMBOLS = (1 << 24) - (1 << 16) };

MOTUS_HD int motus_chunks_of(int n) { return (n + MOTUS_CHUNK - 1) / MOTUS_CHUNK + 1; }

// Record: range in 9 bits, `after` in 27, `before` in 28: enough for MOTUS_MOST_SYMBOLS.
MOTUS_HD uint64_t motus_record(MotusWay way, uint32_t range) {
    return range | (uint64_t)way.after << 9 | (uint64_t)way.before << 36;
}
MOTUS_HD uint32_t motus_recorded_range(uint64_t record) { return (uint32_t)record & 511; }
MOTUS_HD MotusWay motus_recorded_way(uint64_t record) {
    MotusWay way = {(uint32_t)(record >> 36), (uint32_t)(record >> 9) & ((1u << 27) - 1), 0};
    return way;
}

// A run is RUN symbols from a multiple of RUN on, without a cut, and not the last ones. A table
// maps all ranges to those behind it, so that walks take one step: range in 9 bits, and bits.
enum { MOTUS_RUN = 256, MOTUS_RUN_FLAG = 255, MOTUS_RUN_CHUNKS = MOTUS_RUN / MOTUS_CHUNK };

// Symbols of a piece, and what walks over them record.
typedef struct MotusChunks {
    const uint32_t *row; // [64]
    int n;               // symbols, at least 1
    uint32_t first_range;
    // Per RUN symbols: by range - 256, and [MOTUS_RUN_FLAG] 1 if they are a run, else 0
    const uint32_t (*run)[MOTUS_RUN];
    uint64_t (*record)[4]; // of empty chunks, by the class at their origin; of runs the first one's
    uint32_t *origin;      // of empty chunks
    uint32_t *end;         // [0..3] last range by the class at its chunk, [4] this chunk
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
MOTUS_HD uint32_t motus_run_entry(const uint32_t *row, const MotusResolved *s, int k,
                                  uint32_t range) {
    uint32_t bits = 0;
    for (int i = MOTUS_RUN * k; i < MOTUS_RUN * (k + 1); i++) {
        const MotusRangeStep step = motus_range_step(range, motus_resolved_at(s, i), row);
        range = step.range, bits += (uint32_t)step.shift;
    }
    return range | bits << 9;
}

// Records that chunk t passed a run from symbol i on.
MOTUS_HD void motus_record_run(const MotusChunks *c, int t, uint32_t q, int i) {
    for (int k = (int)q; k < MOTUS_RUN_CHUNKS; k += 4) c->origin[i / MOTUS_CHUNK + k] = (uint32_t)t;
}

// Returns the beginning of chunk t if the cut before it has class q.
MOTUS_HD MotusChunkBegin motus_chunk_begin(const MotusChunks *c, const MotusResolved *s, int t,
                                           uint32_t q) {
    MotusChunkBegin begin = {0, c->first_range, 0};
    if (!t) return begin;
    const int end = motus_min(MOTUS_CHUNK * t, c->n - 1);
    int i = MOTUS_CHUNK * (t - 1);
    uint32_t v = 0;
    for (; i < end; i++) {
        v = motus_resolved_at(s, i);
        if (motus_is_cut(v)) break;
    }
    begin.i = i + 1, begin.empty = i >= end;
    if (begin.empty) return begin;
    const uint32_t lps = c->row[v & 63] >> 8 * q & 255;
    begin.range = motus_is_restart(v) ? MOTUS_FIRST_RANGE : lps << (9 - motus_bit_length(lps));
    return begin;
}

// Returns the beginning of an empty chunk t, whose origin's way and class are known. *way: up to
// it.
MOTUS_HD MotusChunkBegin motus_empty_begin(const MotusChunks *c, const MotusResolved *s, int t,
                                           MotusWay *way) {
    const int run = t / MOTUS_RUN_CHUNKS * MOTUS_RUN_CHUNKS, first = MOTUS_CHUNK * run,
              passed = MOTUS_CHUNK * (int)c->origin[t] < first && motus_is_run(c, first);
    const uint64_t record = c->record[passed ? run : t][way->range_class];
    MotusChunkBegin begin = {MOTUS_CHUNK * t, motus_recorded_range(record), 0};
    MotusWay more = motus_recorded_way(record);
    *way = motus_way_join(*way, more);
    more.before = more.after = 0;
    for (int i = passed ? first : begin.i; i < begin.i; i++) {
        const MotusRangeStep step = motus_range_step(begin.range, motus_resolved_at(s, i), c->row);
        begin.range = step.range, more.before += (uint32_t)step.shift;
    }
    *way = motus_way_join(*way, more);
    return begin;
}

// Returns the way through chunk t if the cut before it has class q.
MOTUS_HD MotusWay motus_chunk_way(const MotusChunks *c, const MotusResolved *s, int t, uint32_t q) {
    const MotusChunkBegin begin = motus_chunk_begin(c, s, t, q);
    MotusWay way = {0, 0, q};
    if (begin.empty) return way;
    const int stop = motus_min(MOTUS_CHUNK * t, c->n - 1);
    uint32_t range = begin.range, bits = 0, next = motus_resolved_at(s, begin.i);
    for (int i = begin.i;; i++) {
        const uint32_t v = next;
        if (i + 1 < c->n) next = motus_resolved_at(s, i + 1);
        if (i > stop && i % MOTUS_CHUNK == 0) {
            const MotusWay more = {bits, 0, 0};
            c->record[i / MOTUS_CHUNK][q] = motus_record(motus_way_join(way, more), range);
            if (q == 0) c->origin[i / MOTUS_CHUNK] = (uint32_t)t;
            if (i % MOTUS_RUN == 0 && motus_is_run(c, i)) {
                const uint32_t entry = c->run[i / MOTUS_RUN][range - 256];
                motus_record_run(c, t, q, i);
                range = entry & 511, bits += entry >> 9;
                i += MOTUS_RUN - 1;
                next = motus_resolved_at(s, i + 1);
                continue;
            }
        }
        way.range_class = motus_range_class(range);
        if (motus_is_restart(v)) {
            const MotusWay finish = {bits + MOTUS_FINISH_BITS, 1 + MOTUS_SAMPLE_BITS,
                                     way.range_class};
            way = motus_way_join(way, finish);
            range = MOTUS_FIRST_RANGE, bits = 0;
        } else {
            const MotusRangeStep step = motus_range_step(range, v, c->row);
            range = step.range, bits += (uint32_t)step.shift;
        }
        if (i == c->n - 1) c->end[q] = range, c->end[4] = (uint32_t)t;
        if (i == c->n - 1 || (i >= stop && motus_is_cut(v))) break;
    }
    const MotusWay more = {bits, 0, way.range_class};
    return motus_way_join(way, more);
}

// ---- Low ----------------------------------------------------------------------------------------

// Slice data is a number, the sum of what its symbols add to low, each at its place. It is kept in
// digits of 16 bits, digit 0 at the beginning of the RBSP, each in 32 bits: they may be too large
// until carries are settled. Bit b of low, `at` bits into the RBSP, is its bit at + 8 - b.
typedef struct MotusDigits {
    uint32_t *digit;
    uint32_t *restart;      // per MB: bit behind its terminating bin of 1 and stop bit
    const uint32_t *mb_end; // per MB: symbols up to and with it
    int n_mb;               // an entry more stands for the end of the slice
    uint32_t first;         // number of the piece's first symbol
} MotusDigits;

MOTUS_HD void motus_add_digit(uint32_t *digit, uint32_t value) {
#ifdef __CUDA_ARCH__
    atomicAdd(digit, value);
#else
    *digit += value;
#endif
}

// Returns the MB with symbol i, n_mb for the end of the slice.
MOTUS_HD int motus_mb_of_symbol(const uint32_t *mb_end, int n_mb, uint32_t i) {
    int low = 0, high = n_mb; // the first one that ends behind i
    while (low < high) {
        const int middle = (low + high) / 2;
        if (mb_end[middle] > i)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Low within the digit that is being filled; `behind` bits of it are behind the digit's end.
typedef struct MotusLow {
    uint32_t low, digit;
    int behind;
} MotusLow;

MOTUS_HD MotusLow motus_low_at(uint32_t at) {
    MotusLow low = {0, at / 16, (int)(at % 16) - 7};
    return low;
}

// Adds the digit that has begun.
MOTUS_HD void motus_low_end(const MotusLow *low, uint32_t *digit) {
    if (low->low) motus_add_digit(digit + low->digit, low->low << -low->behind);
}

// Ends slice data before I_PCM samples, or at its end. *at: the bit behind the terminating bin's
// seven; behind the samples then. Returns the bits up to the samples.
MOTUS_HD uint32_t motus_low_restart(const MotusDigits *d, uint32_t symbol, uint32_t *at) {
    const int mb = motus_mb_of_symbol(d->mb_end, d->n_mb, symbol);
    const uint32_t end = *at + 2, samples = motus_align8(end),
                   finish = mb < d->n_mb ? samples - *at : 0;
    d->restart[mb] = end;
    *at = samples + MOTUS_SAMPLE_BITS;
    return finish;
}

// Adds to the digits what symbols of chunk t add: from `begin` on, at bit `at`, up to where the
// next chunk begins. Returns their bits by kind, 16 bits each, the first kind lowest; without
// samples.
MOTUS_HD uint64_t motus_chunk_low(const MotusChunks *c, const MotusResolved *s, int t,
                                  MotusChunkBegin begin, uint32_t at, const MotusDigits *d) {
    const int last = motus_min(MOTUS_CHUNK * (t + 1), c->n) - 1;
    MotusLow low = motus_low_at(at);
    uint64_t bits = 0; // at most 16 for each of 64 symbols
    uint32_t range = begin.range, next = motus_resolved_at(s, begin.i);
    for (int i = begin.i;; i++) {
        const uint32_t v = next;
        if (i < last) next = motus_resolved_at(s, i + 1);
        const MotusRangeStep step = motus_range_step(range, v, c->row);
        low.low = ((low.low << step.early) + step.add) << (step.shift - step.early);
        low.behind += step.shift;
        at += (uint32_t)step.shift;
        bits += (uint64_t)step.shift << 16 * (v >> MOTUS_KIND_SHIFT & 3);
        range = step.range;
        if (low.behind >= 0) {
            motus_add_digit(d->digit + low.digit++, low.low >> low.behind);
            low.low &= (1u << low.behind) - 1, low.behind -= 16;
        }
        if (motus_is_restart(v)) {
            motus_low_end(&low, d->digit);
            bits += motus_low_restart(d, d->first + (uint32_t)i, &at); // MOTUS_BITS_MODE
            low = motus_low_at(at);
            range = MOTUS_FIRST_RANGE;
        }
        if (i == last || (i >= MOTUS_CHUNK * t && motus_is_cut(v))) break;
    }
    motus_low_end(&low, d->digit);
    return bits;
}

// A carry through digits, from the last one to the first: out of them in any case, or if one comes
// in.
typedef struct MotusCarry {
    uint32_t always, passes;
} MotusCarry;

// Returns a digit with the excess of the one behind it: at most 0xFFFF and a carry.
MOTUS_HD uint32_t motus_digit_sum(uint32_t digit, uint32_t behind) {
    return (digit & 0xFFFF) + (behind >> 16);
}
MOTUS_HD MotusCarry motus_carry_of(uint32_t sum) {
    MotusCarry carry = {sum >> 16, sum == 0xFFFF};
    return carry;
}
MOTUS_HD MotusCarry motus_carry_join(MotusCarry first, MotusCarry behind) {
    MotusCarry both = {first.always | (first.passes & behind.always), first.passes & behind.passes};
    return both;
}

#endif
