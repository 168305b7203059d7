// SPDX-License-Identifier: BSD-2-Clause
#include "me/pixel/pixel.h"
#include "me/pixel/satd_avx2.h"

static inline uint32_t sad_of(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                              ptrdiff_t b_stride, int width, int height) {
    __m128i sum = _mm_setzero_si128();
    for (int y = 0; y < height; y++, a += a_stride, b += b_stride)
        sum = _mm_add_epi32(
            sum, _mm_sad_epu8(motus_load_row_avx2(a, width), motus_load_row_avx2(b, width)));
    return (uint32_t)(_mm_cvtsi128_si32(sum) + _mm_extract_epi32(sum, 2));
}

static inline uint32_t ssd_of(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                              ptrdiff_t b_stride, int width, int height) {
    __m256i sum = _mm256_setzero_si256(); // a lane gathers at most 16 rows of 2 * 255^2
    for (int y = 0; y < height; y++, a += a_stride, b += b_stride) {
        __m256i d = _mm256_sub_epi16(_mm256_cvtepu8_epi16(motus_load_row_avx2(a, width)),
                                     _mm256_cvtepu8_epi16(motus_load_row_avx2(b, width)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(d, d));
    }
    return motus_sum32_avx2(sum);
}

// Narrow blocks leave zeros in the upper columns of both operands, whose SATD is zero.
static inline uint32_t satd_of(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                               ptrdiff_t b_stride, int width, int height) {
    __m256i sum = _mm256_setzero_si256();
    for (int y = 0; y < height; y += 4) {
        __m256i d[4];
        for (int i = 0; i < 4; i++, a += a_stride, b += b_stride)
            d[i] = _mm256_sub_epi16(motus_pairs_avx2(motus_load_row_avx2(a, width)),
                                    motus_pairs_avx2(motus_load_row_avx2(b, width)));
        sum = _mm256_add_epi32(sum, motus_satd_strip_avx2(d));
    }
    return motus_sum32_avx2(sum);
}

// One loop per width, because the width decides how a row is loaded.
static uint32_t sad_avx2(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                         int width, int height) {
    if (width == 16) return sad_of(a, a_stride, b, b_stride, 16, height);
    if (width == 8) return sad_of(a, a_stride, b, b_stride, 8, height);
    if (width == 4) return sad_of(a, a_stride, b, b_stride, 4, height);
    return sad_of(a, a_stride, b, b_stride, 8, height) +
           sad_of(a + 8, a_stride, b + 8, b_stride, 4, height);
}

static uint32_t ssd_avx2(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                         int width, int height) {
    if (width == 16) return ssd_of(a, a_stride, b, b_stride, 16, height);
    if (width == 8) return ssd_of(a, a_stride, b, b_stride, 8, height);
    if (width == 4) return ssd_of(a, a_stride, b, b_stride, 4, height);
    return ssd_of(a, a_stride, b, b_stride, 8, height) +
           ssd_of(a + 8, a_stride, b + 8, b_stride, 4, height);
}

static uint32_t satd_avx2(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                          ptrdiff_t b_stride, int width, int height) {
    if (width == 16) return satd_of(a, a_stride, b, b_stride, 16, height);
    if (width == 8) return satd_of(a, a_stride, b, b_stride, 8, height);
    if (width == 4) return satd_of(a, a_stride, b, b_stride, 4, height);
    return satd_of(a, a_stride, b, b_stride, 8, height) +
           satd_of(a + 8, a_stride, b + 8, b_stride, 4, height);
}

const MotusPixelOps motus_pixel_ops_avx2 = {"avx2", sad_avx2, ssd_avx2, satd_avx2};
