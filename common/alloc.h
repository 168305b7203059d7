// The one allocator. Tests make the n-th allocation fail (common/faults.h).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_ALLOC_H
#define COMMON_ALLOC_H

#include <stddef.h>

// Allocates n * size zeroed bytes, aligned to 64. NULL: out of memory, or n * size overflows.
void *motus_alloc(size_t n, size_t size);
void motus_free(void *p); // accepts NULL

#endif
