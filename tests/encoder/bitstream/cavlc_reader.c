// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/bitstream/cavlc_reader.h"

#include <stdlib.h>
#include <string.h>

CavlcHits cavlc_hits;

// Table 9-5: trailing_ones, total_coeff, and the codes for 0 <= nC < 2, 2 <= nC < 4, 4 <= nC < 8, 8
// <= nC, nC == -1.
static const struct TokenRow {
    int trailing_ones, total_coeff;
    const char *code[5];
} token_table[] = {
    {0, 0, {"1", "11", "1111", "000011", "01"}},
    {0, 1, {"000101", "001011", "001111", "000000", "000111"}},
    {1, 1, {"01", "10", "1110", "000001", "1"}},
    {0, 2, {"00000111", "000111", "001011", "000100", "000100"}},
    {1, 2, {"000100", "00111", "01111", "000101", "000110"}},
    {2, 2, {"001", "011", "1101", "000110", "001"}},
    {0, 3, {"000000111", "0000111", "001000", "001000", "000011"}},
    {1, 3, {"00000110", "001010", "01100", "001001", "0000011"}},
    {2, 3, {"0000101", "001001", "01110", "001010", "0000010"}},
    {3, 3, {"00011", "0101", "1100", "001011", "000101"}},
    {0, 4, {"0000000111", "00000111", "0001111", "001100", "000010"}},
    {1, 4, {"000000110", "000110", "01010", "001101", "00000011"}},
    {2, 4, {"00000101", "000101", "01011", "001110", "00000010"}},
    {3, 4, {"000011", "0100", "1011", "001111", "0000000"}},
    {0, 5, {"00000000111", "00000100", "0001011", "010000", NULL}},
    {1, 5, {"0000000110", "0000110", "01000", "010001", NULL}},
    {2, 5, {"000000101", "0000101", "01001", "010010", NULL}},
    {3, 5, {"0000100", "00110", "1010", "010011", NULL}},
    {0, 6, {"0000000001111", "000000111", "0001001", "010100", NULL}},
    {1, 6, {"00000000110", "00000110", "001110", "010101", NULL}},
    {2, 6, {"0000000101", "00000101", "001101", "010110", NULL}},
    {3, 6, {"00000100", "001000", "1001", "010111", NULL}},
    {0, 7, {"0000000001011", "00000001111", "0001000", "011000", NULL}},
    {1, 7, {"0000000001110", "000000110", "001010", "011001", NULL}},
    {2, 7, {"00000000101", "000000101", "001001", "011010", NULL}},
    {3, 7, {"000000100", "000100", "1000", "011011", NULL}},
    {0, 8, {"0000000001000", "00000001011", "00001111", "011100", NULL}},
    {1, 8, {"0000000001010", "00000001110", "0001110", "011101", NULL}},
    {2, 8, {"0000000001101", "00000001101", "0001101", "011110", NULL}},
    {3, 8, {"0000000100", "0000100", "01101", "011111", NULL}},
    {0, 9, {"00000000001111", "000000001111", "00001011", "100000", NULL}},
    {1, 9, {"00000000001110", "00000001010", "00001110", "100001", NULL}},
    {2, 9, {"0000000001001", "00000001001", "0001010", "100010", NULL}},
    {3, 9, {"00000000100", "000000100", "001100", "100011", NULL}},
    {0, 10, {"00000000001011", "000000001011", "000001111", "100100", NULL}},
    {1, 10, {"00000000001010", "000000001110", "00001010", "100101", NULL}},
    {2, 10, {"00000000001101", "000000001101", "00001101", "100110", NULL}},
    {3, 10, {"0000000001100", "00000001100", "0001100", "100111", NULL}},
    {0, 11, {"000000000001111", "000000001000", "000001011", "101000", NULL}},
    {1, 11, {"000000000001110", "000000001010", "000001110", "101001", NULL}},
    {2, 11, {"00000000001001", "000000001001", "00001001", "101010", NULL}},
    {3, 11, {"00000000001100", "00000001000", "00001100", "101011", NULL}},
    {0, 12, {"000000000001011", "0000000001111", "000001000", "101100", NULL}},
    {1, 12, {"000000000001010", "0000000001110", "000001010", "101101", NULL}},
    {2, 12, {"000000000001101", "0000000001101", "000001101", "101110", NULL}},
    {3, 12, {"00000000001000", "000000001100", "00001000", "101111", NULL}},
    {0, 13, {"0000000000001111", "0000000001011", "0000001101", "110000", NULL}},
    {1, 13, {"000000000000001", "0000000001010", "000000111", "110001", NULL}},
    {2, 13, {"000000000001001", "0000000001001", "000001001", "110010", NULL}},
    {3, 13, {"000000000001100", "0000000001100", "000001100", "110011", NULL}},
    {0, 14, {"0000000000001011", "0000000000111", "0000001001", "110100", NULL}},
    {1, 14, {"0000000000001110", "00000000001011", "0000001100", "110101", NULL}},
    {2, 14, {"0000000000001101", "0000000000110", "0000001011", "110110", NULL}},
    {3, 14, {"000000000001000", "0000000001000", "0000001010", "110111", NULL}},
    {0, 15, {"0000000000000111", "00000000001001", "0000000101", "111000", NULL}},
    {1, 15, {"0000000000001010", "00000000001000", "0000001000", "111001", NULL}},
    {2, 15, {"0000000000001001", "00000000001010", "0000000111", "111010", NULL}},
    {3, 15, {"0000000000001100", "0000000000001", "0000000110", "111011", NULL}},
    {0, 16, {"0000000000000100", "00000000000111", "0000000001", "111100", NULL}},
    {1, 16, {"0000000000000110", "00000000000110", "0000000100", "111101", NULL}},
    {2, 16, {"0000000000000101", "00000000000101", "0000000011", "111110", NULL}},
    {3, 16, {"0000000000001000", "00000000000100", "0000000010", "111111", NULL}},
};
enum { TOKENS = sizeof token_table / sizeof token_table[0] };

