// residual_block_cavlc() (7.3.5.3.2, 9.2) with the encoder's own code tables; independent decoders
// test those.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "encoder/bitstream/cavlc_core.h"
#include "tools/h264/h264_internal.h"

// ---- Tables -------------------------------------------------------------------------------------

// Enters a code into a table of 2^bits entries: all values that begin with it.
static void enter(uint16_t *table, int bits, MotusVlc vlc, int value) {
    if (vlc.length == 0) return;
    const uint32_t first = vlc.bits << (bits - vlc.length), n = 1u << (bits - vlc.length);
    for (uint32_t i = 0; i < n; i++) table[first + i] = (uint16_t)(vlc.length << 8 | value);
}

// Longest code of each column of table 9-5, and where the columns begin in MotusCodes.token.
static const uint8_t token_bits[MOTUS_TOKEN_CLASSES] = {16, 14, 10, 6, 8};
static const uint32_t token_begin[MOTUS_TOKEN_CLASSES] = {0, 65536, 81920, 82944, 83008};

void motus_codes_build(MotusCodes *codes) {
    memset(codes, 0, sizeof *codes);
    for (int class = 0; class < MOTUS_TOKEN_CLASSES; class ++)
        for (int total = 0; total <= (class == MOTUS_TOKEN_CHROMA_DC ? 4 : 16); total++)
            for (int ones = 0; ones <= 3 && ones <= total; ones++)
                enter(codes->token + token_begin[class], token_bits[class],
                      motus_cavlc_token(class, total, ones), total << 2 | ones);
    for (int total = 1; total < 16; total++)
        for (int zeros = 0; zeros <= 16 - total; zeros++)
            enter(codes->total_zeros[total], 9, motus_cavlc_total_zeros(0, total, zeros), zeros);
    for (int total = 1; total < 4; total++)
        for (int zeros = 0; zeros <= 4 - total; zeros++)
            enter(codes->total_zeros_dc[total], 3,
                  motus_cavlc_total_zeros(MOTUS_TOKEN_CHROMA_DC, total, zeros), zeros);
    for (int left = 1; left <= 7; left++)
        for (int run = 0; run <= (left < 7 ? left : 14); run++)
            enter(codes->run_before[left], 11, motus_cavlc_run(left, run), run);
}

// Consumes the next code and returns its value, or -1 if the table has none.
static int next_code(MotusRbsp *rbsp, const uint16_t *table, int bits) {
    const uint16_t entry = table[motus_rbsp_peek(rbsp, bits)];
    if (!entry) return -1;
    motus_rbsp_u(rbsp, entry >> 8);
    return entry & 255;
}

// ---- A block ------------------------------------------------------------------------------------

static int parse_token(MotusMbParser *r, int class, int most, int *trailing_ones) {
    const int value = next_code(r->rbsp, r->codes->token + token_begin[class], token_bits[class]),
              total = value >> 2;
    if (value < 0 || total > most) {
        motus_rbsp_fail(r->rbsp, "coeff_token");
        return 0;
    }
    *trailing_ones = value & 3;
    r->coverage->token[class][total][*trailing_ones]++;
    return total;
}

// Parses one level after the trailing ones (9.2.2.1); returns its magnitude.
static int parse_level(MotusMbParser *r, int suffix_length, int offset) {
    int prefix = 0;
    while (prefix < 16 && !motus_rbsp_u(r->rbsp, 1)) prefix++;
    if (prefix > 15) {
        motus_rbsp_fail(r->rbsp, "level_prefix");
        return 1;
    }
    r->coverage->level_prefix[suffix_length][prefix]++;
    const int suffix_size = prefix == 14 && suffix_length == 0 ? 4
                            : prefix == 15                     ? 12
                                                               : suffix_length;
    int level_code = (prefix << suffix_length) + (int)motus_rbsp_u(r->rbsp, suffix_size);
    if (prefix == 15 && suffix_length == 0) level_code += 15;
    level_code += offset;
    return level_code % 2 ? (level_code + 1) / 2 : level_code / 2 + 1;
}

static void parse_levels(MotusMbParser *r, int total, int ones) {
    motus_rbsp_u(r->rbsp, ones);
    int suffix_length = total > 10 && ones < 3;
    for (int i = ones; i < total; i++) {
        const int magnitude = parse_level(r, suffix_length, i == ones && ones < 3 ? 2 : 0);
        if (suffix_length == 0) suffix_length = 1;
        if (suffix_length < 6 && magnitude > 3 << (suffix_length - 1)) suffix_length++;
    }
}

static int parse_total_zeros(MotusMbParser *r, int total, int n) {
    const int zeros = n == 4 ? next_code(r->rbsp, r->codes->total_zeros_dc[total], 3)
                             : next_code(r->rbsp, r->codes->total_zeros[total], 9);
    if (zeros < 0 || zeros > n - total) {
        motus_rbsp_fail(r->rbsp, "total_zeros");
        return 0;
    }
    {
        if (n == 4)
            r->coverage->total_zeros_dc[total][zeros]++;
        else
            r->coverage->total_zeros[total][zeros]++;
    }
    return zeros;
}

static int parse_run(MotusMbParser *r, int zeros_left) {
    const int row = zeros_left < 7 ? zeros_left : 7,
              run = next_code(r->rbsp, r->codes->run_before[row], 11);
    if (run < 0 || run > zeros_left) {
        motus_rbsp_fail(r->rbsp, "run_before");
        return zeros_left;
    }
    r->coverage->run_before[row][run]++;
    return run;
}

int motus_parse_residual(MotusMbParser *r, int n, int nc) {
    int ones = 0;
    const int total = parse_token(r, motus_cavlc_token_class(nc), n, &ones);
    if (total == 0) return 0;
    parse_levels(r, total, ones);
    int zeros_left = total < n ? parse_total_zeros(r, total, n) : 0;
    for (int i = 1; i < total && zeros_left > 0; i++) zeros_left -= parse_run(r, zeros_left);
    return total;
}
