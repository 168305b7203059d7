// The vector type of templates, for files compiled with AVX2 (PARTS 2) or AVX-512 (PARTS 4). The
// includer defines PARTS.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_VECTOR_TMPL_H
#define ME_PIXEL_VECTOR_TMPL_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define LANES (8 * PARTS) // of 16 bits

// V has PARTS parts of 128 bits; OP(add_epi16) is its intrinsic of that name.
#if PARTS == 2
typedef __m256i V;
#define OP(name) _mm256_##name
#else
typedef __m512i V;
#define OP(name) _mm512_##name
#endif

// Loads 16 bytes from each address, from any.
INLINE V parts(const void *const p[PARTS]) {
#if PARTS == 2
    return _mm256_loadu2_m128i(p[1], p[0]);
#else
    V v =
        _mm512_inserti32x4(_mm512_castsi128_si512(_mm_loadu_si128(p[0])), _mm_loadu_si128(p[1]), 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(v, _mm_loadu_si128(p[2]), 2),
                              _mm_loadu_si128(p[3]), 3);
#endif
}

// Loads the 16 bytes at any address to each part.
INLINE V repeat(const void *p) {
#if PARTS == 2
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(p));
#else
    return _mm512_broadcast_i32x4(_mm_loadu_si128(p));
#endif
}

// Returns in lane i of each part the SAD of the four samples cur[4x ..] and those of ref from byte
// i on, or from byte i + 4 on for odd x. x is a constant; 16 bytes are readable at `cur`.
INLINE V sad4x1(V ref, const uint8_t *cur, int x) {
#if PARTS == 2
    const V row = repeat(cur); // the operand: samples' word, 4 * word of ref; for both parts
    return x == 0   ? _mm256_mpsadbw_epu8(ref, row, 0 * 9)
           : x == 1 ? _mm256_mpsadbw_epu8(ref, row, (1 | 1 << 2) * 9)
           : x == 2 ? _mm256_mpsadbw_epu8(ref, row, 2 * 9)
                    : _mm256_mpsadbw_epu8(ref, row, (3 | 1 << 2) * 9);
#else
    int four;
    memcpy(&four, cur + 4 * x, sizeof four);
    // Words 0 1 1 2 of each part of `ref` for even x, 1 2 2 3 for odd x.
    const V block = _mm512_set1_epi32(four);
    return x & 1 ? _mm512_dbsad_epu8(block, ref, _MM_SHUFFLE(3, 2, 2, 1))
                 : _mm512_dbsad_epu8(block, ref, _MM_SHUFFLE(2, 1, 1, 0));
#endif
}

// True if a lane of a is below that of b, unsigned.
INLINE int any_below(V a, V b) {
#if PARTS == 2
    const V below = _mm256_subs_epu16(b, a);
    return !_mm256_testz_si256(below, below);
#else
    return _mm512_cmplt_epu16_mask(a, b) != 0;
#endif
}

#endif
