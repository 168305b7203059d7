// encoder/bitstream/bits_core.h and the residual blocks of cavlc_mb_core.h: an independent reader
// reads back all that is written; counted bits are written bits.
// SPDX-License-Identifier: BSD-2-Clause
#include "dct/dct_core.h"
#include "encoder/bitstream/cavlc_mb_core.h"
#include "encoder/bitstream/cavlc_warp.cuh"
#include "encoder/bitstream/syntax_core.h"
#include "tests/encoder/bitstream/cavlc_reader.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>

static void bits_read_back(void) {
    enum { N = 20000 };
    static struct {
        int kind, n;
        uint32_t value;
    } item[N];
    uint8_t *data = motus_test_guarded(N * 8 + 8);
    MotusBits bits;
    motus_bits_init(&bits, data, N * 8 + 8);
    for (int i = 0; i < N; i++) {
        item[i].kind = motus_test_range(0, 2);
        item[i].n = motus_test_range(0, 32);
        uint32_t random = motus_test_random();
        item[i].value = item[i].n ? random >> (32 - item[i].n) : 0;
        if (item[i].kind == 1) item[i].value &= 0xFFFFFFF;
        if (item[i].kind == 2) item[i].value = random == 1u << 31 ? 0 : random; // -2^31 has no code
        if (item[i].kind == 0)
            motus_bits_put(&bits, item[i].n, item[i].value);
        else if (item[i].kind == 1)
            motus_bits_ue(&bits, item[i].value);
        else
            motus_bits_se(&bits, (int32_t)item[i].value);
    }
    size_t count = motus_bits_count(&bits);
    motus_bits_trailing(&bits);
    MOTUS_CHECK(!bits.overflow && motus_bits_count(&bits) == bits.size * 8 &&
                    bits.size == count / 8 + 1,
                "%zu bits", count);
    Reader reader = {data, bits.size, 0, 0};
    for (int i = 0; i < N; i++) {
        uint32_t got = item[i].kind == 0   ? read_bits(&reader, item[i].n)
                       : item[i].kind == 1 ? read_ue(&reader)
                                           : (uint32_t)read_se(&reader);
        MOTUS_CHECK(got == item[i].value && !reader.error, "kind %d n %d value %u", item[i].kind,
                    item[i].n, item[i].value);
    }
    MOTUS_CHECK(reader.pos == count && read_bits(&reader, 1) == 1, "end at %zu", reader.pos);
    while (reader.pos < 8 * reader.size)
        MOTUS_CHECK(!read_bits(&reader, 1), "trailing bit %zu", reader.pos);
    CU_ASSERT(motus_test_guard_ok(data));
    motus_test_guard_free(data);
}

static void overflow_is_told_and_harmless(void) {
    for (size_t capacity = 0; capacity < 12; capacity++) {
        uint8_t *data = motus_test_guarded(capacity);
        MotusBits bits;
        motus_bits_init(&bits, data, capacity);
        for (int i = 0; i < 10; i++) motus_bits_put(&bits, 8, 0xFF);
        motus_bits_align_zero(&bits);
        MOTUS_CHECK(bits.overflow == (capacity < 10) &&
                        bits.size == (capacity < 10 ? capacity : 10),
                    "capacity %zu", capacity);
        CU_ASSERT(motus_test_guard_ok(data));
        motus_test_guard_free(data);
    }
}

static void code_tables_are_prefix_codes(void) {
    static const long token_unused[5] = {2, 8, 64, 2 * 1024,
                                         0}; // 65536 times the rest of the code space
    for (int column = 0; column < 5; column++)
        MOTUS_CHECK(token_kraft(column) == 65536 - token_unused[column], "column %d: %ld", column,
                    token_kraft(column));
    for (int row = 0; row < 15; row++)
        MOTUS_CHECK(zeros_kraft(0, row) == 65536 - (row ? 0 : 128), "total_zeros %d", row + 1);
    for (int row = 0; row < 3; row++)
        MOTUS_CHECK(zeros_kraft(1, row) == 65536, "total_zeros DC %d", row + 1);
    for (int row = 0; row < 7; row++)
        MOTUS_CHECK(zeros_kraft(2, row) == 65536 - (row < 6 ? 0 : 32), "run_before %d", row + 1);
}

