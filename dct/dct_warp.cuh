// Words of two signed 16-bit values, the first one low, for which GPUs have instructions (elsewhere
// the same in C, for tests), and 4x4 transforms on them, for a warp lane that holds a block. Equal
// to those of dct_core.h (suite dct). Sums are modulo 2^16 in each half. Orders of words. By
// columns: word 2y + h has values (y, 2h), low, and (y, 2h + 1); samples are loaded so. By rows:
// word 4h + x has values (2h, x) and (2h + 1, x).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT_WARP_CUH
#define DCT_DCT_WARP_CUH

#include "common/int_core.h"
#include "common/lanes.h"

#ifndef __CUDACC__
MOTUS_WARP uint32_t motus_pairs_of(int low, int high) {
    return (uint32_t)(low & 0xFFFF) | (uint32_t)high << 16;
}
#endif

MOTUS_WARP uint32_t motus_pairs_add(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    return __vadd2(a, b);
#else
    return motus_pairs_of((int16_t)a + (int16_t)b, (int16_t)(a >> 16) + (int16_t)(b >> 16));
#endif
}

MOTUS_WARP uint32_t motus_pairs_sub(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    return __vsub2(a, b);
#else
    return motus_pairs_of((int16_t)a - (int16_t)b, (int16_t)(a >> 16) - (int16_t)(b >> 16));
#endif
}

MOTUS_WARP uint32_t motus_pairs_min(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    return __vmins2(a, b);
#else
    return motus_pairs_of(motus_min((int16_t)a, (int16_t)b),
                          motus_min((int16_t)(a >> 16), (int16_t)(b >> 16)));
#endif
}

MOTUS_WARP uint32_t motus_pairs_max(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    return __vmaxs2(a, b);
#else
    return motus_pairs_of(motus_max((int16_t)a, (int16_t)b),
                          motus_max((int16_t)(a >> 16), (int16_t)(b >> 16)));
#endif
}

// Returns max(0, min(255, a + b)).
MOTUS_WARP uint32_t motus_pairs_add_clip(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    return __viaddmin_s16x2_relu(a, b, 0x00FF00FF);
#else
    return motus_pairs_of(motus_clip(0, 255, (int16_t)a + (int16_t)b),
                          motus_clip(0, 255, (int16_t)(a >> 16) + (int16_t)(b >> 16)));
#endif
}

// Returns four of the bytes of a (0 to 3) and b (4 to 7), numbered by the nibbles of `which`.
MOTUS_WARP uint32_t motus_word_bytes(uint32_t a, uint32_t b, uint32_t which) {
#ifdef __CUDACC__
    return __byte_perm(a, b, which);
#else
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        const int at = (int)(which >> 4 * i & 7);
        word |= ((at < 4 ? a : b) >> 8 * (at & 3) & 255) << 8 * i;
    }
    return word;
#endif
}

MOTUS_WARP uint32_t motus_pairs_abs(uint32_t a) {
    return motus_pairs_max(a, motus_pairs_sub(0, a));
}

// Returns the halves of both values, rounded down.
MOTUS_WARP uint32_t motus_pairs_half(uint32_t a) {
    return (a >> 1 & 0x7FFF7FFF) | (a & 0x80008000);
}

MOTUS_WARP uint32_t motus_pairs_median(uint32_t a, uint32_t b, uint32_t c) {
    return motus_pairs_max(motus_pairs_min(a, b), motus_pairs_min(motus_pairs_max(a, b), c));
}

// Equals motus_forward4 of two columns, or rows; words lie `step` apart.
MOTUS_WARP void motus_pairs_forward4(uint32_t *v, int step) {
    const uint32_t sum03 = motus_pairs_add(v[0], v[3 * step]),
                   diff03 = motus_pairs_sub(v[0], v[3 * step]);
    const uint32_t sum12 = motus_pairs_add(v[step], v[2 * step]),
                   diff12 = motus_pairs_sub(v[step], v[2 * step]);
    v[0] = motus_pairs_add(sum03, sum12);
    v[step] = motus_pairs_add(motus_pairs_add(diff03, diff03), diff12);
    v[2 * step] = motus_pairs_sub(sum03, sum12);
    v[3 * step] = motus_pairs_sub(diff03, motus_pairs_add(diff12, diff12));
}

