// Symbols of CABAC (9.3): bins with their contexts, as binarization makes them and the arithmetic
// coder takes them. Contexts have the standard's numbers (ctxIdx).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_CABAC_CORE_H
#define ENCODER_CABAC_CABAC_CORE_H

#include <assert.h>

#include "common/lanes.h"
#include "encoder/cabac/cabac_tables.h"

// First contexts of the syntax elements (table 9-34). MVD: x, then y.
enum {
    MOTUS_CTX_I_TYPE = 3,
    MOTUS_CTX_SKIP = 11,
    MOTUS_CTX_P_TYPE = 14,
    MOTUS_CTX_I_TYPE_IN_P = 17,
    MOTUS_CTX_SUB_TYPE = 21,
    MOTUS_CTX_SKIP_IN_B = 24,
    MOTUS_CTX_B_TYPE = 27,
    MOTUS_CTX_I_TYPE_IN_B = 32,
    MOTUS_CTX_B_SUB_TYPE = 36,
    MOTUS_CTX_MVD = 40, // 7 per component
    MOTUS_CTX_REF_IDX = 54,
    MOTUS_CTX_QP_DELTA = 60,
    MOTUS_CTX_CHROMA_MODE = 64,
    MOTUS_CTX_INTRA4x4_PREDICTED = 68,
    MOTUS_CTX_INTRA4x4_MODE = 69,
    MOTUS_CTX_CBP_LUMA = 73,
    MOTUS_CTX_CBP_CHROMA = 77,
    MOTUS_CTX_CODED_BLOCK = 85,
    MOTUS_CTX_SIGNIFICANT = 105,
    MOTUS_CTX_LAST = 166,
    MOTUS_CTX_LEVEL = 227,
    MOTUS_CTX_TERMINATE = 276, // end_of_slice_flag, I_PCM
    MOTUS_CTX_TRANSFORM_8x8 = 399,
    MOTUS_CTX_SIGNIFICANT_8x8 = 402,
    MOTUS_CTX_LAST_8x8 = 417,
    MOTUS_CTX_LEVEL_8x8 = 426,
    MOTUS_CONTEXTS = 436,
};

// A symbol is a context with its bin in bit 9, or (bit 15) up to eight bypass bins: their number
// minus 1 in bits 8..10, their values below, first bin highest. Bits 11 and 12 are free.
enum { MOTUS_SYMBOL_BIN = 1 << 9, MOTUS_SYMBOL_CONTEXT = 511, MOTUS_SYMBOL_BYPASS = 1 << 15 };

// Symbols of an MB, or their cost.
typedef struct MotusSymbols {
    uint16_t *symbol; // NULL: they are counted, not kept
    uint32_t n;
    uint32_t mark;             // or'ed into each
    const uint16_t (*cost)[2]; // of bins by context, in 1/256 bit; NULL: symbols are put
    uint32_t bits;             // with `cost`: sum, in 1/256 bit; nothing is put then
    uint32_t wraps;            // 0; -K: only the last K symbols are kept, a power of two
} MotusSymbols;

// Bound of an MB's symbols. A level has 14 bins in contexts, at most 4 symbols of bypass bins, a
// sign and its place in the map; 384 of them, and 16 MVDs, make most of it.
#define MOTUS_MB_SYMBOLS (384 * 22 + 1024)

MOTUS_HD void motus_put_symbol(MotusSymbols *s, uint32_t symbol) {
    if (s->symbol) s->symbol[s->n & ~s->wraps] = (uint16_t)(symbol | s->mark);
    s->n++;
}

MOTUS_HD void motus_put_bin(MotusSymbols *s, int context, int bin) {
    if (s->cost) {
        s->bits += s->cost[context][bin != 0];
        return;
    }
    motus_put_symbol(s, (uint32_t)context | (bin ? MOTUS_SYMBOL_BIN : 0));
}

// Puts a bin if is_put is 1. On a CPU without a branch, which would be mispredicted: the symbol
// behind the last one is undefined.
MOTUS_HD void motus_put_bin_if(MotusSymbols *s, int context, int bin, int is_put) {
#if MOTUS_LANES > 1
    if (is_put) motus_put_bin(s, context, bin);
#else
    const uint32_t n = s->n + (uint32_t)is_put;
    const uint32_t bits = s->bits;
    motus_put_bin(s, context, bin);
    s->n = n;
    s->bits = is_put ? s->bits : bits;
#endif
}

// Puts the low n bits of `bins`, n 0..32.
MOTUS_HD void motus_put_bypass(MotusSymbols *s, int n, uint32_t bins) {
    if (s->cost) {
        s->bits += 256 * (uint32_t)n;
        return;
    }
    MOTUS_ONE_BODY
    while (n > 0) {
        const int now = motus_min(n, 8);
        n -= now;
        motus_put_symbol(s, MOTUS_SYMBOL_BYPASS | (uint32_t)(now - 1) << 8 |
                                (bins >> n & ((1u << now) - 1)));
    }
}

// Puts the k-th order Exp-Golomb suffix of UEGk (9.3.2.3).
MOTUS_HD void motus_put_exp_golomb(MotusSymbols *s, uint32_t value, int k) {
    const int extra = motus_bit_length((value >> k) + 1) - 1; // unary ones
    value -= ((1u << extra) - 1) << k;
    motus_put_bypass(s, extra + 1, (1u << (extra + 1)) - 2);
    motus_put_bypass(s, extra + k, value);
}

// Returns the state that m and n give, pStateIdx * 2 + valMPS (9.3.1.1).
MOTUS_HD uint8_t motus_cabac_state_of(MotusCabacInit init, int slice_qp) {
    const int state = motus_clip(1, 126, (init.m * slice_qp >> 4) + init.n);
    return (uint8_t)(state <= 63 ? (63 - state) << 1 : (state - 64) << 1 | 1);
}

// Returns the first state of a context.
MOTUS_HD uint8_t motus_cabac_first_state(int table, int context, int slice_qp) {
    return motus_cabac_state_of(motus_cabac_init(table, context), slice_qp);
}

// Returns the state behind a bin.
MOTUS_HD uint8_t motus_cabac_next_state(uint32_t state, uint32_t is_lps) {
    const uint32_t mps = state < 124 ? state + 2 : state;
    const uint32_t lps =
        (uint32_t)motus_cabac_next_lps((int)(state >> 1)) << 1 | ((state & 1) ^ (state < 2));
    return (uint8_t)(is_lps ? lps : mps);
}

#endif
