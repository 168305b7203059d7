// Downscaled search, 32 points at a time: the quarters of a vector are eight columns each of one
// row of the window. The last column is searched on its own. SADs by vdbpsadbw, as in
// search_avx512.c.
// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>

#include <string.h>

#include "me/centres/centres.h"

#define LAST (MOTUS_DOWNSCALED_POINTS - 1)
#define INLINE static inline __attribute__((always_inline))

typedef struct Best {
    __m512i cost, index; // of each lane
} Best;

// Loads 16 samples, of eight columns, to each quarter.
INLINE __m512i quarters(const uint8_t *row) {
    const __m512i order = _mm512_setr_epi64(0, 1, 1, 2, 2, 3, 3, 4);
    return _mm512_permutexvar_epi64(order, _mm512_maskz_loadu_epi64(0x1F, row));
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

// Returns the SADs of 64 samples at `column`, and those of the next rows up to n, in 16 bits each:
// they are at most 16,320.
INLINE uint64_t row_sads(__m512i samples, const uint64_t *column, int n) {
    __m512i sads = _mm512_sad_epu8(samples, _mm512_loadu_si512(column));
    for (int i = 1; i < n; i++) {
        const __m512i sad = _mm512_sad_epu8(samples, _mm512_loadu_si512(column + i));
        sads = _mm512_or_si512(sads, _mm512_slli_epi64(sad, 16 * (unsigned)i));
    }
    return (uint64_t)_mm512_reduce_add_epi64(sads);
}

// Finds the first row of least J in the last column, and that J.
INLINE int search_column(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                         const MotusDownscaledCosts cost, uint32_t *least) {
    uint64_t block[8], column[MOTUS_DOWNSCALED_POINTS + 7]; // of eight samples each
    uint64_t sads[LAST / 4 + 1];
    uint16_t sad[LAST + 4];
    uint32_t best = UINT32_MAX; // J << 6 | row
    for (int y = 0; y < 8; y++) memcpy(&block[y], cur + y * stride, 8);
    for (int y = 0; y < MOTUS_DOWNSCALED_POINTS + 7; y++)
        memcpy(&column[y], ref + y * stride + LAST, 8);
    const __m512i samples = _mm512_loadu_si512(block);
    for (int y = 0; y < LAST; y += 4) sads[y / 4] = row_sads(samples, column + y, 4);
    sads[LAST / 4] = row_sads(samples, column + LAST, 1);
    memcpy(sad, sads, sizeof sad);
    for (int y = 0; y < MOTUS_DOWNSCALED_POINTS; y++) {
        const uint32_t j = ((uint32_t)cost[y][LAST] + sad[y]) << 6 | (uint32_t)y;
        best = j < best ? j : best;
    }
    *least = best >> 6;
    return (int)(best & 63);
}

int motus_downscaled_search_avx512(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                                   const MotusDownscaledCosts cost, int points, int likely) {
    if (points != MOTUS_DOWNSCALED_POINTS) // vectors fit the largest window only
        return motus_downscaled_search_avx2(cur, ref, stride, cost, points, likely);
    __m512i block[8][2], rows[MOTUS_DOWNSCALED_POINTS + 7];
    Best best = {_mm512_set1_epi16(-1), _mm512_set1_epi16(-1)};
    uint16_t number[32];
    uint32_t least_of_column;
    for (int y = 0; y < 8; y++) {
        __m128i samples = _mm_loadl_epi64((const __m128i *)(cur + y * stride));
        block[y][0] = _mm512_broadcastd_epi32(samples);
        block[y][1] = _mm512_broadcastd_epi32(_mm_srli_epi64(samples, 32));
    }
    for (int y = 0; y < MOTUS_DOWNSCALED_POINTS + 7; y++) rows[y] = quarters(ref + y * stride);
    for (int lane = 0; lane < 32; lane++) number[lane] = (uint16_t)lane;
    __m512i index = _mm512_loadu_si512(number);
    for (int y = 0; y < MOTUS_DOWNSCALED_POINTS; y++) {
        take(rows + y, block, _mm512_loadu_si512(cost[y]), index, &best);
        index = _mm512_add_epi16(index, _mm512_set1_epi16(MOTUS_DOWNSCALED_COLUMNS));
    }
    const uint32_t least = least_of(best.cost);
    const int row = search_column(cur, ref, stride, cost, &least_of_column);
    const __mmask32 lanes = _mm512_cmpeq_epi16_mask(best.cost, _mm512_set1_epi16((short)least));
    const int first =
                  (int)least_of(_mm512_mask_mov_epi16(_mm512_set1_epi16(-1), lanes, best.index)),
              of_column = row * MOTUS_DOWNSCALED_COLUMNS + LAST;
    if (least_of_column == least) return motus_min(first, of_column);
    return least_of_column < least ? of_column : first;
}
