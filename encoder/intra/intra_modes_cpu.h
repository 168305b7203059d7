// Intra prediction of luma 4x4 blocks (8.3.1.2) and 8x8 blocks (8.3.2) on the CPU.
// intra4x4_modes_warp.cuh and intra8x8_warp.cuh are the warp's versions.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_MODES_CPU_H
#define ENCODER_INTRA_INTRA_MODES_CPU_H

#include <string.h>

#include "encoder/mb/intra_core.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

// Edge of a 4x4 block as one line around its corner: L3 L2 L1 L0 corner T0 .. T7 T7 (8.3.1.2.4) 0.
// A row of a directional mode is four neighbouring values of `half` or `smooth`.
typedef struct MotusIntraLine {
    uint8_t e[16];
    uint8_t half[16];   // [0..13]: rounded mean of e[i] and e[i + 1]
    uint8_t smooth[16]; // [1..13]: (e[i - 1] + 2 e[i] + e[i + 1] + 2) / 4
} MotusIntraLine;

static inline void motus_intra_line(MotusIntraLine *line, const MotusIntraEdge *edge) {
    uint8_t *e = line->e;
    for (int i = 0; i < 4; i++) e[i] = edge->left[3 - i];
    e[MOTUS_LINE_CORNER] = edge->corner;
    memcpy(e + MOTUS_LINE_TOP, edge->top, 8);
    e[13] = edge->top[7];
    e[14] = e[15] = 0;
    line->half[15] = line->smooth[0] = line->smooth[15] = 0;
    for (int i = 0; i < 15; i++) line->half[i] = (uint8_t)((e[i] + e[i + 1] + 1) >> 1);
    for (int i = 1; i < 15; i++)
        line->smooth[i] = (uint8_t)((e[i - 1] + 2 * e[i] + e[i + 1] + 2) >> 2);
}

// Predicts a 4x4 block. line: motus_intra_line of the edge; not read for vertical, horizontal and
// DC.
static inline void motus_intra4x4(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge,
                                  const MotusIntraLine *line, int mode) {
    const uint8_t *half = line->half, *smooth = line->smooth, last = line->e[0];
    uint8_t run[10]; // of rows that overlap
    switch (mode) {
    case MOTUS_I4_VERTICAL:
        motus_intra_fill_rows(pred, stride, edge->top, 4);
        break;
    case MOTUS_I4_HORIZONTAL:
        motus_intra_fill_columns(pred, stride, edge->left, 4);
        break;
    case MOTUS_I4_DC:
        motus_intra_fill(pred, stride, motus_intra_dc(edge->top, edge->left, 2, edge->has), 4);
        break;
    case MOTUS_I4_DOWN_LEFT:
        for (int y = 0; y < 4; y++) memcpy(pred + y * stride, smooth + MOTUS_LINE_TOP + 1 + y, 4);
        break;
    case MOTUS_I4_DOWN_RIGHT:
        for (int y = 0; y < 4; y++) memcpy(pred + y * stride, smooth + MOTUS_LINE_CORNER - y, 4);
        break;
    case MOTUS_I4_VERTICAL_LEFT:
        for (int y = 0; y < 4; y += 2) {
            memcpy(pred + y * stride, half + MOTUS_LINE_TOP + y / 2, 4);
            memcpy(pred + (y + 1) * stride, smooth + MOTUS_LINE_TOP + 1 + y / 2, 4);
        }
        break;
    case MOTUS_I4_VERTICAL_RIGHT: // rows 2 and 3 begin on the left edge
        for (int y = 0; y < 4; y++) {
            const uint8_t *from = (y & 1 ? smooth : half) + 4;
            pred[y * stride] = y < 2 ? from[0] : smooth[5 - y];
            memcpy(pred + y * stride + 1, from + (y < 2), 3);
        }
        break;
    case MOTUS_I4_HORIZONTAL_DOWN: // half and smooth values alternate up the left edge, smooth ones
                                   // follow past the corner
        for (int i = 0; i < 4; i++) run[2 * i] = half[i], run[2 * i + 1] = smooth[i + 1];
        run[8] = smooth[5], run[9] = smooth[6];
        for (int y = 0; y < 4; y++) memcpy(pred + y * stride, run + 2 * (3 - y), 4);
        break;
    default: // horizontal up: they alternate down the left edge, then its last sample repeats
        for (int i = 0; i < 3; i++) run[2 * i] = half[2 - i], run[2 * i + 1] = smooth[2 - i];
        run[5] = (uint8_t)((line->e[1] + 3 * last + 2) >> 2);
        run[6] = run[7] = run[8] = run[9] = last;
        for (int y = 0; y < 4; y++) memcpy(pred + y * stride, run + 2 * y, 4);
        break;
    }
}

