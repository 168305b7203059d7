// Words of two signed 16-bit values, the first one low, for which GPUs have instructions; elsewhere
// the same in C, for tests. Sums are modulo 2^16 in each half.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_PAIRS_WARP_CUH
#define DCT_PAIRS_WARP_CUH

#include "common/int_core.h"
#include "common/lanes.h"

#ifdef __CUDACC__
MOTUS_WARP uint32_t motus_pairs_add(uint32_t a, uint32_t b) { return __vadd2(a, b); }
MOTUS_WARP uint32_t motus_pairs_sub(uint32_t a, uint32_t b) { return __vsub2(a, b); }
MOTUS_WARP uint32_t motus_pairs_min(uint32_t a, uint32_t b) { return __vmins2(a, b); }
MOTUS_WARP uint32_t motus_pairs_max(uint32_t a, uint32_t b) { return __vmaxs2(a, b); }
// Returns max(0, min(255, a + b)).
MOTUS_WARP uint32_t motus_pairs_add_clip(uint32_t a, uint32_t b) {
    return __viaddmin_s16x2_relu(a, b, 0x00FF00FF);
}
// Returns four of the bytes of a (0 to 3) and b (4 to 7), numbered by the nibbles of `which`.
MOTUS_WARP uint32_t motus_word_bytes(uint32_t a, uint32_t b, uint32_t which) {
    return __byte_perm(a, b, which);
}
#else
MOTUS_WARP uint32_t motus_pairs_of(int low, int high) {
    return (uint32_t)(low & 0xFFFF) | (uint32_t)high << 16;
}
MOTUS_WARP int motus_pairs_low(uint32_t a) { return (int16_t)(a & 0xFFFF); }
MOTUS_WARP int motus_pairs_high(uint32_t a) { return (int16_t)(a >> 16); }
MOTUS_WARP uint32_t motus_pairs_add(uint32_t a, uint32_t b) {
    return motus_pairs_of(motus_pairs_low(a) + motus_pairs_low(b),
                          motus_pairs_high(a) + motus_pairs_high(b));
}
MOTUS_WARP uint32_t motus_pairs_sub(uint32_t a, uint32_t b) {
    return motus_pairs_of(motus_pairs_low(a) - motus_pairs_low(b),
                          motus_pairs_high(a) - motus_pairs_high(b));
}
MOTUS_WARP uint32_t motus_pairs_min(uint32_t a, uint32_t b) {
    return motus_pairs_of(motus_min(motus_pairs_low(a), motus_pairs_low(b)),
                          motus_min(motus_pairs_high(a), motus_pairs_high(b)));
}
MOTUS_WARP uint32_t motus_pairs_max(uint32_t a, uint32_t b) {
    return motus_pairs_of(motus_max(motus_pairs_low(a), motus_pairs_low(b)),
                          motus_max(motus_pairs_high(a), motus_pairs_high(b)));
}
MOTUS_WARP uint32_t motus_pairs_add_clip(uint32_t a, uint32_t b) {
    return motus_pairs_of(motus_clip(0, 255, motus_pairs_low(a) + motus_pairs_low(b)),
                          motus_clip(0, 255, motus_pairs_high(a) + motus_pairs_high(b)));
}
MOTUS_WARP uint32_t motus_word_bytes(uint32_t a, uint32_t b, uint32_t which) {
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        const int at = (int)(which >> 4 * i & 7);
        word |= ((at < 4 ? a : b) >> 8 * (at & 3) & 255) << 8 * i;
    }
    return word;
}
#endif

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

#endif
