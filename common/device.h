// The CUDA devices of this host. Without the CUDA backend there are none.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_DEVICE_H
#define COMMON_DEVICE_H

#include <stddef.h>

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns MOTUS_OK if the current device can run the backend. MOTUS_ERR_NO_DEVICE;
// MOTUS_ERR_UNSUPPORTED: no CUDA in this build. error (may be NULL) gets CUDA's own text.
MotusStatus motus_device_check(MotusError *error);

// Gets the number of a device that can run the backend: `wanted`, or the current one if that is
// negative. Errors: as motus_device_check.
MotusStatus motus_device_choose(int wanted, int *device, MotusError *error);

// Makes a device the current one of the calling thread; for threads of the library. Once a thread
// has changed devices, CUDA opens both.
void motus_device_use(int device);

// Number of devices; one line about device i: name, compute capability, processors, memory.
int motus_device_count(void);
void motus_device_describe(int i, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
