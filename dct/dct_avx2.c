// Quantization with AVX2, and the table of block functions.
// SPDX-License-Identifier: BSD-2-Clause
#include "dct/dct_avx2.h"

#include "dct/dct_internal.h"

// Eight magnitudes to levels, in 32-bit lanes, whose bounds stand at MotusQuantizer.
static inline __m256i quant8(__m128i magnitude, __m256i scale, __m256i offset, __m128i shift) {
    __m256i product = _mm256_mullo_epi32(_mm256_cvtepu16_epi32(magnitude), scale);
    __m256i level = _mm256_srl_epi32(_mm256_add_epi32(product, offset), shift);
    return _mm256_min_epi32(level, _mm256_set1_epi32(MOTUS_MAX_LEVEL));
}

static int quant4x4_avx2(int16_t level[16], const int16_t coef[16], int qp, int deadzone) {
    MotusQuantizer q = motus_quantizer(qp, deadzone, 0);
    const int *s = q.scale;
    __m256i scale = _mm256_setr_epi32(s[0], s[2], s[0], s[2], s[2], s[1], s[2], s[1]); // two rows; the other two are alike
    __m256i offset = _mm256_set1_epi32(q.offset), c = _mm256_loadu_si256((const __m256i *)coef);
    __m128i shift = _mm_cvtsi32_si128(q.shift);
    __m256i magnitude = _mm256_abs_epi16(c); // -32768 becomes 32768 without sign
    __m256i low = quant8(_mm256_castsi256_si128(magnitude), scale, offset, shift);
    __m256i high = quant8(_mm256_extracti128_si256(magnitude, 1), scale, offset, shift);
    __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8); // undoes packing by halves
    __m256i signed_level = _mm256_sign_epi16(both, c);
    _mm256_storeu_si256((__m256i *)level, signed_level);
    uint32_t zeros = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi16(signed_level, _mm256_setzero_si256()));
    return 16 - __builtin_popcount(zeros) / 2;
}

static void dequant4x4_avx2(int16_t coef[16], const int16_t level[16], int qp) {
    int rem = qp % 6;
    int16_t v0 = (int16_t)motus_dequant_scale(rem, 0), v1 = (int16_t)motus_dequant_scale(rem, 1);
    int16_t v2 = (int16_t)motus_dequant_scale(rem, 2);
    __m256i scale = _mm256_broadcastsi128_si256(_mm_setr_epi16(v0, v2, v0, v2, v2, v1, v2, v1));
    __m256i scaled = _mm256_mullo_epi16(_mm256_loadu_si256((const __m256i *)level), scale);
    _mm256_storeu_si256((__m256i *)coef, _mm256_sll_epi16(scaled, _mm_cvtsi32_si128(qp / 6)));
}

const MotusDctOps motus_dct_ops_avx2 = {"avx2",        motus_forward4x4_avx2, motus_forward16x16_avx2,  motus_forward8x8_avx2,
                                        quant4x4_avx2, dequant4x4_avx2,       motus_inverse4x4_add_avx2};
