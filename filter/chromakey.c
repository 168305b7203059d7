// Chroma key and colour conversion on the CPU.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/cpu.h"
#include "common/threads.h"
#include "filter/key_tmpl.h"
#include "filter/planes.h"

const MotusKeyOps motus_key_ops_c = {split, join,           weights, weights_yuv, unspill,
                                     halve, unspill_chroma, mix,     from_yuv};

static const MotusKeyOps *choose_ops(const MotusExec *exec) {
#if defined(__x86_64__)
    if (!(exec && exec->plain_c) && motus_cpu_flags() & MOTUS_CPU_AVX2) return &motus_key_ops_avx2;
#endif
    (void)exec;
    return &motus_key_ops_c;
}

static void key_rgb_row(uint8_t *dst, const uint8_t *fg, const uint8_t *bg, int width,
                        const MotusKey *key, const MotusKeyOps *ops) {
    for (int x = 0; x < width; x += KEY_CHUNK) {
        int n = motus_min(KEY_CHUNK, width - x);
        MotusKeyPixels front, back;
        uint16_t weight[KEY_CHUNK];
        ops->split(&front, fg + 3 * x, n);
        ops->split(&back, bg + 3 * x, n);
        ops->weights(weight, &front, n, key);
        if (key->spill) ops->unspill(&front, n, key);
        for (int c = 0; c < 3; c++) ops->mix(front.c[c], front.c[c], back.c[c], weight, n);
        ops->join(dst + 3 * x, &front, n);
    }
}

MotusStatus motus_key_rgb24(MotusPlane *dst, const MotusPlane *fg, const MotusPlane *bg,
                            const MotusKeyConfig *config, const MotusExec *exec) {
    MotusKey key;
    if (!motus_planes_usable(dst, fg) || !motus_planes_usable(fg, bg) || fg->width % 3 ||
        motus_key_prepare(&key, config))
        return MOTUS_ERR_ARGUMENT;
    const MotusKeyOps *ops = choose_ops(exec);
    int threads = motus_threads_ready(exec ? exec->threads : 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < fg->height; y++)
        key_rgb_row(dst->data + y * dst->stride, fg->data + y * fg->stride,
                    bg->data + y * bg->stride, fg->width / 3, &key, ops);
    return MOTUS_OK;
}

// n chroma samples of row y, by their weights.
static void mix_chroma(MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg, int x, int y,
                       int n, const uint16_t *weight, const MotusKey *key, const MotusKeyOps *ops) {
    uint8_t front[2][KEY_CHUNK / 2];
    for (int p = 0; p < 2; p++)
        memcpy(front[p], fg->plane[1 + p].data + y * fg->plane[1 + p].stride + x, (size_t)n);
    if (key->spill) ops->unspill_chroma(front[0], front[1], n, key);
    for (int p = 0; p < 2; p++)
        ops->mix(dst->plane[1 + p].data + y * dst->plane[1 + p].stride + x, front[p],
                 bg->plane[1 + p].data + y * bg->plane[1 + p].stride + x, weight, n);
}

// Luma rows 2 y and 2 y + 1 and chroma row y.
static void key_frame_rows(MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg, int y,
                           const MotusKey *key, const MotusKeyOps *ops) {
    const MotusPlane *p = fg->plane;
    for (int x = 0; x < fg->width; x += KEY_CHUNK) {
        int n = motus_min(KEY_CHUNK, fg->width - x), rows = motus_min(2, fg->height - 2 * y);
        uint16_t weight[2][KEY_CHUNK], mean[KEY_CHUNK / 2];
        for (int r = 0; r < rows; r++)
            ops->weights_yuv(weight[r], p[0].data + (2 * y + r) * p[0].stride + x,
                             p[1].data + y * p[1].stride + x / 2,
                             p[2].data + y * p[2].stride + x / 2, n, key);
        for (int r = 0; r < rows; r++)
            ops->mix(dst->plane[0].data + (2 * y + r) * dst->plane[0].stride + x,
                     p[0].data + (2 * y + r) * p[0].stride + x,
                     bg->plane[0].data + (2 * y + r) * bg->plane[0].stride + x, weight[r], n);
        ops->halve(mean, weight[0], weight[rows - 1], n); // a last single row counts twice
        mix_chroma(dst, fg, bg, x / 2, y, (n + 1) / 2, mean, key, ops);
    }
}

