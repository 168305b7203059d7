// SPDX-License-Identifier: BSD-2-Clause
#include "me/pixel/ref_luma.h"

#include <string.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "yuv/pad.h"

// Beyond the border: the six taps reach 3 samples out, and vector code reads up to a register more.
#define MARGIN 32

// Returns the six-tap sum down column x.
static int16_t vertical(const uint8_t *const row[6], int x) {
    return (int16_t)motus_six_tap(row[0][x], row[1][x], row[2][x], row[3][x], row[4][x], row[5][x]);
}

static void half_row_c(const uint8_t *const row[6], uint8_t *b, uint8_t *h, uint8_t *j, int n) {
    int16_t sum[MOTUS_LUMA_SLICE + 5]; // of columns -2 .. n + 2
    const uint8_t *g = row[2];
    for (int i = 0; i < 5; i++) sum[i] = vertical(row, i - 2);
    for (int x = 0; x < n; x++) {
        int16_t *s = sum + x;
        s[5] = vertical(row, x + 3);
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

static const MotusLumaOps *luma_ops(void) {
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) return &motus_luma_ops_avx2;
#endif
    return &luma_ops_c;
}

// A tap of a quarter position: a plane, and whether the sample to the right (x) or below (y).
typedef struct Tap {
    int plane, x, y;
} Tap;

// Both taps of position (mv.x & 3, mv.y & 3), equal if nothing is averaged. Letters: figure 8-4.
static void quarter_taps(int fx, int fy, Tap tap[2]) {
    const Tap j = {3, 0, 0};
    tap[0] = (Tap){fx != 0, 0, fy == 3};    // G or b of the nearer row
    tap[1] = (Tap){fy ? 2 : 0, fx == 3, 0}; // G or h of the nearer column
    if (fx == 2 && fy == 2)
        tap[0] = tap[1] = j;
    else if (fx == 2 && fy)
        tap[1] = j; // f, q
    else if (fy == 2 && fx)
        tap[0] = j; // i, k
    else if (fx == 2)
        tap[1] = tap[0]; // b
    else if (fy == 2)
        tap[0] = tap[1]; // h
}

static size_t row_bytes(int width) {
    return ((size_t)(16 * motus_mbs(width)) + 2 * (MOTUS_REF_PAD + MARGIN) + 63) / 64 * 64;
}

static size_t plane_bytes(int width, int height) {
    return ((size_t)(16 * motus_mbs(height)) + 2 * MOTUS_REF_PAD) * row_bytes(width);
}

size_t motus_ref_luma_bytes(int width, int height) { return 4 * plane_bytes(width, height); }

void motus_ref_luma_layout(MotusRefLuma *ref, void *memory, int width, int height) {
    size_t plane_size = plane_bytes(width, height);
    memset(ref, 0, sizeof *ref);
    ref->width = 16 * motus_mbs(width);
    ref->height = 16 * motus_mbs(height);
    ref->stride = (ptrdiff_t)row_bytes(width);
    ref->memory = memory;
    for (int k = 0; k < 4; k++)
        ref->plane[k] = ref->memory + (size_t)k * plane_size + MOTUS_REF_PAD * ref->stride +
                        MOTUS_REF_PAD + MARGIN;
    for (int i = 0; i < 16; i++) {
        Tap tap[2];
        quarter_taps(i & 3, i >> 2, tap);
        for (int k = 0; k < 2; k++)
            ref->tap[i][k] =
                tap[k].plane * (ptrdiff_t)plane_size + tap[k].y * ref->stride + tap[k].x;
    }
}

MotusStatus motus_ref_luma_alloc(MotusRefLuma *ref, int width, int height) {
    if (!ref || width < 1 || height < 1 || width > MOTUS_MAX_SIZE || height > MOTUS_MAX_SIZE)
        return MOTUS_ERR_ARGUMENT;
    memset(ref, 0, sizeof *ref);
    void *memory = motus_alloc(1, motus_ref_luma_bytes(width, height));
    if (!memory) return MOTUS_ERR_MEMORY;
    motus_ref_luma_layout(ref, memory, width, height);
    ref->ops = luma_ops();
    return MOTUS_OK;
}

void motus_ref_luma_free(MotusRefLuma *ref) {
    motus_free(ref->memory);
    memset(ref, 0, sizeof *ref);
}

// Writes row y of plane 0 with border and margin. Rows outside repeat the first or last one.
static void copy_row(const MotusRefLuma *ref, const MotusPlane *luma, int y) {
    const uint8_t *src = luma->data + motus_clip(0, luma->height - 1, y) * luma->stride;
    uint8_t *dst = ref->plane[0] + y * ref->stride;
    memcpy(dst, src, (size_t)luma->width);
    motus_row_pad(dst, luma->width, MOTUS_REF_PAD + MARGIN,
                  ref->width - luma->width + MOTUS_REF_PAD + MARGIN);
}

// Writes row y of the half planes, border included.
static void filter_row(const MotusRefLuma *ref, int y) {
    int last = ref->height + MOTUS_REF_PAD - 1;
    for (int x = -MOTUS_REF_PAD; x < ref->width + MOTUS_REF_PAD; x += MOTUS_LUMA_SLICE) {
        const uint8_t *row[6];
        for (int i = 0; i < 6; i++)
            row[i] = ref->plane[0] + motus_clip(-MOTUS_REF_PAD, last, y + i - 2) * ref->stride + x;
        ptrdiff_t at = y * ref->stride + x;
        ref->ops->half_row(row, ref->plane[1] + at, ref->plane[2] + at, ref->plane[3] + at,
                           motus_min(MOTUS_LUMA_SLICE, ref->width + MOTUS_REF_PAD - x));
    }
}

void motus_ref_luma_build(MotusRefLuma *ref, const MotusPlane *luma, int with_half, int threads) {
    int first = -MOTUS_REF_PAD, end = ref->height + MOTUS_REF_PAD;
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic, 8)
        for (int y = first; y < end; y++) copy_row(ref, luma, y);
#pragma omp for schedule(dynamic, 8)
        for (int y = first; y < (with_half ? end : first); y++) filter_row(ref, y);
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
