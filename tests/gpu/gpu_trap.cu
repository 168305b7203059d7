// SPDX-License-Identifier: BSD-2-Clause
#include "tests/gpu/gpu_trap.h"

static __global__ void trap() { __trap(); }

void motus_test_trap(cudaStream_t stream) { trap<<<1, 1, 0, stream>>>(); }
