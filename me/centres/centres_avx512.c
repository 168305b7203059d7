// Coarse search, 32 points at a time: the quarters of a vector are eight columns of rows 0, 8, 16
// and 24 of the window, then of the rows below. The last row and the last point are searched on
// their own. SADs by vdbpsadbw, as in search_avx512.c.
// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>

#include "me/centres/centres.h"

#define LAST (MOTUS_COARSE_POINTS - 1)
#define CHUNKS (MOTUS_COARSE_COLUMNS / 8)
#define ROWS (LAST / 4) // of a quarter
#define INLINE static inline __attribute__((always_inline))

typedef struct Best {
    __m512i cost, index; // of each lane
} Best;

INLINE __m128i quarter(const void *p) { return _mm_loadu_si128(p); }

INLINE __m512i quarters(const void *a, const void *b, const void *c, const void *d) {
    __m512i v = _mm512_inserti32x4(_mm512_castsi128_si512(quarter(a)), quarter(b), 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(v, quarter(c), 2), quarter(d), 3);
}

INLINE __m512i row_sad(__m512i samples, const __m512i block[2]) {
    return _mm512_add_epi16(_mm512_dbsad_epu8(block[0], samples, _MM_SHUFFLE(2, 1, 1, 0)),
                            _mm512_dbsad_epu8(block[1], samples, _MM_SHUFFLE(3, 2, 2, 1)));
}

// Compares the 8x8 block with eight rows of samples. SADs are at most 16,320; saturation keeps the
// 65,535 of points outside.
INLINE void take(const __m512i rows[8], const __m512i block[8][2], __m512i cost, __m512i index,
                 Best *best) {
    __m512i a = row_sad(rows[0], block[0]), b = row_sad(rows[1], block[1]);
    for (int y = 2; y < 8; y += 2) {
        a = _mm512_add_epi16(a, row_sad(rows[y], block[y]));
        b = _mm512_add_epi16(b, row_sad(rows[y + 1], block[y + 1]));
    }
    __m512i j = _mm512_adds_epu16(_mm512_add_epi16(a, b), cost);
    __mmask32 better = _mm512_cmplt_epu16_mask(j, best->cost);
    best->cost = _mm512_min_epu16(best->cost, j);
    best->index = _mm512_mask_mov_epi16(best->index, better, index);
}

static uint32_t least_of(__m512i v) {
    __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    __m128i least = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return (uint32_t)_mm_cvtsi128_si32(_mm_minpos_epu16(least)) & 0xFFFF;
}

static int cost_at(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride, int cost) {
    __m128i sum = _mm_setzero_si128();
    for (int y = 0; y < 8; y++)
        sum =
            _mm_add_epi64(sum, _mm_sad_epu8(_mm_loadl_epi64((const __m128i *)(cur + y * stride)),
                                            _mm_loadl_epi64((const __m128i *)(ref + y * stride))));
    return cost + _mm_cvtsi128_si32(sum);
}

int motus_coarse_search_avx512(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                               const MotusCoarseCosts cost, int points, int likely) {
    if (points != MOTUS_COARSE_POINTS) // quarters fit the largest window only
        return motus_coarse_search_avx2(cur, ref, stride, cost, points, likely);
    const ptrdiff_t step = ROWS * stride;
    __m512i block[8][2], rows[CHUNKS][ROWS + 7], last[8];
    Best best = {_mm512_set1_epi16(-1), _mm512_set1_epi16(-1)};
    for (int y = 0; y < 8; y++) {
        __m128i samples = _mm_loadl_epi64((const __m128i *)(cur + y * stride));
        block[y][0] = _mm512_broadcastd_epi32(samples);
        block[y][1] = _mm512_broadcastd_epi32(_mm_srli_epi64(samples, 32));
    }
    for (int y = 0; y < ROWS + 7; y++)
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            const uint8_t *at = ref + y * stride + 8 * chunk;
            rows[chunk][y] = quarters(at, at + step, at + 2 * step, at + 3 * step);
        }
    uint16_t number[32];
    for (int lane = 0; lane < 32; lane++)
        number[lane] = (uint16_t)(lane / 8 * ROWS * MOTUS_COARSE_COLUMNS + lane % 8);
    __m512i index = _mm512_loadu_si512(number);
    for (int y = 0; y < ROWS; y++)
        for (int chunk = 0; chunk < CHUNKS;
             chunk++, index = _mm512_add_epi16(index, _mm512_set1_epi16(8))) {
            const uint16_t *c = cost[y] + 8 * chunk;
            const int next = ROWS * MOTUS_COARSE_COLUMNS;
            take(rows[chunk] + y, block, quarters(c, c + next, c + 2 * next, c + 3 * next), index,
                 &best);
        }
    for (int lane = 0; lane < 32; lane++)
        number[lane] = (uint16_t)(LAST * MOTUS_COARSE_COLUMNS + lane);
    for (int y = 0; y < 8; y++) {
        const uint8_t *at = ref + (LAST + y) * stride;
        last[y] = quarters(at, at + 8, at + 16, at + 24);
    }
    take(last, block, _mm512_loadu_si512(cost[LAST]), _mm512_loadu_si512(number), &best);
    uint32_t least = least_of(best.cost);
    if (cost_at(cur, ref + LAST * stride + LAST, stride, cost[LAST][LAST]) < (int)least)
        return LAST * MOTUS_COARSE_COLUMNS + LAST;
    __mmask32 lanes = _mm512_cmpeq_epi16_mask(best.cost, _mm512_set1_epi16((short)least));
    return (int)least_of(_mm512_mask_mov_epi16(_mm512_set1_epi16(-1), lanes, best.index));
}
