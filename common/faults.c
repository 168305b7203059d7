// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"

#include <stdatomic.h>

static atomic_long allocations_left = -1, calls_left = -1; // < 0: no failure is planned

void motus_alloc_fail_after(long n) { atomic_store(&allocations_left, n); }
void motus_device_fail_after(long n) { atomic_store(&calls_left, n); }

int motus_alloc_fault(void) {
    long left = atomic_load(&allocations_left);
    while (left >= 0)
        if (atomic_compare_exchange_weak(&allocations_left, &left, left - 1)) return left == 0;
    return 0;
}

int motus_device_fault(void) {
    long left = atomic_load(&calls_left);
    while (left > 0)
        if (atomic_compare_exchange_weak(&calls_left, &left, left - 1)) return 0;
    return left == 0;
}
