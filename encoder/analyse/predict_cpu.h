// Inter prediction of an MB on the CPU (8.4.2.2): whole partitions, with AVX2 where compiled for
// it. The warp's version is in encoder/analyse.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_PREDICT_CPU_H
#define ENCODER_ANALYSE_PREDICT_CPU_H

#include <string.h>

#include "dct/dct_mb_core.h"
#include "encoder/analyse/inter_core.h"
#include "encoder/mb/direct_core.h"

// ---- Luma ---------------------------------------------------------------------------------------

// Computes the SATDs of the sixteen 4x4 blocks of the MB at (x, y) predicted with mv: at most
// 8,160.
static inline void motus_satd_mb(uint16_t satd[16], const uint8_t *src, ptrdiff_t src_stride,
                                 const MotusReference *ref, int x, int y, MotusMv mv) {
    const uint8_t *tap[2];
    motus_luma_taps(ref, ref->luma, x, y, mv, tap);
#ifdef MOTUS_USE_AVX2
    for (int row = 0; row < 4; row++) {
        __m256i d[4];
        for (int i = 0; i < 4; i++) { // the average of a sample with itself is the sample
            ptrdiff_t at = (4 * row + i) * ref->luma_stride;
            __m128i pred = _mm_avg_epu8(_mm_loadu_si128((const __m128i *)(tap[0] + at)),
                                        _mm_loadu_si128((const __m128i *)(tap[1] + at)));
            __m128i cur = _mm_loadu_si128((const __m128i *)(src + (4 * row + i) * src_stride));
            d[i] = _mm256_sub_epi16(motus_pairs_avx2(cur), motus_pairs_avx2(pred));
        }
        __m256i sum = motus_satd_strip_avx2(d);
        __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        _mm_storel_epi64((__m128i *)(satd + 4 * row), _mm_packus_epi32(four, four));
    }
#else
    for (int blk = 0; blk < 16; blk++) {
        const int bx = 4 * (blk & 3), by = 4 * (blk >> 2);
        uint8_t pred[16];
        for (int i = 0; i < 16; i++) {
            const ptrdiff_t at = (by + i / 4) * ref->luma_stride + bx + i % 4;
            pred[i] = (uint8_t)((tap[0][at] + tap[1][at] + 1) >> 1);
        }
        satd[blk] = (uint16_t)motus_satd4x4(src + by * src_stride + bx, src_stride, pred, 4);
    }
#endif
}

// Weights w x h samples (8.4.2.3.2).
static inline void weight_block(uint8_t *dst, ptrdiff_t stride, int w, int h, MotusWeight weight,
                                int log2_denom) {
    for (int y = 0; y < h; y++, dst += stride)
        for (int x = 0; x < w; x++) dst[x] = motus_weighted_sample(dst[x], weight, log2_denom);
}

// Predicts luma of the w x h block at (x, y) of the MB; w and h are multiples of 4.
static inline void motus_predict_luma_block(uint8_t luma[256], const MotusReference *ref, int mb_x,
                                            int mb_y, int x, int y, int w, int h, MotusMv mv) {
    const uint8_t *tap[2];
    uint8_t *dst = luma + y * MOTUS_LUMA_STRIDE + x;
    motus_luma_taps(ref, ref->plain ? ref->plain : ref->luma, 16 * mb_x + x, 16 * mb_y + y, mv,
                    tap);
    for (int row = 0; row < h; row++, dst += MOTUS_LUMA_STRIDE) {
        const uint8_t *p = tap[0] + row * ref->luma_stride, *q = tap[1] + row * ref->luma_stride;
#ifdef MOTUS_USE_AVX2
        // A prepared plane is readable 16 samples on from any block; only w are written.
        __m128i v =
            _mm_avg_epu8(_mm_loadu_si128((const __m128i *)p), _mm_loadu_si128((const __m128i *)q));
        int32_t four = _mm_cvtsi128_si32(v);
        if (w == 16)
            _mm_storeu_si128((__m128i *)dst, v);
        else if (w == 8)
            _mm_storel_epi64((__m128i *)dst, v);
        else
            memcpy(dst, &four, sizeof four);
#else
        for (int i = 0; i < w; i++) dst[i] = (uint8_t)((p[i] + q[i] + 1) >> 1);
#endif
    }
    if (ref->plain)
        weight_block(luma + y * MOTUS_LUMA_STRIDE + x, MOTUS_LUMA_STRIDE, w, h, ref->weight[0],
                     ref->log2_denom);
}

