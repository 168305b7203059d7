// Complexity of pictures: a model of the bits that they take at any QP.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_COMPLEXITY_H
#define ENCODER_RATE_COMPLEXITY_H

#include <stdint.h>

#include "common/log2_core.h"

// QPs that halve a picture's bits, measured from QP 16 to 40 on real sequences. Bits of I pictures
// follow the quantizer step; those of P pictures fall faster, as more MBs are skipped.
enum { MOTUS_HALVES_I = 6, MOTUS_HALVES_P = 5 };

// Every MB has QP 51, whatever the offsets.
#define MOTUS_RATE_MAX_QP (81 * MOTUS_QP_UNIT)

// Sums over I and P pictures: the bits that they would take at QP 0, and the bits that they take at
// every QP.
typedef struct MotusComplexity {
    uint64_t i, p, fixed;
} MotusComplexity;

// Returns the complexity of a picture that took `bits` at a QP, `fixed` of them at every QP.
MotusComplexity motus_complexity_of(int idr, int64_t bits, int64_t fixed, int qp_q8);

void motus_complexity_add(MotusComplexity *complexity, MotusComplexity more);
void motus_complexity_subtract(MotusComplexity *complexity, MotusComplexity less);
MotusComplexity motus_complexity_scale(MotusComplexity complexity, int64_t n, int64_t of);

// Returns the bits at a QP.
int64_t motus_complexity_bits(MotusComplexity complexity, int qp_q8);

// Returns the lowest QP at which the complexity takes at most `bits`.
int motus_complexity_qp(MotusComplexity complexity, int64_t bits);

#endif
