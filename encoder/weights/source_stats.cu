// Statistics of a source picture. A warp takes an MB at a time: a lane half a row of luma and half
// a row of one chroma plane. Read: the picture once; written: four samples an MB, six sums a block.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/weights/source_stats_cuda.h"

#include <string.h>

#include "common/cuda_call.cuh"
#include "common/lanes.h"

namespace {

constexpr int WARPS = 8; // of a block, which has one share

typedef unsigned long long Sum; // the type that atomicAdd takes

struct Planes {
    const uint8_t *data[3];
    ptrdiff_t stride[3];
    int mb_width, n_mb;
};

// Sums of samples and of their squares. A lane adds 8 samples of an MB, and at most 2^20 / 2048
// MBs: below 2^28.
struct Sums {
    uint32_t sum, squares;
};

// Adds the lane's part of an MB's luma; lanes 0 and 16 write two downscaled samples each.
__device__ void measure_luma(const Planes &p, int x, int y, Sums *to, int16_t *small) {
    const int lane = motus_lane(), half = lane & 1;
    const uint2 words = *reinterpret_cast<const uint2 *>(
        p.data[0] + (16 * y + (lane >> 1)) * p.stride[0] + 16 * x + 8 * half);
    uint32_t sum = __dp4a(words.y, 0x01010101u, __dp4a(words.x, 0x01010101u, 0u));
    to->sum += sum;
    to->squares = __dp4a(words.y, words.y, __dp4a(words.x, words.x, to->squares));
    for (int step = 2; step < 16; step *= 2) sum += __shfl_xor_sync(MOTUS_ALL_LANES, sum, step);
    const uint32_t mine = (uint16_t)motus_small_sample(sum),
                   right = __shfl_down_sync(MOTUS_ALL_LANES, mine, 1);
    if (!(lane & 15))
        *reinterpret_cast<uint32_t *>(small + (2 * y + (lane >> 4)) * 2 * p.mb_width + 2 * x) =
            mine | right << 16;
}

__device__ void measure_chroma(const Planes &p, int x, int y, Sums *to) {
    const int lane = motus_lane(), row = lane >> 1 & 7;
    const uint8_t *data = lane < 16 ? p.data[1] : p.data[2];
    const ptrdiff_t stride = lane < 16 ? p.stride[1] : p.stride[2];
    const uint32_t word =
        *reinterpret_cast<const uint32_t *>(data + (8 * y + row) * stride + 8 * x + 4 * (lane & 1));
    to->sum = __dp4a(word, 0x01010101u, to->sum);
    to->squares = __dp4a(word, word, to->squares);
}

// Returns the sum over the `n` lanes that begin at a multiple of n.
__device__ uint64_t lanes_sum(uint64_t v, int n) {
    for (int step = 1; step < n; step *= 2) v += __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
    return v;
}

__device__ void add(uint64_t *to, uint64_t amount) { atomicAdd((Sum *)to, (Sum)amount); }

__global__ void __launch_bounds__(32 * WARPS) measure(MotusSourceShares *shares, Planes p) {
    __shared__ uint64_t block[6];
    Sums luma = {0, 0}, chroma = {0, 0};
    if (threadIdx.x < 6) block[threadIdx.x] = 0;
    __syncthreads(); // block[] is zero
    for (int i = (int)(blockIdx.x * WARPS + threadIdx.x / 32); i < p.n_mb;
         i += (int)gridDim.x * WARPS) {
        const int y = i / p.mb_width, x = i - y * p.mb_width;
        measure_luma(p, x, y, &luma, shares->small);
        measure_chroma(p, x, y, &chroma);
    }
    const uint64_t sums[4] = {lanes_sum(luma.sum, 32), lanes_sum(luma.squares, 32),
                              lanes_sum(chroma.sum, 16), lanes_sum(chroma.squares, 16)};
    if (!motus_lane()) add(&block[0], sums[0]), add(&block[3], sums[1]);
    const int plane = 1 + (motus_lane() >> 4);
    if (!(motus_lane() & 15)) add(&block[plane], sums[2]), add(&block[3 + plane], sums[3]);
    __syncthreads(); // block[] is complete
    if (threadIdx.x < 6) shares->sums[blockIdx.x][threadIdx.x] = block[threadIdx.x];
}

size_t small_bytes(int mb_width, int mb_height) {
    return motus_source_stats_bytes(mb_width, mb_height) - sizeof(MotusSourceStats);
}

} // namespace

extern "C" size_t motus_source_shares_bytes(int mb_width, int mb_height) {
    return sizeof(MotusSourceShares) + small_bytes(mb_width, mb_height);
}

extern "C" cudaError_t motus_source_shares_measure(MotusSourceShares *shares,
                                                   const MotusPlane plane[3], cudaStream_t stream) {
    Planes p = {};
    for (int k = 0; k < 3; k++) p.data[k] = plane[k].data, p.stride[k] = plane[k].stride;
    p.mb_width = plane[0].width / 16;
    p.n_mb = p.mb_width * (plane[0].height / 16);
    measure<<<MOTUS_SOURCE_SHARES, 32 * WARPS, 0, stream>>>(shares, p);
    return cudaGetLastError();
}

extern "C" void motus_source_shares_add(MotusSourceStats *stats, const MotusSourceShares *shares,
                                        int mb_width, int mb_height) {
    memset(stats, 0, sizeof *stats);
    for (const auto &sums : shares->sums)
        for (int p = 0; p < 3; p++) stats->sum[p] += sums[p], stats->squares[p] += sums[3 + p];
    memcpy(stats->small, shares->small, small_bytes(mb_width, mb_height));
}