// ---- All modes of a 4x4 block -------------------------------------------------------------------

#ifdef __AVX2__
// Samples of each mode (8.3.1.2.1 to 8.3.1.2.9), DC apart: bits 0..3 are a position in e (bits 4
// and 5 are 0), in half (1) or in smooth (2), whose first value takes e[-1] to be e[0].
#define H(i) (16 + (i))
#define S(i) (32 + (i))
static const uint8_t intra4x4_samples[MOTUS_I4_MODES][16] = {
    [MOTUS_I4_VERTICAL] = {5, 6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8},
    [MOTUS_I4_HORIZONTAL] = {3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0},
    [MOTUS_I4_DOWN_LEFT] = {S(6), S(7), S(8), S(9), S(7), S(8), S(9), S(10), S(8), S(9), S(10),
                            S(11), S(9), S(10), S(11), S(12)},
    [MOTUS_I4_DOWN_RIGHT] = {S(4), S(5), S(6), S(7), S(3), S(4), S(5), S(6), S(2), S(3), S(4), S(5),
                             S(1), S(2), S(3), S(4)},
    [MOTUS_I4_VERTICAL_RIGHT] = {H(4), H(5), H(6), H(7), S(4), S(5), S(6), S(7), S(3), H(4), H(5),
                                 H(6), S(2), S(4), S(5), S(6)},
    [MOTUS_I4_HORIZONTAL_DOWN] = {H(3), S(4), S(5), S(6), H(2), S(3), H(3), S(4), H(1), S(2), H(2),
                                  S(3), H(0), S(1), H(1), S(2)},
    [MOTUS_I4_VERTICAL_LEFT] = {H(5), H(6), H(7), H(8), S(6), S(7), S(8), S(9), H(6), H(7), H(8),
                                H(9), S(7), S(8), S(9), S(10)},
    [MOTUS_I4_HORIZONTAL_UP] = {H(2), S(2), H(1), S(1), H(1), S(1), H(0), S(0), H(0), S(0), 0, 0, 0,
                                0, 0, 0}};
#undef H
#undef S

// Selects the samples that are positions in line k.
static inline __m128i select_samples(__m128i line, __m128i samples, int k) {
    const __m128i own = _mm_xor_si128(samples, _mm_set1_epi8((char)(16 * k)));
    return _mm_shuffle_epi8(line, _mm_adds_epu8(own, _mm_set1_epi8(0x70)));
}
#endif

