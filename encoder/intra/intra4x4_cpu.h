// Intra prediction of 4x4 blocks on the CPU (8.3.1.2). intra4x4_modes_warp.cuh is the warp's
// version.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA4X4_CPU_H
#define ENCODER_INTRA_INTRA4X4_CPU_H

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

// ---- All modes ----------------------------------------------------------------------------------

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

#endif
