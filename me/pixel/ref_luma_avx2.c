// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>
#include <string.h>

#include "me/pixel/ref_luma.h"

static inline __m256i load16(const uint8_t *p) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p));
}

// Six-tap sums of samples: -2550..10,710, and 20 (g + h) is at most 10,200: int16 holds every step.
static inline __m256i six_tap(__m256i e, __m256i f, __m256i g, __m256i h, __m256i i, __m256i j) {
    __m256i near = _mm256_mullo_epi16(_mm256_add_epi16(g, h), _mm256_set1_epi16(20));
    __m256i far = _mm256_mullo_epi16(_mm256_add_epi16(f, i), _mm256_set1_epi16(-5));
    return _mm256_add_epi16(_mm256_add_epi16(e, j), _mm256_add_epi16(near, far));
}

static inline void store16(uint8_t *p, __m256i v) {
    __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(v, v), 0x08);
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(bytes));
}

static inline __m256i round_once(__m256i sum) {
    return _mm256_srai_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(16)), 5);
}

// Six taps over eight sums, four in each half; |result| needs 20 bits before the shift by 10.
static inline __m256i six_tap_twice(__m256i ef, __m256i gh, __m256i ij) {
    __m256i sum = _mm256_madd_epi16(ef, _mm256_set1_epi32((int)0xFFFB0001)); // 1, -5
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(gh, _mm256_set1_epi32(0x00140014)));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(ij, _mm256_set1_epi32(0x0001FFFB))); // -5, 1
    return _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(512)), 10);
}

// n is a multiple of 16; reads up to 16 samples beyond what it needs.
static void half_row_avx2(const uint8_t *const row[6], uint8_t *b, uint8_t *h, uint8_t *j, int n) {
    int16_t sum[MOTUS_LUMA_SLICE + 32]; // vertical sums of columns -2 .. n + 13
    for (int i = 0; i < n + 5; i += 16) {
        int x = i - 2;
        _mm256_storeu_si256((__m256i *)(sum + i),
                            six_tap(load16(row[0] + x), load16(row[1] + x), load16(row[2] + x),
                                    load16(row[3] + x), load16(row[4] + x), load16(row[5] + x)));
    }
    for (int x = 0; x < n; x += 16) {
        const uint8_t *g = row[2] + x;
        store16(b + x, round_once(six_tap(load16(g - 2), load16(g - 1), load16(g), load16(g + 1),
                                          load16(g + 2), load16(g + 3))));
        store16(h + x, round_once(_mm256_loadu_si256((const __m256i *)(sum + x + 2))));
        __m256i v[6];
        for (int i = 0; i < 6; i++) v[i] = _mm256_loadu_si256((const __m256i *)(sum + x + i));
        store16(j + x, _mm256_packs_epi32(six_tap_twice(_mm256_unpacklo_epi16(v[0], v[1]),
                                                        _mm256_unpacklo_epi16(v[2], v[3]),
                                                        _mm256_unpacklo_epi16(v[4], v[5])),
                                          six_tap_twice(_mm256_unpackhi_epi16(v[0], v[1]),
                                                        _mm256_unpackhi_epi16(v[2], v[3]),
                                                        _mm256_unpackhi_epi16(v[4], v[5]))));
    }
}

static void average_avx2(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *p, const uint8_t *q,
                         ptrdiff_t stride, int w, int h) {
    for (int y = 0; y < h; y++, dst += dst_stride, p += stride, q += stride) {
        // Reading 16 samples is always allowed in a prepared plane; only w are written.
        __m128i v =
            _mm_avg_epu8(_mm_loadu_si128((const __m128i *)p), _mm_loadu_si128((const __m128i *)q));
        if (w == 16)
            _mm_storeu_si128((__m128i *)dst, v);
        else if (w == 8)
            _mm_storel_epi64((__m128i *)dst, v);
        else {
            uint8_t line[16];
            _mm_storeu_si128((__m128i *)line, v);
            memcpy(dst, line, (size_t)w);
        }
    }
}

const MotusLumaOps motus_luma_ops_avx2 = {half_row_avx2, average_avx2};
