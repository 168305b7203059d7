// Tables of qp_core.h: multipliers and quantizers of a QP.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb/qp_core.h"

#include "dct/transform8_core.h"

uint32_t motus_lambda_q8(int qp, MotusSliceType type) {
    const uint32_t sixths[6] = {65536, 73562, 82570, 92682, 104032, 116772}; // 2^(k/6) * 65536
    if (type == MOTUS_SLICE_B) qp += 3;
    return ((sixths[qp % 6] << (qp / 6)) + 512) >> 10;
}

// Returns factor * 2^((qp - 12) / 3); with 0.68, from 11 (QP 0) to 1,433,600 (QP 51). The factors
// gave the lowest BD-rates on real sequences.
static uint32_t lambda_ssd_q8(int qp, int lambda) {
    static const uint16_t factors[MOTUS_LAMBDAS] = {104, 175, 350, 128, 218, 175}; // 1/256
    const uint32_t factor = factors[lambda];
    const uint32_t thirds[3] = {65536, 82570, 104032};           // 2^(k/3) * 65536
    const uint64_t power = (uint64_t)thirds[qp % 3] << (qp / 3); // 2^(qp / 3) * 65536
    return (uint32_t)((power * factor + (1u << 19)) >> 20);      // * 2^-4 * factor * 256
}

// Returns the squared step in 1/256 of a squared sample difference: 0.625^2 to 1.125^2 times
// 4^(qp / 6).
static uint32_t step_squared(int qp) {
    const uint16_t sixths[6] = {100, 121, 169, 196, 256, 324};
    return (uint32_t)sixths[qp % 6] << (2 * (qp / 6));
}

static MotusQuant quant_at(int qp, uint32_t lambda) {
    MotusQuant q;
    q.qp = (uint8_t)qp;
    q.shift = (uint8_t)(7 + qp / 6);
    for (int c = 0; c < 3; c++) {
        int scale = motus_quant_scale(qp % 6, c);
        q.scale[c] = (uint16_t)scale;
        q.threshold[c] =
            (int16_t)motus_min(((MOTUS_LEVEL_FROM << q.shift) + scale - 1) / scale, INT16_MAX);
    }
    q.rate = (uint32_t)(((uint64_t)lambda << 16) / step_squared(qp));
    return q;
}

MotusQp motus_qp_at(int qp, int lambda) {
    const int is_b = lambda == MOTUS_LAMBDA_B || lambda >= MOTUS_LAMBDA_TREE_B;
    MotusQp q;
    q.lambda_q8 = motus_lambda_q8(qp, is_b ? MOTUS_SLICE_B : MOTUS_SLICE_P);
    q.lambda_ssd_q8 = lambda_ssd_q8(qp, lambda);
    q.luma = quant_at(qp, q.lambda_ssd_q8);
    q.chroma = quant_at(motus_chroma_qp_of(qp), q.lambda_ssd_q8);
    return q;
}

MotusQuant8 motus_quant8_at(int qp, int lambda) {
    MotusQuant8 q = {.qp = (uint8_t)qp, .shift = (uint8_t)(8 + qp / 6)};
    for (int i = 0; i < 64; i++)
        q.raster_scale[i] = (uint16_t)motus_quant8_scale(qp % 6, motus_coef8_class(i));
    for (int i = 0; i < 64; i++) q.scale[i] = q.raster_scale[motus_zigzag8_at(i)];
    q.rate = (uint32_t)(((uint64_t)lambda_ssd_q8(qp, lambda) << 16) / step_squared(qp));
    return q;
}
