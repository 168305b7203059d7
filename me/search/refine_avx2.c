// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>
#include <string.h>

#include "me/pixel/satd_avx2.h"
#include "me/search/refine.h"

static __m128i load16(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)p); }

static void prepare_avx2(MotusRefineCur *cur, const uint8_t *samples, ptrdiff_t stride) {
    for (int y = 0; y < 16; y++)
        _mm256_storeu_si256((__m256i *)cur->pairs[y],
                            motus_pairs_avx2(load16(samples + y * stride)));
}

// Returns the SATDs of four 4x4 blocks from their differences of pairs.
static inline __m128i four_satds(const __m256i d[4]) {
    __m256i sum = motus_satd_strip_avx2(d);
    return _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
}

static inline __m256i difference(__m128i pred, const int16_t pairs[16]) {
    return _mm256_sub_epi16(motus_pairs_avx2(pred), _mm256_loadu_si256((const __m256i *)pairs));
}

// Sums of an MB's blocks, in vectors of four.
typedef struct Sums {
    __m128i s44[4], s84[2], s48[2], s88;
    __m128i s168, s816, s1616; // 2, 2 and 1
} Sums;

// Equals motus_merge_sums, from the rows of 4x4 sums.
static inline void merge(Sums *s) {
    for (int i = 0; i < 2; i++) {
        s->s48[i] = _mm_add_epi32(s->s44[2 * i], s->s44[2 * i + 1]);
        s->s84[i] = _mm_hadd_epi32(s->s44[2 * i], s->s44[2 * i + 1]);
    }
    s->s88 = _mm_hadd_epi32(s->s48[0], s->s48[1]);
    s->s168 = _mm_hadd_epi32(s->s88, s->s88);
    s->s816 = _mm_add_epi32(s->s88, _mm_shuffle_epi32(s->s88, _MM_SHUFFLE(1, 0, 3, 2)));
    s->s1616 = _mm_hadd_epi32(s->s168, s->s168);
}

static inline void store_sums(const Sums *s, uint32_t sum[MOTUS_BLOCKS]) {
    for (int i = 0; i < 4; i++)
        _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_4x4 + 4 * i), s->s44[i]);
    for (int i = 0; i < 2; i++) {
        _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_4x8 + 4 * i), s->s48[i]);
        _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_8x4 + 4 * i), s->s84[i]);
    }
    _mm_storeu_si128((__m128i *)(sum + MOTUS_BLOCK_8x8), s->s88);
    _mm_storel_epi64((__m128i *)(sum + MOTUS_BLOCK_8x16), s->s816);
    _mm_storel_epi64((__m128i *)(sum + MOTUS_BLOCK_16x8), s->s168);
    sum[MOTUS_BLOCK_16x16] = (uint32_t)_mm_cvtsi128_si32(s->s1616);
}

// Measures the MB against one prediction. Half samples and full ones are in one plane.
static inline void measure_mb(const MotusRefineCur *cur, const MotusTaps *taps, ptrdiff_t stride,
                              unsigned rows, Sums *sums) {
    const int is_average = taps->tap[0] != taps->tap[1];
    for (int i = 0; i < 4; i++) {
        const uint8_t *p = taps->tap[0] + 4 * i * stride, *q = taps->tap[1] + 4 * i * stride;
        __m256i d[4];
        sums->s44[i] = _mm_setzero_si128();
        if (!(rows >> i & 1)) continue;
        for (int y = 0; y < 4; y++) {
            __m128i pred = load16(p + y * stride);
            if (is_average) pred = _mm_avg_epu8(pred, load16(q + y * stride));
            d[y] = difference(pred, cur->pairs[4 * i + y]);
        }
        sums->s44[i] = four_satds(d);
    }
    merge(sums);
}

static void satd_mb_avx2(const MotusRefineCur *cur, const MotusTaps *taps, ptrdiff_t stride,
                         unsigned rows, uint32_t sum[MOTUS_BLOCKS]) {
    Sums sums;
    measure_mb(cur, taps, stride, rows, &sums);
    store_sums(&sums, sum);
}

static inline void take_least(__m128i *least, __m128i sum, __m128i add) {
    *least = _mm_min_epu32(*least, _mm_add_epi32(_mm_slli_epi32(sum, MOTUS_TRIAL_BITS), add));
}

