// Strings of CABAC symbols: slices for tests of arithmetic coders, random ones and the hardest.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_BIN_STRINGS_H
#define TESTS_BIN_STRINGS_H

#include "encoder/cabac/cabac.h"

typedef enum BinContent {
    BINS_RANDOM,   // all contexts, bypass bins, I_PCM
    BINS_BYPASS,   // only bypass bins
    BINS_PROBABLE, // only the more probable symbol of a few contexts
    BINS_IMPROBABLE,
    BINS_TERMINATING, // bins of 0
    BINS_ONE_CONTEXT,
    BINS_ONES,     // slice data of ones
    BINS_CARRY,    // likewise, and a carry through all of them
    BINS_STATIC,   // skipped MBs
    BINS_RESTARTS, // I_PCM nearly everywhere
    BINS_CONTENTS,
} BinContent;

// A slice. Bits 11 and 12 of symbols are their kind of bits. An MB with I_PCM ends with a
// terminating bin of 1; the last symbol is one, too.
typedef struct BinString {
    uint16_t *symbol;
    uint32_t *mb_end; // per MB: symbols up to and with it; an entry more: n
    uint32_t n;
    int n_mb, table, qp;
    BinContent content;
} BinString;

extern const char *const bin_content_names[BINS_CONTENTS];

// Allocates for at most `most` symbols, and draws a string of n.
void bin_string_open(BinString *s, uint32_t most);
void bin_string_fill(BinString *s, BinContent content, uint32_t n);
void bin_string_close(BinString *s);

// Codes the string with cabac.c, I_PCM samples being zero. Returns the bytes. bits: by kind,
// without the last stop bit.
size_t bin_string_code(const BinString *s, uint8_t *data, size_t capacity, uint64_t bits[4],
                       MotusBinCounts *counts);

#endif