// Predicts a 4x4 block by all modes, at 16 * mode, rows of 4. Samples of modes that are not allowed
// (motus_intra4x4_allowed) are undefined.
static inline void motus_intra4x4_modes(uint8_t pred[16 * MOTUS_I4_MODES],
                                        const MotusIntraEdge *edge) {
#ifdef __AVX2__
    const __m128i before = _mm_setr_epi8(0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
    _Alignas(16) uint8_t around[16] = {0};
    for (int i = 0; i < 4; i++) around[i] = edge->left[3 - i];
    around[MOTUS_LINE_CORNER] = edge->corner;
    memcpy(around + MOTUS_LINE_TOP, edge->top, 8);
    around[13] = edge->top[7];
    const __m128i e = _mm_load_si128((const __m128i *)around), next = _mm_srli_si128(e, 1),
                  last = _mm_shuffle_epi8(e, before), half = _mm_avg_epu8(e, next);
    // (last + 2 e + next + 2) / 4 is the mean of e and the mean of the others, rounded down.
    const __m128i odd = _mm_and_si128(_mm_xor_si128(last, next), _mm_set1_epi8(1)),
                  smooth = _mm_avg_epu8(_mm_sub_epi8(_mm_avg_epu8(last, next), odd), e);
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
        const __m128i from = _mm_loadu_si128((const __m128i *)intra4x4_samples[mode]);
        const __m128i all =
            _mm_or_si128(_mm_or_si128(select_samples(e, from, 0), select_samples(half, from, 1)),
                         select_samples(smooth, from, 2));
        _mm_storeu_si128((__m128i *)(pred + 16 * mode), all);
    }
    memset(pred + 16 * MOTUS_I4_DC, motus_intra_dc(edge->top, edge->left, 2, edge->has), 16);
#else
    MotusIntraLine line;
    motus_intra_line(&line, edge);
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++)
        if (motus_intra4x4_allowed(mode, edge->has))
            motus_intra4x4(pred + 16 * mode, 4, edge, &line, mode);
#endif
}

// ---- 8x8 blocks ---------------------------------------------------------------------------------

// Positions in the filtered edge of an 8x8 block as one line: L7 .. L0 corner T0 .. T15.
enum { MOTUS_LINE8_CORNER = 8, MOTUS_LINE8_TOP = 9, MOTUS_LINE8_SIZE = 25 };

// The filtered edge, and lines made from it: each row of a directional mode is eight samples in
// succession of one of them.
typedef struct MotusIntraLine8 {
    uint8_t e[MOTUS_LINE8_SIZE];      // p' of 8.3.2.2.1
    uint8_t half[MOTUS_LINE8_SIZE];   // [0..23]: rounded mean of e[i] and e[i + 1]
    uint8_t smooth[MOTUS_LINE8_SIZE]; // (e[i - 1] + 2 e[i] + e[i + 1] + 2) / 4; ends repeat e
    uint8_t right[2][11];             // vertical right (8.3.2.2.7): even rows, odd rows
    uint8_t down[22];                 // horizontal down (8.3.2.2.8)
    uint8_t up[22];                   // horizontal up (8.3.2.2.10)
    int has;
} MotusIntraLine8;

static inline uint8_t smooth3(int a, int b, int c) { return (uint8_t)((a + 2 * b + c + 2) >> 2); }

