// Inter prediction of an MB (8.4.2.2) and its distance from the source. On a GPU lanes share an MB
// out; on a CPU whole partitions are copied, with AVX2 where this is compiled for it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_PREDICT_CORE_H
#define ENCODER_MB_PREDICT_CORE_H

#include <string.h>

#include "common/lanes.h"
#include "encoder/mb/chroma_mc_core.h"
#include "encoder/mb/mv_core.h"
#include "me/pixel/pixel_core.h"
#include "me/pixel/ref_luma.h"
#if defined(__AVX2__) && !defined(__CUDACC__)
#define MOTUS_USE_AVX2
#include "me/pixel/satd_avx2.h"
#endif

#define MOTUS_LUMA_STRIDE 16  // of the MB-sized luma buffers
#define MOTUS_CHROMA_STRIDE 8 // of the MB-sized chroma buffers

// The picture that P MBs refer to. Luma has the border and half-sample planes of MotusRefLuma,
// whose offsets `tap` are; chroma has no border.
typedef struct MotusReference {
    int width, height; // luma samples, whole MBs
    const uint8_t *luma, *chroma[2];
    ptrdiff_t luma_stride, chroma_stride;
    ptrdiff_t tap[16][2];
} MotusReference;

// The two samples that are averaged for the sample at (x, y) of the picture displaced by mv; equal
// where one is enough.
MOTUS_HD void motus_luma_taps(const MotusReference *ref, int x, int y, MotusMv mv,
                              const uint8_t *tap[2]) {
    int px = motus_ref_luma_clip(ref->width, x + (mv.x >> 2)),
        py = motus_ref_luma_clip(ref->height, y + (mv.y >> 2));
    const uint8_t *full = ref->luma + py * ref->luma_stride + px;
    const ptrdiff_t *offset = ref->tap[4 * (mv.y & 3) + (mv.x & 3)];
    tap[0] = full + offset[0];
    tap[1] = full + offset[1];
}

MOTUS_HD void motus_average_row4(uint8_t *dst, const uint8_t *p, const uint8_t *q) {
    for (int x = 0; x < 4; x++) dst[x] = (uint8_t)((p[x] + q[x] + 1) >> 1);
}

// SATD of 4x4 block blk of the MB at (x, y) against its prediction with one vector: at most 8,160.
MOTUS_HD uint32_t motus_satd_at(int blk, const uint8_t *src, ptrdiff_t src_stride,
                                const MotusReference *ref, int x, int y, MotusMv mv) {
    const uint8_t *tap[2];
    int bx = 4 * (blk & 3), by = 4 * (blk >> 2);
    uint8_t pred[16];
    motus_luma_taps(ref, x, y, mv, tap);
    for (int i = 0; i < 4; i++) {
        ptrdiff_t at = (by + i) * ref->luma_stride + bx;
        motus_average_row4(pred + 4 * i, tap[0] + at, tap[1] + at);
    }
    return motus_satd4x4(src + by * src_stride + bx, src_stride, pred, 4);
}

// The same for all sixteen.
MOTUS_HD void motus_satd_mb(uint16_t satd[16], const uint8_t *src, ptrdiff_t src_stride,
                            const MotusReference *ref, int x, int y, MotusMv mv) {
#ifdef MOTUS_USE_AVX2
    const uint8_t *tap[2];
    motus_luma_taps(ref, x, y, mv, tap);
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
    for (int blk = motus_lane(); blk < 16; blk += MOTUS_LANES)
        satd[blk] = (uint16_t)motus_satd_at(blk, src, src_stride, ref, x, y, mv);
#endif
}

// Predicted luma of a w x h block at (x, y) of the MB (w, h multiples of 4).
MOTUS_HD void motus_predict_luma_block(uint8_t luma[256], const MotusReference *ref, int mb_x,
                                       int mb_y, int x, int y, int w, int h, MotusMv mv) {
    const uint8_t *tap[2];
    uint8_t *dst = luma + y * MOTUS_LUMA_STRIDE + x;
    motus_luma_taps(ref, 16 * mb_x + x, 16 * mb_y + y, mv, tap);
    for (int row = 0; row < h; row++, dst += MOTUS_LUMA_STRIDE) {
        const uint8_t *p = tap[0] + row * ref->luma_stride, *q = tap[1] + row * ref->luma_stride;
#ifdef MOTUS_USE_AVX2
        // Reading 16 samples is always allowed in a prepared plane; only w are written.
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
        for (int i = 0; i < w; i += 4) motus_average_row4(dst + i, p + i, q + i);
#endif
    }
}

// The same for chroma (8.4.2.2.2), all in chroma samples: a w x h block at (x, y) of the MB;
// samples outside the plane repeat its edge.
MOTUS_HD void motus_predict_chroma_block(uint8_t chroma[64], const MotusReference *ref, int c,
                                         int mb_x, int mb_y, int x, int y, int w, int h,
                                         MotusMv mv) {
    const MotusChromaWeights weights = motus_chroma_weights(mv.x & 7, mv.y & 7);
    uint8_t *dst = chroma + y * MOTUS_CHROMA_STRIDE + x;
    int px = 8 * mb_x + x + (mv.x >> 3), py = 8 * mb_y + y + (mv.y >> 3), width = ref->width / 2,
        height = ref->height / 2;
    motus_chroma_block(dst, MOTUS_CHROMA_STRIDE, ref->chroma[c], ref->chroma_stride, width, height,
                       px, py, weights, w, h);
}

