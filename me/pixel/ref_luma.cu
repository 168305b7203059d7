// The four planes of a MotusRefLuma, border included; equals motus_ref_luma_build.
//
// Grid: tiles of 128x16 samples of the bordered plane; block: 256 threads. Shared memory: the
// tile's full samples and its unrounded b. A thread computes four neighbours of each plane at a
// time. Read: the reference once, and halos; written: four planes.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/pixel/ref_luma_cuda.h"

#include "common/cuda_call.cuh"
#include "me/pixel/sad.cuh"

namespace {

constexpr int TILE_X = 128, TILE_Y = 16, THREADS = 256;
constexpr int ROWS = TILE_Y + 5, PITCH = TILE_X + 16;

// The planes to write.
struct Target {
    uint8_t *full; // sample (0, 0) of plane 0
    size_t plane;  // bytes from a plane to the next
    ptrdiff_t stride;
    int columns; // both borders included
};

// Four neighbouring sums or samples.
struct Four {
    int v[4];
};

__device__ Four bytes(const uint8_t *aligned) {
    uint32_t w = *reinterpret_cast<const uint32_t *>(aligned);
    return {{(int)(w & 255), (int)(w >> 8 & 255), (int)(w >> 16 & 255), (int)(w >> 24)}};
}

__device__ Four sums(const short4 *at) {
    short4 s = *at;
    return {{s.x, s.y, s.z, s.w}};
}

template <class Round> __device__ uint32_t rounded(const Four &s, Round round) {
    return round(s.v[0]) | round(s.v[1]) << 8 | round(s.v[2]) << 16 | (uint32_t)round(s.v[3]) << 24;
}

// Filters down the columns of six rows.
__device__ Four down(const Four r[6]) {
    Four sum;
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum.v[i] = motus_six_tap(r[0].v[i], r[1].v[i], r[2].v[i], r[3].v[i], r[4].v[i], r[5].v[i]);
    return sum;
}

// Computes the unrounded b of the four samples at `aligned`.
__device__ short4 across(const uint8_t *aligned) {
    Four left = bytes(aligned - 4), middle = bytes(aligned), right = bytes(aligned + 4);
    int s[9] = {left.v[2],   left.v[3],  middle.v[0], middle.v[1], middle.v[2],
                middle.v[3], right.v[0], right.v[1],  right.v[2]};
    int b[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        b[i] = motus_six_tap(s[i], s[i + 1], s[i + 2], s[i + 3], s[i + 4], s[i + 5]);
    return make_short4((short)b[0], (short)b[1], (short)b[2], (short)b[3]);
}

// Writes four samples of each plane. `full` and `half` point two rows above them.
__device__ void write_four(const Target &to, ptrdiff_t at, const uint8_t *full,
                           const short4 *half) {
    auto once = [](int sum) { return motus_round_once(sum); };
    auto twice = [](int sum) { return motus_round_twice(sum); };
    auto put = [&](int plane, uint32_t word) {
        *reinterpret_cast<uint32_t *>(to.full + plane * to.plane + at) = word;
    };
    Four samples[6], b[6];
#pragma unroll
    for (int i = 0; i < 6; i++)
        samples[i] = bytes(full + i * PITCH), b[i] = sums(half + i * (TILE_X / 4));
    put(0, *reinterpret_cast<const uint32_t *>(full + 2 * PITCH));
    put(1, rounded(b[2], once));
    put(2, rounded(down(samples), once));
    put(3, rounded(down(b), twice));
}

__global__ void __launch_bounds__(THREADS)
    planes_kernel(Target to, const uint8_t *ref, int stride, int width, int height) {
    __shared__ __align__(16) uint8_t full[ROWS][PITCH]; // from (-8, -2) of the tile
    __shared__ short4 half[ROWS][TILE_X / 4];           // b before rounding
    motus_let_successor_start();
    int x0 = blockIdx.x * TILE_X - MOTUS_REF_PAD, y0 = blockIdx.y * TILE_Y - MOTUS_REF_PAD;
    for (int i = threadIdx.x; i < ROWS * (PITCH / 8); i += THREADS) {
        int row = i / (PITCH / 8), column = i % (PITCH / 8) * 8;
        uint32_t w[2];
        motus_load_clamped<2>(w, ref, stride, width, height, x0 - 8 + column, y0 - 2 + row);
        *reinterpret_cast<uint2 *>(&full[row][column]) = make_uint2(w[0], w[1]);
    }
    __syncthreads(); // `full` is complete
    for (int i = threadIdx.x; i < ROWS * (TILE_X / 4); i += THREADS) {
        int row = i / (TILE_X / 4), x = i % (TILE_X / 4);
        half[row][x] = across(&full[row][4 * x + 8]);
    }
    __syncthreads(); // `half` is complete
    for (int i = threadIdx.x; i < TILE_Y * (TILE_X / 4); i += THREADS) {
        int y = i / (TILE_X / 4), x = i % (TILE_X / 4);
        if ((int)blockIdx.x * TILE_X + 4 * x >= to.columns) continue; // columns are whole words
        write_four(to, (y0 + y) * to.stride + x0 + 4 * x, &full[y][4 * x + 8], &half[y][x]);
    }
}

} // namespace

cudaError_t motus_ref_luma_cuda_build(const MotusRefLuma *ref, const MotusPlane *luma,
                                      cudaStream_t stream) {
    const int columns = ref->width + 2 * MOTUS_REF_PAD,
              rows = ref->height + 2 * MOTUS_REF_PAD; // both multiples of 16
    static_assert(2 * MOTUS_REF_PAD % TILE_Y == 0, "rows are whole tiles");
    dim3 tiles((columns + TILE_X - 1) / TILE_X, rows / TILE_Y);
    Target to{ref->plane[0], (size_t)(ref->plane[1] - ref->plane[0]), ref->stride, columns};
    planes_kernel<<<tiles, THREADS, 0, stream>>>(to, luma->data, (int)luma->stride, luma->width,
                                                 luma->height);
    return cudaGetLastError();
}
