// 4x4 transforms and quantization, AVX2. Transforms run in 16-bit lanes: the forward ones can't overflow (residuals of +-255 stay within +-9180),
// and the inverse one is defined modulo 2^16 (dct_core.h), which is what these lanes do.
// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>
#include <string.h>

#include "dct/dct_core.h"
#include "dct/dct_internal.h"

static inline int load32(const uint8_t *p) {
    int word;
    memcpy(&word, p, sizeof word);
    return word;
}

static inline __m256i add(__m256i a, __m256i b) { return _mm256_add_epi16(a, b); }
static inline __m256i sub(__m256i a, __m256i b) { return _mm256_sub_epi16(a, b); }

// motus_forward4 over v[0..3], in every lane.
static inline void forward4(__m256i v[4]) {
    __m256i sum03 = add(v[0], v[3]), diff03 = sub(v[0], v[3]), sum12 = add(v[1], v[2]), diff12 = sub(v[1], v[2]);
    v[0] = add(sum03, sum12);
    v[1] = add(add(diff03, diff03), diff12);
    v[2] = sub(sum03, sum12);
    v[3] = sub(diff03, add(diff12, diff12));
}

// v[0..3] hold rows of four 4x4 matrices, 64 bits each: 0 and 1 in the low half, 2 and 3 in the high half. After it u[0] holds columns 0 and
// 1, u[1] columns 2 and 3 of matrices 0 (low) and 2 (high), u[2] and u[3] those of 1 and 3.
static inline void transpose(__m256i u[4], const __m256i v[4]) {
    __m256i t0 = _mm256_unpacklo_epi16(v[0], v[1]), t1 = _mm256_unpackhi_epi16(v[0], v[1]);
    __m256i t2 = _mm256_unpacklo_epi16(v[2], v[3]), t3 = _mm256_unpackhi_epi16(v[2], v[3]);
    u[0] = _mm256_unpacklo_epi32(t0, t2);
    u[1] = _mm256_unpackhi_epi32(t0, t2);
    u[2] = _mm256_unpacklo_epi32(t1, t3);
    u[3] = _mm256_unpackhi_epi32(t1, t3);
}

// Both passes over four blocks laid out as transpose() takes them; it leaves them as whole rows the same way. Nothing is rounded, so that
// columns first is as good as rows first.
static inline void forward_blocks(__m256i u[4], __m256i v[4]) {
    forward4(v);
    transpose(u, v);
    v[0] = _mm256_unpacklo_epi64(u[0], u[2]);
    v[1] = _mm256_unpackhi_epi64(u[0], u[2]);
    v[2] = _mm256_unpacklo_epi64(u[1], u[3]);
    v[3] = _mm256_unpackhi_epi64(u[1], u[3]);
    forward4(v);
    transpose(u, v);
}

static inline void store_blocks(int16_t coef[4][16], const __m256i u[4]) {
    _mm256_storeu_si256((__m256i *)coef[0], _mm256_permute2x128_si256(u[0], u[1], 0x20));
    _mm256_storeu_si256((__m256i *)coef[1], _mm256_permute2x128_si256(u[2], u[3], 0x20));
    _mm256_storeu_si256((__m256i *)coef[2], _mm256_permute2x128_si256(u[0], u[1], 0x31));
    _mm256_storeu_si256((__m256i *)coef[3], _mm256_permute2x128_si256(u[2], u[3], 0x31));
}

static void forward4x4_avx2(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride, const uint8_t *pred,
                            ptrdiff_t pred_stride) {
    __m256i v[4], u[4];
    for (int y = 0; y < 4; y++) {
        __m128i s = _mm_cvtepu8_epi16(_mm_cvtsi32_si128(load32(src + y * src_stride)));
        __m128i p = _mm_cvtepu8_epi16(_mm_cvtsi32_si128(load32(pred + y * pred_stride)));
        v[y] = _mm256_zextsi128_si256(_mm_sub_epi16(s, p));
    }
    forward_blocks(u, v);
    _mm256_storeu_si256((__m256i *)coef, _mm256_permute2x128_si256(u[0], u[1], 0x20));
}