// ---- Chroma (8.4.2.2.2) -------------------------------------------------------------------------

#ifdef MOTUS_USE_AVX2
// Loads w samples, 4 or 8, and their right neighbours, in pairs.
static inline __m128i chroma_pairs_avx2(const uint8_t *p, int w) {
    int32_t four[2];
    if (w == 8)
        return _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)p),
                                 _mm_loadl_epi64((const __m128i *)(p + 1)));
    memcpy(&four[0], p, 4);
    memcpy(&four[1], p + 1, 4);
    return _mm_unpacklo_epi8(_mm_cvtsi32_si128(four[0]), _mm_cvtsi32_si128(four[1]));
}

// Interpolates w x h samples, w a constant, 4 or 8. src: readable one sample further right and
// below. Weights are at most 63: that of whole samples
// is not used.
static inline void chroma_interpolate_avx2(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                                           ptrdiff_t src_stride, MotusChromaWeights weights, int w,
                                           int h) {
    const __m128i here = _mm_set1_epi16((short)(weights.a | weights.b << 8)),
                  below = _mm_set1_epi16((short)(weights.c | weights.d << 8)),
                  half = _mm_set1_epi16(32);
    __m128i row = chroma_pairs_avx2(src, w);
    for (int y = 0; y < h; y++, dst += dst_stride) {
        src += src_stride;
        const __m128i next = chroma_pairs_avx2(src, w),
                      sum = _mm_add_epi16(_mm_maddubs_epi16(row, here),
                                          _mm_maddubs_epi16(next, below)),
                      rounded = _mm_srli_epi16(_mm_add_epi16(sum, half), 6),
                      out = _mm_packus_epi16(rounded, rounded);
        if (w == 8) {
            _mm_storel_epi64((__m128i *)dst, out);
        } else {
            const int32_t four = _mm_cvtsi128_si32(out);
            memcpy(dst, &four, 4);
        }
        row = next;
    }
}
#endif

// Predicts w x h samples, w 2, 4 or 8, from (x, y) of a plane whose edge samples repeat outside it.
static inline void motus_chroma_block(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *plane,
                                      ptrdiff_t stride, int width, int height, int x, int y,
                                      MotusChromaWeights weights, int w, int h) {
    const uint8_t *src = plane + y * stride + x;
    uint8_t edge[9 * 16];
    if (x < 0 || y < 0 || x + w >= width || y + h >= height) {
        for (int j = 0; j <= h; j++)
            for (int i = 0; i <= w; i++)
                edge[16 * j + i] = plane[motus_clip(0, height - 1, y + j) * stride +
                                         motus_clip(0, width - 1, x + i)];
        src = edge;
        stride = 16;
    }
    if (weights.a == 64) { // whole samples
        for (int j = 0; j < h; j++) memcpy(dst + j * dst_stride, src + j * stride, (size_t)w);
        return;
    }
#ifdef MOTUS_USE_AVX2
    if (w == 8) {
        chroma_interpolate_avx2(dst, dst_stride, src, stride, weights, 8, h);
        return;
    }
    if (w == 4) {
        chroma_interpolate_avx2(dst, dst_stride, src, stride, weights, 4, h);
        return;
    }
#endif
    for (int j = 0; j < h; j++, dst += dst_stride, src += stride)
        for (int i = 0; i < w; i++) {
            const uint8_t *below = src + stride;
            const uint16_t sum = (uint16_t)(weights.a * src[i] + weights.b * src[i + 1] +
                                            weights.c * below[i] + weights.d * below[i + 1] + 32);
            dst[i] = (uint8_t)(sum >> 6);
        }
}

