// A kernel that fails, and with it for good all that this process does on its device: the driver's
// own way to lose one.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GPU_TRAP_H
#define TESTS_GPU_TRAP_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
void motus_test_trap(cudaStream_t stream);
#ifdef __cplusplus
}
#endif

#endif
