// What the suites of transforms and of quantization share: matrices multiplied as they are written,
// and blocks.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DCT_CASE_H
#define TESTS_DCT_CASE_H

#include <stdint.h>

extern const int64_t dct_core_matrix[16]; // of the 4x4 forward transform

// m * x * transposed(m), n x n, n <= 4.
void dct_naive_transform(int n, int64_t *out, const int64_t *m, const int64_t *x);

// Residual patterns as n src and pred samples: random, small, constant extremes, and the sign
// pattern of one basis function at full size, in rows of 16.
enum { DCT_KINDS = 6 };
void dct_fill_block(uint8_t *src, uint8_t *pred, int n, int kind);

// kind 0: anything, 1: extremes, 2: within 300, 3: within 8.
int16_t dct_any_int16(int kind);

#endif