MotusStatus motus_key_frame(MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg,
                            const MotusKeyConfig *config, const MotusExec *exec) {
    MotusKey key;
    if (!motus_frames_match(dst, fg) || !motus_frames_match(fg, bg) ||
        motus_key_prepare(&key, config))
        return MOTUS_ERR_ARGUMENT;
    const MotusKeyOps *ops = choose_ops(exec);
    int threads = motus_threads_ready(exec ? exec->threads : 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < (fg->height + 1) / 2; y++) key_frame_rows(dst, fg, bg, y, &key, ops);
    return MOTUS_OK;
}

MotusStatus motus_rgb24_to_frame(MotusFrame *dst, const MotusPlane *src, int matrix_709,
                                 int full_range, const MotusExec *exec) {
    if (!motus_frame_usable(dst) || !motus_plane_usable(src)) return MOTUS_ERR_ARGUMENT;
    if (src->width != 3 * dst->width || src->height != dst->height) return MOTUS_ERR_ARGUMENT;
    MotusYuvMatrix m = motus_yuv_matrix(matrix_709, full_range);
    int threads = motus_threads_ready(exec ? exec->threads : 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < (dst->height + 1) / 2; y++)
        for (int x = 0; x < (dst->width + 1) / 2; x++) {
            int sum[3] = {0};
            for (int k = 0; k < 4; k++) {
                int px = motus_min(2 * x + (k & 1), dst->width - 1),
                    py = motus_min(2 * y + (k >> 1), dst->height - 1);
                const uint8_t *c = src->data + py * src->stride + 3 * px;
                dst->plane[0].data[py * dst->plane[0].stride + px] =
                    motus_rgb_to_y(c[0], c[1], c[2], &m);
                for (int i = 0; i < 3; i++) sum[i] += c[i];
            }
            dst->plane[1].data[y * dst->plane[1].stride + x] =
                motus_rgb4_to_cb(sum[0], sum[1], sum[2], &m);
            dst->plane[2].data[y * dst->plane[2].stride + x] =
                motus_rgb4_to_cr(sum[0], sum[1], sum[2], &m);
        }
    return MOTUS_OK;
}

MotusStatus motus_frame_to_rgb24(MotusPlane *dst, const MotusFrame *src, int matrix_709,
                                 int full_range, const MotusExec *exec) {
    if (!motus_plane_usable(dst) || !motus_frame_usable(src)) return MOTUS_ERR_ARGUMENT;
    if (dst->width != 3 * src->width || dst->height != src->height) return MOTUS_ERR_ARGUMENT;
    MotusYuvMatrix m = motus_yuv_matrix(matrix_709, full_range);
    const MotusKeyOps *ops = choose_ops(exec);
    const MotusPlane *p = src->plane;
    int threads = motus_threads_ready(exec ? exec->threads : 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x += KEY_CHUNK) {
            MotusKeyPixels rgb;
            int n = motus_min(KEY_CHUNK, src->width - x);
            ops->from_yuv(&rgb, p[0].data + y * p[0].stride + x,
                          p[1].data + y / 2 * p[1].stride + x / 2,
                          p[2].data + y / 2 * p[2].stride + x / 2, n, &m);
            ops->join(dst->data + y * dst->stride + 3 * x, &rgb, n);
        }
    return MOTUS_OK;
}

// Between an RGB24 picture and its three planes, either way.
static MotusStatus exchange_planes(const MotusPlane *rgb, const MotusPlane planes[3], int joins,
                                   const MotusExec *exec) {
    if (!motus_rgb24_matches(rgb, planes)) return MOTUS_ERR_ARGUMENT;
    const MotusKeyOps *ops = choose_ops(exec);
    int threads = motus_threads_ready(exec ? exec->threads : 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < rgb->height; y++)
        for (int x = 0; x < rgb->width / 3; x += KEY_CHUNK) {
            MotusKeyPixels pixels;
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
