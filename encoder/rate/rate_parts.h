// Functions that rate.c and second_pass.c share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_RATE_PARTS_H
#define ENCODER_RATE_RATE_PARTS_H

#include "encoder/rate/rate.h"

#define END_STEP (6 * MOTUS_QP_UNIT) // largest QP change to meet the rate at the end

typedef __int128 Wide; // products of bits, rates and times; factors may be near 2^62

static inline int type_of(int idr, int b) {
    return idr                      ? MOTUS_RATE_I
           : b == MOTUS_B_REFERENCE ? MOTUS_RATE_B_REFERENCE
           : b                      ? MOTUS_RATE_B
                                    : MOTUS_RATE_P;
}

// Returns the QP of a type of pictures minus that of P pictures.
static inline int above_p(const MotusRateSettings *s, int type) {
    return type == MOTUS_RATE_I ? -s->ip_q8 : type == MOTUS_RATE_P ? 0 : s->pb_q8;
}

// Returns the complexity of a picture that took `bits` at a QP. It counts at the QP that a P
// picture would have; bits of B pictures follow QP as those of P pictures do.
static inline MotusComplexity measured(const MotusRate *r, int type, int64_t bits, int qp_q8) {
    const int idr = type == MOTUS_RATE_I;
    const int64_t empty = r->settings.empty_bits[type], fixed = idr            ? 0
                                                                : bits < empty ? bits
                                                                               : empty;
    return motus_complexity_of(idr, bits, fixed, qp_q8 - above_p(&r->settings, type));
}

static inline int64_t bits_in(const MotusRateSettings *s, int64_t durations) {
    return (int64_t)((Wide)s->bitrate * s->fps.den * durations / s->fps.num);
}

// ---- Second pass (second_pass.c) ----------------------------------------------------------------

// Returns the QP at which the whole log fits the rate.
int motus_second_pass_qp_of_log(const MotusRate *r);

// Gives a GOP the bits that it takes at log_qp_q8. Deviations of its pictures are made up for
// within the GOP. Returns the QP of the current picture.
int motus_second_pass_qp(MotusRate *r);

// True if the current picture must be coded again for the second pass's sake, at *qp_q8.
int motus_second_pass_again(MotusRate *r, int64_t bits, int *qp_q8);

#endif
