// The arithmetic coder against a decoder, on random symbols and on those that are hardest for it.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cabac/cabac.h"
#include "tests/encoder/cabac/cabac_reader.h"
#include "tests/support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Round trips --------------------------------------------------------------------------------

enum { MOST = 400000, CAPACITY = 1 << 20 };

typedef struct Bins {
    uint16_t symbol[MOST];
    int n, table, qp;
    size_t size;
    uint8_t data[CAPACITY];
} Bins;

static Bins *bins; // too large for the stack

static int any_context(void) {
    const int i = motus_test_range(0, 275 + MOTUS_CONTEXTS - MOTUS_CTX_TRANSFORM_8x8);
    return i < MOTUS_CTX_TERMINATE ? i : i - MOTUS_CTX_TERMINATE + MOTUS_CTX_TRANSFORM_8x8;
}

static void start(int table, int qp) { bins->n = 0, bins->table = table, bins->qp = qp; }
static void put(unsigned symbol) { bins->symbol[bins->n++] = (uint16_t)symbol; }
static unsigned context_bin(int context, int bin) {
    return (unsigned)context | (bin ? MOTUS_SYMBOL_BIN : 0);
}
static void put_terminate(int bin) { put(context_bin(MOTUS_CTX_TERMINATE, bin)); }

// Codes the symbols in runs of up to `run`, and ends the slice.
static void code(int run) {
    MotusCabac cabac;
    put_terminate(1);
    motus_cabac_begin(&cabac, bins->table, bins->qp, bins->data, CAPACITY);
    for (int i = 0; i < bins->n; i += run) {
        const int left = bins->n - i;
        const MotusSymbols symbols = {.symbol = bins->symbol + i,
                                      .n = (uint32_t)(left < run ? left : run)};
        const size_t before = motus_cabac_bits(&cabac);
        motus_cabac_code(&cabac, &symbols);
        MOTUS_CHECK(motus_cabac_bits(&cabac) >= before, "bits at symbol %d", i);
    }
    motus_cabac_finish(&cabac);
    CU_ASSERT_FALSE(cabac.overflow);
    bins->size = cabac.size;
}

static void read_back(const char *what) {
    CabacReader d;
    int wrong = 0;
    cabac_reader_begin(&d, bins->table, bins->qp, bins->data, bins->size);
    for (int i = 0; i < bins->n && !wrong; i++)
        if (cabac_reader_symbol(&d, bins->symbol[i]) != bins->symbol[i]) wrong = i + 1;
    MOTUS_CHECK(!wrong, "%s: symbol %d of %d, table %d, QP %d", what, wrong - 1, bins->n,
                bins->table, bins->qp);
    // The last bit that has been read is rbsp_stop_one_bit (9.3.1.2).
    const size_t last = d.at - 1;
    MOTUS_CHECK(last / 8 + 1 == bins->size && bins->data[last / 8] >> (7 - last % 8) & 1,
                "%s: ends at bit %zu of %zu bytes", what, last, bins->size);
}

static void random_symbols(void) {
    for (int round = 0; round < motus_test_cases(300); round++) {
        const int bypass = motus_test_range(0, 9), skew = motus_test_range(0, 20);
        start(round % 4, motus_test_range(0, 51));
        for (int n = motus_test_range(0, 3000); n > 0; n--) {
            if (motus_test_range(0, 9) < bypass) {
                const int count = motus_test_range(1, 8);
                put(MOTUS_SYMBOL_BYPASS | (unsigned)(count - 1) << 8 |
                    (unsigned)motus_test_range(0, (1 << count) - 1));
            } else if (motus_test_range(0, 50) == 0) {
                put_terminate(0);
            } else {
                put(context_bin(any_context(), motus_test_range(0, 20) < skew));
            }
        }
        code(motus_test_range(1, 200));
        read_back("random");
    }
}

// Puts a bin that is, or is not, the more probable one, by a coder's states of its own.
static void put_by_probability(uint8_t *state, int context, int probable) {
    const int bin = (state[context] & 1) == probable;
    put(context_bin(context, bin));
    if (probable)
        state[context] = (uint8_t)(state[context] < 124 ? state[context] + 2 : state[context]);
    else
        state[context] = (uint8_t)(motus_cabac_next_lps(state[context] >> 1) << 1 |
                                   ((state[context] & 1) ^ (state[context] < 2)));
}

