// Reference samples and weights of inter prediction (8.4.2.2), and the squared error of an MB.
// Errors are summed by the lanes of a warp, or with AVX2 where compiled for it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_PREDICT_CORE_H
#define ENCODER_ANALYSE_PREDICT_CORE_H

#include <string.h>

#include "common/int_core.h"
#include "common/lanes.h"
#include "encoder/mb/mv_core.h"
#include "encoder/mb/weights_core.h"
#include "me/pixel/pixel_core.h"
#include "me/pixel/ref_luma.h"
#if defined(__AVX2__) && !defined(__CUDACC__)
#define MOTUS_USE_AVX2
#include "me/pixel/satd_avx2.h"
#endif

// Strides of an MB's sample buffers.
#define MOTUS_LUMA_STRIDE 16
#define MOTUS_CHROMA_STRIDE 8

// Reference picture. Luma: a MotusRefLuma with border and half-sample planes, `tap` its offsets.
// Chroma has no border.
typedef struct MotusReference {
    int width, height; // luma samples, whole MBs
    const uint8_t *luma, *chroma[2];
    ptrdiff_t luma_stride, chroma_stride;
    ptrdiff_t tap[16][2];
    // Offset of list 0: motus_pair_offset.
    int pair_offset;
    // Explicit weights, of samples after interpolation. `plain` is luma without them; `luma` is
    // then weighted before interpolation, for SATDs only, and laid out alike. NULL: no weights.
    const uint8_t *plain;
    MotusWeight weight[3];
    int log2_denom;
} MotusReference;

// Sets tap to the two samples whose average predicts sample (x, y) with mv; equal if one suffices.
// luma: of the reference, or `plain`.
MOTUS_HD void motus_luma_taps(const MotusReference *ref, const uint8_t *luma, int x, int y,
                              MotusMv mv, const uint8_t *tap[2]) {
    int px = motus_ref_luma_clip(ref->width, x + (mv.x >> 2)),
        py = motus_ref_luma_clip(ref->height, y + (mv.y >> 2));
    const uint8_t *full = luma + py * ref->luma_stride + px;
    const ptrdiff_t *offset = ref->tap[4 * (mv.y & 3) + (mv.x & 3)];
    tap[0] = full + offset[0];
    tap[1] = full + offset[1];
}

// Sets the explicit weights of the reference with ref_idx k, if it has any.
MOTUS_HD void motus_reference_weigh(MotusReference *ref, const MotusWeights *weights, int k,
                                    const uint8_t *plain) {
    const int has_luma = weights->ref[k].has_luma, has_chroma = weights->ref[k].has_chroma;
    if (!has_luma && !has_chroma) return;
    ref->plain = plain;
    ref->log2_denom = weights->log2_denom;
    for (int i = 0; i < 3; i++) {
        ref->weight[i].weight = (int16_t)(1 << weights->log2_denom), ref->weight[i].offset = 0;
        if (i ? has_chroma : has_luma) ref->weight[i] = weights->ref[k].plane[i];
    }
}

// Weights of chroma samples (8.4.2.2.2). They add up to 64, so 16 bits hold the sum of the
// products, at most 64 * 255 + 32.
typedef struct MotusChromaWeights {
    uint16_t a, b, c, d; // here, right, below, below right
} MotusChromaWeights;

// Returns the weights at (fx, fy) eighths, 0..7.
MOTUS_HD MotusChromaWeights motus_chroma_weights(int fx, int fy) {
    const MotusChromaWeights w = {(uint16_t)((8 - fx) * (8 - fy)), (uint16_t)(fx * (8 - fy)),
                                  (uint16_t)((8 - fx) * fy), (uint16_t)(fx * fy)};
    return w;
}

// Returns the squared error of a w x h block.
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
// Returns squared differences of 16 samples, summed by pairs: 2 * 255^2 a lane, 16 rows at most.
static inline __m256i motus_ssd16_avx2(__m128i a, __m128i b) {
    __m256i d = _mm256_sub_epi16(_mm256_cvtepu8_epi16(a), _mm256_cvtepu8_epi16(b));
    return _mm256_madd_epi16(d, d);
}

static inline __m128i motus_load_8x2_avx2(const uint8_t *p, ptrdiff_t stride) {
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)p),
                              _mm_loadl_epi64((const __m128i *)(p + stride)));
}
#endif

// Return the squared error of an MB's luma and of its chroma: below 2^24 and 2^23.
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
