// The steps of the parallel coder, one after another on a CPU, against cabac.c: bytes, bits by kind
// and the states in which a piece ends.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cabac/ranges_core.h"

#include <stdlib.h>
#include <string.h>

#include "tests/encoder/cabac/bin_strings.h"
#include "tests/support/harness.h"

enum { HEADER = 3 }; // bytes before slice data

// A coder of strings, in pieces of at most `piece` symbols.
typedef struct Model {
    MotusPlaceTables tables;
    MotusRangeRow context[MOTUS_ROWS], *row;
    uint32_t piece;
    uint8_t place[MOTUS_CONTEXTS]; // before the piece
    uint32_t at, range;            // likewise
    uint16_t *resolved, *near;
    uint32_t *cuts;
    uint32_t *sorted, *digit, *restart, *origin;
    uint64_t *bins;
    uint64_t (*record)[4];
    uint32_t (*run)[MOTUS_RUN];
    MotusWay (*way)[4], *begins; // of chunks; up to them from the piece's beginning
    uint64_t bits[4];
} Model;

static void *reserve(size_t n, size_t size) {
    void *memory = calloc(n, size);
    CU_ASSERT_FATAL(memory != NULL);
    return memory;
}

static void open_model(Model *m, uint32_t piece, uint32_t most) {
    const size_t slots = piece + MOTUS_CONTEXTS * MOTUS_SEGMENT,
                 chunks = (size_t)motus_chunks_of((int)piece);
    *m = (Model){.piece = piece};
    m->resolved = reserve(piece, sizeof *m->resolved);
    m->near = reserve(piece + chunks, sizeof *m->near); // with a gap behind each chunk
    m->row = reserve(piece + chunks, sizeof *m->row);
    m->cuts = reserve(chunks, sizeof *m->cuts);
    m->sorted = reserve(slots, sizeof *m->sorted);
    m->bins = reserve(slots / MOTUS_SEGMENT + 1, sizeof *m->bins);
    m->digit = reserve(most / 2 + 200 * (most / 2) + 1000, sizeof *m->digit);
    m->restart = reserve(most + 1, sizeof *m->restart);
    m->origin = reserve(chunks, sizeof *m->origin);
    m->record = reserve(chunks, sizeof *m->record);
    m->run = reserve(piece / MOTUS_RUN + 1, sizeof *m->run);
    m->way = reserve(chunks, sizeof *m->way);
    m->begins = reserve(chunks + 1, sizeof *m->begins);
    for (int p = 0; p < MOTUS_PLACES; p++)
        for (int bin = 0; bin < 2; bin++)
            m->tables.one[2 * p + bin] = (uint8_t)motus_next_place(p, bin);
    for (int p = 0; p < MOTUS_PLACES; p++)
        for (int bins = 0; bins < 16; bins++)
            m->tables.four[16 * p + bins] = motus_next_of_four(p, bins);
    for (uint32_t i = 0; i < MOTUS_ROWS; i++) m->context[i] = motus_context_row(i);
}

static void close_model(Model *m) {
    free(m->resolved);
    free(m->near);
    free(m->row);
    free(m->cuts);
    free(m->sorted);
    free(m->bins);
    free(m->digit);
    free(m->restart);
    free(m->origin);
    free(m->record);
    free(m->run);
    free(m->way);
    free(m->begins);
}

// ---- States -------------------------------------------------------------------------------------

// Sorts bins by context, each context from a whole segment on. begin: their segments.
static void sort_bins(Model *m, const uint16_t *symbol, uint32_t n, uint32_t begin[],
                      uint32_t count[]) {
    uint32_t at[MOTUS_CONTEXTS], slots = 0;
    memset(count, 0, MOTUS_CONTEXTS * sizeof *count);
    for (uint32_t i = 0; i < n; i++)
        if (!(symbol[i] & MOTUS_SYMBOL_BYPASS)) count[symbol[i] & MOTUS_SYMBOL_CONTEXT]++;
    count[MOTUS_CTX_TERMINATE] = 0;
    for (int c = 0; c < MOTUS_CONTEXTS; c++) {
        begin[c] = slots / MOTUS_SEGMENT;
        at[c] = slots;
        slots += (count[c] + MOTUS_SEGMENT - 1) / MOTUS_SEGMENT * MOTUS_SEGMENT;
    }
    for (uint32_t i = 0; i < n; i++) {
        const int c = symbol[i] & MOTUS_SYMBOL_CONTEXT;
        m->resolved[i] = symbol[i];
        if (symbol[i] & MOTUS_SYMBOL_BYPASS) continue;
        if (c == MOTUS_CTX_TERMINATE)
            m->resolved[i] = (uint16_t)motus_resolve_terminating(symbol[i]);
        else
            m->sorted[at[c]++] = motus_sorted_bin(symbol[i], i);
    }
    for (uint32_t k = 0; k < slots / MOTUS_SEGMENT; k++)
        m->bins[k] = motus_pack_segment(m->sorted + MOTUS_SEGMENT * k);
}

