// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>
#include <string.h>

#include "me/pixel/satd_avx2.h"
#include "me/search/refine.h"

static void prepare_avx2(MotusRefineCur *cur, const uint8_t *samples, ptrdiff_t stride) {
    for (int y = 0; y < 16; y++)
        _mm256_storeu_si256((__m256i *)cur->pairs[y],
                            motus_pairs_avx2(motus_load_row_avx2(samples + y * stride, 16)));
}

// Returns the SATDs of four 4x4 blocks from their differences of pairs.
static inline __m128i four_satds(const __m256i d[4]) {
    __m256i sum = motus_satd_strip_avx2(d);
    return _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
}

// Sums of an MB's blocks, vectors of four: four of 4x4, two of 8x4 and of 4x8, one of 8x8; then of
// two of 16x8, two of 8x16 and one of 16x16.
enum { S44 = 0, S84 = 4, S48 = 6, S88 = 8, S168, S816, S1616, SUMS };

// Measures the MB against one prediction. Half samples and full ones are in one plane. Merges as
// motus_merge_sums, from the rows of 4x4 sums.
static inline void measure_mb(const MotusRefineCur *cur, const MotusTaps *taps, ptrdiff_t stride,
                              unsigned rows, __m128i s[SUMS]) {
    const int is_average = taps->tap[0] != taps->tap[1];
    for (int i = 0; i < 4; i++) {
        const uint8_t *p = taps->tap[0] + 4 * i * stride, *q = taps->tap[1] + 4 * i * stride;
        __m256i d[4];
        s[S44 + i] = _mm_setzero_si128();
        if (!(rows >> i & 1)) continue;
        for (int y = 0; y < 4; y++) {
            __m128i pred = motus_load_row_avx2(p + y * stride, 16);
            if (is_average) pred = _mm_avg_epu8(pred, motus_load_row_avx2(q + y * stride, 16));
            d[y] = _mm256_sub_epi16(motus_pairs_avx2(pred),
                                    _mm256_loadu_si256((const __m256i *)cur->pairs[4 * i + y]));
        }
        s[S44 + i] = four_satds(d);
    }
    for (int i = 0; i < 2; i++) {
        s[S48 + i] = _mm_add_epi32(s[S44 + 2 * i], s[S44 + 2 * i + 1]);
        s[S84 + i] = _mm_hadd_epi32(s[S44 + 2 * i], s[S44 + 2 * i + 1]);
    }
    s[S88] = _mm_hadd_epi32(s[S48], s[S48 + 1]);
    s[S168] = _mm_hadd_epi32(s[S88], s[S88]);
    s[S816] = _mm_add_epi32(s[S88], _mm_shuffle_epi32(s[S88], _MM_SHUFFLE(1, 0, 3, 2)));
    s[S1616] = _mm_hadd_epi32(s[S168], s[S168]);
}

static inline void store_sums(const __m128i s[SUMS], uint32_t sum[MOTUS_BLOCKS]) {
    for (int i = 0; i < 4; i++)
        _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_4x4 + 4 * i), s[S44 + i]);
    for (int i = 0; i < 2; i++) {
        _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_4x8 + 4 * i), s[S48 + i]);
        _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_8x4 + 4 * i), s[S84 + i]);
    }
    _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_8x8), s[S88]);
    _mm_storel_epi64((__m128i *)(sum + MOTUS_BLOCK_8x16), s[S816]);
    _mm_storel_epi64((__m128i *)(sum + MOTUS_BLOCK_16x8), s[S168]);
    sum[MOTUS_BLOCK_16x16] = (uint32_t)_mm_cvtsi128_si32(s[S1616]);
}

static void satd_mb_avx2(const MotusRefineCur *cur, const MotusTaps *taps, ptrdiff_t stride,
                         unsigned rows, uint32_t sum[MOTUS_BLOCKS]) {
    __m128i s[SUMS];
    measure_mb(cur, taps, stride, rows, s);
    store_sums(s, sum);
}

static void least_of_mb_avx2(const MotusRefineCur *cur, const MotusTaps *taps,
                             const uint32_t *mv_cost, int n, ptrdiff_t stride, unsigned rows,
                             uint32_t least[MOTUS_BLOCKS]) {
    __m128i best[SUMS], s[SUMS];
    for (int i = 0; i < SUMS; i++) best[i] = _mm_set1_epi32(-1);
    for (int k = 0; k < n; k++) {
        const __m128i add = _mm_set1_epi32((int)(mv_cost[k] << MOTUS_TRIAL_BITS) + k);
        measure_mb(cur, &taps[k], stride, rows, s);
        for (int i = 0; i < SUMS; i++)
            best[i] =
                _mm_min_epu32(best[i], _mm_add_epi32(_mm_slli_epi32(s[i], MOTUS_TRIAL_BITS), add));
    }
    store_sums(best, least);
}

