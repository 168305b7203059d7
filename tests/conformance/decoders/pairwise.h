// Few cases that cover many settings: every pair of values of every two axes occurs in at least one
// row.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_PAIRWISE_H
#define TESTS_DECODERS_PAIRWISE_H

enum { MOTUS_MAX_AXES = 16, MOTUS_MAX_VALUES = 12 };

// Fills rows (as many as fit `most`) with values 0..sizes[axis]-1; returns how many are needed. The
// same rows for the same sizes.
int motus_pairwise(int axes, const int *sizes, int (*rows)[MOTUS_MAX_AXES], int most);

#endif
