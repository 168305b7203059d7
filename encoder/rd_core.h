// Rate against distortion: Lagrange multipliers and the units of cost. Everything is integer, so that every executor decides alike.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RD_CORE_H
#define ENCODER_RD_CORE_H

#include <stdint.h>

#include "common/int_core.h"

// lambda for SAD and SATD costs, 1/256: 2^((qp - 12) / 6), from 64 (QP 0) to 23,170 (QP 51).
MOTUS_HD uint32_t motus_lambda_q8(int qp) {
    const uint32_t sixths[6] = {65536, 73562, 82570, 92682, 104032, 116772}; // 2^(k/6) * 65536
    return ((sixths[qp % 6] << (qp / 6)) + 512) >> 10;
}

// lambda for sums of squared differences, 1/256: 0.68 * 2^((qp - 12) / 3), from 11 (QP 0) to 1,433,600 (QP 51). The factor is the one that gave the
// lowest BD-rates on real sequences.
MOTUS_HD uint32_t motus_lambda_ssd_q8(int qp) {
    const uint32_t thirds[3] = {65536, 82570, 104032};     // 2^(k/3) * 65536
    uint64_t power = (uint64_t)thirds[qp % 3] << (qp / 3); // 2^(qp / 3) * 65536; 2^-4 and 0.68 * 256 follow
    return (uint32_t)((power * 175 + (1u << 19)) >> 20);
}

// Cost of coding something with this distortion and this many bits, in 1/256 of a squared sample difference.
MOTUS_HD uint64_t motus_rd_cost(uint64_t ssd, uint32_t bits, uint32_t lambda_ssd_q8) {
    return (ssd << 8) + (uint64_t)bits * lambda_ssd_q8;
}

#endif