// Loads the samples of a tap (0 or 1) of 16 / width predictions side by side, from offset `at`.
static inline __m128i side_by_side(const MotusTaps *const taps[4], int tap, ptrdiff_t at,
                                   int width) {
    __m128i row[4];
    for (int k = 0; k < 16 / width; k++)
        row[k] = motus_load_row_avx2(taps[k]->tap[tap] + at, width);
    if (width == 16) return row[0];
    if (width == 8) return _mm_unpacklo_epi64(row[0], row[1]);
    return _mm_unpacklo_epi64(_mm_unpacklo_epi32(row[0], row[1]),
                              _mm_unpacklo_epi32(row[2], row[3]));
}

// Measures as many predictions at once as fit in 16 samples.
static inline void satd_block_of_width(const MotusRefineCur *cur, const MotusBlock *block,
                                       const MotusTaps *taps, int n, ptrdiff_t stride,
                                       uint32_t sum[MOTUS_REFINE_TRIALS], int width) {
    const int at_once = 16 / width;
    // Copies the block's pairs to each prediction.
    const __m128i lanes = _mm_and_si128(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(width / 4 - 1));
    const __m256i repeat =
        _mm256_broadcastsi128_si256(_mm_add_epi32(lanes, _mm_set1_epi32(block->x / 4)));
    for (int k = 0; k < n; k += at_once) {
        const MotusTaps *const some[4] = {taps + k, taps + (k + 1 < n ? k + 1 : k),
                                          taps + (k + 2 < n ? k + 2 : k),
                                          taps + (k + 3 < n ? k + 3 : k)};
        __m128i all = _mm_setzero_si128();
        uint32_t satd[4];
        int is_average = 0;
        for (int i = 0; i < at_once; i++) is_average |= some[i]->tap[0] != some[i]->tap[1];
        for (int y = block->y; y < block->y + block->height; y += 4) {
            __m256i d[4];
            for (int i = 0; i < 4; i++) {
                const ptrdiff_t at = (y + i) * stride + block->x;
                __m128i pred = side_by_side(some, 0, at, width);
                if (is_average) pred = _mm_avg_epu8(pred, side_by_side(some, 1, at, width));
                __m256i pairs = _mm256_loadu_si256((const __m256i *)cur->pairs[y + i]);
                pairs =
                    _mm256_castps_si256(_mm256_permutevar_ps(_mm256_castsi256_ps(pairs), repeat));
                d[i] = _mm256_sub_epi16(motus_pairs_avx2(pred), pairs);
            }
            all = _mm_add_epi32(all, four_satds(d));
        }
        if (width >= 8) all = _mm_hadd_epi32(all, all);
        if (width >= 16) all = _mm_hadd_epi32(all, all);
        _mm_storeu_si128((__m128i *)satd, all);
        for (int i = 0; i < at_once && k + i < n; i++) sum[k + i] = satd[i];
    }
}

static void satd_block_avx2(const MotusRefineCur *cur, const MotusBlock *block,
                            const MotusTaps *taps, int n, ptrdiff_t stride,
                            uint32_t sum[MOTUS_REFINE_TRIALS]) {
    if (block->width == 16)
        satd_block_of_width(cur, block, taps, n, stride, sum, 16);
    else if (block->width == 8)
        satd_block_of_width(cur, block, taps, n, stride, sum, 8);
    else
        satd_block_of_width(cur, block, taps, n, stride, sum, 4);
}

static uint64_t same_avx2(const MotusMv mv[MOTUS_BLOCKS], int first) {
    int32_t wanted;
    memcpy(&wanted, &mv[first], sizeof wanted);
    __m256i all = _mm256_set1_epi32(wanted);
    uint64_t mask = 0;
    for (int b = 0; b < 40; b += 8) {
        __m256i equal = _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)(mv + b)), all);
        mask |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(equal)) << b;
    }
    return mask | (uint64_t)(mv[40].x == mv[first].x && mv[40].y == mv[first].y) << 40;
}

// Costs are below 2^31, so that signed comparisons do.
static void offer_avx2(MotusRefineBest *best, const uint32_t sum[MOTUS_BLOCKS], uint32_t mv_cost,
                       uint32_t at) {
    const __m256i add = _mm256_set1_epi32((int)mv_cost), here = _mm256_set1_epi32((int)at);
    for (int b = 0; b < 40; b += 8) {
        __m256i *costs = (__m256i *)(best->cost + b), *places = (__m256i *)(best->at + b);
        const __m256i least = _mm256_loadu_si256(costs), place = _mm256_loadu_si256(places);
        const __m256i cost = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)(sum + b)), add);
        const __m256i wins = _mm256_cmpgt_epi32(least, cost);
        _mm256_storeu_si256(costs, _mm256_min_epu32(least, cost));
        _mm256_storeu_si256(places, _mm256_blendv_epi8(place, here, wins));
    }
    const uint32_t last = sum[40] + mv_cost;
    if (last >= best->cost[40]) return;
    best->cost[40] = last;
    best->at[40] = at;
}

const MotusRefineOps motus_refine_ops_avx2 = {prepare_avx2,    satd_mb_avx2, least_of_mb_avx2,
                                              satd_block_avx2, same_avx2,    offer_avx2};
