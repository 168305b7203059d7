// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/complexity.h"

typedef __int128 Wide; // products of complexities and times

static int octaves(int qp_q8, int halves) {
    return qp_q8 * (MOTUS_OCTAVE / MOTUS_QP_UNIT) / halves;
}

// Returns bits * 2^(octaves / MOTUS_OCTAVE), below 2^46.
static uint64_t shifted(uint64_t bits, int octaves) {
    if (!bits) return 0;
    return motus_exp2_q16(motus_min(motus_log2_q12(bits) + octaves, 46 * MOTUS_OCTAVE)) >> 16;
}

MotusComplexity motus_complexity_of(int idr, int64_t bits, int64_t fixed, int qp_q8) {
    const uint64_t at_0 =
        shifted((uint64_t)(bits - fixed), octaves(qp_q8, idr ? MOTUS_HALVES_I : MOTUS_HALVES_P));
    return (MotusComplexity){idr ? at_0 : 0, idr ? 0 : at_0, (uint64_t)fixed};
}

void motus_complexity_add(MotusComplexity *c, MotusComplexity more) {
    c->i += more.i, c->p += more.p, c->fixed += more.fixed;
}

void motus_complexity_subtract(MotusComplexity *c, MotusComplexity less) {
    c->i -= less.i, c->p -= less.p, c->fixed -= less.fixed;
}

MotusComplexity motus_complexity_scale(MotusComplexity c, int64_t n, int64_t of) {
    return (MotusComplexity){(uint64_t)((Wide)c.i * n / of), (uint64_t)((Wide)c.p * n / of),
                             (uint64_t)((Wide)c.fixed * n / of)};
}

int64_t motus_complexity_bits(MotusComplexity c, int qp_q8) {
    return (int64_t)(c.fixed + shifted(c.i, -octaves(qp_q8, MOTUS_HALVES_I)) +
                     shifted(c.p, -octaves(qp_q8, MOTUS_HALVES_P)));
}

int motus_complexity_qp(MotusComplexity c, int64_t bits) {
    int low = -20 * MOTUS_QP_UNIT, high = MOTUS_RATE_MAX_QP;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (motus_complexity_bits(c, middle) <= bits)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