static void forward16x16_avx2(int16_t coef[16][16], const uint8_t *src, ptrdiff_t src_stride, const uint8_t *pred,
                              ptrdiff_t pred_stride) {
    for (int row = 0; row < 4; row++) {
        __m256i v[4], u[4];
        for (int y = 0; y < 4; y++) {
            __m256i s = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(src + (4 * row + y) * src_stride)));
            __m256i p = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(pred + (4 * row + y) * pred_stride)));
            v[y] = sub(s, p);
        }
        forward_blocks(u, v);
        store_blocks(coef + 4 * row, u);
    }
}

// Eight samples of rows y and y + 4.
static inline __m256i load_rows(const uint8_t *p, ptrdiff_t stride, int y) {
    __m128i upper = _mm_loadl_epi64((const __m128i *)(p + y * stride));
    __m128i lower = _mm_loadl_epi64((const __m128i *)(p + (y + 4) * stride));
    return _mm256_cvtepu8_epi16(_mm_unpacklo_epi64(upper, lower));
}

static void forward8x8_avx2(int16_t coef[4][16], const uint8_t *src, ptrdiff_t src_stride, const uint8_t *pred,
                            ptrdiff_t pred_stride) {
    __m256i v[4], u[4];
    for (int y = 0; y < 4; y++) v[y] = sub(load_rows(src, src_stride, y), load_rows(pred, pred_stride, y));
    forward_blocks(u, v);
    store_blocks(coef, u);
}

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

// motus_inverse4 over the low 64 bits of v[0..3].
static inline void inverse4(__m128i v[4]) {
    __m128i sum02 = _mm_add_epi16(v[0], v[2]), diff02 = _mm_sub_epi16(v[0], v[2]);
    __m128i odd1 = _mm_sub_epi16(_mm_srai_epi16(v[1], 1), v[3]), odd3 = _mm_add_epi16(v[1], _mm_srai_epi16(v[3], 1));
    v[0] = _mm_add_epi16(sum02, odd3);
    v[1] = _mm_add_epi16(diff02, odd1);
    v[2] = _mm_sub_epi16(diff02, odd1);
    v[3] = _mm_sub_epi16(sum02, odd3);
}

// Four lines of a matrix, two in a register, to v[0..3].
static inline void split(__m128i v[4], __m128i first, __m128i second) {
    v[0] = first;
    v[1] = _mm_unpackhi_epi64(first, first);
    v[2] = second;
    v[3] = _mm_unpackhi_epi64(second, second);
}

static inline __m128i load4x4(const uint8_t *p, ptrdiff_t stride) {
    return _mm_setr_epi32(load32(p), load32(p + stride), load32(p + 2 * stride), load32(p + 3 * stride));
}

static void inverse4x4_add_avx2(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *pred, ptrdiff_t pred_stride,
                                const int16_t coef[16]) {
    __m128i rows01 = _mm_loadu_si128((const __m128i *)coef), rows23 = _mm_loadu_si128((const __m128i *)(coef + 8)), v[4];
    __m128i t0 = _mm_unpacklo_epi16(rows01, rows23), t1 = _mm_unpackhi_epi16(rows01, rows23);
    split(v, _mm_unpacklo_epi16(t0, t1), _mm_unpackhi_epi16(t0, t1)); // columns
    inverse4(v);
    t0 = _mm_unpacklo_epi16(v[0], v[1]);
    t1 = _mm_unpacklo_epi16(v[2], v[3]);
    split(v, _mm_unpacklo_epi32(t0, t1), _mm_unpackhi_epi32(t0, t1)); // rows
    inverse4(v);
    __m128i half = _mm_set1_epi16(32);
    rows01 = _mm_srai_epi16(_mm_add_epi16(_mm_unpacklo_epi64(v[0], v[1]), half), 6);
    rows23 = _mm_srai_epi16(_mm_add_epi16(_mm_unpacklo_epi64(v[2], v[3]), half), 6);
    __m128i p = load4x4(pred, pred_stride);
    rows01 = _mm_add_epi16(rows01, _mm_cvtepu8_epi16(p));
    rows23 = _mm_add_epi16(rows23, _mm_unpackhi_epi8(p, _mm_setzero_si128()));
    uint32_t out[4];
    _mm_storeu_si128((__m128i *)out, _mm_packus_epi16(rows01, rows23));
    for (int y = 0; y < 4; y++) memcpy(dst + y * dst_stride, &out[y], 4);
}

const MotusDctOps motus_dct_ops_avx2 = {"avx2",        forward4x4_avx2, forward16x16_avx2,  forward8x8_avx2,
                                        quant4x4_avx2, dequant4x4_avx2, inverse4x4_add_avx2};