// Predicts plane c of the w x h block at (x, y) of the MB, in chroma samples.
static inline void predict_chroma_block(uint8_t chroma[64], const MotusReference *ref, int c,
                                        int mb_x, int mb_y, int x, int y, int w, int h,
                                        MotusMv mv) {
    const MotusChromaWeights weights = motus_chroma_weights(mv.x & 7, mv.y & 7);
    uint8_t *dst = chroma + y * MOTUS_CHROMA_STRIDE + x;
    int px = 8 * mb_x + x + (mv.x >> 3), py = 8 * mb_y + y + (mv.y >> 3), width = ref->width / 2,
        height = ref->height / 2;
    motus_chroma_block(dst, MOTUS_CHROMA_STRIDE, ref->chroma[c], ref->chroma_stride, width, height,
                       px, py, weights, w, h);
    if (ref->plain)
        weight_block(dst, MOTUS_CHROMA_STRIDE, w, h, ref->weight[c + 1], ref->log2_denom);
}

// ---- Errors -------------------------------------------------------------------------------------

// Returns the squared error of a size x size block, 4, 8 or 16.
static inline uint32_t motus_ssd_square(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                                        ptrdiff_t b_stride, int size) {
#ifdef MOTUS_USE_AVX2
    __m256i sum = _mm256_setzero_si256();
    if (size == 4)
        return motus_sum32_avx2(
            motus_ssd16_avx2(load4x4_avx2(a, a_stride), load4x4_avx2(b, b_stride)));
    for (int y = 0; y < size; y += 16 / size) {
        const uint8_t *p = a + y * a_stride, *q = b + y * b_stride;
        sum = _mm256_add_epi32(sum, size == 8
                                        ? motus_ssd16_avx2(motus_load_8x2_avx2(p, a_stride),
                                                           motus_load_8x2_avx2(q, b_stride))
                                        : motus_ssd16_avx2(_mm_loadu_si128((const __m128i *)p),
                                                           _mm_loadu_si128((const __m128i *)q)));
    }
    return motus_sum32_avx2(sum);
#else
    return motus_ssd_block(a, a_stride, b, b_stride, size, size);
#endif
}

// ---- Macroblock ---------------------------------------------------------------------------------

// Replaces w x h samples of list 0 by their rounded averages with list 1's (8.4.2.3.1), or by
// weighted sums (8.4.2.3.2). pair_offset: of MotusReference.
static inline void motus_pair_block(uint8_t *dst, const uint8_t *other, ptrdiff_t stride, int w,
                                    int h, int pair_offset) {
    for (int y = 0; y < h; y++, dst += stride, other += stride)
        for (int x = 0; x < w; x += 4)
            for (int i = x; i < x + 4; i++)
                dst[i] = pair_offset
                             ? motus_pair_sample(dst[i], other[i], MOTUS_EVEN_PAIR + pair_offset)
                             : (uint8_t)((dst[i] + other[i] + 1) >> 1);
}

// Predicts luma of a w x h block at (x, y) of the MB from one list or both. ref: of each list.
static inline void motus_predict_luma_lists(uint8_t luma[256], const MotusReference *const ref[2],
                                            int mb_x, int mb_y, int x, int y, int w, int h,
                                            int pred, const MotusMv mv[2]) {
    uint8_t other[256];
    const int first = pred == MOTUS_PRED_L1, at = y * MOTUS_LUMA_STRIDE + x;
    motus_predict_luma_block(luma, ref[first], mb_x, mb_y, x, y, w, h, mv[first]);
    if (pred != MOTUS_PRED_BI) return;
    motus_predict_luma_block(other, ref[1], mb_x, mb_y, x, y, w, h, mv[1]);
    motus_pair_block(luma + at, other + at, MOTUS_LUMA_STRIDE, w, h, ref[0]->pair_offset);
}

