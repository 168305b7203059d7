// Helpers of the suites dct and quant: naive matrix products, and residuals of several kinds.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DCT_CASE_H
#define TESTS_DCT_CASE_H

#include <stdint.h>

extern const int64_t dct_core_matrix[16]; // of the 4x4 forward transform

// Computes m * x * transposed(m) for n x n matrices, n <= 4.
void dct_naive_transform(int n, int64_t *out, const int64_t *m, const int64_t *x);

// Fills src and pred, 16 samples a row: random, small or extreme residuals, or the signs of one
// basis function at full size.
enum { DCT_KINDS = 6 };
void dct_fill_block(uint8_t *src, uint8_t *pred, int n, int kind);

// Returns a value of the kind: 0 any, 1 an extreme, 2 within 300, 3 within 8.
int16_t dct_any_int16(int kind);

#endif
