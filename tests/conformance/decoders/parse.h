// What a set of our streams covers: counts the syntax elements of streams within the subset that
// motus writes (one reference).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_PARSE_H
#define TESTS_DECODERS_PARSE_H

#include "tools/baseline/baseline.h"

// Adds a whole byte stream's counts to *coverage. slices: of each of the n pictures; NULL: one.
// Returns NULL, or what is wrong with the stream (static text).
const char *motus_parse(const uint8_t *data, size_t size, const int *slices, int n,
                        MotusCoverage *coverage);

#endif
