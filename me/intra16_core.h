// Neighbouring samples of a block, and Intra16x16 prediction from them (8.3.3), for the encoder and
// for the statistics of motion estimation.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_INTRA16_CORE_H
#define ME_INTRA16_CORE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/int_core.h"
#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

enum { MOTUS_HAS_LEFT = 1, MOTUS_HAS_TOP = 2, MOTUS_HAS_CORNER = 4, MOTUS_HAS_TOP_RIGHT = 8 };

// Intra16x16PredMode, table 8-4.
enum { MOTUS_I16_VERTICAL, MOTUS_I16_HORIZONTAL, MOTUS_I16_DC, MOTUS_I16_PLANE, MOTUS_I16_MODES };

// Neighbours that the modes need, four bits per mode.
enum {
    MOTUS_I16_NEEDS = MOTUS_HAS_TOP << 4 * MOTUS_I16_VERTICAL |
                      MOTUS_HAS_LEFT << 4 * MOTUS_I16_HORIZONTAL |
                      (MOTUS_HAS_LEFT | MOTUS_HAS_TOP | MOTUS_HAS_CORNER) << 4 * MOTUS_I16_PLANE
};

// Samples around a block; only those in `has` are valid. top[] continues to the right of the block
// (4x4 blocks: 4 more).
typedef struct MotusIntraEdge {
    uint8_t corner, left[16], top[24];
    uint8_t has; // mask of MOTUS_HAS_*
} MotusIntraEdge;

MOTUS_HD int motus_intra_sum(const uint8_t *sample, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += sample[i];
    return sum;
}

// Returns the mean of the available ones of n top and n left samples, or 128; n = 1 << log2_n.
MOTUS_HD int motus_intra_dc(const uint8_t *top, const uint8_t *left, int log2_n, int has) {
    const int n = 1 << log2_n;
    switch (has & (MOTUS_HAS_LEFT | MOTUS_HAS_TOP)) {
    case MOTUS_HAS_LEFT | MOTUS_HAS_TOP:
        return (motus_intra_sum(top, n) + motus_intra_sum(left, n) + n) >> (log2_n + 1);
    case MOTUS_HAS_LEFT:
        return (motus_intra_sum(left, n) + n / 2) >> log2_n;
    case MOTUS_HAS_TOP:
        return (motus_intra_sum(top, n) + n / 2) >> log2_n;
    default:
        return 128;
    }
}

// Plane prediction (8.3.3.4, 8.3.4.4): sample (x, y) = clip((base + b * x + c * y) >> 5).
// |b| and |c| are at most 717 (size 16) or 1355 (size 8), so partial sums stay within +-20,000.
typedef struct MotusIntraPlane {
    int base, b, c;
} MotusIntraPlane;

// Returns the slope along a side of 2 * half samples; the corner is the sample before the first.
MOTUS_HD int motus_intra_slope(const uint8_t *side, int corner, int half) {
    int sum = half * (side[2 * half - 1] - corner);
    for (int i = 1; i < half; i++) sum += i * (side[half - 1 + i] - side[half - 1 - i]);
    return half == 8 ? (5 * sum + 32) >> 6 : (34 * sum + 32) >> 6;
}

MOTUS_HD MotusIntraPlane motus_intra_plane(const MotusIntraEdge *edge, int size) {
    MotusIntraPlane p;
    p.b = motus_intra_slope(edge->top, edge->corner, size / 2);
    p.c = motus_intra_slope(edge->left, edge->corner, size / 2);
    p.base = 16 * (edge->top[size - 1] + edge->left[size - 1]) + 16 - (size / 2 - 1) * (p.b + p.c);
    return p;
}

// size: 8 or 16.
MOTUS_HD void motus_intra_plane_row(uint8_t *row, const MotusIntraPlane *p, int y, int size) {
    const int16_t start = (int16_t)(p->base + p->c * y), step = (int16_t)p->b;
#if defined(__AVX2__) && !defined(__CUDACC__)
    const __m128i first = _mm_set1_epi16(start), steps = _mm_set1_epi16(step),
                  x = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
    const __m128i low = _mm_add_epi16(first, _mm_mullo_epi16(steps, x)),
                  high = _mm_add_epi16(low, _mm_slli_epi16(steps, 3)),
                  out = _mm_packus_epi16(_mm_srai_epi16(low, 5), _mm_srai_epi16(high, 5));
    if (size == 16)
        _mm_storeu_si128((__m128i *)row, out);
    else
        _mm_storel_epi64((__m128i *)row, out);
#else
    for (int x = 0; x < size; x++) {
        const int16_t v = (int16_t)((int16_t)(start + step * x) >> 5);
        row[x] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
#endif
}

// Collects the neighbours in `has` of the size x size block at `at`. A 4x4 block with MOTUS_HAS_TOP
// always gets MOTUS_HAS_TOP_RIGHT: if that is missing, top[4..7] repeats top[3] (8.3.1.2).
MOTUS_HD void motus_intra_edge(MotusIntraEdge *edge, const uint8_t *at, ptrdiff_t stride, int size,
                               int has) {
    for (int y = 0; y < size; y++) edge->left[y] = has & MOTUS_HAS_LEFT ? at[y * stride - 1] : 0;
    for (int x = 0; x < size; x++) edge->top[x] = has & MOTUS_HAS_TOP ? at[x - stride] : 0;
    edge->corner = has & MOTUS_HAS_CORNER ? at[-stride - 1] : 0;
    if (size == 4) {
        for (int x = 4; x < 8; x++)
            edge->top[x] = has & MOTUS_HAS_TOP_RIGHT ? at[x - stride] : edge->top[3];
        if (has & MOTUS_HAS_TOP) has |= MOTUS_HAS_TOP_RIGHT;
    }
    edge->has = (uint8_t)has;
}

// True if the mode's neighbours are all in `has`.
MOTUS_HD int motus_intra16x16_allowed(int mode, int has) {
    return !((MOTUS_I16_NEEDS >> (4 * mode) & 7) & ~has);
}

// `size` is a constant in every call, so these loops become plain stores.
MOTUS_HD void motus_intra_fill_rows(uint8_t *pred, ptrdiff_t stride, const uint8_t *row, int size) {
    for (int y = 0; y < size; y++) memcpy(pred + y * stride, row, (size_t)size);
}

MOTUS_HD void motus_intra_fill_columns(uint8_t *pred, ptrdiff_t stride, const uint8_t *column,
                                       int size) {
    for (int y = 0; y < size; y++) memset(pred + y * stride, column[y], (size_t)size);
}

MOTUS_HD void motus_intra_fill(uint8_t *pred, ptrdiff_t stride, int value, int size) {
    for (int y = 0; y < size; y++) memset(pred + y * stride, value, (size_t)size);
}

MOTUS_HD void motus_intra_fill_plane(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge,
                                     int size) {
    const MotusIntraPlane plane = motus_intra_plane(edge, size);
    for (int y = 0; y < size; y++) motus_intra_plane_row(pred + y * stride, &plane, y, size);
}

MOTUS_HD void motus_intra16x16(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge,
                               int mode) {
    switch (mode) {
    case MOTUS_I16_VERTICAL:
        motus_intra_fill_rows(pred, stride, edge->top, 16);
        break;
    case MOTUS_I16_HORIZONTAL:
        motus_intra_fill_columns(pred, stride, edge->left, 16);
        break;
    case MOTUS_I16_DC:
        motus_intra_fill(pred, stride, motus_intra_dc(edge->top, edge->left, 4, edge->has), 16);
        break;
    default:
        motus_intra_fill_plane(pred, stride, edge, 16);
        break;
    }
}

#endif