static uint8_t zero_runs[MOTUS_ZERO_RUNS];

// Counts a block by planes, with one level passed separately.
static uint32_t count_by_planes(const int16_t *level, int n, int nc) {
    MotusLevelPlanes planes;
    int16_t whole[16] = {0};
    int first = 16 - n, at = motus_test_range(first, 15), instead = level[at - first];
    memset(&planes, 0, sizeof planes);
    for (int i = first; i < 16; i++) {
        whole[i] = level[i - first];
        motus_planes_set(&planes, i, motus_test_range(1, 40)); // has no effect
        motus_planes_set(&planes, i, motus_abs(whole[i]));
        if (whole[i] < 0) planes.negative |= motus_planes_bit(i);
    }
    whole[at] = 2000;
    return motus_planes_block_bits(&planes, whole, at, instead, first, motus_cavlc_token_class(nc),
                                   zero_runs);
}

// Writes, counts and reads back one block. The levels lie in memory of exactly their size, for the
// sanitizer.
static void check_block(const int16_t *level, int n, int nc) {
    int16_t *exact = malloc((size_t)n * sizeof *exact), back[16];
    if (!exact) abort();
    memcpy(exact, level, (size_t)n * sizeof *exact);
    uint8_t data[128];
    MotusBits bits;
    motus_bits_init(&bits, data, sizeof data);
    motus_cavlc_residual(&bits, exact, n, nc);
    size_t written = motus_bits_count(&bits);
    MotusCavlcShape shape = motus_cavlc_shape(exact, n);
    int counted = n == 4 ? motus_cavlc_chroma_dc_bits(exact)
                         : motus_cavlc_block_bits(shape, exact, -1, 0, n,
                                                  motus_cavlc_token_class(nc), zero_runs);
    free(exact);
    motus_bits_trailing(&bits);
    Reader reader = {data, bits.size, 0, 0};
    int total_coeff = read_residual(&reader, back, n, nc), nonzero = 0;
    for (int i = 0; i < n; i++) nonzero += level[i] != 0;
    MOTUS_CHECK(!reader.error && !bits.overflow && reader.pos == written,
                "n %d nc %d: read %zu of %zu", n, nc, reader.pos, written);
    MOTUS_CHECK((size_t)counted == written, "n %d nc %d: counted %d, wrote %zu", n, nc, counted,
                written);
    uint32_t by_planes = n == 4 ? (uint32_t)counted : count_by_planes(level, n, nc);
    MOTUS_CHECK(by_planes == written, "n %d nc %d: counted %u by planes, wrote %zu", n, nc,
                by_planes, written);
    MOTUS_CHECK(total_coeff == nonzero && !memcmp(back, level, (size_t)n * sizeof *back),
                "n %d nc %d", n, nc);
}

static int16_t random_level(int kind) {
    static const int largest[5] = {1, 2, 8, 100, MOTUS_MAX_LEVEL};
    int magnitude = motus_test_range(1, largest[kind]);
    return (int16_t)(motus_test_random() & 64 ? -magnitude : magnitude);
}

// Checks every set of nonzero positions, with levels of all kinds.
static void check_masks(int n, int nc_low, int nc_high) {
    for (unsigned mask = 0; mask < 1u << n; mask++) {
        int kind = motus_test_range(0, 4);
        int16_t level[16];
        for (int i = 0; i < n; i++)
            level[i] = mask >> i & 1 ? random_level(motus_test_range(0, kind)) : 0;
        check_block(level, n, motus_test_range(nc_low, nc_high));
    }
}

// Checks every total_coeff with every number of trailing ones, in every column of table 9-5.
static void check_every_token(void) {
    static const int nc_of_column[5] = {1, 3, 5, 16, -1};
    for (int column = 0; column < 5; column++)
        for (int n = column == 4 ? 4 : 15; n <= (column == 4 ? 4 : 16); n++)
            for (int total_coeff = 0; total_coeff <= n; total_coeff++)
                for (int trailing_ones = 0; trailing_ones <= 3 && trailing_ones <= total_coeff;
                     trailing_ones++) {
                    int16_t level[16] = {0};
                    for (int i = 0; i < total_coeff; i++)
                        level[n - 1 - i] = (int16_t)(i < trailing_ones ? 1 - 2 * (i & 1) : 2 + i);
                    check_block(level, n, nc_of_column[column]);
                }
}

