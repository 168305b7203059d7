// Coverage of a set of our streams: counts their syntax elements, within the subset that motus
// writes (one reference).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_PARSE_H
#define TESTS_DECODERS_PARSE_H

#include "tools/h264/h264.h"

// Adds the counts of a whole byte stream to *coverage. `slices` is the number in each of the n
// pictures; NULL: one. Returns NULL, or the stream's fault (static text).
const char *motus_parse(const uint8_t *data, size_t size, const int *slices, int n,
                        MotusCoverage *coverage);

#endif
