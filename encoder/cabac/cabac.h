// The arithmetic coder of CABAC (9.3.4), one symbol after the other.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_CABAC_H
#define ENCODER_CABAC_CABAC_H

#include <stddef.h>

#include "encoder/bitstream/bits_core.h"
#include "encoder/cabac/cabac_core.h"

// Ranges of a less probable bin in a pStateIdx: byte k is that of qCodIRangeIdx k, the shift that
// renormalizes it, and half the range behind that.
typedef struct MotusLpsRanges {
    uint32_t range, shift, half;
} MotusLpsRanges;

// A coder between two symbols. It may be copied, to take back what was coded since.
typedef struct MotusCabac {
    uint64_t low; // codILow with the bits that are not in `data` yet above its ten
    uint32_t range;
    int waiting;   // those bits; -1: the first one, which is not written (9.3.4.1)
    uint32_t held; // last 32 bits taken out of low, which a carry may still change
    int has_held;
    size_t ones; // words of ones behind `held`, which a carry goes through
    uint8_t *data;
    size_t size, capacity; // bytes, which never change; overflow: capacity did not suffice
    int overflow;
    uint8_t state[MOTUS_CONTEXTS]; // pStateIdx * 2 + valMPS
    uint8_t next[2][128];          // motus_cabac_next_state by is_lps and state
    MotusLpsRanges lps[64];        // by pStateIdx
    MotusBinCounts counts;         // of the slice so far
} MotusCabac;

// Begins slice data at a whole byte. table: 0 for I slices, else 1 + cabac_init_idc.
void motus_cabac_begin(MotusCabac *cabac, int table, int slice_qp, uint8_t *data, size_t capacity);

// Codes symbols.
void motus_cabac_code(MotusCabac *cabac, const MotusSymbols *symbols);

// Ends a slice, or the bits before I_PCM samples, after a terminating bin of 1: the last bits with
// the stop bit, zeros to a whole byte (9.3.4.5).
void motus_cabac_finish(MotusCabac *cabac);

// Appends I_PCM samples after motus_cabac_finish().
void motus_cabac_bytes(MotusCabac *cabac, const uint8_t *bytes, size_t n);

// Begins anew behind I_PCM samples; contexts keep their states (9.3.1.2).
void motus_cabac_restart(MotusCabac *cabac);

// Returns the bits that were put so far.
static inline size_t motus_cabac_bits(const MotusCabac *cabac) {
    return (cabac->size + 4 * ((size_t)cabac->has_held + cabac->ones)) * 8 +
           (size_t)(cabac->waiting + 1);
}

#endif
