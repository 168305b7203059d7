// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cabac/cabac_costs_core.h"

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

// Returns m and n of the state that bins of a context have on average in I pictures, fitted to 14
// sequences at QPs 16 to 46; NULL: decisions do not ask for the context.
static const MotusCabacInit *mean_in_i(int context) {
    // clang-format off
    static const MotusCabacInit mean[] = {
        // 68..69: Intra4x4 modes
        {8, 47}, {3, 61},
        // 85..104: coded_block_flag
        {-10, 77}, {-6, 76}, {-6, 73}, {-5, 78}, {-8, 51}, {-2, 66}, {-10, 74}, {-8, 90},
        {-2, 63}, {-5, 78}, {-3, 73}, {-22, 125}, {0, 67}, {-3, 82}, {-5, 84}, {-13, 113},
        {-5, 57}, {-5, 75}, {-8, 78}, {-14, 102},
        // 105..165: significant_coeff_flag
        {-6, 88}, {-6, 73}, {-5, 78}, {-3, 64}, {-6, 64}, {0, 58}, {-2, 63}, {-3, 52}, {-6, 58},
        {0, 79}, {-5, 69}, {2, 56}, {-2, 69}, {-3, 67}, {2, 71}, {-3, 64}, {3, 64}, {3, 58},
        {5, 44}, {5, 53}, {-10, 62}, {3, 43}, {5, 47}, {13, 60}, {3, 55}, {11, 56}, {8, 50},
        {5, 50}, {11, 77}, {-8, 96}, {-11, 90}, {-10, 95}, {-11, 87}, {-10, 89}, {-8, 84},
        {-16, 83}, {-10, 83}, {-6, 82}, {-6, 79}, {-11, 81}, {-2, 78}, {-3, 76}, {-6, 76},
        {5, 83}, {0, 82}, {-6, 82}, {0, 91}, {-5, 78}, {10, 66}, {-6, 70}, {2, 65}, {6, 64},
        {-16, 74}, {2, 59}, {6, 58}, {-3, 73}, {-14, 72}, {10, 60}, {10, 60}, {3, 64}, {11, 74},
        // 166..226: last_significant_coeff_flag
        {14, 32}, {13, 30}, {11, 41}, {11, 38}, {8, 44}, {13, 36}, {16, 39}, {10, 39}, {16, 30},
        {16, 51}, {6, 55}, {10, 48}, {6, 61}, {6, 58}, {10, 66}, {8, 47}, {6, 55}, {10, 51},
        {8, 50}, {5, 62}, {6, 70}, {8, 53}, {6, 58}, {11, 74}, {2, 71}, {5, 74}, {0, 82},
        {-14, 99}, {-18, 127}, {21, 4}, {24, -8}, {21, 4}, {24, -2}, {26, -4}, {27, -2},
        {27, -2}, {27, -2}, {30, -2}, {24, 16}, {24, 13}, {24, 19}, {24, 25}, {19, 33},
        {21, 49}, {19, 24}, {16, 30}, {14, 47}, {21, 22}, {24, 25}, {16, 33}, {21, 28},
        {19, 36}, {11, 47}, {18, 34}, {24, 31}, {14, 53}, {5, 53}, {14, 50}, {16, 54}, {6, 64},
        {14, 71},
        // 227..275: coeff_abs_level_minus1
        {-5, 72}, {-19, 62}, {-5, 48}, {-3, 55}, {-2, 57}, {-6, 64}, {-3, 67}, {-5, 75},
        {-3, 73}, {-10, 89}, {-8, 72}, {-16, 50}, {-8, 48}, {-8, 54}, {-5, 54}, {-19, 68},
        {-11, 69}, {-18, 85}, {-11, 78}, {-11, 81}, {-13, 92}, {-24, 76}, {-13, 68}, {-8, 66},
        {-5, 66}, {-11, 72}, {-8, 75}, {-10, 83}, {-10, 86}, {-14, 99}, {-8, 87}, {-21, 82},
        {-10, 71}, {-6, 70}, {-2, 63}, {-13, 80}, {-11, 87}, {-11, 93}, {-16, 104}, {-11, 81},
        {-16, 59}, {-8, 57}, {-5, 60}, {-5, 66}, {-16, 74}, {-11, 75}, {-10, 80}, {-10, 83},
        {-14, 93},
        // 402..416: significant_coeff_flag, 8x8
        {-10, 101}, {-10, 89}, {-10, 95}, {-6, 73}, {-8, 75}, {-6, 73}, {-13, 71}, {-5, 66},
        {-3, 61}, {-2, 57}, {-16, 65}, {-10, 65}, {-8, 66}, {-14, 66}, {-6, 61},
        // 417..425: last_significant_coeff_flag, 8x8
        {19, 0}, {21, 1}, {30, -5}, {26, 14}, {27, 19}, {22, 33}, {18, 46}, {11, 62}, {16, 69},
        // 426..435: coeff_abs_level_minus1, 8x8
        {-8, 81}, {-19, 65}, {-8, 51}, {-3, 49}, {-2, 54}, {-8, 63}, {-5, 66}, {-5, 72},
        {-5, 75}, {-10, 89},
    };
    // clang-format on
    if (context >= 402) return &mean[context - 402 + 2 + 191];
    if (context >= 85 && context < 276) return &mean[context - 85 + 2];
    return context == 68 || context == 69 ? &mean[context - 68] : NULL;
}

void motus_cabac_costs_set(MotusCabacCosts *costs, int table, int slice_qp) {
    for (int i = 0; i < MOTUS_CONTEXTS; i++) {
        if (i >= MOTUS_CTX_TERMINATE && i < MOTUS_CTX_TRANSFORM_8x8) continue;
        const MotusCabacInit *mean = table ? NULL : mean_in_i(i);
        const int state = mean ? motus_cabac_state_of(*mean, slice_qp)
                               : motus_cabac_first_state(table, i, slice_qp);
        for (int bin = 0; bin < 2; bin++)
            costs->bin[i][bin] =
                (uint16_t)(bits_of(state >> 1, bin != (state & 1)) * (mean ? 100 : ADAPTED) / 100);
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
