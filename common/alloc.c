// The allocator, and the failures that tests plan for it and for CUDA calls.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"

#include <stdatomic.h>
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

#ifdef MOTUS_FAULTS
static atomic_long allocations_left = -1, calls_left = -1; // < 0: no failure is planned
static atomic_int pretended;

void motus_alloc_fail_after(long n) { atomic_store(&allocations_left, n); }
void motus_device_fail_after(long n) { atomic_store(&calls_left, n); }
void motus_device_pretend(int capability) { atomic_store(&pretended, capability); }
int motus_device_pretended(void) {
    const char *text = getenv("MOTUS_PRETEND_DEVICE");
    const int capability = atomic_load(&pretended);
    return !capability && text ? (int)strtol(text, NULL, 10) : capability;
}

// Counts down; returns 0 while n > 0 was left.
static int count_down(atomic_long *n, long least) {
    long left = atomic_load(n);
    while (left >= least)
        if (atomic_compare_exchange_weak(n, &left, left - 1)) break;
    return left == 0;
}

int motus_alloc_fault(void) { return count_down(&allocations_left, 0); } // later ones succeed
int motus_device_fault(void) { return count_down(&calls_left, 1); }      // later ones fail too
#endif
