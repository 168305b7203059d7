// Mapping by a 256-entry table with sixteen 16-entry shuffles, 32 samples at a time: twice as fast
// as a load per sample.
// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>

#include "filter/equalize/equalize.h"

enum { AHEAD = 2048 }; // bytes to prefetch ahead; beyond a row's end most likely the next row

// Looks up entries 0..127 of a table; indices from 128 on give 0. steps[k]: sixteenth k xor
// sixteenth k - 1. An index that is still not negative after subtracting 16 moves the result on to
// the next sixteenth.
static inline __m256i half_look_up(const __m256i steps[8], __m256i index) {
    __m256i result = _mm256_shuffle_epi8(steps[0], index);
    for (int k = 1; k < 8; k++) {
        index = _mm256_subs_epi8(index, _mm256_set1_epi8(16));
        result = _mm256_xor_si256(result, _mm256_shuffle_epi8(steps[k], index));
    }
    return result;
}

void motus_map_row_avx2(uint8_t *dst, const uint8_t *src, int n, const uint8_t curve[256]) {
    __m256i steps[16];
    __m128i before = _mm_setzero_si128();
    for (int k = 0; k < 16; k++) {
        __m128i part = _mm_loadu_si128((const __m128i *)(curve + 16 * k));
        steps[k] =
            _mm256_broadcastsi128_si256(_mm_xor_si128(part, k == 8 ? _mm_setzero_si128() : before));
        before = part;
    }
    int x = 0;
    for (; x + 32 <= n; x += 32) {
        __builtin_prefetch(src + x + AHEAD);
        __builtin_prefetch(dst + x + AHEAD, 1);
        __m256i v = _mm256_loadu_si256((const __m256i *)(src + x));
        __m256i low = half_look_up(steps, v),
                high = half_look_up(steps + 8, _mm256_xor_si256(v, _mm256_set1_epi8(-128)));
        _mm256_storeu_si256((__m256i *)(dst + x), _mm256_or_si256(low, high));
    }
    motus_map_row_c(dst + x, src + x, n - x, curve);
}
