// Same samples as motus_plane_copy_padded. Grid x: 128 columns a block, four a thread; grid y: 8
// rows; grid z: the plane (of the chroma planes three quarters of the blocks have nothing to do).
// Reads the frame once, byte by byte, since the caller's rows begin anywhere; writes words.
// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/pad.h"

#include "common/cuda_call.cuh"

namespace {

constexpr int COLUMNS = 32, ROWS = 8; // threads of a block
constexpr int PAD_THREADS = 256;

struct Planes {
    MotusPlane dst[3], src[3];
};

__global__ void copy_padded(Planes p) {
    const MotusPlane &dst = p.dst[blockIdx.z], &src = p.src[blockIdx.z];
    int x = 4 * (blockIdx.x * COLUMNS + threadIdx.x), y = blockIdx.y * ROWS + threadIdx.y;
    if (x >= dst.width || y >= dst.height) return;
    const uint8_t *row = src.data + min(y, src.height - 1) * src.stride;
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) word |= (uint32_t)row[min(x + i, src.width - 1)] << 8 * i;
    *(uint32_t *)(dst.data + y * dst.stride + x) = word;
}

// Grid x: 256 samples beyond the frame per block, one per thread, rows below it before columns to
// its right; grid y: the plane, from `first` on.
__global__ void pad(Planes p, int first, int width, int height) {
    const int index = first + (int)blockIdx.y;
    const MotusPlane &plane = p.dst[index];
    const int w = index ? width / 2 : width, h = index ? height / 2 : height;
    const int below = (plane.height - h) * plane.width, right = plane.width - w,
              i = blockIdx.x * PAD_THREADS + threadIdx.x;
    if (i >= below + right * h) return;
    const int x = i < below ? i % plane.width : w + (i - below) % right,
              y = i < below ? h + i / plane.width : (i - below) / right;
    plane.data[y * plane.stride + x] = plane.data[min(y, h - 1) * plane.stride + min(x, w - 1)];
}

} // namespace

MotusStatus motus_planes_copy_padded_cuda(const MotusPlane *dst, const MotusPlane *src, int n,
                                          void *stream, MotusError *error) {
    Planes p = {};
    for (int i = 0; i < n; i++) p.dst[i] = dst[i], p.src[i] = src[i];
    dim3 grid((dst[0].width + 4 * COLUMNS - 1) / (4 * COLUMNS), (dst[0].height + ROWS - 1) / ROWS,
              n);
    copy_padded<<<grid, dim3(COLUMNS, ROWS), 0, (cudaStream_t)stream>>>(p);
    return motus_cuda_launched("filling up to macroblocks", error);
}

MotusStatus motus_planes_pad_cuda(const MotusPlane planes[3], int first, int n, int width,
                                  int height, void *stream, MotusError *error) {
    Planes p = {};
    for (int i = 0; i < 3; i++) p.dst[i] = planes[i];
    const int beyond = planes[0].width * planes[0].height - width * height; // of luma, the most
    if (!beyond) return MOTUS_OK;
    pad<<<dim3((beyond + PAD_THREADS - 1) / PAD_THREADS, n), PAD_THREADS, 0,
          (cudaStream_t)stream>>>(p, first, width, height);
    return motus_cuda_launched("filling up to macroblocks", error);
}
