// SPDX-License-Identifier: BSD-2-Clause
#include "common/device.h"
#include "common/error.h"

MotusStatus motus_device_check(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}
int motus_device_lacks_code(MotusError *error) { return 0; }
MotusStatus motus_device_choose(int wanted, int *device, MotusError *error) {
    return motus_device_check(error);
}
void *motus_device_context(int device) { return NULL; }
void motus_device_use(int device, void *context) {}
int motus_device_count(void) { return 0; }
void motus_device_describe(int i, char *text, size_t size) {
    if (size) text[0] = 0;
}