// Predicts an inter MB with its MVs. chroma: NULL: luma alone.
static inline void motus_predict_inter(uint8_t luma[256], uint8_t chroma[2][64],
                                       const MotusInterMb *in, const MotusMb *mb) {
    MotusPartition parts[16];
    const int mode = in->lists == 2 ? motus_motion_mode(mb) : 0,
              w = mode == MOTUS_MODE_16x16 || mode == MOTUS_MODE_16x8 ? 16 : 8,
              h = mode == MOTUS_MODE_16x16 || mode == MOTUS_MODE_8x16 ? 16 : 8;
    const int n = in->lists == 2 ? 0 : motus_mb_partitions(mb, parts);
    for (int i = 0; i < n; i++) { // of a P MB
        const int blk = 4 * parts[i].y + parts[i].x, x = 2 * parts[i].x, y = 2 * parts[i].y,
                  width = 2 * parts[i].width, height = 2 * parts[i].height;
        const MotusReference *ref = &in->ref[mb->ref[0][motus_8x8_of(blk)]];
        motus_predict_luma_block(luma, ref, in->x, in->y, 2 * x, 2 * y, 2 * width, 2 * height,
                                 mb->mv[blk]);
        for (int c = 0; c < 2 && chroma; c++)
            predict_chroma_block(chroma[c], ref, c, in->x, in->y, x, y, width, height, mb->mv[blk]);
    }
    for (int y = 0; y < 16 && in->lists == 2; y += h)
        for (int x = 0; x < 16; x += w) {
            const int q = y / 8 * 2 + x / 8, first = mb->pred[q] == MOTUS_PRED_L1,
                      at = y / 2 * MOTUS_CHROMA_STRIDE + x / 2;
            const MotusMv mv[2] = {mb->mv[motus_corner_of(q)], mb->mv1[q]};
            const MotusReference *const ref[2] = {&in->ref[mb->ref[0][q]], &in->ref[in->refs]};
            motus_predict_luma_lists(luma, ref, in->x, in->y, x, y, w, h, mb->pred[q], mv);
            for (int c = 0; c < 2 && chroma; c++) {
                uint8_t other[64];
                predict_chroma_block(chroma[c], ref[first], c, in->x, in->y, x / 2, y / 2, w / 2,
                                     h / 2, mv[first]);
                if (mb->pred[q] != MOTUS_PRED_BI) continue;
                predict_chroma_block(other, ref[1], c, in->x, in->y, x / 2, y / 2, w / 2, h / 2,
                                     mv[1]);
                motus_pair_block(chroma[c] + at, other + at, MOTUS_CHROMA_STRIDE, w / 2, h / 2,
                                 ref[0]->pair_offset);
            }
        }
}

// Returns the SATD of a w x h block, multiples of 4; of 8 if w is 8.
static inline uint32_t motus_satd_block(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                                        ptrdiff_t b_stride, int w, int h) {
    uint32_t sum = 0;
#ifdef MOTUS_USE_AVX2
    if (w >= 8) {
        __m256i total = _mm256_setzero_si256();
        for (int y = 0; y < h; y += 64 / w) { // w 8: rows y + i and y + 4 + i side by side
            __m256i d[4];
            for (int i = 0; i < 4; i++) {
                const uint8_t *p = a + (y + i) * a_stride, *q = b + (y + i) * b_stride;
                const __m128i from = w == 16 ? _mm_loadu_si128((const __m128i *)p)
                                             : motus_load_8x2_avx2(p, 4 * a_stride),
                              pred = w == 16 ? _mm_loadu_si128((const __m128i *)q)
                                             : motus_load_8x2_avx2(q, 4 * b_stride);
                d[i] = _mm256_sub_epi16(motus_pairs_avx2(from), motus_pairs_avx2(pred));
            }
            total = _mm256_add_epi32(total, motus_satd_strip_avx2(d));
        }
        return motus_sum32_avx2(total);
    }
#endif
    for (int y = 0; y < h; y += 4)
        for (int x = 0; x < w; x += 4)
            sum += motus_satd4x4(a + y * a_stride + x, a_stride, b + y * b_stride + x, b_stride);
    return sum;
}

// Returns those of `blocks` whose MVs have no fraction: all of the search's, external MVs may have.
static inline uint64_t motus_whole_mvs(const MotusMv mv[MOTUS_BLOCKS], uint64_t blocks) {
    uint64_t whole = 0;
    for (; blocks; blocks &= blocks - 1)
        if (motus_mv_is_whole(mv[__builtin_ctzll(blocks)])) whole |= blocks & -blocks;
    return whole;
}

#endif
