// Pairwise cases: every pair of values of every two axes occurs in at least one row.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_PAIRWISE_H
#define TESTS_DECODERS_PAIRWISE_H

enum { MOTUS_MAX_AXES = 20, MOTUS_MAX_VALUES = 12 };

// Fills at most `most` rows with values 0..sizes[axis]-1, the same for the same sizes; returns the
// number of rows needed.
int motus_pairwise(int axes, const int *sizes, int (*rows)[MOTUS_MAX_AXES], int most);

#endif
