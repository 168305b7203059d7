// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/cabac/bin_strings.h"

#include <stdlib.h>
#include <string.h>

#include "encoder/bitstream/syntax_core.h"
#include "tests/encoder/cabac/cabac_reader.h"
#include "tests/support/harness.h"

const char *const bin_content_names[BINS_CONTENTS] = {
    "random",      "bypass", "probable", "improbable", "terminating",
    "one context", "ones",   "carry",    "static",     "restarts"};

void bin_string_open(BinString *s, uint32_t most) {
    *s = (BinString){.symbol = malloc(most * sizeof *s->symbol),
                     .mb_end = malloc((most + 1) * sizeof *s->mb_end)};
    CU_ASSERT_FATAL(s->symbol && s->mb_end);
}

void bin_string_close(BinString *s) {
    free(s->symbol);
    free(s->mb_end);
    *s = (BinString){.symbol = NULL};
}

// ---- Content ------------------------------------------------------------------------------------

typedef struct Drawing {
    BinString *s;
    uint32_t most;
    uint8_t state[MOTUS_CONTEXTS];
    int skew, bypass; // of random bins
    CabacReader reader;
    uint8_t *ones;
} Drawing;

static void put(Drawing *d, unsigned symbol) {
    d->s->symbol[d->s->n++] = (uint16_t)(symbol | (motus_test_random() & 3) << 11);
}

static void put_bin(Drawing *d, int context, int bin) {
    put(d, (unsigned)context | (bin ? MOTUS_SYMBOL_BIN : 0));
}

static void end_mb(Drawing *d) { d->s->mb_end[d->s->n_mb++] = d->s->n; }

// Terminating bins are of kind 0.
static void put_terminating(Drawing *d, int bin) {
    d->s->symbol[d->s->n++] =
        (uint16_t)(MOTUS_CTX_TERMINATE | (unsigned)(bin ? MOTUS_SYMBOL_BIN : 0));
}

static int any_context(void) {
    const int i = motus_test_range(0, 275 + MOTUS_CONTEXTS - MOTUS_CTX_TRANSFORM_8x8);
    return i < MOTUS_CTX_TERMINATE ? i : i - MOTUS_CTX_TERMINATE + MOTUS_CTX_TRANSFORM_8x8;
}

static void put_bypass(Drawing *d) {
    const int n = motus_test_range(1, 8);
    put(d,
        MOTUS_SYMBOL_BYPASS | (unsigned)(n - 1) << 8 | (unsigned)motus_test_range(0, (1 << n) - 1));
}

static void put_random(Drawing *d, int restarts) {
    if (motus_test_range(0, 9) < d->bypass)
        put_bypass(d);
    else if (!motus_test_range(0, restarts))
        put_terminating(d, 1), end_mb(d);
    else if (!motus_test_range(0, 30))
        put_terminating(d, 0);
    else
        put_bin(d, any_context(), motus_test_range(0, 20) < d->skew);
    if (!motus_test_range(0, 300)) end_mb(d);
}

// Puts a bin that is, or is not, the more probable one.
static void put_by_probability(Drawing *d, int context, int probable) {
    const uint32_t state = d->state[context];
    put_bin(d, context, (state & 1) == (uint32_t)probable);
    d->state[context] = motus_cabac_next_state(state, !probable);
}

// Puts what a decoder finds in slice data of ones; the last few symbols cause a carry, or do not.
static void put_ones(Drawing *d, int carry) {
    const uint32_t i = d->s->n, last = d->most > 200 ? d->most - 100 : 0;
    if (i >= last)
        put(d, MOTUS_SYMBOL_BYPASS | 7 << 8 | (carry ? 255u : 0));
    else if (i % 2)
        put(d, MOTUS_SYMBOL_BYPASS | cabac_reader_bypass(&d->reader));
    else
        put_bin(d, MOTUS_CTX_SKIP + (int)(i % 3),
                (int)cabac_reader_bin(&d->reader, MOTUS_CTX_SKIP + (int)(i % 3)));
}

