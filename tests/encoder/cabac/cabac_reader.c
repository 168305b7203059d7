// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/cabac/cabac_reader.h"

static unsigned read_bit(CabacReader *d) {
    const size_t at = d->at++;
    return at < d->n ? d->data[at / 8] >> (7 - at % 8) & 1u : 0;
}

// 9.3.1.2.
void cabac_reader_begin_range(CabacReader *d) {
    d->range = 510;
    d->offset = 0;
    for (int i = 0; i < 9; i++) d->offset = d->offset << 1 | read_bit(d);
}

// 9.3.1.1.
void cabac_reader_begin(CabacReader *d, int table, int qp, const uint8_t *data, size_t size) {
    *d = (CabacReader){.data = data, .n = 8 * size};
    for (int i = 0; i < MOTUS_CONTEXTS; i++) {
        if (i >= MOTUS_CTX_TERMINATE && i < MOTUS_CTX_TRANSFORM_8x8) continue;
        const MotusCabacInit init = motus_cabac_init(table, i);
        int before = ((init.m * qp) >> 4) + init.n;
        before = before < 1 ? 1 : before > 126 ? 126 : before;
        d->mps[i] = before > 63;
        d->state[i] = (uint8_t)(before > 63 ? before - 64 : 63 - before);
    }
    cabac_reader_begin_range(d);
}

static void renormalize(CabacReader *d) {
    while (d->range < 256) {
        d->range <<= 1;
        d->offset = d->offset << 1 | read_bit(d);
    }
}

// 9.3.3.2.1.
unsigned cabac_reader_bin(CabacReader *d, int context) {
    const unsigned lps = motus_cabac_lps_range(d->state[context], (int)(d->range >> 6 & 3));
    unsigned bin = d->mps[context];
    d->range -= lps;
    if (d->offset >= d->range) {
        bin = !bin;
        d->offset -= d->range;
        d->range = lps;
        if (d->state[context] == 0) d->mps[context] = !d->mps[context];
        d->state[context] = (uint8_t)motus_cabac_next_lps(d->state[context]);
    } else if (d->state[context] < 62) {
        d->state[context]++;
    }
    renormalize(d);
    return bin;
}

// 9.3.3.2.3.
unsigned cabac_reader_bypass(CabacReader *d) {
    d->offset = d->offset << 1 | read_bit(d);
    if (d->offset < d->range) return 0;
    d->offset -= d->range;
    return 1;
}

// 9.3.3.2.4.
static unsigned decode_terminate(CabacReader *d) {
    d->range -= 2;
    if (d->offset >= d->range) return 1;
    renormalize(d);
    return 0;
}

// Returns the symbol that the decoder finds where the coder was given `symbol`.
unsigned cabac_reader_symbol(CabacReader *d, unsigned symbol) {
    const int context = (int)(symbol & MOTUS_SYMBOL_CONTEXT);
    if (symbol & MOTUS_SYMBOL_BYPASS) {
        unsigned bins = 0;
        for (unsigned i = 0; i <= (symbol >> 8 & 7); i++) bins = bins << 1 | cabac_reader_bypass(d);
        return (symbol & 0xFF00) | bins;
    }
    const unsigned bin =
        context == MOTUS_CTX_TERMINATE ? decode_terminate(d) : cabac_reader_bin(d, context);
    return (unsigned)context | bin << 9;
}