static void resolve(Model *m, const uint16_t *symbol, uint32_t n) {
    uint32_t begin[MOTUS_CONTEXTS], count[MOTUS_CONTEXTS];
    sort_bins(m, symbol, n, begin, count);
    for (int c = 0; c < MOTUS_CONTEXTS; c++) {
        const int first = m->place[c];
        for (uint32_t done = 0; done < count[c]; done += MOTUS_SEGMENT) {
            const uint32_t k = begin[c] + done / MOTUS_SEGMENT, left = count[c] - done;
            const int near = motus_test_range(0, 1); // bins that are packed already
            const int place = motus_place_before(m->tables.four, m->sorted, m->bins,
                                                 near ? 0 : 1 << 30, (int)begin[c], (int)k, first);
            const uint32_t *sorted = m->sorted + MOTUS_SEGMENT * k;
            const int used = (int)(left < MOTUS_SEGMENT ? left : MOTUS_SEGMENT);
            uint32_t v[MOTUS_SEGMENT / 4];
            motus_resolve_segment(&m->tables, m->bins[k], place, v);
            for (int i = 0; i < used; i++)
                m->resolved[sorted[i] & MOTUS_SORTED_INDEX] =
                    motus_resolved_bin(sorted[i], v[i / 4] >> 8 * (i % 4) & 255);
            m->place[c] = (uint8_t)motus_place_behind(&m->tables, m->bins[k], used, place);
        }
    }
}

// ---- Range and low ------------------------------------------------------------------------------

static void make_runs(Model *m, const MotusResolved *view, uint32_t n) {
    for (int k = 0; k < (int)(n - 1) / MOTUS_RUN; k++) {
        int cuts = 0;
        for (int i = 0; i < MOTUS_RUN; i++) cuts += motus_is_cut(m->resolved[MOTUS_RUN * k + i]);
        for (uint32_t range = 256; range <= MOTUS_FIRST_RANGE && !cuts; range++)
            m->run[k][range - 256] = motus_run_entry(view, k, range);
        m->run[k][MOTUS_RUN_FLAG] = !cuts;
    }
}

// Lays out the symbols as a block has them.
static void stage(Model *m, const MotusResolved *view, uint32_t n) {
    memset(m->cuts, 0, (n / MOTUS_CHUNK + 1) * sizeof *m->cuts);
    for (int i = 0; i < (int)n; i++) {
        const int place = motus_resolved_place(view, i);
        m->near[place] = m->resolved[i];
        m->row[place] = motus_row_of(m->context, m->resolved[i]);
        if (motus_is_cut(m->resolved[i]) && i + 1 < (int)n)
            m->cuts[i / MOTUS_CHUNK] |= 1u << i % MOTUS_CHUNK;
    }
}

static void code_piece(Model *m, const BinString *s, uint32_t first) {
    const uint32_t left = s->n - first, n = left < m->piece ? left : m->piece;
    uint32_t end[5];
    resolve(m, s->symbol + first, n);
    const MotusResolved all = {m->resolved, m->context, m->row, m->near, m->cuts, 0, (int)n};
    MotusResolved some = all; // what is not at hand is found elsewhere
    some.end = motus_test_range(0, (int)n);
    stage(m, &all, n);
    const MotusChunks chunks = {(int)n,    m->range,  (const uint32_t(*)[MOTUS_RUN])m->run,
                                m->record, m->origin, end};
    const MotusLowDigits digits = {m->digit, m->restart, s->mb_end, NULL, s->n_mb, first};
    const int n_chunks = motus_chunks_of((int)n);
    make_runs(m, &some, n);
    for (int t = 0; t < n_chunks; t++)
        for (uint32_t q = 0; q < 4; q++) m->way[t][q] = motus_chunk_way(&chunks, &some, t, q);
    MotusWay *begins = m->begins;
    begins[0] = (MotusWay){0, 0, 0};
    for (int t = 0; t < n_chunks; t++)
        begins[t + 1] = motus_way_join(begins[t], m->way[t][begins[t].range_class]);
    for (int t = 0; t < n_chunks; t++) {
        MotusWay way = begins[t];
        MotusChunkBegin begin = motus_chunk_begin(&chunks, &some, t, way.range_class);
        if (begin.empty && MOTUS_CHUNK * t >= (int)n) continue;
        if (begin.empty) {
            way = begins[m->origin[t]];
            begin = motus_empty_begin(&chunks, &some, t, &way);
        }
        const uint64_t bits =
            motus_chunk_low(&chunks, &all, t, begin, motus_way_end(way, m->at), &digits);
        for (int i = 0; i < 4; i++) m->bits[i] += bits >> 16 * i & 0xFFFF;
    }
    m->range = end[begins[end[4]].range_class];
    m->at = motus_way_end(begins[n_chunks], m->at);
}

