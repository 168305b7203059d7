// SPDX-License-Identifier: BSD-2-Clause
#include "me/pixel/ref_luma.h"

#include <string.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "yuv/pad.h"

// Beyond the border: the six taps reach 3 samples out, and vector code reads up to a register more.
#define MARGIN 32

static void half_row_c(const uint8_t *const row[6], uint8_t *b, uint8_t *h, uint8_t *j, int n) {
    int sum[MOTUS_LUMA_SLICE + 5]; // down columns -2 .. n + 2
    const uint8_t *g = row[2];
    for (int x = -5; x < n; x++) {
        const int c = x + 3;
        sum[x + 5] =
            motus_six_tap(row[0][c], row[1][c], row[2][c], row[3][c], row[4][c], row[5][c]);
        if (x < 0) continue;
        const int *s = sum + x;
        b[x] =
            motus_round_once(motus_six_tap(g[x - 2], g[x - 1], g[x], g[x + 1], g[x + 2], g[x + 3]));
        h[x] = motus_round_once(s[2]);
        j[x] = motus_round_twice(motus_six_tap(s[0], s[1], s[2], s[3], s[4], s[5]));
    }
}

static void average_c(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *p, const uint8_t *q,
                      ptrdiff_t stride, int w, int h) {
    for (int y = 0; y < h; y++, dst += dst_stride, p += stride, q += stride)
        for (int x = 0; x < w; x++) dst[x] = (uint8_t)((p[x] + q[x] + 1) >> 1);
}

static const MotusLumaOps luma_ops_c = {half_row_c, average_c};

static size_t row_bytes(int width) {
    return ((size_t)(16 * motus_mbs(width)) + 2 * (MOTUS_REF_PAD + MARGIN) + 63) / 64 * 64;
}

size_t motus_ref_luma_bytes(int width, int height) {
    return 4 * ((size_t)(16 * motus_mbs(height)) + 2 * MOTUS_REF_PAD) * row_bytes(width);
}

void motus_ref_luma_layout(MotusRefLuma *ref, void *memory, int width, int height) {
    const ptrdiff_t plane = (ptrdiff_t)(motus_ref_luma_bytes(width, height) / 4),
                    stride = (ptrdiff_t)row_bytes(width), j = 3 * plane;
    memset(ref, 0, sizeof *ref);
    ref->width = 16 * motus_mbs(width);
    ref->height = 16 * motus_mbs(height);
    ref->stride = stride;
    ref->memory = memory;
    for (int k = 0; k < 4; k++)
        ref->plane[k] = ref->memory + k * plane + MOTUS_REF_PAD * stride + MOTUS_REF_PAD + MARGIN;
    for (int i = 0; i < 16; i++) { // letters: figure 8-4
        const int fx = i & 3, fy = i >> 2;
        const ptrdiff_t row = (fx ? plane : 0) + (fy == 3 ? stride : 0), // G or b, the nearer one
            column = (fy ? 2 * plane : 0) + (fx == 3);                   // G or h
        ref->tap[i][0] = fy != 2 ? row : fx ? j : column;
        ref->tap[i][1] = fx != 2 ? column : fy ? j : row;
    }
}

MotusStatus motus_ref_luma_alloc(MotusRefLuma *ref, int width, int height) {
    if (!ref || width < 1 || height < 1 || width > MOTUS_MAX_SIZE || height > MOTUS_MAX_SIZE)
        return MOTUS_ERR_ARGUMENT;
    memset(ref, 0, sizeof *ref);
    void *memory = motus_alloc(1, motus_ref_luma_bytes(width, height));
    if (!memory) return MOTUS_ERR_MEMORY;
    motus_ref_luma_layout(ref, memory, width, height);
    ref->ops = &luma_ops_c;
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) ref->ops = &motus_luma_ops_avx2;
#endif
    return MOTUS_OK;
}

void motus_ref_luma_free(MotusRefLuma *ref) {
    motus_free(ref->memory);
    memset(ref, 0, sizeof *ref);
}

void motus_ref_luma_build(MotusRefLuma *ref, const MotusPlane *luma, int with_half, int threads) {
    const int first = -MOTUS_REF_PAD, end = ref->height + MOTUS_REF_PAD;
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic, 8)
        for (int y = first; y < end; y++) { // rows of plane 0 with border and margin
            const uint8_t *src = luma->data + motus_clip(0, luma->height - 1, y) * luma->stride;
            uint8_t *dst = ref->plane[0] + y * ref->stride;
            memcpy(dst, src, (size_t)luma->width);
            motus_row_pad(dst, luma->width, MOTUS_REF_PAD + MARGIN,
                          ref->width - luma->width + MOTUS_REF_PAD + MARGIN);
        }
#pragma omp for schedule(dynamic, 8)
        for (int y = first; y < (with_half ? end : first); y++) // half planes with border
            for (int x = first; x < ref->width + MOTUS_REF_PAD; x += MOTUS_LUMA_SLICE) {
                const ptrdiff_t at = y * ref->stride + x;
                const uint8_t *row[6];
                for (int i = 0; i < 6; i++)
                    row[i] =
                        ref->plane[0] + motus_clip(first, end - 1, y + i - 2) * ref->stride + x;
                ref->ops->half_row(row, ref->plane[1] + at, ref->plane[2] + at, ref->plane[3] + at,
                                   motus_min(MOTUS_LUMA_SLICE, ref->width + MOTUS_REF_PAD - x));
            }
    }
}

const uint8_t *motus_ref_luma_block(const MotusRefLuma *ref, int x, int y, MotusMv mv, int w, int h,
                                    uint8_t *dst, ptrdiff_t *stride) {
    const uint8_t *tap[2];
    motus_ref_luma_taps(ref, x, y, mv, tap);
    if (tap[0] == tap[1]) {
        *stride = ref->stride;
        return tap[0];
    }
    ref->ops->average(dst, *stride, tap[0], tap[1], ref->stride, w, h);
    return dst;
}
