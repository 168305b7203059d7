// Files in memory for the readers' suites.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_MEMORY_FILE_H
#define TESTS_MEMORY_FILE_H

#include "yuv/io/source.h"

// Opens bytes as a source, like motus_source_open opens a file.
MotusStatus motus_test_source(MotusSource **source, const void *data, size_t size,
                              MotusError *error);

#endif
