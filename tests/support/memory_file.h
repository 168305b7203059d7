// Bytes as a file that readers open, without a place in a file system.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_MEMORY_FILE_H
#define TESTS_MEMORY_FILE_H

#include "yuv/io/source.h"

// As motus_source_open.
MotusStatus motus_test_source(MotusSource **source, const void *data, size_t size,
                              MotusError *error);

#endif