// Equals motus_inverse4 of two columns, or rows.
MOTUS_WARP void motus_pairs_inverse4(uint32_t *v, int step) {
    const uint32_t sum02 = motus_pairs_add(v[0], v[2 * step]),
                   diff02 = motus_pairs_sub(v[0], v[2 * step]);
    const uint32_t odd1 = motus_pairs_sub(motus_pairs_half(v[step]), v[3 * step]);
    const uint32_t odd3 = motus_pairs_add(v[step], motus_pairs_half(v[3 * step]));
    v[0] = motus_pairs_add(sum02, odd3);
    v[step] = motus_pairs_add(diff02, odd1);
    v[2 * step] = motus_pairs_sub(diff02, odd1);
    v[3 * step] = motus_pairs_sub(sum02, odd3);
}

// Transforms src - pred, one word of four samples per row. coef: by rows.
MOTUS_WARP void motus_pairs_forward(uint32_t coef[8], const uint32_t src[4],
                                    const uint32_t pred[4]) {
    uint32_t d[8];
    for (int y = 0; y < 4; y++) {
        d[2 * y] = motus_pairs_sub(motus_word_bytes(src[y], 0, 0x4140),
                                   motus_word_bytes(pred[y], 0, 0x4140));
        d[2 * y + 1] = motus_pairs_sub(motus_word_bytes(src[y], 0, 0x4342),
                                       motus_word_bytes(pred[y], 0, 0x4342));
    }
    for (int h = 0; h < 2; h++) motus_pairs_forward4(d + h, 2);
    for (int h = 0; h < 2; h++) {
        for (int x = 0; x < 4; x++)
            coef[4 * h + x] =
                motus_word_bytes(d[4 * h + x / 2], d[4 * h + 2 + x / 2], x & 1 ? 0x7632 : 0x5410);
        motus_pairs_forward4(coef + 4 * h, 1);
    }
}

// Adds the inverse transform of coef (scaled, by rows; overwritten) to pred, one word per row.
MOTUS_WARP void motus_pairs_inverse_add(uint32_t sum[4], uint32_t coef[8], const uint32_t pred[4]) {
    uint32_t r[8];
    // Adds 32 for rounding and 512 << 6, so that the shift below sees positive values. Residuals
    // are within +-512 after it. The DC carries both to every sample.
    coef[0] = motus_pairs_add(coef[0], 0x8020);
    for (int h = 0; h < 2; h++) motus_pairs_inverse4(coef + 4 * h, 1);
    for (int i = 0; i < 8; i++) { // word 2y + h
        const int y = i >> 1, x = 2 * (i & 1), from = y & 2 ? 4 : 0;
        r[i] = motus_word_bytes(coef[from + x], coef[from + x + 1], y & 1 ? 0x7632 : 0x5410);
    }
    for (int h = 0; h < 2; h++) motus_pairs_inverse4(r + h, 2);
    for (int y = 0; y < 4; y++) {
        // Samples minus 512: 0xFE is the upper byte of -512.
        const uint32_t low = motus_pairs_add_clip(r[2 * y] >> 6 & 0x03FF03FF,
                                                  motus_word_bytes(pred[y], 0xFE, 0x4140));
        const uint32_t high = motus_pairs_add_clip(r[2 * y + 1] >> 6 & 0x03FF03FF,
                                                   motus_word_bytes(pred[y], 0xFE, 0x4342));
        sum[y] = motus_word_bytes(low, high, 0x6420);
    }
}

#endif
