// First steps of a CABAC coder (9.3.4) without a serial chain: bins are sorted by context, so that
// a thread finds the states of 64 bins of a context. ranges_core.h has the others. cabac.cu puts
// them together for a CUDA device; the suite `cabac_parallel` does for a CPU, and compares with
// cabac.c.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_STATES_CORE_H
#define ENCODER_CABAC_STATES_CORE_H

#include "encoder/cabac/cabac_core.h"

// Symbols as cabac_core.h has them, with their kind of bits (MOTUS_BITS_MODE, ...) above bit 11.
// Once its state is known a bin in a context becomes a resolved symbol: pStateIdx (63: terminating
// bins) and MOTUS_LESS_PROBABLE. Bypass bins stay.
enum {
    MOTUS_KIND_SHIFT = 11,
    MOTUS_KIND_MASK = 3 << MOTUS_KIND_SHIFT,
    MOTUS_LESS_PROBABLE = 1 << 6,
    MOTUS_TERMINATING = 63
};

// ---- States -------------------------------------------------------------------------------------

// Places are states in the order 62/0 .. 0/0, 0/1 .. 62/1 of pStateIdx/valMPS. Both transitions are
// monotone in it: the ways from the first and the last place bound all others, and where they meet
// the state is known whatever it was before.
enum {
    MOTUS_PLACES = 126,
    MOTUS_SEGMENT = 64,     // bins of a context that a thread resolves
    MOTUS_SEGMENTS_BACK = 3 // from where it begins to look
};

// Convert between states (pStateIdx * 2 + valMPS) and places.
MOTUS_HD int motus_place_of(int state) { return state & 1 ? 63 + (state >> 1) : 62 - (state >> 1); }
MOTUS_HD int motus_state_at(int place) {
    return place >= 63 ? 2 * (place - 63) + 1 : 2 * (62 - place);
}

MOTUS_HD int motus_next_place(int place, int bin) {
    const int state = motus_state_at(place);
    return motus_place_of(motus_cabac_next_state((uint32_t)state, (uint32_t)((state ^ bin) & 1)));
}

// Next places: one[2 * place + bin]; four[16 * place + bins], first of four bins lowest.
typedef struct MotusPlaceTables {
    uint8_t one[2 * MOTUS_PLACES], four[16 * MOTUS_PLACES];
} MotusPlaceTables;

// Returns the place behind four bins, the first one lowest.
MOTUS_HD uint8_t motus_next_of_four(int place, int bins) {
    for (int i = 0; i < 4; i++) place = motus_next_place(place, bins >> i & 1);
    return (uint8_t)place;
}

// Sorted bin: index of its symbol, kind, and bin in the highest bit.
#define MOTUS_SORTED_INDEX ((1u << 29) - 1)
MOTUS_HD uint32_t motus_sorted_bin(uint32_t symbol, uint32_t index) {
    return index | (symbol >> MOTUS_KIND_SHIFT & 3) << 29 | (symbol >> 9 & 1) << 31;
}

MOTUS_HD uint64_t motus_pack_segment(const uint32_t *sorted) {
    uint64_t bins = 0;
    MOTUS_ONE_BODY
    for (int i = 0; i < MOTUS_SEGMENT; i++) bins |= (uint64_t)(sorted[i] >> 31) << i;
    return bins;
}

// Returns the place before segment `at` of a context that begins in place `first_place` with
// segment `begin`, from the lowest and the highest place some segments before. near: the packed
// bins of segments from `first_near` on; those before are packed from `sorted`.
MOTUS_HD int motus_place_before(const uint8_t *four, const uint32_t *sorted, const uint64_t *near,
                                int first_near, int begin, int at, int first_place) {
    for (int back = MOTUS_SEGMENTS_BACK;; back *= 2) {
        int k = at - back, low = 0, high = MOTUS_PLACES - 1;
        if (k <= begin) k = begin, low = high = first_place;
        for (; k < at; k++) {
            uint64_t bins = k >= first_near ? near[k - first_near]
                                            : motus_pack_segment(sorted + MOTUS_SEGMENT * k);
            for (int i = 0; i < MOTUS_SEGMENT / 4; i++, bins >>= 4) {
                const int now = (int)(bins & 15);
                low = four[16 * low + now], high = four[16 * high + now];
            }
        }
        if (low == high) return low;
    }
}

// Sets the states of a segment's bins: pStateIdx and MOTUS_LESS_PROBABLE in a byte each, the first
// one lowest in v[0].
MOTUS_HD void motus_resolve_segment(const MotusPlaceTables *tables, uint64_t bins, int place,
                                    uint32_t v[MOTUS_SEGMENT / 4]) {
    for (int i = 0; i < MOTUS_SEGMENT / 4; i++, bins >>= 4) {
        uint32_t four = 0;
        int p = place;
        for (int k = 0; k < 4; k++) {
            const uint32_t bin = bins >> k & 1, state = (uint32_t)motus_state_at(p);
            four |= (state >> 1 | ((state ^ bin) & 1) << 6) << 8 * k;
            p = tables->one[2 * p + (int)bin];
        }
        v[i] = four;
        place = tables->four[16 * place + (int)(bins & 15)];
    }
}

// Returns the place behind the first n bins of a segment.
MOTUS_HD int motus_place_behind(const MotusPlaceTables *tables, uint64_t bins, int n, int place) {
    MOTUS_ONE_BODY
    for (; n >= 4; n -= 4, bins >>= 4) place = tables->four[16 * place + (int)(bins & 15)];
    MOTUS_ONE_BODY
    for (; n; n--, bins >>= 1) place = tables->one[2 * place + (int)(bins & 1)];
    return place;
}

MOTUS_HD uint16_t motus_resolved_bin(uint32_t sorted, uint32_t v) {
    return (uint16_t)(v | (sorted >> 29 & 3) << MOTUS_KIND_SHIFT);
}

#endif
