// Temporal direct prediction, a thread per MB: collocated motion is kept when a reference picture
// is finalized (read: 128 bytes an MB, written: 20), the prediction of all MBs is made before a B
// picture's decisions (read: 20, written: 44).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb/mb_cuda.h"

#include "common/cuda_call.cuh"

namespace {

constexpr int THREADS = 128;

__global__ void __launch_bounds__(THREADS)
    col_kernel(const MotusMb *mb, int n_mb, int refs, MotusColMb *col) {
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < n_mb) col[i] = motus_col_mb(&mb[i], refs);
}

__global__ void __launch_bounds__(THREADS)
    direct_kernel(const MotusColMb *col, int n_mb, const __grid_constant__ MotusTemporalMap map,
                  MotusDirect *direct) {
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < n_mb) direct[i] = motus_direct_temporal(&col[i], &map);
}

int blocks_for(int n_mb) { return (n_mb + THREADS - 1) / THREADS; }

} // namespace

extern "C" cudaError_t motus_col_mbs_cuda(const MotusMb *mb, int n_mb, int refs, MotusColMb *col,
                                          cudaStream_t stream) {
    return motus_launch(0, blocks_for(n_mb), THREADS, 0, stream, col_kernel, mb, n_mb, refs, col);
}

extern "C" cudaError_t motus_direct_temporal_cuda(const MotusColMb *col, int n_mb,
                                                  const MotusTemporalMap *map, MotusDirect *direct,
                                                  cudaStream_t stream) {
    return motus_launch(0, blocks_for(n_mb), THREADS, 0, stream, direct_kernel, col, n_mb, *map,
                        direct);
}