static void least_of_mb_avx2(const MotusRefineCur *cur, const MotusTaps *taps,
                             const uint32_t *mv_cost, int n, ptrdiff_t stride, unsigned rows,
                             uint32_t least[MOTUS_BLOCKS]) {
    const __m128i most = _mm_set1_epi32(-1);
    Sums best = {{most, most, most, most}, {most, most}, {most, most}, most, most, most, most};
    for (int k = 0; k < n; k++) {
        const __m128i add = _mm_set1_epi32((int)(mv_cost[k] << MOTUS_TRIAL_BITS) + k);
        Sums sums;
        measure_mb(cur, &taps[k], stride, rows, &sums);
        for (int i = 0; i < 4; i++) take_least(&best.s44[i], sums.s44[i], add);
        for (int i = 0; i < 2; i++) take_least(&best.s84[i], sums.s84[i], add);
        for (int i = 0; i < 2; i++) take_least(&best.s48[i], sums.s48[i], add);
        take_least(&best.s88, sums.s88, add);
        take_least(&best.s168, sums.s168, add);
        take_least(&best.s816, sums.s816, add);
        take_least(&best.s1616, sums.s1616, add);
    }
    store_sums(&best, least);
}

static inline __m128i load4(const uint8_t *p) {
    int32_t four;
    memcpy(&four, p, sizeof four);
    return _mm_cvtsi32_si128(four);
}

// Loads the samples of a tap (0 or 1) of 16 / width predictions side by side, from offset `at`.
static inline __m128i side_by_side(const MotusTaps *const taps[4], int tap, ptrdiff_t at,
                                   int width) {
    if (width == 16) return load16(taps[0]->tap[tap] + at);
    if (width == 8)
        return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(taps[0]->tap[tap] + at)),
                                  _mm_loadl_epi64((const __m128i *)(taps[1]->tap[tap] + at)));
    return _mm_unpacklo_epi64(
        _mm_unpacklo_epi32(load4(taps[0]->tap[tap] + at), load4(taps[1]->tap[tap] + at)),
        _mm_unpacklo_epi32(load4(taps[2]->tap[tap] + at), load4(taps[3]->tap[tap] + at)));
}

// Measures as many predictions at once as fit in 16 samples. `repeat` copies the block's pairs to
// each of them.
static inline __m128i satds_side_by_side(const MotusRefineCur *cur, const MotusBlock *block,
                                         __m256i repeat, const MotusTaps *const taps[4],
                                         ptrdiff_t stride, int width) {
    __m128i sum = _mm_setzero_si128();
    int is_average = 0;
    for (int k = 0; k < 16 / width; k++) is_average |= taps[k]->tap[0] != taps[k]->tap[1];
    for (int y = block->y; y < block->y + block->height; y += 4) {
        __m256i d[4];
        for (int i = 0; i < 4; i++) {
            ptrdiff_t at = (y + i) * stride + block->x;
            __m128i pred = side_by_side(taps, 0, at, width);
            if (is_average) pred = _mm_avg_epu8(pred, side_by_side(taps, 1, at, width));
            __m256i pairs = _mm256_loadu_si256((const __m256i *)cur->pairs[y + i]);
            pairs = _mm256_castps_si256(_mm256_permutevar_ps(_mm256_castsi256_ps(pairs), repeat));
            d[i] = _mm256_sub_epi16(motus_pairs_avx2(pred), pairs);
        }
        sum = _mm_add_epi32(sum, four_satds(d));
    }
    if (width >= 8) sum = _mm_hadd_epi32(sum, sum);
    if (width >= 16) sum = _mm_hadd_epi32(sum, sum);
    return sum;
}

static inline void satd_block_of_width(const MotusRefineCur *cur, const MotusBlock *block,
                                       const MotusTaps *taps, int n, ptrdiff_t stride,
                                       uint32_t sum[MOTUS_REFINE_TRIALS], int width) {
    int at_once = 16 / width, column = block->x / 4;
    __m128i lanes = _mm_and_si128(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(width / 4 - 1));
    __m256i repeat = _mm256_broadcastsi128_si256(_mm_add_epi32(lanes, _mm_set1_epi32(column)));
    for (int k = 0; k < n; k += at_once) {
        const MotusTaps *const some[4] = {taps + k, taps + (k + 1 < n ? k + 1 : k),
                                          taps + (k + 2 < n ? k + 2 : k),
                                          taps + (k + 3 < n ? k + 3 : k)};
        uint32_t satd[4];
        _mm_storeu_si128((__m128i *)satd,
                         satds_side_by_side(cur, block, repeat, some, stride, width));
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
