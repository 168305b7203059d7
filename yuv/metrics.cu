// SSD of two pictures in device memory. A warp a row, 16 samples a lane; reads each sample once.
// Equals motus_plane_ssd (metrics.c): suite gpu_encoder.
// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/metrics_cuda.h"

#include "common/cuda_call.cuh"
#include "common/lanes.h"

namespace {

constexpr int ROWS = 8; // of a block

struct Planes {
    MotusPlane a[3], b[3]; // rows at multiples of 16 bytes
    int width, height;     // of luma
    unsigned long long *ssd;
};

// Adds the squared error of the first `width` of four samples.
__device__ uint32_t word_ssd(uint32_t a, uint32_t b, int width, uint32_t sum) {
    uint32_t d = __vabsdiffu4(a, b);
    if (width < 4) d &= width > 0 ? (1u << 8 * width) - 1 : 0;
    return __dp4a(d, d, sum);
}

// Returns the SSD of a row of at most 2^14 samples, which 32 bits hold.
__device__ uint32_t row_ssd(const uint8_t *a, const uint8_t *b, int width) {
    uint32_t sum = 0;
#pragma unroll 4
    for (int x = 16 * motus_lane(); x < width; x += 16 * MOTUS_LANES) {
        const uint4 v = *reinterpret_cast<const uint4 *>(a + x),
                    w = *reinterpret_cast<const uint4 *>(b + x);
        sum = word_ssd(v.x, w.x, width - x, sum);
        sum = word_ssd(v.y, w.y, width - x - 4, sum);
        sum = word_ssd(v.z, w.z, width - x - 8, sum);
        sum = word_ssd(v.w, w.w, width - x - 12, sum);
    }
    return motus_lanes_sum(sum);
}

__global__ void __launch_bounds__(32 * ROWS) ssd_kernel(const __grid_constant__ Planes e) {
    __shared__ uint32_t row[ROWS];
    const int p = (int)blockIdx.y, half = p ? 2 : 1, warp = (int)threadIdx.x / 32,
              y = (int)blockIdx.x * ROWS + warp;
    if ((int)blockIdx.x * ROWS >= e.height / half) return; // the whole block
    uint32_t sum = 0;
    if (y < e.height / half)
        sum = row_ssd(e.a[p].data + y * e.a[p].stride, e.b[p].data + y * e.b[p].stride,
                      e.width / half);
    if (motus_lane() == 0) row[warp] = sum;
    __syncthreads(); // rows are written before they are summed
    if (threadIdx.x) return;
    unsigned long long all = 0;
    for (int i = 0; i < ROWS; i++) all += row[i];
    if (all) atomicAdd(&e.ssd[p], all);
}

} // namespace

extern "C" cudaError_t motus_planes_ssd_cuda(const MotusPlane a[3], const MotusPlane b[3],
                                             int width, int height, uint64_t ssd[3],
                                             cudaStream_t stream) {
    Planes e = {};
    for (int p = 0; p < 3; p++) e.a[p] = a[p], e.b[p] = b[p];
    e.width = width, e.height = height;
    e.ssd = (unsigned long long *)ssd;
    return motus_launch(0, dim3((height + ROWS - 1) / ROWS, 3), 32 * ROWS, 0, stream, ssd_kernel,
                        e);
}
