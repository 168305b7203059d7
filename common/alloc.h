// The one allocator. Tests make the n-th allocation fail (common/faults.h) to see that nothing
// leaks or crashes.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_ALLOC_H
#define COMMON_ALLOC_H

#include <stddef.h>

// Zeroed memory aligned to 64 bytes; NULL when there is none, or when n * size overflows. Free with
// motus_free.
void *motus_alloc(size_t n, size_t size);
void motus_free(void *p); // accepts NULL

#endif