// Propagates carries, and sets stop bits. Returns the bytes.
static size_t propagate_carries(Model *m, const BinString *s, uint8_t *data) {
    const size_t bytes = (m->at - MOTUS_SAMPLE_BITS) / 8, digits = (bytes + 1) / 2;
    uint32_t carry = 0;
    for (size_t i = digits; i-- > 0;) {
        const uint32_t sum = motus_digit_sum(m->digit[i], m->digit[i + 1]) + carry;
        data[2 * i] = (uint8_t)(sum >> 8), data[2 * i + 1] = (uint8_t)sum;
        carry = sum >> 16;
    }
    for (int i = 0; i <= s->n_mb; i++)
        if (m->restart[i])
            data[(m->restart[i] - 1) / 8] |= (uint8_t)(128 >> (m->restart[i] - 1) % 8);
    return bytes;
}

// ---- Tests --------------------------------------------------------------------------------------

static void check_string(BinContent content, uint32_t n, uint32_t piece) {
    BinString s;
    Model m;
    MotusBinCounts counts;
    uint64_t bits[4];
    const size_t capacity = 400 * (size_t)n + 64;
    bin_string_open(&s, n);
    bin_string_fill(&s, content, n);
    open_model(&m, piece, n);
    uint8_t *want = malloc(capacity), *got = malloc(capacity);
    CU_ASSERT_FATAL(want && got);
    const size_t bytes = bin_string_code(&s, want, capacity, bits, &counts);
    for (int c = 0; c < MOTUS_CONTEXTS; c++)
        if (c < MOTUS_CTX_TERMINATE || c >= MOTUS_CTX_TRANSFORM_8x8)
            m.place[c] = (uint8_t)motus_place_of(motus_cabac_first_state(s.table, c, s.qp));
    m.at = 8 * HEADER, m.range = MOTUS_FIRST_RANGE;
    for (uint32_t first = 0; first < s.n; first += piece) code_piece(&m, &s, first);
    const size_t size = propagate_carries(&m, &s, got);
    size_t at = 0;
    while (at < bytes && got[HEADER + at] == want[at]) at++;
    MOTUS_CHECK(size == bytes + HEADER && at == bytes && !memcmp(bits, m.bits, sizeof bits),
                "%s, %u symbols in pieces of %u: %zu bytes, not %zu; equal up to %zu",
                bin_content_names[content], s.n, piece, size - HEADER, bytes, at);
    free(want);
    free(got);
    close_model(&m);
    bin_string_close(&s);
}

static void short_strings(void) {
    for (int i = 0; i < motus_test_cases(3000); i++)
        check_string((BinContent)(i % BINS_CONTENTS), (uint32_t)motus_test_range(1, 300),
                     (uint32_t)motus_test_range(1, 400));
}

static void longer_strings(void) {
    for (int i = 0; i < motus_test_cases(100); i++) {
        const uint32_t n = (uint32_t)motus_test_range(300, i % 10 ? 5000 : 30000);
        check_string((BinContent)(i % BINS_CONTENTS), n,
                     i % 3 ? n : (uint32_t)motus_test_range(100, 2000));
    }
}

// MOTUS_LONG=1: more than 10^9 symbols.
static void longest_strings(void) {
    const int contents = BINS_CONTENTS - 1, times = getenv("MOTUS_LONG") ? 10000 / contents + 1 : 1;
    for (int i = 0; i < times * contents; i++)
        check_string((BinContent)(i % contents), 100000, 100000);
}

// Both transitions keep the order of places.
static void places_are_monotone(void) {
    for (int p = 0; p < MOTUS_PLACES; p++) {
        CU_ASSERT_EQUAL(motus_place_of(motus_state_at(p)), p);
        for (int bin = 0; bin < 2 && p; bin++)
            CU_ASSERT(motus_next_place(p - 1, bin) <= motus_next_place(p, bin));
    }
}

MOTUS_SUITE("cabac_parallel", TEST(places_are_monotone), TEST(short_strings), TEST(longer_strings),
            TEST(longest_strings))