// Collects and filters the neighbours in `has` of the block at `at` (8.3.2.2.1). Others are 0.
static inline void motus_intra_line8(MotusIntraLine8 *line, const uint8_t *at, ptrdiff_t stride,
                                     int has) {
    uint8_t p[MOTUS_LINE8_SIZE] = {0}, *e = line->e;
    const int left = has & MOTUS_HAS_LEFT, top = has & MOTUS_HAS_TOP,
              corner = has & MOTUS_HAS_CORNER;
    const uint8_t *above = at - stride;
    for (int i = 0; i < 8 && left; i++) p[7 - i] = at[i * stride - 1];
    if (corner) p[MOTUS_LINE8_CORNER] = above[-1];
    for (int i = 0; i < 16 && top; i++)
        p[MOTUS_LINE8_TOP + i] = above[has & MOTUS_HAS_TOP_RIGHT ? i : motus_min(i, 7)];
    memset(e, 0, sizeof line->e);
    for (int i = 1; i < MOTUS_LINE8_SIZE - 1; i++) e[i] = smooth3(p[i - 1], p[i], p[i + 1]);
    e[0] = smooth3(p[0], p[0], p[1]);
    e[24] = smooth3(p[23], p[24], p[24]);
    if (!corner) e[7] = smooth3(p[6], p[7], p[7]), e[9] = smooth3(p[9], p[9], p[10]);
    if (!top) e[8] = smooth3(p[7], p[8], p[8]);
    if (!left) e[8] = smooth3(p[8], p[8], p[9]);
    line->has = has;
    // The lines that are made from e.
    uint8_t *half = line->half, *smooth = line->smooth;
    for (int i = 0; i < 24; i++) half[i] = (uint8_t)((e[i] + e[i + 1] + 1) >> 1);
    for (int i = 1; i < 24; i++) smooth[i] = smooth3(e[i - 1], e[i], e[i + 1]);
    half[24] = 0;
    smooth[0] = smooth3(e[0], e[0], e[1]), smooth[24] = smooth3(e[23], e[24], e[24]);
    for (int i = 0; i < 3; i++)
        line->right[0][i] = smooth[2 * i + 3], line->right[1][i] = smooth[2 * i + 2];
    memcpy(line->right[0] + 3, half + MOTUS_LINE8_CORNER, 8);
    memcpy(line->right[1] + 3, smooth + MOTUS_LINE8_CORNER, 8);
    for (int i = 0; i < 7; i++) {
        line->down[2 * i] = half[i], line->down[2 * i + 1] = smooth[i + 1];
        line->up[2 * i] = half[6 - i], line->up[2 * i + 1] = smooth[6 - i];
    }
    line->down[14] = half[7];
    memcpy(line->down + 15, smooth + MOTUS_LINE8_CORNER, 7);
    memset(line->up + 14, e[0], 8);
}

// Predicts a block by a MOTUS_I4_* mode that its neighbours allow (motus_intra4x4_allowed).
static inline void motus_intra8x8(uint8_t *pred, ptrdiff_t stride, const MotusIntraLine8 *line,
                                  int mode) {
    const uint8_t *corner = line->smooth + MOTUS_LINE8_CORNER, *top = line->e + MOTUS_LINE8_TOP,
                  *half = line->half + MOTUS_LINE8_TOP, *smooth = line->smooth + MOTUS_LINE8_TOP;
    const int has = line->has & (MOTUS_HAS_LEFT | MOTUS_HAS_TOP);
    // Row y begins at even or odd + y / 2 * step.
    const uint8_t *even = line->up, *odd = line->up + 2;
    int step = 4, left = 0, above = 0, dc = 128;
    switch (mode) {
    case MOTUS_I4_HORIZONTAL:
        for (int y = 0; y < 8; y++) memset(pred + y * stride, line->e[7 - y], 8);
        return;
    case MOTUS_I4_DC:
        for (int i = 0; i < 8; i++) left += line->e[i], above += top[i];
        if (has == (MOTUS_HAS_LEFT | MOTUS_HAS_TOP))
            dc = (left + above + 8) >> 4;
        else if (has)
            dc = ((has & MOTUS_HAS_LEFT ? left : above) + 4) >> 3;
        for (int y = 0; y < 8; y++) memset(pred + y * stride, dc, 8);
        return;
    case MOTUS_I4_VERTICAL:
        even = odd = top, step = 0;
        break;
    case MOTUS_I4_DOWN_LEFT:
        even = smooth + 1, odd = smooth + 2, step = 2;
        break;
    case MOTUS_I4_DOWN_RIGHT:
        even = corner, odd = corner - 1, step = -2;
        break;
    case MOTUS_I4_VERTICAL_RIGHT:
        even = line->right[0] + 3, odd = line->right[1] + 3, step = -1;
        break;
    case MOTUS_I4_HORIZONTAL_DOWN:
        even = line->down + 14, odd = line->down + 12, step = -4;
        break;
    case MOTUS_I4_VERTICAL_LEFT:
        even = half, odd = smooth + 1, step = 1;
        break;
    default: // horizontal up
        break;
    }
    for (int y = 0; y < 8; y++)
        memcpy(pred + y * stride, (y & 1 ? odd : even) + (y >> 1) * step, 8);
}

#endif
