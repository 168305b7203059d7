// The quantizer's two tables, as functions that CPU and GPU code share (a function-scope table is
// legal on both sides under nvcc).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_QUANT_TABLES_H
#define DCT_QUANT_TABLES_H

#include <stdint.h>

#include "common/hd.h"

// Coefficients fall into three classes by the norms of their basis functions: 0 = row and column
// even, 1 = both odd, 2 = the others.
MOTUS_HD int motus_coef_class(int raster) {
    return raster & 1 ? (raster & 4 ? 1 : 2) : (raster & 4 ? 2 : 0);
}

// normAdjust4x4 (8.5.9): scale of a level at qp % 6, by class. The flat scaling matrix's factor of
// 16 is left out.
MOTUS_HD int motus_dequant_scale(int qp_rem, int coef_class) {
    static const uint8_t v[6][3] = {{10, 16, 13}, {11, 18, 14}, {13, 20, 16},
                                    {14, 23, 18}, {16, 25, 20}, {18, 29, 23}};
    return v[qp_rem][coef_class];
}

// 2^21 / (V * the basis function's squared norms), rounded: coef * scale >> (15 + qp / 6) is the
// level.
MOTUS_HD int motus_quant_scale(int qp_rem, int coef_class) {
    static const uint16_t mf[6][3] = {{13107, 5243, 8066}, {11916, 4660, 7490}, {10082, 4194, 6554},
                                      {9362, 3647, 5825},  {8192, 3355, 5243},  {7282, 2893, 4559}};
    return mf[qp_rem][coef_class];
}

#endif
