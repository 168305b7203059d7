// Conversion of images in device memory to 4:2:0; equals motus_image_convert bit for bit. Thread:
// one chroma sample and its four pixels; block: 32 x 8. Each sample is read once; memory is the
// bound: a float RGB picture has twelve bytes per pixel, the result one and a half.
// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/image.h"

#include "common/cuda_call.cuh"

extern "C" {
#include "yuv/usable.h"
}

namespace {

constexpr int COLUMNS = 32, ROWS = 8; // threads of a block

struct Planes {
    MotusPlane plane[3];
};

struct Source {
    const char *data[3];
    ptrdiff_t row[3], pixel[3];
};

template <bool FLOAT> __device__ int component(const Source &src, int k, int x, int y) {
    const char *at = src.data[k] + y * src.row[k] + x * src.pixel[k];
    return FLOAT ? unit_to_u8(*(const float *)at) : *(const uint8_t *)at;
}

template <bool FLOAT> __global__ void rgb_to_yuv(Planes dst, Source src, MotusYuvMatrix m) {
    int x = blockIdx.x * COLUMNS + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y,
        width = dst.plane[0].width, height = dst.plane[0].height;
    if (2 * x >= width || 2 * y >= height) return;
    int sum[3] = {0, 0, 0};
    for (int k = 0; k < 4; k++) { // odd edges count twice, and are written twice
        int px = min(2 * x + (k & 1), width - 1), py = min(2 * y + (k >> 1), height - 1);
        int r = component<FLOAT>(src, 0, px, py), g = component<FLOAT>(src, 1, px, py),
            b = component<FLOAT>(src, 2, px, py);
        dst.plane[0].data[py * dst.plane[0].stride + px] = rgb_to_y(r, g, b, &m);
        sum[0] += r, sum[1] += g, sum[2] += b;
    }
    dst.plane[1].data[y * dst.plane[1].stride + x] = rgb4_to_cb(sum[0], sum[1], sum[2], &m);
    dst.plane[2].data[y * dst.plane[2].stride + x] = rgb4_to_cr(sum[0], sum[1], sum[2], &m);
}

// Grid z: the plane. Thread: one sample.
__global__ void gather_planes(Planes dst, Source src) {
    const MotusPlane &to = dst.plane[blockIdx.z];
    int k = blockIdx.z, x = blockIdx.x * COLUMNS + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y;
    if (x < to.width && y < to.height)
        to.data[y * to.stride + x] = (uint8_t)component<false>(src, k, x, y);
}

unsigned groups(int n, int size) { return (unsigned)((n + size - 1) / size); }

} // namespace

extern "C" MotusStatus motus_cuda_image_convert(const MotusFrame *dst, const MotusImage *src,
                                                const MotusColour *colour, void *stream,
                                                MotusError *error) {
    MotusYuvMatrix m;
    if (!motus_frame_usable(dst) || !motus_image_usable(src) || dst->width != src->width ||
        dst->height != src->height)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "image: no data, or another size");
    if (motus_image_matrix(&m, src, colour))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "image: RGB needs the matrix of BT.709 or BT.601");
    Planes to = {{dst->plane[0], dst->plane[1], dst->plane[2]}};
    Source from = {};
    for (int k = 0; k < 3; k++)
        from.data[k] = (const char *)src->data[k], from.row[k] = src->row[k],
        from.pixel[k] = src->pixel[k];
    dim3 block(COLUMNS, ROWS),
        pairs(groups((dst->width + 1) / 2, COLUMNS), groups((dst->height + 1) / 2, ROWS)),
        samples(groups(dst->width, COLUMNS), groups(dst->height, ROWS), 3);
    if (src->samples == MOTUS_SAMPLES_YUV420)
        gather_planes<<<samples, block, 0, (cudaStream_t)stream>>>(to, from);
    else if (src->samples == MOTUS_SAMPLES_RGB)
        rgb_to_yuv<false><<<pairs, block, 0, (cudaStream_t)stream>>>(to, from, m);
    else
        rgb_to_yuv<true><<<pairs, block, 0, (cudaStream_t)stream>>>(to, from, m);
    return motus_cuda_launched("image", error);
}
