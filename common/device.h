// The CUDA devices of this host. Without the CUDA backend there are none.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_DEVICE_H
#define COMMON_DEVICE_H

#include <stddef.h>

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the architectures that the build has code for, in nvcc's words: "sm_80 sm_90 compute_90".
// Empty: unknown, or no CUDA in this build.
const char *motus_device_code(void);

// True if a device of this compute capability (90 is 9.0) runs one of these architectures.
int motus_device_code_runs(const char *code, int capability);

// Returns MOTUS_OK if the current device can run the backend. MOTUS_ERR_NO_DEVICE: none, or the
// build has no code for it; MOTUS_ERR_UNSUPPORTED: no CUDA in this build. error (may be NULL) gets
// CUDA's own text.
MotusStatus motus_device_check(MotusError *error);

// True if there is a current device, but it cannot run the backend. *error (may be NULL) tells why.
int motus_device_lacks_code(MotusError *error);

// Gets the number of a device that can run the backend: `wanted`, or the current one if that is
// negative. Errors: as motus_device_check.
MotusStatus motus_device_choose(int wanted, int *device, MotusError *error);

// Returns the calling thread's CUcontext if it is one of `device` and not its primary one: a caller
// that made a context of its own. NULL: the primary context, in which CUDA's runtime works.
void *motus_device_context(int device);

// Makes a device, and a context of it if that is not NULL, current for the calling thread; for
// threads of the library. Once a thread has changed devices, CUDA opens both.
void motus_device_use(int device, void *context);

// Number of devices; one line about device i: name, compute capability, processors, memory.
int motus_device_count(void);
void motus_device_describe(int i, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
