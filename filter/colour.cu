// Colour conversion on a CUDA device, and RGB24 split and joined; equals colour.c bit for bit.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"

#include "common/cuda_call.cuh"

extern "C" {
#include "filter/key/key.h"
}

#include "filter/key/key.cuh"
#include "yuv/usable.h"

namespace {

constexpr int WARPS = 8; // of a block

// Thread: one pixel.
__global__ void yuv_to_rgb24(View dst, Picture src, MotusYuvMatrix m) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * WARPS + threadIdx.y, r, g, b;
    if (x >= src.plane[0].width || y >= src.plane[0].height) return;
    int luma = src.plane[0].data[(size_t)y * (size_t)src.plane[0].stride + (size_t)x];
    size_t at = (size_t)(y / 2) * (size_t)src.plane[1].stride + (size_t)(x / 2),
           at2 = (size_t)(y / 2) * (size_t)src.plane[2].stride + (size_t)(x / 2);
    motus_yuv_to_rgb(&r, &g, &b, luma, src.plane[1].data[at], src.plane[2].data[at2], &m);
    uint8_t *out = dst.data + (size_t)y * (size_t)dst.stride + (size_t)(3 * x);
    out[0] = (uint8_t)r, out[1] = (uint8_t)g, out[2] = (uint8_t)b;
}

// Thread: one pixel. JOIN: from planes to RGB24, else the reverse.
template <bool JOIN> __global__ void rgb24_planes(View rgb, View r, View g, View b) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * WARPS + threadIdx.y;
    if (x >= r.width || y >= r.height) return;
    uint8_t *pixel = rgb.data + (size_t)y * (size_t)rgb.stride + (size_t)(3 * x);
    View planes[3] = {r, g, b};
#pragma unroll
    for (int k = 0; k < 3; k++) {
        uint8_t *sample = planes[k].data + (size_t)y * (size_t)planes[k].stride + (size_t)x;
        if (JOIN)
            pixel[k] = *sample;
        else
            *sample = pixel[k];
    }
}

} // namespace

static MotusStatus check_planes(int aligned, const char *what, MotusError *error) {
    return aligned ? MOTUS_OK
                   : motus_fail(error, MOTUS_ERR_ARGUMENT,
                                "%s: planes missing, or not aligned to 16 bytes", what);
}

extern "C" MotusStatus motus_cuda_frame_to_rgb24(const MotusPlane *dst, const MotusFrame *src,
                                                 int matrix_709, int full_range, void *stream,
                                                 MotusError *error) {
    if (!dst || !src || dst->width != 3 * src->width || dst->height != src->height)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "colour conversion: sizes differ");
    MotusStatus status = check_planes(motus_plane_aligned(dst) && motus_frame_aligned(src),
                                      "colour conversion", error);
    if (status) return status;
    dim3 grid(groups(src->width, 32), groups(src->height, WARPS)), block(32, WARPS);
    yuv_to_rgb24<<<grid, block, 0, (cudaStream_t)stream>>>(
        view(*dst), picture(src), motus_yuv_matrix(matrix_709, full_range));
    return motus_cuda_launched("colour conversion", error);
}

template <bool JOIN>
static MotusStatus launch_planes(const MotusPlane *rgb, const MotusPlane planes[3], void *stream,
                                 MotusError *error) {
    if (!motus_rgb24_usable(rgb, planes))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "RGB24 and its planes: sizes differ");
    int aligned = motus_plane_aligned(rgb);
    for (int k = 0; k < 3; k++) aligned = aligned && motus_plane_aligned(&planes[k]);
    MotusStatus status = check_planes(aligned, "RGB24 and its planes", error);
    if (status) return status;
    dim3 grid(groups(rgb->width / 3, 32), groups(rgb->height, WARPS)), block(32, WARPS);
    rgb24_planes<JOIN><<<grid, block, 0, (cudaStream_t)stream>>>(view(*rgb), view(planes[0]),
                                                                 view(planes[1]), view(planes[2]));
    return motus_cuda_launched("RGB24 and its planes", error);
}

extern "C" MotusStatus motus_cuda_rgb24_split(const MotusPlane planes[3], const MotusPlane *rgb,
                                              void *stream, MotusError *error) {
    return launch_planes<false>(rgb, planes, stream, error);
}

extern "C" MotusStatus motus_cuda_rgb24_join(const MotusPlane *rgb, const MotusPlane planes[3],
                                             void *stream, MotusError *error) {
    return launch_planes<true>(rgb, planes, stream, error);
}

extern "C" MotusStatus motus_cuda_filters_usable(MotusError *error) {
    return motus_device_check(error);
}