static void worst_symbols(void) {
    uint8_t state[MOTUS_CONTEXTS];
    start(1, 30);
    for (int i = 0; i < 100000; i++)
        put(MOTUS_SYMBOL_BYPASS | 7 << 8 | (unsigned)(i % 3 ? 255 : 0));
    code(MOST);
    read_back("only bypass bins");
    for (int probable = 0; probable < 2; probable++) {
        start(1, 30);
        for (int i = 0; i < MOTUS_CONTEXTS; i++)
            if (i < MOTUS_CTX_TERMINATE || i >= MOTUS_CTX_TRANSFORM_8x8)
                state[i] = motus_cabac_first_state(1, i, 30);
        for (int i = 0; i < 100000; i++) put_by_probability(state, 40 + i % 7, probable);
        code(1000);
        read_back(probable ? "only probable bins" : "only improbable bins");
    }
    start(0, 51);
    for (int i = 0; i < 50000; i++) put_terminate(0);
    code(1);
    read_back("only terminating bins");
    start(2, 0);
    for (int i = 0; i < 100000; i++)
        put(context_bin(MOTUS_CTX_SKIP, (int)(motus_test_random() & 1)));
    code(4096);
    read_back("one context");
}

// Symbols found by decoding a string of ones keep the coder's low just below a carry.
static void ones_then_carry(void) {
    for (int carry = 0; carry < 2; carry++) {
        static uint8_t ones[8192];
        CabacReader d;
        memset(ones, 0xFF, sizeof ones);
        ones[0] = 0x7F, ones[sizeof ones - 1] = carry ? 0xFF : 0;
        start(1, 26);
        cabac_reader_begin(&d, 1, 26, ones, sizeof ones);
        while (d.at < 8 * sizeof ones - 64) {
            const int context = d.at % 3 ? MOTUS_CTX_SKIP : MOTUS_CTX_MVD;
            if (d.at % 2)
                put(MOTUS_SYMBOL_BYPASS | cabac_reader_bypass(&d));
            else
                put(context_bin(context, (int)cabac_reader_bin(&d, context)));
        }
        for (int i = 0; i < 100; i++) put(MOTUS_SYMBOL_BYPASS | 7 << 8 | (carry ? 255u : 0));
        code(17);
        read_back("long run of ones");
        CU_ASSERT(!memcmp(bins->data, ones, sizeof ones - 64) ||
                  bins->data[0] == 0x80); // the carry went through all of them
    }
}

// A copy of the coder takes back what was coded since, and bytes before it do not change.
static void copies_take_back(void) {
    for (int round = 0; round < 200; round++) {
        start(1, motus_test_range(0, 51));
        MotusCabac cabac, before;
        uint16_t symbol[64];
        motus_cabac_begin(&cabac, 1, bins->qp, bins->data, CAPACITY);
        for (int i = 0; i < 200; i++) {
            const int undo = motus_test_range(0, 1);
            uint8_t written[CAPACITY / 64];
            before = cabac;
            memcpy(written, bins->data, before.size);
            MotusSymbols symbols = {.symbol = symbol};
            for (int k = 0; k < 64; k++)
                motus_put_bin(&symbols, any_context(), motus_test_range(0, 3) == 0);
            motus_cabac_code(&cabac, &symbols);
            CU_ASSERT(!memcmp(written, bins->data, before.size));
            if (undo)
                cabac = before;
            else
                for (int k = 0; k < 64; k++) put(symbol[k]);
        }
        put_terminate(1);
        const MotusSymbols end = {.symbol = bins->symbol + bins->n - 1, .n = 1};
        motus_cabac_code(&cabac, &end);
        motus_cabac_finish(&cabac);
        bins->size = cabac.size;
        read_back("taken back");
    }
}