static void put_next(Drawing *d) {
    const int i = (int)(d->s->n % 7);
    switch (d->s->content) {
    case BINS_RANDOM:
        put_random(d, 3000);
        break;
    case BINS_BYPASS:
        put_bypass(d);
        break;
    case BINS_PROBABLE:
        put_by_probability(d, MOTUS_CTX_MVD + i, 1);
        break;
    case BINS_IMPROBABLE:
        put_by_probability(d, MOTUS_CTX_MVD + i, 0);
        break;
    case BINS_TERMINATING:
        put_terminating(d, 0);
        break;
    case BINS_ONE_CONTEXT:
        put_bin(d, MOTUS_CTX_SKIP, motus_test_range(0, 20) < d->skew);
        break;
    case BINS_ONES:
        put_ones(d, 0);
        break;
    case BINS_CARRY:
        put_ones(d, 1);
        break;
    case BINS_STATIC:
        if (d->s->n % 2)
            put_terminating(d, 0);
        else
            put_by_probability(d, MOTUS_CTX_SKIP + 2, 1);
        break;
    default:
        put_random(d, 5);
        break;
    }
}

void bin_string_fill(BinString *s, BinContent content, uint32_t n) {
    Drawing d = {
        .s = s, .most = n, .skew = motus_test_range(0, 20), .bypass = motus_test_range(0, 5)};
    const size_t bytes = n / 4 + 64;
    s->n = 0, s->n_mb = 0, s->content = content;
    s->table = motus_test_range(0, 3), s->qp = motus_test_range(0, 51);
    for (int i = 0; i < MOTUS_CONTEXTS; i++)
        if (i < MOTUS_CTX_TERMINATE || i >= MOTUS_CTX_TRANSFORM_8x8)
            d.state[i] = motus_cabac_first_state(s->table, i, s->qp);
    if (content == BINS_ONES || content == BINS_CARRY) {
        d.ones = malloc(bytes);
        CU_ASSERT_FATAL(d.ones != NULL);
        memset(d.ones, 0xFF, bytes);
        d.ones[0] = 0x7F;
        cabac_reader_begin(&d.reader, s->table, s->qp, d.ones, bytes);
    }
    while (s->n + 1 < n) put_next(&d);
    if (!s->n_mb || s->mb_end[s->n_mb - 1] < s->n) end_mb(&d);
    put_terminating(&d, 1);
    s->mb_end[s->n_mb] = s->n;
    free(d.ones);
}

// ---- Reference ----------------------------------------------------------------------------------

size_t bin_string_code(const BinString *s, uint8_t *data, size_t capacity, uint64_t bits[4],
                       MotusBinCounts *counts) {
    static const uint8_t samples[384];
    MotusCabac cabac;
    motus_cabac_begin(&cabac, s->table, s->qp, data, capacity);
    memset(bits, 0, 4 * sizeof *bits);
    for (uint32_t i = 0; i < s->n; i++) {
        uint16_t symbol = (uint16_t)(s->symbol[i] & ~(3u << 11));
        const MotusSymbols one = {.symbol = &symbol, .n = 1};
        size_t before = motus_cabac_bits(&cabac);
        motus_cabac_code(&cabac, &one);
        bits[s->symbol[i] >> 11 & 3] += motus_cabac_bits(&cabac) - before;
        if (symbol != (MOTUS_CTX_TERMINATE | MOTUS_SYMBOL_BIN) || i + 1 == s->n) continue;
        before = motus_cabac_bits(&cabac);
        motus_cabac_finish(&cabac);
        bits[MOTUS_BITS_MODE] += motus_cabac_bits(&cabac) - before;
        motus_cabac_bytes(&cabac, samples, sizeof samples);
        motus_cabac_restart(&cabac);
    }
    motus_cabac_finish(&cabac);
    CU_ASSERT_FALSE(cabac.overflow);
    *counts = cabac.counts;
    return cabac.size;
}
