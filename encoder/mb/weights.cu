// Weighted copies of a reference's luma planes, borders included: a thread 16 samples. Read: four
// planes; written: as many.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/mb/mb_cuda.h"

#include "common/cuda_call.cuh"

namespace {

constexpr int THREADS = 256;

__device__ uint32_t weigh_word(uint32_t word, MotusWeight weight, int log2_denom) {
    uint32_t weighted = 0;
    for (int i = 0; i < 32; i += 8)
        weighted |= (uint32_t)motus_weighted_sample((int)(word >> i & 255), weight, log2_denom)
                    << i;
    return weighted;
}

__global__ void __launch_bounds__(THREADS)
    weigh(uint4 *to, const uint4 *from, uint32_t n, MotusWeight weight, int log2_denom) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    const uint4 v = from[i];
    to[i] = make_uint4(weigh_word(v.x, weight, log2_denom), weigh_word(v.y, weight, log2_denom),
                       weigh_word(v.z, weight, log2_denom), weigh_word(v.w, weight, log2_denom));
}

} // namespace

extern "C" cudaError_t motus_weigh_luma_cuda(const MotusRefLuma *to, const MotusRefLuma *from,
                                             MotusWeight weight, int log2_denom,
                                             cudaStream_t stream) {
    // Bytes are a multiple of 64.
    const uint32_t n = (uint32_t)(motus_ref_luma_bytes(to->width, to->height) / sizeof(uint4));
    return motus_launch(0, (n + THREADS - 1) / THREADS, THREADS, 0, stream, weigh,
                        (uint4 *)to->memory, (const uint4 *)from->memory, n, weight, log2_denom);
}
