// Row functions of images, 16 samples at a time. Products of samples, or of sums of four (up to
// 1020), with factors (below 2^13 in size) are added in pairs to 32 bits; the fourth product is the
// rounding constant. The sum is less than 3 * 1020 * 2^13 + 2^14, below 2^25. Rows of MotusRgbRow
// may be read and written up to IMAGE_CHUNK; results stop at n.
// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>

#include "yuv/image.h"

// Equals unit_to_u8 of eight floats, in 32 bits. The maximum of NaN and 0 is the second
// operand; the conversion rounds ties to even.
static inline __m256i round_8(const float *src) {
    __m256 unit = _mm256_min_ps(_mm256_max_ps(_mm256_loadu_ps(src), _mm256_setzero_ps()),
                                _mm256_set1_ps(1.0f));
    return _mm256_cvtps_epi32(_mm256_mul_ps(unit, _mm256_set1_ps(255.0f)));
}

static void round_row(uint8_t *dst, const float *src, int n) {
    // Packs work in each half on its own.
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i low = _mm256_packs_epi32(round_8(src + i), round_8(src + i + 8)),
                high = _mm256_packs_epi32(round_8(src + i + 16), round_8(src + i + 24));
        _mm256_storeu_si256((__m256i *)(void *)(dst + i),
                            _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order));
    }
    for (; i < n; i++) dst[i] = unit_to_u8(src[i]);
}

#include "yuv/image_tmpl.h"

// Factors of R and G, and of B and 1, for 16 products each.
typedef struct Factors {
    __m256i rg, b1;
} Factors;

static inline Factors factors_of(int r, int g, int b, int rounding) {
    return (Factors){_mm256_set1_epi32((r & 0xFFFF) | g * 65536),
                     _mm256_set1_epi32((b & 0xFFFF) | rounding * 65536)};
}

// Returns (r, g, b, 1) * factors >> shift of 16 pixels.
static inline __m256i weigh(__m256i r, __m256i g, __m256i b, const Factors *f, int shift) {
    const __m256i one = _mm256_set1_epi16(1);
    __m256i low = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpacklo_epi16(r, g), f->rg),
                                   _mm256_madd_epi16(_mm256_unpacklo_epi16(b, one), f->b1)),
            high = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpackhi_epi16(r, g), f->rg),
                                    _mm256_madd_epi16(_mm256_unpackhi_epi16(b, one), f->b1));
    return _mm256_packs_epi32(_mm256_srai_epi32(low, shift), _mm256_srai_epi32(high, shift));
}

// Stores the first n of 16 numbers as bytes, clipped.
static inline void store(uint8_t *dst, __m256i v, int n) {
    __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    if (n >= 16) {
        _mm_storeu_si128((__m128i *)(void *)dst, bytes);
        return;
    }
    alignas(16) uint8_t last[16];
    _mm_store_si128((__m128i *)(void *)last, bytes);
    memcpy(dst, last, (size_t)n);
}

static inline __m256i load_16(const uint8_t *src) {
    return _mm256_cvtepu8_epi16(_mm_load_si128((const __m128i *)(const void *)src));
}

static void luma(uint8_t *y, const MotusRgbRow *rgb, int n, const MotusYuvMatrix *m) {
    const Factors f = factors_of(m->yr, m->yg, m->yb, 4096);
    const __m256i black = _mm256_set1_epi16((short)m->y_low);
    for (int i = 0; i < n; i += 16)
        store(y + i,
              _mm256_add_epi16(weigh(load_16(rgb->c[0] + i), load_16(rgb->c[1] + i),
                                     load_16(rgb->c[2] + i), &f, 13),
                               black),
              n - i);
}

// Returns sums of 2x2 pixels of component k, of 32 columns from i on.
static inline __m256i sums(const MotusRgbRow rgb[2], int k, int i) {
    const __m256i ones = _mm256_set1_epi8(1);
    __m256i above = _mm256_load_si256((const __m256i *)(const void *)(rgb[0].c[k] + i)),
            below = _mm256_load_si256((const __m256i *)(const void *)(rgb[1].c[k] + i));
    return _mm256_add_epi16(_mm256_maddubs_epi16(above, ones), _mm256_maddubs_epi16(below, ones));
}

static void chroma(uint8_t *cb, uint8_t *cr, const MotusRgbRow rgb[2], int n,
                   const MotusYuvMatrix *m) {
    const Factors blue = factors_of(m->ur, m->ug, m->ub, 16384),
                  red = factors_of(m->vr, m->vg, m->vb, 16384);
    const __m256i grey = _mm256_set1_epi16(128);
    for (int i = 0; i < n; i += 32) {
        __m256i r = sums(rgb, 0, i), g = sums(rgb, 1, i), b = sums(rgb, 2, i);
        store(cb + i / 2, _mm256_add_epi16(weigh(r, g, b, &blue, 15), grey), (n - i) / 2);
        store(cr + i / 2, _mm256_add_epi16(weigh(r, g, b, &red, 15), grey), (n - i) / 2);
    }
}

const MotusImageOps motus_image_ops_avx2 = {bytes, floats, luma, chroma, gather};
