// A reader of H.264 syntax for tests, written from the standard's parsing process (7.2, 9.1, 9.2),
// with its own code tables as strings. It shares no code with the encoder.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_CAVLC_READER_H
#define TESTS_CAVLC_READER_H

#include <stddef.h>
#include <stdint.h>

typedef struct Reader {
    const uint8_t *data;
    size_t size, pos; // bytes; position in bits
    int error;        // set by reading past the end and by codes that do not exist
} Reader;

uint32_t read_bits(Reader *reader, int n); // n 0..32
uint32_t read_ue(Reader *reader);
int32_t read_se(Reader *reader);

// Reads residual_block_cavlc (7.3.5.3.2) of max 4, 15 or 16 levels; nc -1 is chroma DC. Returns
// total_coeff.
int read_residual(Reader *reader, int16_t *level, int max, int nc);

// Counts of each code. Entries that do not exist stay at -1.
typedef struct CavlcHits {
    long token[5][17][4]; // column of table 9-5, total_coeff, trailing_ones
    long total_zeros[15][16], total_zeros_dc[3][4], run_before[7][15];
    long level[7][16]; // suffixLength, level_prefix
} CavlcHits;
extern CavlcHits cavlc_hits;
void cavlc_hits_reset(void);

// Returns 2^16 times the Kraft sum of a column of table 9-5, or -1 if one code begins another. The
// second function is for the rows of the other tables: 0 total_zeros, 1 total_zeros of chroma DC, 2
// run_before.
long token_kraft(int column);
long zeros_kraft(int table, int row);

#endif
