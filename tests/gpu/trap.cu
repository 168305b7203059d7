// SPDX-License-Identifier: BSD-2-Clause
#include <cuda_runtime_api.h>

extern "C" void gpu_trap(cudaStream_t stream);

static __global__ void trap() { __trap(); }

void gpu_trap(cudaStream_t stream) { trap<<<1, 1, 0, stream>>>(); }