// Tables 9-7 and 9-8: a row per tzVlcIndex, a code per total_zeros.
static const char *const total_zeros_table[15][16] = {
    {"1", "011", "010", "0011", "0010", "00011", "00010", "000011", "000010", "0000011", "0000010",
     "00000011", "00000010", "000000011", "000000010", "000000001"},
    {"111", "110", "101", "100", "011", "0101", "0100", "0011", "0010", "00011", "00010", "000011",
     "000010", "000001", "000000"},
    {"0101", "111", "110", "101", "0100", "0011", "100", "011", "0010", "00011", "00010", "000001",
     "00001", "000000"},
    {"00011", "111", "0101", "0100", "110", "101", "100", "0011", "011", "0010", "00010", "00001",
     "00000"},
    {"0101", "0100", "0011", "111", "110", "101", "100", "011", "0010", "00001", "0001", "00000"},
    {"000001", "00001", "111", "110", "101", "100", "011", "010", "0001", "001", "000000"},
    {"000001", "00001", "101", "100", "011", "11", "010", "0001", "001", "000000"},
    {"000001", "0001", "00001", "011", "11", "10", "010", "001", "000000"},
    {"000001", "000000", "0001", "11", "10", "001", "01", "00001"},
    {"00001", "00000", "001", "11", "10", "01", "0001"},
    {"0000", "0001", "001", "010", "1", "011"},
    {"0000", "0001", "01", "1", "001"},
    {"000", "001", "1", "01"},
    {"00", "01", "1"},
    {"0", "1"}};

// Table 9-9 a.
static const char *const total_zeros_dc_table[3][4] = {
    {"1", "01", "001", "000"}, {"1", "01", "00"}, {"1", "0"}};

// Table 9-10: a row per zerosLeft, the last for all above 6; a code per run_before.
static const char *const run_before_table[7][15] = {
    {"1", "0"},
    {"1", "01", "00"},
    {"11", "10", "01", "00"},
    {"11", "10", "01", "001", "000"},
    {"11", "10", "011", "010", "001", "000"},
    {"11", "000", "001", "011", "010", "101", "100"},
    {"111", "110", "101", "100", "011", "010", "001", "0001", "00001", "000001", "0000001",
     "00000001", "000000001", "0000000001", "00000000001"}};

uint32_t read_bits(Reader *reader, int n) {
    uint32_t value = 0;
    for (int i = 0; i < n; i++) {
        if (reader->pos >= 8 * reader->size) {
            reader->error = 1;
            return 0;
        }
        value = value << 1 | (reader->data[reader->pos / 8] >> (7 - reader->pos % 8) & 1);
        reader->pos++;
    }
    return value;
}

static int leading_zeros(Reader *reader) {
    int zeros = 0;
    while (!reader->error && zeros < 32 && !read_bits(reader, 1)) zeros++;
    return zeros;
}

uint32_t read_ue(Reader *reader) {
    int zeros = leading_zeros(reader);
    if (zeros == 32) reader->error = 1;
    return reader->error ? 0 : (1u << zeros) - 1 + read_bits(reader, zeros);
}

int32_t read_se(Reader *reader) {
    uint32_t k = read_ue(reader);
    return k & 1 ? (int32_t)(k / 2 + 1) : -(int32_t)(k / 2);
}

// Reads the code if it is next.
static int accept(Reader *reader, const char *code) {
    Reader ahead = *reader;
    for (const char *c = code; *c; c++)
        if (read_bits(&ahead, 1) != (uint32_t)(*c - '0') || ahead.error) return 0;
    *reader = ahead;
    return 1;
}

// Returns the index of the next code among `n`, or -1 with an error.
static int read_code(Reader *reader, const char *const *codes, int n, long *hits) {
    for (int i = 0; i < n && codes[i]; i++)
        if (accept(reader, codes[i])) {
            hits[i]++;
            return i;
        }
    reader->error = 1;
    return -1;
}