// Samples between two parts, as I_PCM has them; contexts go on.
static void samples_between(void) {
    CabacReader d;
    MotusCabac cabac;
    uint8_t samples[384];
    uint16_t symbol[500];
    for (int round = 0; round < 100; round++) {
        MotusSymbols symbols = {.symbol = symbol};
        for (int i = motus_test_range(0, 400); i > 0; i--)
            motus_put_bin(&symbols, any_context(), motus_test_range(0, 5) == 0);
        motus_put_bin(&symbols, MOTUS_CTX_TERMINATE, 1);
        motus_test_fill(samples, sizeof samples);
        motus_cabac_begin(&cabac, 2, 33, bins->data, CAPACITY);
        motus_cabac_code(&cabac, &symbols);
        motus_cabac_finish(&cabac);
        const size_t first = cabac.size;
        motus_cabac_bytes(&cabac, samples, sizeof samples);
        motus_cabac_restart(&cabac);
        motus_cabac_code(&cabac, &symbols);
        motus_cabac_finish(&cabac);
        cabac_reader_begin(&d, 2, 33, bins->data, cabac.size);
        int wrong = 0;
        for (uint32_t i = 0; i < symbols.n; i++)
            wrong += cabac_reader_symbol(&d, symbol[i]) != symbol[i];
        CU_ASSERT(!memcmp(bins->data + first, samples, sizeof samples));
        d.at = 8 * (first + sizeof samples);
        cabac_reader_begin_range(&d);
        for (uint32_t i = 0; i < symbols.n; i++)
            wrong += cabac_reader_symbol(&d, symbol[i]) != symbol[i];
        MOTUS_CHECK(!wrong, "round %d: %d symbols", round, wrong);
    }
}

static void full_buffers_are_told(void) {
    start(0, 26);
    for (int i = 0; i < 1000; i++) put(MOTUS_SYMBOL_BYPASS | 7 << 8 | (unsigned)(i & 255));
    for (size_t capacity = 0; capacity < 1003; capacity++) {
        MotusCabac cabac;
        uint8_t *data = motus_test_guarded(capacity);
        const MotusSymbols symbols = {.symbol = bins->symbol, .n = (uint32_t)bins->n};
        motus_cabac_begin(&cabac, 0, 26, data, capacity);
        motus_cabac_code(&cabac, &symbols);
        const uint16_t last = MOTUS_CTX_TERMINATE | MOTUS_SYMBOL_BIN;
        motus_cabac_code(&cabac, &(MotusSymbols){.symbol = (uint16_t *)&last, .n = 1});
        motus_cabac_finish(&cabac);
        MOTUS_CHECK(cabac.overflow == (capacity < 1002), "%zu bytes", capacity);
        CU_ASSERT(motus_test_guard_ok(data));
        motus_test_guard_free(data);
    }
}

// Bins beyond 32 / 3 a byte and 96 an MB ask for words of three bytes each.
static void zero_words(void) {
    for (int round = 0; round < 2000; round++) {
        const int n_mb = motus_test_range(1, 9000);
        const size_t bytes = (size_t)motus_test_range(4, 300000);
        const uint64_t count = (uint64_t)motus_test_range(0, 5000000);
        const size_t n = motus_cabac_zero_words(count, bytes, n_mb);
        const double most = 32.0 / 3 * (double)(bytes + 3 * n) + 96.0 * n_mb,
                     less = 32.0 / 3 * (double)(bytes + 3 * n - 3) + 96.0 * n_mb;
        MOTUS_CHECK((double)count <= most && (n == 0 || (double)count > less),
                    "%llu bins, %zu bytes, %d MBs: %zu words", (unsigned long long)count, bytes,
                    n_mb, n);
    }
}

static int run(const char *suite, const MotusTest *tests, int argc, char **argv) {
    bins = malloc(sizeof *bins);
    const int status = bins ? motus_test_main(suite, tests, argc, argv) : 1;
    free(bins);
    return status;
}

MOTUS_SUITE_BY(run, "cabac", TEST(random_symbols), TEST(worst_symbols), TEST(ones_then_carry),
               TEST(copies_take_back), TEST(samples_between), TEST(full_buffers_are_told),
               TEST(zero_words))
