// The arithmetic coder against a decoder, on random symbols and on those that are hardest for it.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cabac/cabac.h"
#include "tests/encoder/cabac/bin_strings.h"
#include "tests/encoder/cabac/cabac_reader.h"
#include "tests/support/harness.h"

#include <string.h>

enum { MOST = 100000, CAPACITY = 1 << 20, SAMPLES = 384 };
#define RESTART (MOTUS_CTX_TERMINATE | MOTUS_SYMBOL_BIN)

static uint16_t symbol[MOST];
static uint8_t data[CAPACITY], samples[SAMPLES];

static int any_context(void) {
    const int i = motus_test_range(0, 275 + MOTUS_CONTEXTS - MOTUS_CTX_TRANSFORM_8x8);
    return i < MOTUS_CTX_TERMINATE ? i : i - MOTUS_CTX_TERMINATE + MOTUS_CTX_TRANSFORM_8x8;
}

// Codes n symbols in runs of up to `run`; I_PCM samples follow each terminating bin of 1. Returns
// the bytes.
static size_t code(int n, int run, int table, int qp) {
    MotusCabac cabac;
    motus_cabac_begin(&cabac, table, qp, data, CAPACITY);
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && end - i < run && symbol[end - 1] != RESTART;) end++;
        const MotusSymbols symbols = {.symbol = symbol + i, .n = (uint32_t)(end - i)};
        const size_t before = motus_cabac_bits(&cabac);
        motus_cabac_code(&cabac, &symbols);
        MOTUS_CHECK(motus_cabac_bits(&cabac) >= before, "bits at symbol %d", i);
        if (symbol[end - 1] != RESTART || end == n) continue;
        motus_cabac_finish(&cabac);
        motus_cabac_bytes(&cabac, samples, SAMPLES);
        motus_cabac_restart(&cabac);
    }
    motus_cabac_finish(&cabac);
    CU_ASSERT_FALSE(cabac.overflow);
    return cabac.size;
}

// Reads n symbols back; contexts go on behind samples.
static void read_back(int n, int table, int qp, size_t size, const char *what) {
    CabacReader d;
    int wrong = 0;
    cabac_reader_begin(&d, table, qp, data, size);
    for (int i = 0; i < n && !wrong; i++) {
        if (cabac_reader_symbol(&d, symbol[i]) != symbol[i]) wrong = i + 1;
        if (symbol[i] != RESTART || i + 1 == n) continue;
        const size_t first = (d.at + 7) / 8;
        if (memcmp(data + first, samples, SAMPLES)) wrong = i + 1;
        d.at = 8 * (first + SAMPLES);
        cabac_reader_begin_range(&d);
    }
    MOTUS_CHECK(!wrong, "%s: symbol %d of %d, table %d, QP %d", what, wrong - 1, n, table, qp);
    // The last bit that has been read is rbsp_stop_one_bit (9.3.1.2).
    const size_t last = d.at - 1;
    MOTUS_CHECK(last / 8 + 1 == size && data[last / 8] >> (7 - last % 8) & 1,
                "%s: ends at bit %zu of %zu bytes", what, last, size);
}

static void strings_read_back(void) {
    BinString s;
    bin_string_open(&s, MOST);
    motus_test_fill(samples, SAMPLES);
    for (int round = 0; round < motus_test_cases(300); round++) {
        const BinContent content = (BinContent)(round % BINS_CONTENTS);
        const int most = content == BINS_RESTARTS ? 1000 : 3000,
                  longest = round < BINS_CONTENTS && content != BINS_RESTARTS;
        bin_string_fill(&s, content, longest ? MOST : (uint32_t)motus_test_range(1, most));
        for (uint32_t i = 0; i < s.n; i++) symbol[i] = (uint16_t)(s.symbol[i] & ~(3 << 11));
        const size_t size = code((int)s.n, motus_test_range(1, 200), s.table, s.qp);
        read_back((int)s.n, s.table, s.qp, size, bin_content_names[content]);
        if (!longest || (content != BINS_ONES && content != BINS_CARRY)) continue;
        const int carried = data[0] == 0x80; // through all of them
        size_t ones = 1;
        while (ones < size && data[ones] == (carried ? 0 : 0xFF)) ones++;
        MOTUS_CHECK((carried || data[0] == 0x7F) && ones + 200 > size, "%zu bytes of ones", ones);
    }
    bin_string_close(&s);
}

// A copy of the coder takes back what was coded since, and bytes before it do not change.
static void copies_take_back(void) {
    static uint8_t written[CAPACITY];
    for (int round = 0; round < 200; round++) {
        const int qp = motus_test_range(0, 51);
        MotusCabac cabac, before;
        int n = 0;
        motus_cabac_begin(&cabac, 1, qp, data, CAPACITY);
        for (int i = 0; i < 200; i++) {
            before = cabac;
            memcpy(written, data, before.size);
            MotusSymbols symbols = {.symbol = symbol + n};
            for (int k = 0; k < 64; k++)
                motus_put_bin(&symbols, any_context(), motus_test_range(0, 3) == 0);
            motus_cabac_code(&cabac, &symbols);
            CU_ASSERT(!memcmp(written, data, before.size));
            if (motus_test_range(0, 1))
                cabac = before;
            else
                n += 64;
        }
        symbol[n++] = RESTART;
        const MotusSymbols end = {.symbol = symbol + n - 1, .n = 1};
        motus_cabac_code(&cabac, &end);
        motus_cabac_finish(&cabac);
        read_back(n, 1, qp, cabac.size, "taken back");
    }
}

static void full_buffers_are_told(void) {
    for (int i = 0; i < 1000; i++) symbol[i] = (uint16_t)(MOTUS_SYMBOL_BYPASS | 7 << 8 | (i & 255));
    symbol[1000] = RESTART;
    for (size_t capacity = 0; capacity < 1003; capacity++) {
        MotusCabac cabac;
        uint8_t *guarded = motus_test_guarded(capacity);
        const MotusSymbols symbols = {.symbol = symbol, .n = 1001};
        motus_cabac_begin(&cabac, 0, 26, guarded, capacity);
        motus_cabac_code(&cabac, &symbols);
        motus_cabac_finish(&cabac);
        MOTUS_CHECK(cabac.overflow == (capacity < 1002), "%zu bytes", capacity);
        CU_ASSERT(motus_test_guard_ok(guarded));
        motus_test_guard_free(guarded);
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

MOTUS_SUITE("cabac", TEST(strings_read_back), TEST(copies_take_back), TEST(full_buffers_are_told),
            TEST(zero_words))
