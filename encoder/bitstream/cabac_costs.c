// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/cabac_costs.h"

#define ADAPTED                                                                                    \
    90 // per cent of a bin's cost in a slice's first states that it takes, as they adapt

// Returns the bits of the less and of the more probable symbol in a state pStateIdx, whose
// probability of the former is 0.5 * (0.01875 / 0.5)^(pStateIdx / 63).
static uint16_t bits_of(int state, int is_lps) {
    static const uint16_t lps[63] = {
        256,  275,  294,  314,  333,  352,  371,  391,  410,  429,  448,  468,  487,
        506,  525,  545,  564,  583,  602,  622,  641,  660,  679,  699,  718,  737,
        756,  776,  795,  814,  833,  853,  872,  891,  910,  930,  949,  968,  987,
        1007, 1026, 1045, 1064, 1084, 1103, 1122, 1141, 1161, 1180, 1199, 1218, 1238,
        1257, 1276, 1295, 1315, 1334, 1353, 1372, 1392, 1411, 1430, 1449,
    };
    static const uint16_t mps[63] = {
        256, 238, 221, 206, 192, 180, 168, 157, 148, 139, 130, 122, 115, 108, 102, 96,
        90,  85,  80,  76,  72,  68,  64,  60,  57,  54,  51,  48,  46,  43,  41,  39,
        37,  35,  33,  31,  29,  28,  26,  25,  24,  22,  21,  20,  19,  18,  17,  16,
        15,  15,  14,  13,  12,  12,  11,  11,  10,  10,  9,   9,   8,   8,   7,
    };
    return is_lps ? lps[state] : mps[state];
}

void motus_cabac_costs_set(MotusCabacCosts *costs, int table, int slice_qp) {
    for (int i = 0; i < MOTUS_CONTEXTS; i++) {
        if (i >= MOTUS_CTX_TERMINATE && i < MOTUS_CTX_TRANSFORM_8x8) continue;
        const int state = motus_cabac_first_state(table, i, slice_qp);
        for (int bin = 0; bin < 2; bin++)
            costs->bin[i][bin] =
                (uint16_t)(bits_of(state >> 1, bin != (state & 1)) * ADAPTED / 100);
    }
    for (int i = MOTUS_CTX_TERMINATE; i < MOTUS_CTX_TRANSFORM_8x8; i++)
        costs->bin[i][0] = 0, costs->bin[i][1] = 8 * MOTUS_BIT;
    motus_cabac_costs_derive(costs);
}

void motus_cabac_costs_learn(MotusCabacCosts *costs, const MotusBinCounts *counts) {
    for (int i = 0; i < MOTUS_CONTEXTS; i++) {
        const uint32_t n[2] = {counts->bin[i], counts->bin[i + MOTUS_SYMBOL_BIN]};
        for (int bin = 0; bin < 2; bin++)
            costs->bin[i][bin] = motus_cabac_cost_learnt(costs->bin[i][bin], n[bin], n[0] + n[1]);
    }
    motus_cabac_costs_derive(costs);
}
