// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/faults.h"

#define ALIGNMENT 64u

void *motus_alloc(size_t n, size_t size) {
    if (motus_alloc_fault()) return NULL;
    if (size && n > (SIZE_MAX - ALIGNMENT) / size) return NULL;
    size_t bytes = (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!bytes) bytes = ALIGNMENT;
    void *p = aligned_alloc(ALIGNMENT, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

void motus_free(void *p) { free(p); }
