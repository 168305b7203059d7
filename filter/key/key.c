// Chroma key on the CPU.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/cpu.h"
#include "common/threads.h"
#include "filter/key/key_tmpl.h"
#include "yuv/usable.h"

const MotusKeyOps motus_key_ops_c = {split, join,           weights, weights_yuv, unspill,
                                     halve, unspill_chroma, mix,     from_yuv};

const MotusKeyOps *motus_key_ops(const MotusExec *exec) {
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
    const MotusKeyOps *ops = motus_key_ops(exec);
    int threads = motus_threads_ready(exec ? exec->threads : 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < fg->height; y++)
        key_rgb_row(dst->data + y * dst->stride, fg->data + y * fg->stride,
                    bg->data + y * bg->stride, fg->width / 3, &key, ops);
    return MOTUS_OK;
}

// Mixes n chroma samples of row y.
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

// Keys luma rows 2 y and 2 y + 1 and chroma row y.
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
    if (!motus_frames_usable(dst, fg) || !motus_frames_usable(fg, bg) ||
        motus_key_prepare(&key, config))
        return MOTUS_ERR_ARGUMENT;
    const MotusKeyOps *ops = motus_key_ops(exec);
    int threads = motus_threads_ready(exec ? exec->threads : 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < (fg->height + 1) / 2; y++) key_frame_rows(dst, fg, bg, y, &key, ops);
    return MOTUS_OK;
}
