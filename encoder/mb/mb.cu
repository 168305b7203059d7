// Kernels of mb_cuda.h besides deblocking. Temporal direct prediction, a thread per MB: collocated
// motion is kept when a reference picture is finalized (read: 128 bytes an MB, written: 20), the
// prediction of all MBs is made before a B picture's decisions (read: 20, written: 44). Weighted
// copies of a reference's luma planes, borders included: a thread 16 samples. Read: four planes;
// written: as many.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb/mb_cuda.h"

#include "common/cuda_call.cuh"

namespace {

constexpr int MB_THREADS = 128, WORD_THREADS = 256;

__global__ void __launch_bounds__(MB_THREADS)
    col_kernel(const MotusMb *mb, int n_mb, int refs, MotusColMb *col) {
    const int i = (int)(blockIdx.x * MB_THREADS + threadIdx.x);
    if (i < n_mb) col[i] = motus_col_mb(&mb[i], refs);
}

__global__ void __launch_bounds__(MB_THREADS)
    direct_kernel(const MotusColMb *col, int n_mb, const __grid_constant__ MotusTemporalMap map,
                  MotusDirect *direct) {
    const int i = (int)(blockIdx.x * MB_THREADS + threadIdx.x);
    if (i < n_mb) direct[i] = motus_direct_temporal(&col[i], &map);
}

__device__ uint32_t weigh_word(uint32_t word, MotusWeight weight, int log2_denom) {
    uint32_t weighted = 0;
    for (int i = 0; i < 32; i += 8)
        weighted |= (uint32_t)motus_weighted_sample((int)(word >> i & 255), weight, log2_denom)
                    << i;
    return weighted;
}

__global__ void __launch_bounds__(WORD_THREADS)
    weigh(uint4 *to, const uint4 *from, uint32_t n, MotusWeight weight, int log2_denom) {
    const uint32_t i = blockIdx.x * WORD_THREADS + threadIdx.x;
    if (i >= n) return;
    const uint4 v = from[i];
    to[i] = make_uint4(weigh_word(v.x, weight, log2_denom), weigh_word(v.y, weight, log2_denom),
                       weigh_word(v.z, weight, log2_denom), weigh_word(v.w, weight, log2_denom));
}

} // namespace

extern "C" cudaError_t motus_col_mbs_cuda(const MotusMb *mb, int n_mb, int refs, MotusColMb *col,
                                          cudaStream_t stream) {
    return motus_launch(0, (n_mb + MB_THREADS - 1) / MB_THREADS, MB_THREADS, 0, stream, col_kernel,
                        mb, n_mb, refs, col);
}

extern "C" cudaError_t motus_direct_temporal_cuda(const MotusColMb *col, int n_mb,
                                                  const MotusTemporalMap *map, MotusDirect *direct,
                                                  cudaStream_t stream) {
    return motus_launch(0, (n_mb + MB_THREADS - 1) / MB_THREADS, MB_THREADS, 0, stream,
                        direct_kernel, col, n_mb, *map, direct);
}

extern "C" cudaError_t motus_weigh_luma_cuda(const MotusRefLuma *to, const MotusRefLuma *from,
                                             MotusWeight weight, int log2_denom,
                                             cudaStream_t stream) {
    // Bytes are a multiple of 64.
    const uint32_t n = (uint32_t)(motus_ref_luma_bytes(to->width, to->height) / sizeof(uint4));
    return motus_launch(0, (n + WORD_THREADS - 1) / WORD_THREADS, WORD_THREADS, 0, stream, weigh,
                        (uint4 *)to->memory, (const uint4 *)from->memory, n, weight, log2_denom);
}
