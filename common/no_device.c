// A build without the CUDA backend.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/device.h"

#include "common/error.h"

MotusStatus motus_device_check(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

int motus_device_count(void) { return 0; }

void motus_device_describe(int i, char *text, size_t size) {
    (void)i;
    if (size) text[0] = 0;
}

void motus_device_fail_after(long n) { (void)n; }

int motus_device_fault(void) { return 0; }