// Checks blocks that meet their last level with suffixLength k: chain[k] are the levels before it,
// in coding order.
static void check_every_level(void) {
    static const int16_t chain[7][5] = {
        {0}, {2}, {4}, {4, 7}, {4, 7, 13}, {4, 7, 13, 25}, {4, 7, 13, 25, 49}};
    for (int k = 0; k < 7; k++)
        for (int value = -MOTUS_MAX_LEVEL; value <= MOTUS_MAX_LEVEL; value++) {
            int16_t level[16] = {0};
            int at = 15;
            for (int i = 0; i < 5 && chain[k][i]; i++) level[at--] = chain[k][i];
            level[at] = (int16_t)value;
            check_block(level, 16, 0);
        }
}

// Checks many levels with fewer than three trailing ones, which begin at suffixLength 1.
static void check_crowded_blocks(void) {
    for (int round = 0; round < 20000; round++) {
        int16_t level[16];
        int kind = round % 5, other = motus_test_range(0, 4);
        for (int i = 0; i < 16; i++)
            level[i] =
                motus_test_range(0, 9) ? random_level(motus_test_range(0, 3) ? kind : other) : 0;
        check_block(level, 16 - round / 5 % 2, motus_test_range(0, 16));
    }
}

static int missing(const long *hits, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) count += hits[i] == 0;
    return count;
}

static void blocks_read_back_and_reach_every_code(void) {
    motus_cavlc_zero_runs(zero_runs);
    cavlc_hits_reset();
    for (int round = 0; round < 200; round++) check_masks(4, -1, -1);
    check_every_token();
    check_masks(15, 0, 16);
    check_masks(16, 0, 16);
    check_every_level();
    check_crowded_blocks();
    CU_ASSERT_EQUAL(missing(&cavlc_hits.token[0][0][0], 5 * 17 * 4), 0);
    CU_ASSERT_EQUAL(missing(&cavlc_hits.total_zeros[0][0], 15 * 16), 0);
    CU_ASSERT_EQUAL(missing(&cavlc_hits.total_zeros_dc[0][0], 3 * 4), 0);
    CU_ASSERT_EQUAL(missing(&cavlc_hits.run_before[0][0], 7 * 15), 0);
    CU_ASSERT_EQUAL(missing(&cavlc_hits.level[0][0], 7 * 16), 0);
}

static void lengths_of_coded_block_patterns(void) {
    for (int cbp = 0; cbp < 48; cbp++)
        for (int intra = 0; intra < 2; intra++)
            MOTUS_CHECK(motus_cbp_bits(cbp, intra) ==
                            (uint32_t)motus_ue_bits((uint32_t)motus_cavlc_cbp_code(cbp, intra)) +
                                (cbp != 0),
                        "pattern %d, intra %d: %u bits", cbp, intra, motus_cbp_bits(cbp, intra));
}

static void lengths_of_empty_blocks(void) {
    for (int k = 0; k <= MOTUS_TOKEN_CHROMA_DC; k++)
        CU_ASSERT_EQUAL(motus_cavlc_empty_length(k), motus_cavlc_token(k, 0, 0).length);
}

static void nc_of_two_neighbours(void) {
    for (int left = -1; left <= 16; left++)
        for (int above = -1; above <= 16; above++) {
            int want = left >= 0 && above >= 0 ? (left + above + 1) / 2
                       : left >= 0             ? left
                       : above >= 0            ? above
                                               : 0;
            MOTUS_CHECK(motus_cavlc_nc(left, above) == want, "%d %d", left, above);
        }
}

MOTUS_SUITE("cavlc", TEST(bits_read_back), TEST(overflow_is_told_and_harmless),
            TEST(code_tables_are_prefix_codes), TEST(blocks_read_back_and_reach_every_code),
            TEST(lengths_of_coded_block_patterns), TEST(lengths_of_empty_blocks),
            TEST(nc_of_two_neighbours))
