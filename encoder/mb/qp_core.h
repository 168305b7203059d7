// What follows from a QP: Lagrange multipliers, units of cost, and the quantizer as the choice of
// levels needs it. Everything is integer, so that every executor decides alike.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_QP_CORE_H
#define ENCODER_MB_QP_CORE_H

#include <stdint.h>

#include "dct/dct_core.h"

// lambda for SAD and SATD costs, 1/256: 2^((qp - 12) / 6), from 64 (QP 0) to 23,170 (QP 51).
MOTUS_HD uint32_t motus_lambda_q8(int qp) {
    const uint32_t sixths[6] = {65536, 73562, 82570, 92682, 104032, 116772}; // 2^(k/6) * 65536
    return ((sixths[qp % 6] << (qp / 6)) + 512) >> 10;
}

// lambda for sums of squared differences, 1/256: 0.68 * 2^((qp - 12) / 3), from 11 (QP 0) to
// 1,433,600 (QP 51). The factor is the one that gave the lowest BD-rates on real sequences.
MOTUS_HD uint32_t motus_lambda_ssd_q8(int qp) {
    const uint32_t thirds[3] = {65536, 82570, 104032}; // 2^(k/3) * 65536
    uint64_t power = (uint64_t)thirds[qp % 3]
                     << (qp / 3); // 2^(qp / 3) * 65536; 2^-4 and 0.68 * 256 follow
    return (uint32_t)((power * 175 + (1u << 19)) >> 20);
}

// The quantizer of one component at one QP. Steps are the same for every coefficient where the
// transform is orthonormal, so errors are measured in steps: a coefficient is t / 256 levels, and
// choosing level l leaves an error of (t - 256 l)^2 / 65536 squared steps.
typedef struct MotusQuant {
    int16_t threshold[3]; // least |coef| by class that may become a level other than 0
    uint16_t scale[3];    // t = |coef| * scale >> shift; |coef| <= 9180 and scale <= 13107 keep the
                          // product below 2^27
    uint8_t shift, qp;
    uint32_t rate; // what a bit costs, in 1/65536 of a squared step
} MotusQuant;

// A level is looked at from 0.625 steps on: below that its bits cost more than its error, whatever
// stands around it.
#define MOTUS_LEVEL_FROM 160

// Squared step in 1/256 of a squared sample difference: 0.625^2 .. 1.125^2 times 4^(qp / 6).
MOTUS_HD uint32_t motus_step_squared(int qp) {
    const uint16_t sixths[6] = {100, 121, 169, 196, 256, 324};
    return (uint32_t)sixths[qp % 6] << (2 * (qp / 6));
}

MOTUS_HD MotusQuant motus_quant_at(int qp, uint32_t lambda_ssd_q8) {
    MotusQuant q;
    q.qp = (uint8_t)qp;
    q.shift = (uint8_t)(7 + qp / 6);
    for (int c = 0; c < 3; c++) {
        int scale = motus_quant_scale(qp % 6, c);
        q.scale[c] = (uint16_t)scale;
        q.threshold[c] =
            (int16_t)motus_min(((MOTUS_LEVEL_FROM << q.shift) + scale - 1) / scale, INT16_MAX);
    }
    q.rate = (uint32_t)(((uint64_t)lambda_ssd_q8 << 16) / motus_step_squared(qp));
    return q;
}

// What an MB is coded with.
typedef struct MotusQp {
    uint32_t lambda_q8, lambda_ssd_q8;
    MotusQuant luma, chroma; // luma.qp is QP_Y, chroma.qp QP'c
} MotusQp;

MOTUS_HD MotusQp motus_qp_at(int qp) {
    MotusQp q;
    q.lambda_q8 = motus_lambda_q8(qp);
    q.lambda_ssd_q8 = motus_lambda_ssd_q8(qp);
    q.luma = motus_quant_at(qp, q.lambda_ssd_q8);
    q.chroma = motus_quant_at(motus_chroma_qp_of(qp), q.lambda_ssd_q8);
    return q;
}

// QP of MB i of a picture: the picture's, moved by the MB's offset (NULL: by none).
MOTUS_HD int motus_mb_qp(int qp, const int8_t *offset, int i) {
    return offset ? motus_clip(0, 51, qp + offset[i]) : qp;
}

// Cost of coding something with this distortion and this many bits, in 1/16 of a squared sample
// difference: an MB's ssd is below 2^25 and its bits below 2^12.2, so that 32 bits hold it.
MOTUS_HD uint32_t motus_rd_cost(uint32_t ssd, uint32_t bits, uint32_t lambda_ssd_q8) {
    return (ssd << 4) + (uint32_t)((uint64_t)bits * lambda_ssd_q8 >> 4);
}

#endif
