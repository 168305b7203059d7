// A decoder of CABAC's bins, written from 9.3.1.2 and 9.3.3.2.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_CABAC_READER_H
#define TESTS_CABAC_READER_H

#include <stddef.h>

#include "encoder/cabac/cabac_core.h"

typedef struct CabacReader {
    const uint8_t *data;
    size_t at, n; // bits
    unsigned range, offset;
    uint8_t state[MOTUS_CONTEXTS], mps[MOTUS_CONTEXTS];
} CabacReader;

// Begins slice data; begins anew behind I_PCM samples.
void cabac_reader_begin(CabacReader *d, int table, int qp, const uint8_t *data, size_t size);
void cabac_reader_begin_range(CabacReader *d);

unsigned cabac_reader_bin(CabacReader *d, int context);
unsigned cabac_reader_bypass(CabacReader *d);

// Returns the symbol that is found where the coder was given `symbol`.
unsigned cabac_reader_symbol(CabacReader *d, unsigned symbol);

#endif
