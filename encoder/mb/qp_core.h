// Values that follow from a QP: Lagrange multipliers and the quantizer of the level decision. All
// integer, so that CPU and GPU decide alike.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_QP_CORE_H
#define ENCODER_MB_QP_CORE_H

#include <stdint.h>

#include "common/int_core.h"
#include "encoder/mb/mb.h"

enum { MOTUS_QPS = 52 }; // QP_Y is 0..51 with samples of 8 bits

// Multipliers of pictures at the same QP. Later pictures inherit errors of I pictures, so that
// lambda is lower there, and none of B pictures. With mb-tree QPs differ more than without.
typedef enum MotusLambda {
    MOTUS_LAMBDA_I = MOTUS_SLICE_I,
    MOTUS_LAMBDA_P = MOTUS_SLICE_P,
    MOTUS_LAMBDA_B = MOTUS_SLICE_B,
    MOTUS_LAMBDA_TREE_I, // with mb-tree and B pictures; P pictures have MOTUS_LAMBDA_P
    MOTUS_LAMBDA_TREE_B,
    MOTUS_LAMBDA_TREE_B_REFERENCE,
    MOTUS_LAMBDAS,
} MotusLambda;

// Quantizer of one component at one QP, by coefficient class (motus_coef_class). Errors are
// measured in steps, as of an orthonormal transform: a coefficient is t / 256 levels, and level l
// leaves an error of (t - 256 l)^2 / 65536 squared steps. t = |coef| * scale >> shift; |coef| <=
// 9180 and scale <= 13107 keep the product below 2^27.
typedef struct MotusQuant {
    int16_t threshold[3]; // least |coef| that may get a level other than 0
    uint16_t scale[3];
    uint8_t shift, qp;
    uint32_t rate; // cost of a bit in 1/65536 of a squared step
} MotusQuant;

// Quantizer of 8x8 blocks (MotusQuant).
typedef struct MotusQuant8 {
    uint16_t scale[64]; // in zigzag order
    uint16_t raster_scale[64];
    uint8_t shift, qp;
    uint32_t rate;
} MotusQuant8;

// Least t that may get a level: below 0.625 steps a level's bits always cost more than its error.
#define MOTUS_LEVEL_FROM 160

// A QP_Y with its multipliers and quantizers.
typedef struct MotusQp {
    uint32_t lambda_q8;      // per bit of a SAD or SATD cost, 1/256
    uint32_t lambda_ssd_q8;  // per bit of a sum of squared differences, 1/256
    MotusQuant luma, chroma; // luma.qp is QP_Y, chroma.qp QP'c
} MotusQp;

#ifdef __cplusplus
extern "C" {
#endif

// Returns lambda_q8 of a QP 0..51: 2^((qp - 12) / 6), from 64 (QP 0) to 23,170 (QP 51); in B
// pictures sqrt(2) times that.
uint32_t motus_lambda_q8(int qp, MotusSliceType type);

// Return what follows from a QP with the multipliers of a MotusLambda.
MotusQp motus_qp_at(int qp, int lambda);
MotusQuant8 motus_quant8_at(int qp, int lambda);

#ifdef __cplusplus
}
#endif

// Returns the QP of MB i: the picture's plus the MB's offset, within 0..51. offset: NULL = none.
MOTUS_HD int motus_mb_qp(int qp, const int8_t *offset, int i) {
    return offset ? motus_clip(0, 51, qp + offset[i]) : qp;
}

// Returns the RD cost in 1/16 of a squared sample difference. An MB's ssd is below 2^25 and its
// bits below 2^12.2, so 32 bits hold the cost.
MOTUS_HD uint32_t motus_rd_cost(uint32_t ssd, uint32_t bits, uint32_t lambda_ssd_q8) {
    return (ssd << 4) + (uint32_t)((uint64_t)bits * lambda_ssd_q8 >> 4);
}

// Returns motus_rd_cost of bits that are each 1 / unit.
MOTUS_HD uint32_t motus_rd_cost_in(uint32_t unit, uint32_t ssd, uint32_t bits,
                                   uint32_t lambda_ssd_q8) {
    return (ssd << 4) + (uint32_t)((uint64_t)bits * lambda_ssd_q8 / (16 * unit));
}

#endif
