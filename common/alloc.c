// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64u

static atomic_long successes_left = -1; // < 0: no failure is planned

static int planned_failure(void) {
    long left = atomic_load(&successes_left);
    while (left >= 0)
        if (atomic_compare_exchange_weak(&successes_left, &left, left - 1)) return left == 0;
    return 0;
}

void *motus_alloc(size_t n, size_t size) {
    if (planned_failure()) return NULL;
    if (size && n > (SIZE_MAX - ALIGNMENT) / size) return NULL;
    size_t bytes = (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!bytes) bytes = ALIGNMENT;
    void *p = aligned_alloc(ALIGNMENT, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

void motus_free(void *p) { free(p); }

void motus_alloc_fail_after(long n) { atomic_store(&successes_left, n); }
