// 4:2:0 frames to RGB24, and RGB24 split and joined, on the CPU.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "filter/key/key.h"
#include "yuv/exec.h"
#include "yuv/usable.h"

MotusStatus motus_frame_to_rgb24(MotusPlane *dst, const MotusFrame *src, int matrix_709,
                                 int full_range, const MotusExec *exec) {
    if (!motus_plane_usable(dst) || !motus_frame_usable(src)) return MOTUS_ERR_ARGUMENT;
    if (dst->width != 3 * src->width || dst->height != src->height) return MOTUS_ERR_ARGUMENT;
    MotusYuvMatrix m = motus_yuv_matrix(matrix_709, full_range);
    const MotusKeyOps *ops = MOTUS_VERSION(motus_key_ops, exec);
    const MotusPlane *p = src->plane;
    int threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x += KEY_CHUNK) {
            MotusRgbRow rgb;
            int n = motus_min(KEY_CHUNK, src->width - x);
            ops->from_yuv(&rgb, p[0].data + y * p[0].stride + x,
                          p[1].data + y / 2 * p[1].stride + x / 2,
                          p[2].data + y / 2 * p[2].stride + x / 2, n, &m);
            ops->join(dst->data + y * dst->stride + 3 * x, &rgb, n);
        }
    return MOTUS_OK;
}

// Copies an RGB24 picture to its three planes, or joins them.
static MotusStatus exchange_planes(const MotusPlane *rgb, const MotusPlane planes[3], int joins,
                                   const MotusExec *exec) {
    if (!motus_rgb24_usable(rgb, planes)) return MOTUS_ERR_ARGUMENT;
    const MotusKeyOps *ops = MOTUS_VERSION(motus_key_ops, exec);
    int threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < rgb->height; y++)
        for (int x = 0; x < rgb->width / 3; x += KEY_CHUNK) {
            MotusRgbRow pixels;
            int n = motus_min(KEY_CHUNK, rgb->width / 3 - x);
            uint8_t *row = rgb->data + y * rgb->stride + 3 * x;
            if (!joins) ops->split(&pixels, row, n);
            for (int k = 0; k < 3; k++) {
                uint8_t *samples = planes[k].data + y * planes[k].stride + x;
                memcpy(joins ? pixels.c[k] : samples, joins ? samples : pixels.c[k], (size_t)n);
            }
            if (joins) ops->join(row, &pixels, n);
        }
    return MOTUS_OK;
}

MotusStatus motus_rgb24_split(MotusPlane planes[3], const MotusPlane *rgb, const MotusExec *exec) {
    return exchange_planes(rgb, planes, 0, exec);
}

MotusStatus motus_rgb24_join(MotusPlane *rgb, const MotusPlane planes[3], const MotusExec *exec) {
    return exchange_planes(rgb, planes, 1, exec);
}