// Prediction of the whole MB with the vectors of mb.
MOTUS_HD void motus_predict_inter(uint8_t luma[256], uint8_t chroma[2][64], const MotusMb *mb,
                                  const MotusReference *ref, int mb_x, int mb_y) {
#if MOTUS_LANES > 1
    for (int i = motus_lane(); i < 64; i += MOTUS_LANES) { // four samples of a row
        int x = 4 * (i & 3), y = i >> 2;
        motus_predict_luma_block(luma, ref, mb_x, mb_y, x, y, 4, 1, mb->mv[(y & 12) | (i & 3)]);
    }
    for (int i = motus_lane(); i < 64; i += MOTUS_LANES) { // two samples of a row
        int c = i >> 5, x = 2 * (i & 3), y = i >> 2 & 7;
        motus_predict_chroma_block(chroma[c], ref, c, mb_x, mb_y, x, y, 2, 1,
                                   mb->mv[(y >> 1) * 4 + (x >> 1)]);
    }
#else
    MotusPartition parts[16];
    int n = motus_mb_partitions(mb, parts);
    for (int i = 0; i < n; i++) {
        const MotusPartition *p = &parts[i];
        MotusMv mv = mb->mv[4 * p->y + p->x];
        motus_predict_luma_block(luma, ref, mb_x, mb_y, 4 * p->x, 4 * p->y, 4 * p->width,
                                 4 * p->height, mv);
        for (int c = 0; c < 2; c++)
            motus_predict_chroma_block(chroma[c], ref, c, mb_x, mb_y, 2 * p->x, 2 * p->y,
                                       2 * p->width, 2 * p->height, mv);
    }
#endif
    motus_lanes_sync();
}

// Squared error of a w x h block, w 4, 8 or 16.
MOTUS_HD uint32_t motus_ssd_block(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                                  ptrdiff_t b_stride, int w, int h) {
    uint32_t sum = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int d = a[y * a_stride + x] - b[y * b_stride + x];
            sum += (uint32_t)(d * d);
        }
    return sum;
}

#ifdef MOTUS_USE_AVX2
// Two rows of 8, or one of 16, squared differences summed by pairs: a lane gathers at most 16 rows
// of 2 * 255^2.
static inline __m256i motus_ssd16_avx2(__m128i a, __m128i b) {
    __m256i d = _mm256_sub_epi16(_mm256_cvtepu8_epi16(a), _mm256_cvtepu8_epi16(b));
    return _mm256_madd_epi16(d, d);
}

static inline __m128i motus_load_8x2_avx2(const uint8_t *p, ptrdiff_t stride) {
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)p),
                              _mm_loadl_epi64((const __m128i *)(p + stride)));
}
#endif

// Squared error of the MB's luma, and of its chroma: below 2^24 and 2^23.
MOTUS_HD uint32_t motus_ssd_luma(const MotusMbSource *src, const uint8_t luma[256]) {
#ifdef MOTUS_USE_AVX2
    __m256i sum = _mm256_setzero_si256();
    for (int y = 0; y < 16; y++)
        sum = _mm256_add_epi32(
            sum,
            motus_ssd16_avx2(_mm_loadu_si128((const __m128i *)(src->plane[0] + y * src->stride[0])),
                             _mm_loadu_si128((const __m128i *)(luma + 16 * y))));
    return motus_sum32_avx2(sum);
#else
    uint32_t sum = 0;
    for (int i = motus_lane(); i < 32; i += MOTUS_LANES) // half a row
        sum += motus_ssd_block(src->plane[0] + (i >> 1) * src->stride[0] + 8 * (i & 1),
                               src->stride[0], luma + 8 * i, 16, 8, 1);
    return motus_lanes_sum(sum);
#endif
}

MOTUS_HD uint32_t motus_ssd_chroma(const MotusMbSource *src, uint8_t chroma[2][64]) {
#ifdef MOTUS_USE_AVX2
    __m256i sum = _mm256_setzero_si256();
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < 8; y += 2)
            sum = _mm256_add_epi32(
                sum,
                motus_ssd16_avx2(motus_load_8x2_avx2(src->plane[c + 1] + y * src->stride[c + 1],
                                                     src->stride[c + 1]),
                                 _mm_loadu_si128((const __m128i *)(chroma[c] + 8 * y))));
    return motus_sum32_avx2(sum);
#else
    uint32_t sum = 0;
    for (int i = motus_lane(); i < 32; i += MOTUS_LANES) { // half a row
        int c = i >> 4, y = i >> 1 & 7, x = 4 * (i & 1);
        const uint8_t *from =
            c ? src->plane[2] + y * src->stride[2] : src->plane[1] + y * src->stride[1];
        sum += motus_ssd_block(from + x, 0, chroma[c] + 8 * y + x, 8, 4, 1);
    }
    return motus_lanes_sum(sum);
#endif
}

#endif
