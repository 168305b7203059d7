// Models of the bits of pictures: complexity, by which pictures take bits at any QP; and the sizes
// of P pictures by the last one's, for a VBV of about one picture, where each has to fit by itself.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_SIZE_MODEL_H
#define ENCODER_RATE_SIZE_MODEL_H

#include <stdint.h>

#include "common/log2_core.h"

// ---- Complexity ---------------------------------------------------------------------------------

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
MotusComplexity motus_complexity_scale(MotusComplexity complexity, int64_t n, int64_t of);

// Returns the bits at a QP.
int64_t motus_complexity_bits(MotusComplexity complexity, int qp_q8);

// Returns the lowest QP at which the complexity takes at most `bits`.
int motus_complexity_qp(MotusComplexity complexity, int64_t bits);

// ---- Size of a P picture by the last one's ------------------------------------------------------

// Bits that a picture took at a QP.
typedef struct MotusRateSample {
    int qp_q8;
    int64_t bits;
} MotusRateSample;

// Logarithms count in 1 / MOTUS_OCTAVE.
typedef struct MotusSizeModel {
    int known;   // 0: no picture is
    int qp_q8;   // of the last picture
    int level;   // log2(bits / cost) at that QP, without intra refresh
    int refresh; // log2 of the factor of bits of pictures with a range of intra refresh
    int error;   // decaying mean of the predictions' errors
    int doubles; // 1/256 QPs below the last picture's QP that double the bits
} MotusSizeModel;

// Begins with the bits of the I picture before the first P picture, or of the first picture that is
// not empty.
void motus_size_begin(MotusSizeModel *model, uint64_t cost, int qp_q8, int64_t bits);

// Returns how much the QP has to rise if a picture took so many octaves too many, 1/256.
int motus_size_rise(const MotusSizeModel *model, int octaves);

// Returns a QP at which a picture of this cost should take nearly `limit` bits.
// refreshed: 1 if it has a range of intra refresh. most: what the QP may fall by.
int motus_size_qp(const MotusSizeModel *model, uint64_t cost, int refreshed, int64_t limit,
                  int most);

// Moves the model to the QP of a picture whose bits tell nothing, such as a skipped one.
void motus_size_skip(MotusSizeModel *model, int qp_q8);

// Takes the bits of the picture at its QP, and those at a lower QP if it was coded twice (else
// NULL).
void motus_size_learn(MotusSizeModel *model, uint64_t cost, int refreshed,
                      const MotusRateSample *finer, int qp_q8, int64_t bits);

#endif