static const struct TokenRow *read_token(Reader *reader, int nc) {
    int column = nc == -1 ? 4 : nc < 2 ? 0 : nc < 4 ? 1 : nc < 8 ? 2 : 3;
    for (const struct TokenRow *row = token_table; row < token_table + TOKENS; row++)
        if (row->code[column] && accept(reader, row->code[column])) {
            cavlc_hits.token[column][row->total_coeff][row->trailing_ones]++;
            return row;
        }
    reader->error = 1;
    return token_table;
}

// Reads a level by 9.2.2.1; level_prefix above 15 is not allowed in these profiles.
static int read_level_code(Reader *reader, int suffix_length) {
    int level_prefix = leading_zeros(reader);
    if (level_prefix > 15) {
        reader->error = 1;
        return 0;
    }
    cavlc_hits.level[suffix_length][level_prefix]++;
    int suffix_size = level_prefix == 14 && suffix_length == 0 ? 4
                      : level_prefix == 15                     ? 12
                                                               : suffix_length;
    int level_code = (level_prefix << suffix_length) + (int)read_bits(reader, suffix_size);
    return level_prefix == 15 && suffix_length == 0 ? level_code + 15 : level_code;
}

static void read_levels(Reader *reader, int *value, int total_coeff, int trailing_ones) {
    int suffix_length = total_coeff > 10 && trailing_ones < 3;
    for (int i = 0; i < total_coeff; i++) {
        if (i < trailing_ones) {
            value[i] = 1 - 2 * (int)read_bits(reader, 1);
            continue;
        }
        int level_code = read_level_code(reader, suffix_length);
        if (i == trailing_ones && trailing_ones < 3) level_code += 2;
        value[i] = level_code % 2 == 0 ? (level_code + 2) >> 1 : (-level_code - 1) >> 1;
        if (suffix_length == 0) suffix_length = 1;
        if (abs(value[i]) > 3 << (suffix_length - 1) && suffix_length < 6) suffix_length++;
    }
}

int read_residual(Reader *reader, int16_t *level, int max, int nc) {
    memset(level, 0, (size_t)max * sizeof *level);
    const struct TokenRow *token = read_token(reader, nc);
    int total_coeff = token->total_coeff, value[16] = {0}, run[16] = {0}, zeros_left = 0;
    if (!total_coeff || reader->error) return 0;
    read_levels(reader, value, total_coeff, token->trailing_ones);
    if (total_coeff < max)
        zeros_left = max == 4 ? read_code(reader, total_zeros_dc_table[total_coeff - 1], 4,
                                          cavlc_hits.total_zeros_dc[total_coeff - 1])
                              : read_code(reader, total_zeros_table[total_coeff - 1], 16,
                                          cavlc_hits.total_zeros[total_coeff - 1]);
    for (int i = 0; i < total_coeff - 1 && zeros_left > 0; i++) {
        int row = (zeros_left < 7 ? zeros_left : 7) - 1;
        run[i] = read_code(reader, run_before_table[row], 15, cavlc_hits.run_before[row]);
        zeros_left -= run[i];
    }
    if (reader->error || zeros_left < 0) {
        reader->error = 1;
        return 0;
    }
    run[total_coeff - 1] = zeros_left;
    for (int i = total_coeff - 1, at = -1; i >= 0; i--) {
        at += run[i] + 1;
        if (at >= max)
            reader->error = 1;
        else
            level[at] = (int16_t)value[i];
    }
    return total_coeff;
}

static void reset_codes(const char *const *codes, long *hits, int n) {
    for (int i = 0; i < n; i++) hits[i] = codes[i] ? 0 : -1;
}

void cavlc_hits_reset(void) {
    memset(&cavlc_hits, 0, sizeof cavlc_hits);
    memset(cavlc_hits.token, -1, sizeof cavlc_hits.token);
    for (const struct TokenRow *row = token_table; row < token_table + TOKENS; row++)
        for (int column = 0; column < 5; column++)
            if (row->code[column])
                cavlc_hits.token[column][row->total_coeff][row->trailing_ones] = 0;
    for (int i = 0; i < 15; i++) reset_codes(total_zeros_table[i], cavlc_hits.total_zeros[i], 16);
    for (int i = 0; i < 3; i++)
        reset_codes(total_zeros_dc_table[i], cavlc_hits.total_zeros_dc[i], 4);
    for (int i = 0; i < 7; i++) reset_codes(run_before_table[i], cavlc_hits.run_before[i], 15);
}

static long kraft(const char *const *codes, int n) {
    long sum = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; codes[i] && k < n; k++)
            if (k != i && codes[k] && !strncmp(codes[i], codes[k], strlen(codes[i]))) return -1;
        if (codes[i]) sum += 65536 >> strlen(codes[i]);
    }
    return sum;
}

long token_kraft(int column) {
    const char *codes[TOKENS];
    for (int i = 0; i < TOKENS; i++) codes[i] = token_table[i].code[column];
    return kraft(codes, TOKENS);
}

long zeros_kraft(int table, int row) {
    return table == 0   ? kraft(total_zeros_table[row], 16)
           : table == 1 ? kraft(total_zeros_dc_table[row], 4)
                        : kraft(run_before_table[row], 15);
}
