// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cabac/cabac.h"

#include <string.h>

#define REGISTER_BITS 10 // of codILow (9.3.4.1)

void motus_cabac_restart(MotusCabac *cabac) {
    cabac->low = 0;
    cabac->range = 510;
    cabac->waiting = -1;
}

void motus_cabac_begin(MotusCabac *cabac, int table, int slice_qp, uint8_t *data, size_t capacity) {
    *cabac = (MotusCabac){.data = data, .capacity = capacity};
    for (int i = 0; i < MOTUS_CONTEXTS; i++)
        if (i < MOTUS_CTX_TERMINATE || i >= MOTUS_CTX_TRANSFORM_8x8)
            cabac->state[i] = motus_cabac_first_state(table, i, slice_qp);
    for (uint32_t state = 0; state < 128; state++)
        for (uint32_t is_lps = 0; is_lps < 2; is_lps++)
            cabac->next[is_lps][state] = motus_cabac_next_state(state, is_lps);
    for (int state = 0; state < 64; state++) {
        MotusLpsRanges *lps = &cabac->lps[state];
        for (int k = 0; k < 4; k++) {
            const uint32_t range = motus_cabac_lps_range(state, k),
                           shift = 9 - (uint32_t)motus_bit_length(range);
            lps->range |= range << 8 * k;
            lps->shift |= shift << 8 * k;
            lps->half |= range << (shift - 1) << 8 * k; // ranges are below 256, so shifts above 0
        }
    }
    motus_cabac_restart(cabac);
}

// ---- Bytes --------------------------------------------------------------------------------------

static void write_bytes(MotusCabac *c, uint32_t word, int n) {
    if (c->capacity - c->size < (size_t)n) {
        c->overflow = 1;
        return;
    }
    for (int i = n - 1; i >= 0; i--) c->data[c->size++] = (uint8_t)(word >> 8 * i);
}

// Writes the held words, which a carry of 1 goes through.
static void write_held(MotusCabac *c, uint32_t carry) {
    if (c->has_held) write_bytes(c, c->held + carry, 4);
    for (; c->ones; c->ones--) write_bytes(c, carry - 1, 4);
    c->has_held = 0;
}

// Takes 32 bits, and the carry above them, out of the register.
static inline void take_word(MotusCabac *c, uint64_t *low, int *waiting) {
    *waiting -= 32;
    const uint64_t out = *low >> (REGISTER_BITS + *waiting);
    *low &= ((uint64_t)1 << (REGISTER_BITS + *waiting)) - 1;
    if (out == UINT32_MAX && c->has_held) {
        c->ones++;
        return;
    }
    write_held(c, (uint32_t)(out >> 32));
    c->held = (uint32_t)out;
    c->has_held = 1;
}

// ---- Symbols ------------------------------------------------------------------------------------

void motus_cabac_code(MotusCabac *cabac, const MotusSymbols *symbols) {
    uint64_t low = cabac->low;
    uint32_t range = cabac->range;
    int waiting = cabac->waiting;
    const uint16_t *end = symbols->symbol + symbols->n;
    for (const uint16_t *at_symbol = symbols->symbol; at_symbol < end; at_symbol++) {
        const uint32_t symbol = *at_symbol, context = symbol & MOTUS_SYMBOL_CONTEXT,
                       bin = symbol >> 9 & 1;
        int shift;
        if (symbol & MOTUS_SYMBOL_BYPASS) {
            shift = (int)(symbol >> 8 & 7) + 1;
            cabac->counts.others += (uint32_t)shift;
            low = (low << shift) + range * (symbol & 255);
        } else if (context == MOTUS_CTX_TERMINATE) {
            cabac->counts.others++;
            range -= 2;
            low += bin ? range : 0;
            range = bin ? 2 : range;
            shift = 9 - motus_bit_length(range);
            low <<= shift;
            range <<= shift;
        } else {
            const uint32_t state = cabac->state[context], is_lps = (state ^ bin) & 1,
                           at = range >> 3 & 24; // 8 * qCodIRangeIdx
            const MotusLpsRanges *lps = &cabac->lps[state >> 1];
            // Without branches, which would be mispredicted at every other LPS.
            const uint32_t mps = range - (lps->range >> at & 255), is_small = mps < 256,
                           behind_mps = mps << is_small, behind_lps = (lps->half >> at & 255) * 2,
                           pick = 0u - is_lps;
            range = behind_mps ^ ((behind_mps ^ behind_lps) & pick);
            shift = (int)(is_small ^ ((is_small ^ (lps->shift >> at & 255)) & pick));
            low = (low + (mps & pick)) << shift;
            cabac->state[context] = cabac->next[is_lps][state];
            cabac->counts.bin[symbol]++;
        }
        waiting += shift;
        if (waiting >= 32) take_word(cabac, &low, &waiting);
    }
    cabac->low = low;
    cabac->range = range;
    cabac->waiting = waiting;
}

void motus_cabac_finish(MotusCabac *cabac) {
    const int n = cabac->waiting + 3, padding = -n & 7;
    const uint64_t rest = ((cabac->low >> (REGISTER_BITS - 3)) | 1) << padding;
    write_held(cabac, (uint32_t)(rest >> (n + padding) & 1));
    for (int i = (n + padding) / 8 - 1; i >= 0; i--)
        write_bytes(cabac, (uint32_t)(rest >> 8 * i & 255), 1);
    cabac->waiting = -1;
}

void motus_cabac_bytes(MotusCabac *cabac, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) write_bytes(cabac, bytes[i], 1);
}
